"""No question may be among its own examples."""

from __future__ import annotations

from ais_prompt.checks import find_shown_questions
from ais_prompt.data import BM25Retriever, FixKRetriever, SlidingWindowRetriever
from ais_prompt.types import Sample


def samples(*rows: tuple[str, str]) -> list[Sample]:
    return [Sample(f"id{index}", index, {"q": q, "a": a}, a) for index, (q, a) in enumerate(rows)]


TRAIN = samples(("1+1?", "2"), ("Two and  two?", "4"), ("3+3?", "6"))
TEST = samples(("1+1?", "2"), ("two and two? ", "four"), ("5+5?", "10"))


def test_questions_among_their_own_examples_are_found_across_splits() -> None:
    assert find_shown_questions(FixKRetriever([0, 1, 2]), ["q"], TRAIN, TEST) == (
        "2 of 3 questions are among the rows that they may be shown as examples, answers included "
        "(1 exactly, 1 but for space and case): test row 0 is train row 0, and so on"
    )


def test_only_rows_that_can_be_shown_count() -> None:
    assert find_shown_questions(FixKRetriever([2]), ["q"], TRAIN, TEST) == ""
    assert find_shown_questions(SlidingWindowRetriever(1), ["q"], TRAIN, TRAIN) == ""
    assert "(3 exactly" in find_shown_questions(BM25Retriever(1, input_columns=["q"]), ["q"], TRAIN, TRAIN)


def test_exact_copies_that_the_retriever_leaves_out_are_no_matter() -> None:
    found = find_shown_questions(FixKRetriever([0, 1, 2], exclude_self=True), ["q"], TRAIN, TEST)
    assert found.startswith("1 of 3 questions")
    assert found.endswith("(0 exactly, 1 but for space and case): test row 1 is train row 1")
