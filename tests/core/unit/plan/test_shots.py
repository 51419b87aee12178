"""How many in-context examples fit: against the rule, word for word, that the last one is dropped until it fits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.inferencers import GenInferencer, InferenceContext, PPLInferencer, PPLOnlyInferencer, Preview
from ais_prompt.models import ScriptedModel
from ais_prompt.plan import fitting_shots
from ais_prompt.prompts import PromptBuilder, PromptTemplate, make_chat_format
from ais_prompt.types import Sample

ICE = PromptTemplate("{q} = {a}")


def sample(number: int, words: int, gold: str = "x") -> Sample:
    return Sample(str(number), number, {"q": "word " * words, "a": gold}, gold)


def context(limit: int | None, template: object = "</E>{q} = {a}") -> InferenceContext:
    builder = PromptBuilder(ICE, PromptTemplate(template, ice_token="</E>"), output_column="a")
    model = ScriptedModel(prompt_style="text", max_seq_len=limit)
    return InferenceContext(builder, make_chat_format("text", None, lambda: None), model, ())


def dropped_one_by_one(question: Sample, shots: list[Sample], at: InferenceContext, limit: int) -> int:
    kept = len(shots)
    while kept:
        prompt = at.chat.render(at.builder.generation(question, shots[:kept]), "gen")
        if at.model.count_tokens(prompt) <= limit:
            break
        kept -= 1
    return kept


@given(st.lists(st.integers(0, 12), max_size=12), st.integers(0, 12), st.integers(1, 90))
def test_as_many_as_if_they_were_dropped_one_by_one(lengths: list[int], question: int, limit: int) -> None:
    shots = [sample(number, words) for number, words in enumerate(lengths)]
    asked = sample(99, question)
    kept = fitting_shots(GenInferencer(), asked, shots, context(limit))
    assert list(kept) == shots[: dropped_one_by_one(asked, shots, context(limit), limit)]


def test_without_a_limit_nothing_is_counted() -> None:
    shots = [sample(0, 5)]
    assert fitting_shots(GenInferencer(), sample(1, 5), shots, context(None)) is shots


def test_all_labels_keep_the_shots_of_the_longest() -> None:
    shots = [sample(number, 2) for number in range(5)]  # four words each, with the sign and the gold
    table = {"short": "</E>{q} = a", "long": "</E>{q} = one two three four five six"}
    kept = fitting_shots(PPLInferencer(), sample(9, 2), shots, context(21, table))
    assert len(kept) == 3  # 3 * 4 + 9 words; the short label alone would have room for 4


class _Counting(GenInferencer):
    built = 0

    def preview(self, sample: Sample, shots: object, context: InferenceContext) -> list[Preview]:
        self.built += 1
        return super().preview(sample, shots, context)


def test_few_prompts_are_built_for_many_examples() -> None:
    shots = [sample(number, 2) for number in range(80)]
    counting = _Counting()
    assert len(fitting_shots(counting, sample(99, 2), shots, context(4 * 10 + 3))) == 10
    assert counting.built <= 8


def test_a_text_that_is_measured_is_never_cut() -> None:
    shots = [sample(number, 5) for number in range(5)]
    for limit in (1, 20, 1000):
        assert fitting_shots(PPLOnlyInferencer(), sample(9, 5), shots, context(limit)) is shots
