"""Scores and samples as CSV and Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from ais_prompt.report.formats import csv_lines
from ais_prompt.report.frames import METRIC_PREFIX, sample_rows, sample_schema, scores_table
from ais_prompt.report.stored import StoredResults
from ais_prompt.scoring.rows import TaskOutcome, summary_rows
from ais_prompt.store.disk import replacing

_AT_A_TIME: Final = 2000
"""Samples in memory at most, besides the scores of one task."""


def write_csv(run: StoredResults, folder: Path) -> list[Path]:
    """Write ``scores.csv`` and ``samples.csv``; a missing value is an empty field.

    Raises:
        StoreError, DataError: a file cannot be read or written.
    """
    paths = [folder / "scores.csv", folder / "samples.csv"]
    scores = _scores(run)
    with replacing(paths[0]) as stream:
        stream.write(csv_lines(scores.schema.names, scores.to_pylist()).encode())
    columns = sample_schema(_metrics(run)).names
    with replacing(paths[1]) as stream:
        stream.write(csv_lines(columns, ()).encode())
        for some in _batches(run):
            stream.write(csv_lines(columns, some, header=False).encode())
    return paths


def write_parquet(run: StoredResults, folder: Path) -> list[Path]:
    """Write ``scores.parquet`` and ``samples.parquet``.

    Raises:
        StoreError, DataError: a file cannot be read or written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = [folder / "scores.parquet", folder / "samples.parquet"]
    with replacing(paths[0], binary=True) as stream:
        pq.write_table(_scores(run), stream)
    schema = sample_schema(_metrics(run))
    with replacing(paths[1], binary=True) as stream, pq.ParquetWriter(stream, schema) as writer:
        for some in _batches(run):
            writer.write_table(pa.Table.from_pylist(some, schema=schema))
    return paths


def _scores(run: StoredResults) -> Any:
    outcomes = [
        TaskOutcome(task.model, task.dataset, task.scores, None, not task.scores, task.spec.is_baseline)
        for task in run.tasks
    ]
    return scores_table(summary_rows(outcomes))


def _metrics(run: StoredResults) -> dict[str, None]:
    """Return the names of all metrics that samples have, in order."""
    return {
        name: None for task in run.tasks for sample in task.samples() if sample.score for name in sample.score.values
    }


def _batches(run: StoredResults) -> Iterator[list[dict[str, Any]]]:
    for task in run.tasks:
        rows = (
            row | {f"{METRIC_PREFIX}{name}": value for name, value in values.items()}
            for row, values in sample_rows(task.spec, run.folder)
        )
        while some := list(islice(rows, _AT_A_TIME)):
            yield some
