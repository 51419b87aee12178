"""The samples of one task on their way into the report: parts go out as they fill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ais_prompt.report.html.rows import COLUMNS, questions, row
from ais_prompt.report.html.run_files import Results, ShownTask
from ais_prompt.report.html.sample import sample_json
from ais_prompt.report.html.texts import Lines
from ais_prompt.report.html.totals import TaskTotals
from ais_prompt.types import Prediction

CHUNK_SAMPLES: Final = 200
"""Most samples that a browser unpacks to show one of them."""
CHUNK_CHARACTERS: Final = 1_000_000
"""A chunk ends with the sample that brings it to so many characters of different lines."""
TABLE_CHUNKS: Final = 25
"""Most chunks whose samples stand in one part of the table."""


class TaskSamples:
    """Gathers the samples of a task.

    Attributes:
        totals: what they add up to.
    """

    def __init__(self, task: ShownTask, write: Callable[[str, dict[str, Any]], None]) -> None:
        """Begin with no samples.

        Args:
            task: whose they are.
            write: is given the name of each part that is full, and the part as JSON values: ``chunk-N`` with ``lines``
                and ``samples``, or ``table-N`` with the columns of some chunks, and in ``chunks`` how many samples each
                of them holds. Both are counted from 0.
        """
        self.totals = TaskTotals(task)
        self._write = write
        self._chunks = self._tables = 0
        self._begin_chunk()
        self._begin_table()

    def add(self, prediction: Prediction, results: Results) -> None:
        """Take one more sample.

        Raises:
            StoreError: the results are broken.
        """
        detail = results.detail_of(prediction.sample_id)
        line = row(prediction, detail, results)
        self.totals.add(line)
        for name, value in line.items():
            self._columns[name].append(value)
        self._predictions.append(prediction)
        self._samples.append(sample_json(prediction, detail, self._lines))
        if len(self._samples) == CHUNK_SAMPLES or self._lines.size >= CHUNK_CHARACTERS:
            self._end_chunk()
            if len(self._sizes) == TABLE_CHUNKS:
                self._end_table()

    def end(self) -> None:
        """Write what is still there."""
        if self._samples:
            self._end_chunk()
        if self._sizes:
            self._end_table()

    def _begin_chunk(self) -> None:
        self._lines = Lines()
        self._predictions: list[Prediction] = []
        self._samples: list[dict[str, Any]] = []

    def _end_chunk(self) -> None:
        self._columns["question"].extend(questions(self._predictions))
        self._sizes.append(len(self._samples))
        self._write(f"chunk-{self._chunks}", {"lines": self._lines.to_json(), "samples": self._samples})
        self._chunks += 1
        self._begin_chunk()

    def _begin_table(self) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        self._sizes: list[int] = []

    def _end_table(self) -> None:
        self._write(f"table-{self._tables}", {**self._columns, "chunks": self._sizes})
        self._tables += 1
        self._begin_table()
