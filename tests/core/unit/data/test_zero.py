from __future__ import annotations

from ais_prompt.data import ZeroRetriever
from ais_prompt.prompts import PromptBuilder, PromptTemplate
from ais_prompt.types import Sample

ROWS = [Sample(str(number), number, {"q": str(number)}) for number in range(3)]


def test_no_shots_for_every_row() -> None:
    retriever = ZeroRetriever()
    assert list(retriever.retrieve(ROWS, ROWS[:2])) == [(), ()]
    assert list(retriever.retrieve([], ROWS[:1])) == [()]
    assert not retriever.gives_shots


def test_the_end_token_takes_the_place_of_the_examples() -> None:
    template = PromptTemplate("</E>{q}", ice_token="</E>")
    for token, prompt in (("", "0"), ("(none)", "(none)0")):
        retriever = ZeroRetriever(ice_eos_token=token)
        builder = PromptBuilder(
            None,
            template,
            output_column=None,
            ice_separator=retriever.ice_separator,
            ice_eos_token=retriever.ice_eos_token,
        )
        assert builder.generation(ROWS[0], []) == prompt
