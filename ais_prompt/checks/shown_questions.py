"""Find questions that are among their own in-context examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ais_prompt.data import Retriever
from ais_prompt.terminal import tracked
from ais_prompt.types import Sample
from ais_prompt.utils import RowIndex, row_key


def find_shown_questions(
    retriever: Retriever, columns: Sequence[str], train: Sequence[Sample], test: Sequence[Sample]
) -> str:
    """Say how many questions are among their own candidate examples; empty if none is.

    Args:
        retriever: says which rows it may show, and whether it leaves a row's own copies out.
        columns: the columns that make a question.
        train, test: the two splits.
    """
    rows = RowIndex(question_key(sample, columns) for sample in train)
    exact, near = "exactly", "but for space and case"
    counts: Counter[str] = Counter()
    first: dict[str, tuple[int, int]] = {}
    questions = tracked(test, "looking for questions among the examples", unit="questions")
    for sample, shown in zip(questions, retriever.candidates(train, test), strict=True):
        alike = [row for row in rows.rows(question_key(sample, columns)) if row in shown]
        found = [row for row in alike if train[row].fields != sample.fields] if retriever.exclude_self else alike
        same = [row for row in found if _values(train[row], columns) == _values(sample, columns)]
        if found:
            kind = exact if same else near
            counts[kind] += 1
            first.setdefault(kind, (sample.index, (same or found)[0]))
    if not first:
        return ""
    count = counts.total()
    test_row, train_row = first.get(exact) or first[near]
    return (
        f"{count} of {len(test)} questions are among the rows that they may be shown as examples, answers "
        f"included ({', '.join(f'{counts[kind]} {kind}' for kind in (exact, near))}): test row {test_row} is train row "
        f"{train_row}" + (", and so on" if count > 1 else "")
    )


def _values(sample: Sample, columns: Iterable[str]) -> list[Any]:
    return [sample.fields[column] for column in columns]


def question_key(sample: Sample, columns: Iterable[str]) -> int:
    """Return a number that is equal for questions whose columns are equal except for space and case."""
    return row_key([" ".join(str(value).casefold().split()) for value in _values(sample, columns)])
