from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.postprocess import first_capital_postprocess
from ais_prompt.registry import POSTPROCESSORS


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("B", "B"),
        ("(c) is wrong, D is right", "D"),
        ("The answer is B", "T"),
        ("答案是C。", "C"),
        ("Ä, Б or B", "B"),
        ("none of them", None),
        ("", None),
    ],
)
def test_the_first_capital_is_the_answer(text: str, answer: str | None) -> None:
    assert first_capital_postprocess(text) == answer


@given(before=st.text(st.characters(exclude_categories=["Lu"])), letter=st.sampled_from("ABCDEZ"), after=st.text())
def test_nothing_before_or_after_the_first_capital_matters(before: str, letter: str, after: str) -> None:
    assert first_capital_postprocess(before + letter + after) == letter


def test_it_is_found_by_name() -> None:
    assert POSTPROCESSORS.get("first_capital_postprocess")("so B") == "B"
