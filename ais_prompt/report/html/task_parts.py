"""The samples of a task as the report has them: packed parts, which the browser unpacks one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import AisPromptError
from ais_prompt.report.html.judgements import Judgement, Judgements
from ais_prompt.report.html.overview import TaskOverview, TaskTotals
from ais_prompt.report.html.packing import Lines, packed
from ais_prompt.report.html.rows import COLUMNS
from ais_prompt.report.html.run_files import ShownTask
from ais_prompt.report.html.sample import sample_json
from ais_prompt.report.html.task_samples import samples_of
from ais_prompt.report.questions import questions
from ais_prompt.store.layout import RunFolder
from ais_prompt.types import Prediction, SampleScore

CHUNK_SAMPLES: Final = 200
"""Maximum number of samples that a browser unpacks to show one of them."""
CHUNK_CHARACTERS: Final = 1_000_000
"""Number of characters of different lines that ends a chunk."""
TABLE_CHUNKS: Final = 25
"""Maximum number of chunks in one part of the table."""


def write_parts(
    task: ShownTask, folder: RunFolder, write: Callable[[str, str], None], kept: float = 1.0
) -> TaskOverview:
    """Write a share of the samples of a task in parts, evenly spaced; return the overview of all of them.

    Args:
        task: of the run.
        folder: of the run.
        write: as for `TaskSamples`.
        kept: the share of the samples, 0 to 1.
    """
    samples = TaskSamples(task, write)
    try:
        judgements = Judgements(folder, task.model, task.dataset)
        for place, (prediction, detail, line) in enumerate(samples_of(samples.totals, folder)):
            if int((place + 1) * kept) > int(place * kept):
                samples.add(prediction, detail, line, judgements.of(prediction.sample_id))
    except AisPromptError as error:  # of the judgements; those of the samples are noted already
        samples.totals.trouble = str(error)
    samples.end()
    return samples.totals.overview()


class TaskSamples:
    """Collect the samples of a task, and write them in parts.

    Attributes:
        totals: what they add up to.
    """

    def __init__(self, task: ShownTask, write: Callable[[str, str], None]) -> None:
        """Begin with no samples.

        Args:
            task: the task of the samples.
            write: receives the name of each full part, and the part as `packed` JSON values: ``chunk-N`` with
                ``lines`` and ``samples``, or ``table-N`` with the columns of some chunks, and in ``chunks`` how many
                samples each of them holds. Both are counted from 0.
        """
        self.totals = TaskTotals(task)
        self._write = write
        self._chunks = self._tables = 0
        self._begin_chunk()
        self._begin_table()

    def add(
        self,
        prediction: Prediction,
        detail: SampleScore | None,
        line: Mapping[str, Any],
        judgements: Sequence[Judgement],
    ) -> None:
        """Add a sample, as `sample_json` and `row` have it."""
        for name, value in line.items():
            self._columns[name].append(value)
        self._predictions.append(prediction)
        self._samples.append(sample_json(prediction, detail, self._lines, judgements))
        if len(self._samples) == CHUNK_SAMPLES or self._lines.size >= CHUNK_CHARACTERS:
            self._end_chunk()
            if len(self._sizes) == TABLE_CHUNKS:
                self._end_table()

    def end(self) -> None:
        """Write the parts that are not full."""
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
        self._write(f"chunk-{self._chunks}", packed({"lines": self._lines.to_json(), "samples": self._samples}))
        self._chunks += 1
        self._begin_chunk()

    def _begin_table(self) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        self._sizes: list[int] = []

    def _end_table(self) -> None:
        self._write(f"table-{self._tables}", packed({**self._columns, "chunks": self._sizes}))
        self._tables += 1
        self._begin_table()
