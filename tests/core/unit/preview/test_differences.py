"""Differences of two texts are found word by word and described in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ais_prompt.preview import LEAST_ALIKE, aligned_blocks, changes_title, hunks, lines_of

WORDS = st.lists(st.sampled_from("how many apples are 12 3 ? . left Tom's\n £ 苹果 几个".split(" ")), min_size=1).map(
    " ".join
)
SHOTS = [("What is 1+1?", "2"), ("Who is Tom?", "A boy.\nHe is 9.")]

Template = Callable[[str, str], str]


def prompt(template: Template, question: str) -> str:
    return "".join(template(*shot) + "\n" for shot in SHOTS) + template(question, "")


BEFORE: Template = lambda q, a: f"Question: {q}\nThink.\nA: {a}"  # noqa: E731
EDITS: dict[str, tuple[Template, str]] = {
    "a newline": (lambda q, a: f"Question: {q}\nThink.\n\nA: {a}", "newline added before `A:`"),
    "a word": (lambda q, a: f"Q: {q}\nThink.\nA: {a}", "`Question` → `Q`"),
    "a letter": (lambda q, a: f"Question: {q}\nThank.\nA: {a}", "`Think` → `Thank`"),
    "a line gone": (lambda q, a: f"Question: {q}\nA: {a}", "`Think.⏎` removed before `A:`"),
    "a line more": (lambda q, a: f"Be kind.\nQuestion: {q}\nThink.\nA: {a}", "`Be kind.⏎` added"),
    "a blank at the end": (lambda q, a: f"Question: {q}\nThink.\nA: {a} ", "space added"),
    "two words": (lambda q, a: f"Q: {q}\nThink.\nAnswer: {a}", "`Question` → `Q`; `A` → `Answer`"),
}


def test_an_edit_is_described_in_words() -> None:
    for question in ["Is it 3?", "Is A: right?", "苹果 12", "Think. Of\nTom's Q"]:
        for name in EDITS:
            after, title = EDITS[name]
            assert changes_title(hunks(prompt(BEFORE, question), prompt(after, question))).startswith(title)


@pytest.mark.parametrize("least_alike", [0.0, LEAST_ALIKE])
@given(old=WORDS, new=WORDS)
@example(old="\n", new="\n\n")
@example(old="", new="a")
def test_the_pieces_give_back_both_texts(least_alike: float, old: str, new: str) -> None:
    pieces = list(aligned_blocks(lines_of(old), lines_of(new), least_alike))
    assert "".join(before for before, _ in pieces) == old
    assert "".join(after for _, after in pieces) == new


@given(WORDS)
def test_equal_texts_have_no_hunk(text: str) -> None:
    assert hunks(text, text) == []
