from __future__ import annotations

import pytest

from ais_prompt.postprocess import (
    extract_non_reasoning_content,
    first_capital_postprocess_multi,
    first_number_postprocess,
    general_postprocess,
    last_capital_postprocess,
    last_number_postprocess,
)
from ais_prompt.registry import POSTPROCESSORS


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The Eiffel Tower.", "Eiffel Tower"),
        ("Paris, France", "Paris"),
        ("\n\nParis\nFrance", "Paris"),
        ("3.14", "3.14"),
        ("1,000 men", "1000 men"),
        ("v1.2. Then", "v1.2"),
        ("rock'n'roll!", "rocknroll"),
        ("巴黎。是的", "巴黎"),
        ("巴黎，法国", "巴黎"),
        ("Ａ", "A"),
        ("A.", "A"),
        ("The.", None),
        ("", None),
    ],
)
def test_a_short_answer(text: str, answer: str | None) -> None:
    assert general_postprocess(text) == answer


@pytest.mark.parametrize(
    ("text", "number"), [("[[8.5]] of 10", "8.5"), ("-$1,250 or 3", "-1250"), ("none", None), ("", None)]
)
def test_the_first_number(text: str, number: str | None) -> None:
    assert first_number_postprocess(text) == number


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("4", "4"),
        ("<think></think>4", "4"),
        ("a <think>b</think> c", "a  c"),
        ("a</think>b</think> c", "c"),
        ("4 <think>or", "4"),
        ("<think>or", None),
        ("<think>or</think>", None),
    ],
)
def test_thoughts_are_no_answer(text: str, said: str | None) -> None:
    assert extract_non_reasoning_content(text) == said


def test_other_marks_of_a_thought() -> None:
    text = "[THINK]a.b[/THINK]c"
    assert extract_non_reasoning_content(text, think_start_token="[THINK]", think_end_token="[/THINK]") == "c"


def test_capitals() -> None:
    assert last_capital_postprocess("A or B, b") == "B"
    assert last_capital_postprocess("ä") is None
    assert first_capital_postprocess_multi("the options BD, not A") == "BD"
    assert first_capital_postprocess_multi("none") is None


def test_opencompass_names_with_dashes_are_known() -> None:
    assert POSTPROCESSORS.get("extract-non-reasoning-content")("a</think>b") == "b"
    assert POSTPROCESSORS.get("first-capital")("so B") == "B"
    assert POSTPROCESSORS.get("general")("The end.") == "end"


def test_the_last_number_is_taken_whatever_is_said_of_it() -> None:
    for text, number in (("It may be 12, or 1,300?", "1300"), ("From -3 to 4.5 m", "4.5"), ("none", None), ("", None)):
        assert last_number_postprocess(text) == number, text
