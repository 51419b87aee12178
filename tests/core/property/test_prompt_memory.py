"""Builders and chat formats remember what prompts have in common; no prompt may show it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.prompts import (
    SECTIONS_KEPT,
    ChatFormat,
    Mode,
    PromptBuilder,
    PromptList,
    PromptTemplate,
    make_chat_format,
)
from ais_prompt.types import Prompt, Sample

ROUND = [{"role": "HUMAN", "prompt": "{q}"}, {"role": "BOT", "prompt": "{a}"}]
DIALOGUE = {
    "begin": [{"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "Answer."}, "examples:</E>"],
    "round": ROUND,
    "end": "bye",
}
LABELS = {
    label: {**DIALOGUE, "begin": [f"{label}:", "</E>", {"role": "HUMAN", "prompt": "{q}"}]} for label in ("yes", "no")
}
META = {
    "begin": "<s>",
    "round": [{"role": "HUMAN", "begin": "H:", "end": "|"}, {"role": "BOT", "begin": "B:", "generate": True}],
}
ROWS = [Sample(f"{number}", number, {"q": f"q{number}", "a": "yes" if number % 2 else "no"}) for number in range(6)]
ASKED = st.tuples(st.sampled_from(ROWS), st.lists(st.sampled_from(ROWS[:3]), max_size=3))


def parts(template: Any, style: str) -> tuple[PromptBuilder, ChatFormat]:
    builder = PromptBuilder(PromptTemplate({"round": ROUND}), PromptTemplate(template, "</E>"), output_column="a")
    return builder, make_chat_format(style, META if style == "text" else None, lambda: None)


def prompts(builder: PromptBuilder, chat: ChatFormat, row: Sample, shots: list[Sample]) -> list[Prompt]:
    labelled = [chat.render(builder.labelled(row, shots, label), "ppl") for label in LABELS]
    return [chat.render(builder.generation(row, shots), "gen"), *labelled]


@pytest.mark.thorough
@pytest.mark.parametrize("style", ["text", "messages"])
@pytest.mark.parametrize("template", [DIALOGUE, LABELS], ids=["dialogue", "labels"])
@given(asked=st.lists(ASKED, min_size=2, max_size=6))
def test_prompts_do_not_depend_on_those_before(style: str, template: Any, asked: Any) -> None:
    used = parts(template, style)
    for row, shots in asked:
        assert prompts(*used, row, shots) == prompts(*parts(template, style), row, shots)


@pytest.mark.thorough
@pytest.mark.parametrize("style", ["text", "messages"])
def test_more_shots_than_are_remembered(style: str) -> None:
    used = parts(DIALOGUE, style)
    many = [Sample(f"s{number}", number, {"q": f"shot {number}", "a": "x"}) for number in range(SECTIONS_KEPT + 10)]
    for shot in [*many, many[0]]:
        assert prompts(*used, ROWS[0], [shot]) == prompts(*parts(DIALOGUE, style), ROWS[0], [shot])


@pytest.mark.parametrize("style", ["text", "messages"])
@pytest.mark.parametrize("template", [DIALOGUE, LABELS], ids=["dialogue", "labels"])
@given(
    row=st.fixed_dictionaries({"q": st.text(), "a": st.sampled_from(["yes", "no"])}),
    mode=st.sampled_from(["gen", "ppl"]),
)
def test_a_template_that_is_framed_once_says_what_its_rows_say(
    style: str, template: Any, row: dict[str, str], mode: Mode
) -> None:
    builder, chat = parts(template, style)
    filled = builder.generation(Sample("row", 0, row), ROWS[:2])
    assert isinstance(filled, PromptList)
    plain = filled[:]  # the same turns, which do not know of their template
    assert chat.render(filled, mode) == chat.render(plain, mode)
