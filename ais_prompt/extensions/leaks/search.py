"""Prove that no prompt tells its answer, and search the data for leaks, which no proof can rule out.

The search finds much, but not all: docs/leaks.md says what is proved, what is searched for, and what is missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ais_prompt.checks import FaultList, PromptWarning
from ais_prompt.data import ComparesTexts
from ais_prompt.extensions.leaks.broken_rows import broken_rows
from ais_prompt.extensions.leaks.clues import alarming, find_clues
from ais_prompt.extensions.leaks.copies import MAX_ROWS, GoldsOf, copied_questions
from ais_prompt.extensions.leaks.proof import check_gold_is_hidden, shown_columns, with_other_value, written_questions
from ais_prompt.extensions.leaks.words import and_so_on, drawn
from ais_prompt.plan import PlannedDataset
from ais_prompt.types import Sample

PROBES: Final = 5
"""Questions whose prompts show which columns the template uses."""


def search_leaks(dataset: PlannedDataset, shots: Sequence[Sample], faults: FaultList) -> list[PromptWarning]:
    """Search for prompts that contain their answer: a fault if a template causes it, a warning if the data do.

    Args:
        dataset: the dataset.
        shots: examples for any question.
        faults: where a fault is noted.
    """
    spec, data, retriever, inferencer = dataset.spec, dataset.data, dataset.retriever, dataset.inferencer
    reader = spec.reader
    golds = [column for column in reader.gold_columns if column not in reader.input_columns]
    template = spec.infer.prompt_template or spec.infer.ice_template
    where = template.where if template else spec.infer.where
    faults.attempt(lambda: check_gold_is_hidden(inferencer, dataset.prompts, data.test, shots, golds), where)
    probes = [data.test[row] for row in range(0, len(data.test), max(1, len(data.test) // PROBES))][:PROBES]
    columns = [column for column in shown_columns(inferencer, dataset.prompts, probes, shots) if column not in golds]
    golds_of = _golds_of(dataset)
    found = [PromptWarning(str(clue), where, clue.fix) for clue in alarming(find_clues(data.test, columns, golds_of))]
    written = written_questions(inferencer, dataset.prompts, data.test, probes, shots, columns, golds_of)
    if written:
        rows = and_so_on(written, 5)
        what = f"the template itself has the text of {len(written)} of {len(data.test)} test questions: test row {rows}"
        fix = "write other examples, or let a retriever choose them from a train split"
        found.append(PromptWarning(what, where, fix))
    if isinstance(retriever, ComparesTexts) and (column := reader.output_column) is not None:
        text = retriever.text
        if text.of(probes) != text.of(with_other_value(sample, column) for sample in probes):
            what = f"the retriever compares rows by their gold, column {column!r}: which examples are shown tells the"
            fix = f"take {column!r} out of what the retriever compares"
            found.append(PromptWarning(f"{what} answer", spec.infer.retriever.where, fix))
    found += copied_questions(dataset, golds_of)
    looked_at = drawn(data.test, range(len(data.test)), MAX_ROWS, columns)
    broken = broken_rows(looked_at, columns, golds_of, reader.output_column)
    return found + [PromptWarning(what, reader.where, fix) for what, fix in broken]


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


def _texts(gold: Any) -> Iterator[str]:
    if isinstance(gold, list | tuple):
        for entry in gold:
            yield from _texts(entry)
    elif isinstance(gold, str | int | float) and str(gold).strip():
        yield str(gold)
