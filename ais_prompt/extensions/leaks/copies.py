"""Search the data for copies of questions: among the examples that they may be shown, and in the test split itself.

Where likeness is the form of a task, different questions are near copies too. Pairs with different golds show how often
that is so: they are decoys, and `copies_beyond_form` returns the pairs that are more alike than the decoys (Elias and
Gygi, Target-decoy search strategy, 2007).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from typing import Final, TypeAlias

from ais_prompt.checks import PromptWarning, question_key
from ais_prompt.extensions.leaks.near_copies import NearCopy, find_near_copies, likeliest
from ais_prompt.extensions.leaks.words import and_so_on, drawn
from ais_prompt.inferencers import DialogueInferencer
from ais_prompt.plan import PlannedDataset
from ais_prompt.types import Sample

GoldsOf: TypeAlias = Callable[[Sample], tuple[str, ...]]
"""Returns the texts that count as the gold of a sample; none if it has no text."""

MAX_ROWS: Final = 10_000
"""Rows of a split among which near copies are looked for, drawn with a seed if there are more."""

FEW_COPIES: Final = 0.05
"""Share of the questions up to which near copies among the examples are no form of the task, whatever their golds."""

MOST_REPEATS: Final = 0.2
"""Share of the questions up to which repeats with words changed are no form of the task."""

MOST_BY_FORM: Final = 0.1
"""Share of the reported pairs that are alike by the form of the task, at most, as the pairs with other golds tell."""


def copied_questions(dataset: PlannedDataset, golds_of: GoldsOf) -> Iterator[PromptWarning]:
    """Yield warnings of questions with words changed among their examples, and of repeats in the test split.

    Args:
        dataset: the dataset.
        golds_of: as in `GoldsOf`.
    """
    spec, data = dataset.spec, dataset.data
    columns = spec.reader.input_columns
    questions = drawn(data.test, range(len(data.test)), MAX_ROWS, columns)
    golds = [*map(golds_of, questions)]
    of = str(len(data.test)) if len(questions) == len(data.test) else f"{len(questions)} drawn from {len(data.test)}"
    if found := _shown_copies(dataset, questions, golds, golds_of):
        pairs = [f"test row {question} is train row {row}" for question, row in found]
        what = f"{len(found)} of {of} questions are, with words or punctuation changed, among the rows that they may be"
        fix = "compare these rows; if they ask the same, choose other examples or another train_range"
        yield PromptWarning(f"{what} shown as examples: {and_so_on(pairs)}", spec.infer.retriever.where, fix)

    near = find_near_copies(questions, None, columns, lambda question, row: row < question)
    repeats = copies_beyond_form(near, golds, golds)
    if sum(not one.same_words for one in repeats) > MOST_REPEATS * len(questions):
        repeats = [one for one in repeats if one.same_words]
    if repeats:
        fields = [[sample.fields.get(column) for column in columns] for sample in questions]
        exact = sum(fields[one.question] == fields[one.row] for one in repeats)
        kinds = f"{exact} exactly, {len(repeats) - exact} with words or punctuation changed"
        if others := sum(golds[one.question] != golds[one.row] for one in repeats):
            kinds += f"; {others} with another gold"
        pairs = [f"row {questions[one.question].index} repeats row {questions[one.row].index}" for one in repeats]
        what = f"{len(repeats)} of {of} questions repeat an earlier one of the test split ({kinds}): {and_so_on(pairs)}"
        fix = "compare these rows; repeats count twice, and the standard error takes them for independent"
        yield PromptWarning(what, spec.reader.where, fix)


def _shown_copies(
    dataset: PlannedDataset, questions: Sequence[Sample], golds: Sequence[Hashable], golds_of: GoldsOf
) -> list[tuple[int, int]]:
    """Return the test rows, and the train rows that are near copies of them and may be shown as their examples."""
    data, columns = dataset.data, dataset.spec.reader.input_columns
    if not dataset.retriever.gives_shots or isinstance(dataset.inferencer, DialogueInferencer):
        return []
    candidates = dataset.retriever.candidates(data.train, data.test)
    rows = drawn(data.train, _shown_rows(candidates, len(data.train)), MAX_ROWS, columns)
    asked, shown = ([question_key(sample, columns) for sample in samples] for samples in (questions, rows))

    def allowed(question: int, row: int) -> bool:  # equal questions were found before, or are left out
        return asked[question] != shown[row] and rows[row].index in candidates[questions[question].index]

    near = find_near_copies(questions, rows, columns, allowed)
    found = likeliest(near)
    if len(found) > FEW_COPIES * len(questions):
        found = copies_beyond_form(near, golds, [*map(golds_of, rows)])
    return [(questions[one.question].index, rows[one.row].index) for one in found]


def _shown_rows(candidates: Sequence[Collection[int]], rows: int) -> Sequence[int]:
    """Return the train rows that may be an example of some question."""
    shown: set[int] = set()
    for own in candidates:
        if len(own) == rows or len(shown) == rows:
            return range(rows)
        shown.update(own)
    return sorted(shown)


def copies_beyond_form(
    found: Sequence[NearCopy], golds: Sequence[Hashable], row_golds: Sequence[Hashable]
) -> list[NearCopy]:
    """Return the near copies that the form of the task does not explain, the likeliest of each question.

    Copies with the same words are always among them, whatever their golds. Of the others, those with the same gold are,
    from the most alike on, as long as those that are as alike and have another gold are few.

    Args:
        found: near copies.
        golds: of the questions.
        row_golds: of the rows.
    """
    if not found:
        return []
    counts = Counter(golds), Counter(row_golds)
    by_chance = sum(count * counts[1][gold] for gold, count in counts[0].items()) / len(golds) / len(row_golds)
    changed = sorted((one for one in found if not one.same_words), key=lambda one: -one.likeness)
    same = [golds[one.question] == row_golds[one.row] for one in changed]
    others = int(not all(same))  # if there is any, the next could be another one
    copies: list[NearCopy] = []
    believed = 0
    for one, is_same in zip(changed, same, strict=True):
        if not is_same:
            others += 1
            continue
        copies.append(one)
        # So many pairs have the same gold by chance where ``others`` have another.
        if others * by_chance <= MOST_BY_FORM * (1 - by_chance) * len(copies):
            believed = len(copies)
    return likeliest([*(one for one in found if one.same_words), *copies[:believed]])
