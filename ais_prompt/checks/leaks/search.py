"""Search for leaks in the data itself, which no proof can rule out. It finds much, but not all.

docs/leaks.md says what is proved, what is searched for, and what is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, TypeAlias

from ais_prompt.checks.broken_rows import broken_rows
from ais_prompt.checks.leaks.chance import alarming
from ais_prompt.checks.leaks.clues import find_clues
from ais_prompt.checks.leaks.near_copies import copies_beyond_form, find_near_copies, likeliest
from ais_prompt.checks.leaks.proof import question_key, shown_columns, with_other_value
from ais_prompt.checks.leaks.texts import drawn
from ais_prompt.checks.warning import PromptWarning
from ais_prompt.inferencers import DialogueInferencer
from ais_prompt.plan.plan import PlannedDataset
from ais_prompt.readers.base import Dataset
from ais_prompt.retrievers import Retriever
from ais_prompt.retrievers.texts import ComparesTexts
from ais_prompt.types import DatasetSpec, Sample

MAX_ROWS: Final = 10_000
"""Rows of a split among which near copies are looked for, drawn with a seed if there are more."""

FEW_COPIES: Final = 0.05
"""Share of the questions up to which near copies among the examples are no form of the task, whatever their golds."""

GoldsOf: TypeAlias = Callable[[Sample], tuple[str, ...]]

PROBES: Final = 5
"""Questions whose prompts show which columns the template uses."""


def search_leaks(dataset: PlannedDataset, shots: Sequence[Sample]) -> list[PromptWarning]:
    """Search the data of a dataset for whatever may give its golds away.

    Args:
        dataset: the dataset.
        shots: examples for any question.
    """
    spec, data, retriever, inferencer = dataset.spec, dataset.data, dataset.retriever, dataset.inferencer
    probes = [data.test[row] for row in range(0, len(data.test), max(1, len(data.test) // PROBES))][:PROBES]
    golds = set(spec.reader.gold_columns) - set(spec.reader.input_columns)
    columns = [column for column in shown_columns(inferencer, dataset.prompts, probes, shots) if column not in golds]
    golds_of = _golds_of(dataset)
    clues = find_clues(data.test, columns, golds_of)
    template = spec.infer.prompt_template or spec.infer.ice_template
    where = template.where if template else spec.infer.where
    found = [PromptWarning(str(clue), where, clue.fix) for clue in alarming(clues)]
    found += _retrieval_by_gold(spec, retriever, probes)
    if not isinstance(inferencer, DialogueInferencer):
        found += _changed_questions(spec, data, retriever, golds_of)
    found += _repeated_questions(spec, data, golds_of)
    looked_at = drawn(data.test, range(len(data.test)), MAX_ROWS, columns)
    broken = broken_rows(looked_at, columns, golds_of, spec.reader.output_column)
    return found + [PromptWarning(what, spec.reader.where, fix) for what, fix in broken]


def _golds_of(dataset: PlannedDataset) -> GoldsOf:
    spec, gold_of = dataset.spec, dataset.gold_of
    column = spec.reader.output_column

    def golds(sample: Sample) -> tuple[str, ...]:
        try:
            gold = sample.fields[column] if spec.reader.gold_columns and column else gold_of(sample.gold)
        except Exception:  # the check of the postprocessor says so
            return ()
        return tuple(_texts(gold))

    return golds


def _texts(gold: Any) -> list[str]:
    if isinstance(gold, list | tuple):
        return [text for entry in gold for text in _texts(entry)]
    return [str(gold)] if isinstance(gold, str | int | float) and str(gold).strip() else []


def _retrieval_by_gold(spec: DatasetSpec, retriever: Retriever, probes: Sequence[Sample]) -> list[PromptWarning]:
    column = spec.reader.output_column
    if not isinstance(retriever, ComparesTexts) or column is None:
        return []
    text = retriever.text
    if text.of(probes) == text.of(with_other_value(sample, column) for sample in probes):
        return []
    what = f"the retriever compares rows by their gold, column {column!r}: which examples are shown tells the answer"
    return [PromptWarning(what, spec.infer.retriever.where, f"take {column!r} out of what the retriever compares")]


def _changed_questions(
    spec: DatasetSpec, data: Dataset, retriever: Retriever, golds_of: GoldsOf
) -> list[PromptWarning]:
    if not retriever.gives_shots:
        return []
    columns = spec.reader.input_columns
    candidates = retriever.candidates(data.train, data.test)
    questions = drawn(data.test, range(len(data.test)), MAX_ROWS, columns)
    rows = drawn(data.train, _shown_rows(candidates, len(data.train)), MAX_ROWS, columns)

    asked, shown = ([question_key(sample, columns) for sample in samples] for samples in (questions, rows))

    def allowed(question: int, row: int) -> bool:  # equal questions were found before, or are left out
        return asked[question] != shown[row] and rows[row].index in candidates[questions[question].index]

    near = find_near_copies(questions, rows, columns, allowed)
    found = likeliest(near)
    if len(found) > FEW_COPIES * len(questions):
        found = copies_beyond_form(near, [*map(golds_of, questions)], [*map(golds_of, rows)])
    if not found:
        return []
    pairs = [f"test row {questions[one.question].index} is train row {rows[one.row].index}" for one in found[:3]]
    return [
        PromptWarning(
            f"{len(found)} of {_of(questions, data.test)} questions are, with words or punctuation changed, among the "
            f"rows that they may be shown as examples: {_listed(pairs, len(found))}",
            spec.infer.retriever.where,
            "compare these rows; if they ask the same, choose other examples or another train_range",
        )
    ]


def _repeated_questions(spec: DatasetSpec, data: Dataset, golds_of: GoldsOf) -> list[PromptWarning]:
    columns = spec.reader.input_columns
    questions = drawn(data.test, range(len(data.test)), MAX_ROWS, columns)
    golds = [*map(golds_of, questions)]
    near = find_near_copies(questions, None, columns, lambda question, row: row < question)
    found = copies_beyond_form(near, golds, golds)
    if not found:
        return []
    fields = [[sample.fields.get(column) for column in columns] for sample in questions]
    exact = sum(fields[one.question] == fields[one.row] for one in found)
    kinds = f"{exact} exactly, {len(found) - exact} with words or punctuation changed"
    if others := sum(golds[one.question] != golds[one.row] for one in found):
        kinds += f"; {others} with another gold"
    pairs = [f"row {questions[one.question].index} repeats row {questions[one.row].index}" for one in found[:3]]
    return [
        PromptWarning(
            f"{len(found)} of {_of(questions, data.test)} questions repeat an earlier one of the test split ({kinds}): "
            f"{_listed(pairs, len(found))}",
            spec.reader.where,
            "compare these rows; repeats count twice, and the standard error takes them for independent",
        )
    ]


def _shown_rows(candidates: Sequence[Collection[int]], rows: int) -> Sequence[int]:
    """Return the train rows that may be an example of some question."""
    shown: set[int] = set()
    for own in candidates:
        if len(own) == rows or len(shown) == rows:
            return range(rows)
        shown.update(own)
    return sorted(shown)


def _of(looked_at: Sequence[Sample], samples: Sequence[Sample]) -> str:
    return str(len(samples)) if len(looked_at) == len(samples) else f"{len(looked_at)} drawn from {len(samples)}"


def _listed(pairs: Sequence[str], count: int) -> str:
    return ", ".join(pairs) + (", and so on" if count > len(pairs) else "")
