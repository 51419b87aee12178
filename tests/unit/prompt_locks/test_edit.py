"""An edit is derived from a few prompts, and proved for the others by undoing it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ais_prompt.prompt_locks.edit import REACHES, Edit, hunks, possible_edits
from ais_prompt.prompt_locks.wording import edit_title

WORDS = st.lists(st.sampled_from("how many apples are 12 3 ? . left Tom's\n £ 苹果 几个".split(" ")), min_size=1).map(
    " ".join
)
ROWS = st.tuples(WORDS, WORDS)
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


def learnt(after: Template, questions: list[str]) -> Edit:
    return next(possible_edits([(prompt(BEFORE, question), prompt(after, question)) for question in questions]))


def before(edit: Edit, new: str) -> set[str]:
    """What the text may have been."""
    return {edit.undo(new, reach) for reach in REACHES}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_told_in_words(name: str) -> None:
    after, title = EDITS[name]
    assert edit_title(learnt(after, ["Is it 3?", "How many?", "Why so."])).startswith(title)


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("question", ["Really!", "Is A: right?", "苹果 12", "Think. Of\nTom's Q"])
def test_an_edit_is_proved_for_a_prompt_that_was_never_seen(name: str, question: str) -> None:
    after, _ = EDITS[name]
    edit = learnt(after, ["Is it 3?", "How many?", "Why so."])
    old = prompt(BEFORE, question)
    assert old in before(edit, prompt(after, question))


def test_what_else_changed_is_not_explained() -> None:
    after, _ = EDITS["a newline"]
    edit = learnt(after, ["Is it 3?", "How many?"])
    old = prompt(BEFORE, "Really!")
    assert old not in before(edit, prompt(after, "Really?"))


@given(WORDS, WORDS)
@example("\n", "\n\n")
@example("", "a")
def test_an_edit_undoes_itself(old: str, new: str) -> None:
    for edit in possible_edits([(old, new)]):
        assert old in before(edit, new)


@given(WORDS)
def test_equal_texts_have_no_hunk(text: str) -> None:
    assert hunks(text, text) == []
