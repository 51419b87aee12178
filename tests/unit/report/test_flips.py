"""Changed samples in a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.regression.comparison import Flip
from ais_prompt.report.flips import changed_words, flip_lines, questions_of
from ais_prompt.types import ChatMessage, Prediction

TEXTS = st.text("ab 中文.1\n", max_size=30)


def flip(number: int, prompt: object, before: str, after: str) -> Flip:
    made = [Prediction(f"id{number}", number, prompt, text, "gold", ()) for text in (before, after)]  # type: ignore[arg-type]
    return Flip(f"id{number}", number, 1.0, 0.0, True, (made[0], made[1]), (before, after))


@given(TEXTS, TEXTS)
def test_the_parts_give_back_both_texts_and_agree_where_nothing_changed(before: str, after: str) -> None:
    parts = changed_words(before, after)
    assert ["".join(text for text, _ in side) for side in parts] == [before, after]
    same = ["".join(text for text, changed in side if not changed) for side in parts]
    assert same[0] == same[1]


def test_a_sample_is_named_by_its_question_and_changed_words_are_marked() -> None:
    shots = "Example: 1\nExample: 2"
    flips = [flip(n, f"{shots}\nHow much is {n}+1?\nAnswer:", "It is 2.", "It is 3.") for n in range(2)]
    lines = list(flip_lines(flips, 5))
    assert lines[1].plain == "  worse: How much is 0+1?  row 0, sample id0, same prompt"
    before = next(line for line in lines if line.plain.startswith("    before:"))
    assert [before.plain[span.start : span.end] for span in before.spans] == ["2"]


def test_a_single_sample_is_named_by_the_end_of_its_prompt() -> None:
    prompt = (ChatMessage("system", "Be brief."), ChatMessage("user", "x" * 500 + " How much?"))
    [name] = questions_of([flip(0, prompt, "a", "b")])
    assert name.startswith("…x")
    assert name.endswith(" How much?")
