"""The samples of one task on their way into the report: chunks go out as they fill, only the table's columns stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ais_prompt.report.html.rows import COLUMNS, questions, row
from ais_prompt.report.html.run_files import Results
from ais_prompt.report.html.sample import sample_json
from ais_prompt.report.html.texts import Lines
from ais_prompt.types import Prediction

CHUNK_SAMPLES: Final = 200
"""Most samples that a browser unpacks to show one of them."""
CHUNK_CHARACTERS: Final = 1_000_000
"""A chunk ends with the sample that brings it to so many characters of different lines."""


class TaskSamples:
    """Gathers the samples of a task.

    Attributes:
        columns: name of a column of the table (`COLUMNS`) → its values, one for each sample.
        chunks: how many samples each finished chunk holds.
    """

    def __init__(self, write: Callable[[int, dict[str, Any]], None]) -> None:
        """Begin with no samples.

        Args:
            write: is given the number (from 0) of each chunk that is full, and its ``lines`` and ``samples`` as JSON
                values.
        """
        self.columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        self.chunks: list[int] = []
        self._write = write
        self._begin_chunk()

    def add(self, prediction: Prediction, results: Results) -> None:
        """Take one more sample."""
        detail = results.details.get(prediction.sample_id, {})
        for name, value in row(prediction, detail, results).items():
            self.columns[name].append(value)
        self._predictions.append(prediction)
        self._samples.append(sample_json(prediction, detail, self._lines))
        if len(self._samples) == CHUNK_SAMPLES or self._lines.size >= CHUNK_CHARACTERS:
            self.end_chunk()

    def end_chunk(self) -> None:
        """Write what is there, if there is anything."""
        if not self._samples:
            return
        self.columns["question"].extend(questions(self._predictions))
        self._write(len(self.chunks), {"lines": self._lines.to_json(), "samples": self._samples})
        self.chunks.append(len(self._samples))
        self._begin_chunk()

    def _begin_chunk(self) -> None:
        self._lines = Lines()
        self._predictions: list[Prediction] = []
        self._samples: list[dict[str, Any]] = []
