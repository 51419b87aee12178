"""Make the index of a run: beside the report, or in the background while a page shows the samples so far."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ais_prompt.errors import AisPromptError, StoreError
from ais_prompt.report.html.index import (
    STATES,
    VERSION,
    Index,
    forget_parts,
    json_text,
    part_file,
    schema,
    stored_index,
)
from ais_prompt.report.html.overview import TaskTotals, overview
from ais_prompt.report.html.run_files import shown_tasks, summary_of
from ais_prompt.report.html.task_samples import samples_of
from ais_prompt.report.questions import questions
from ais_prompt.store.disk import reading, replacing, writing
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.links import refuse_links
from ais_prompt.store.predictions import ASK_FIRST, NO_ANSWERS
from ais_prompt.store.results import detail_starts
from ais_prompt.summary.rows import Row
from ais_prompt.types import Prediction
from ais_prompt.utils.guard import exception_line
from ais_prompt.utils.jsonl import encode_finite

if TYPE_CHECKING:
    import pyarrow as pa

PART_SAMPLES: Final = 5000
"""Samples in one file. A page can show the first of them after a second."""
BATCH_SAMPLES: Final = 1000
"""Samples of a task that are converted together."""


class IndexWriter:
    """Write the index of a run while its samples pass by, in parts.

    Attributes:
        parts: how many files are written.
        share: how much of the predictions has passed, 0 to 1.
    """

    def __init__(self, folder: RunFolder, rows: Sequence[Row], totals: Sequence[TaskTotals]) -> None:
        """Begin; the earlier index is no longer valid.

        Args:
            folder: with the scores of the run.
            rows: the lines of its summary.
            totals: of each task, in order; the caller adds the samples to them.

        Raises:
            StoreError: predictions cannot be read, or the folder cannot be written.
        """
        refuse_links(folder)
        self.parts = 0
        self.share = 0.0
        self._folder, self._rows, self._totals = folder, rows, totals
        self._paths = [folder.predictions(one.task.model, one.task.dataset) for one in totals]
        with reading(folder.root / "predictions", ASK_FIRST, absent=NO_ANSWERS):
            self._bytes = [path.stat().st_size for path in self._paths]
        self._batches: list[pa.RecordBatch] = []
        self._predictions: list[Prediction] = []
        self._lines: list[dict[str, Any]] = []
        with writing(folder.view):
            folder.view.mkdir(exist_ok=True)
            (folder.view / "overview.json").unlink(missing_ok=True)

    def begin(self, number: int) -> None:
        """Begin with the samples of a task, counted from 0."""
        task = self._totals[number].task
        self._number = number
        self._starts = line_starts(self._paths[number])
        self._details = detail_starts(self._folder.results(task.model, task.dataset)) if task.scored else iter(())

    def add(self, prediction: Prediction, line: Mapping[str, Any]) -> bool:
        """Add the next sample of the task, with its line of the table; return whether a part was written.

        Raises:
            StoreError: a part cannot be written.
        """
        stored = {
            "state": STATES.index(line["state"]),
            "columns": json_text(line["columns"]),
            "task": self._number,
            "start": next(self._starts),
            "detail_start": next(self._details, -1),
        }
        self._predictions.append(prediction)
        self._lines.append({**line, **stored})
        return len(self._lines) == BATCH_SAMPLES and self.end_batch()

    def end_batch(self) -> bool:
        """Convert the samples that wait, and return whether a part was written. Call it at the end of each task.

        Raises:
            StoreError: a part cannot be written.
        """
        if not self._lines:
            return False
        self._batches.append(_batch(self._predictions, self._lines))
        passed = sum(self._bytes[: self._number]) + self._lines[-1]["start"]
        self.share = min(passed / sum(self._bytes), 0.99)
        self._predictions, self._lines = [], []
        if sum(map(len, self._batches)) < PART_SAMPLES:
            return False
        self._write_part()
        return True

    def so_far(self) -> Index:
        """Return the index of the parts that are written.

        Raises:
            StoreError: the record of the run, or a part, cannot be read.
        """
        return Index(self._folder, self._overview(), self.parts)

    def end(self) -> Index:
        """Write what waits, and then the overview; return the whole index.

        Raises:
            StoreError: it cannot be written.
        """
        if self._batches:
            self._write_part()
        values = self._overview()
        values |= {"index_version": VERSION, "index_parts": self.parts}
        with replacing(self._folder.view / "overview.json", json=True) as stream:
            stream.write(encode_finite(values))
        forget_parts(self._folder, self.parts)
        return Index(self._folder, values, self.parts)

    def _overview(self) -> dict[str, Any]:
        return overview(self._folder, self._rows, [one.overview() for one in self._totals])

    def _write_part(self) -> None:
        import pyarrow as pa

        table = pa.Table.from_batches(self._batches).combine_chunks()
        with (
            replacing(part_file(self._folder, self.parts), binary=True) as stream,
            pa.ipc.new_file(stream, table.schema) as file,
        ):
            file.write_table(table)
        self._batches = []
        self.parts += 1


def _batch(predictions: Sequence[Prediction], lines: Sequence[dict[str, Any]]) -> pa.RecordBatch:
    import pyarrow as pa

    for question, line in zip(questions(predictions), lines, strict=True):
        line["question"] = question
        line["text"] = "\n".join(line[name] or "" for name in ("id", "question", "extracted", "gold")).lower()
    columns = {name: [line[name] for line in lines] for name in lines[0]}
    try:
        return pa.RecordBatch.from_pydict(columns, schema=schema())
    except UnicodeEncodeError:  # a lone surrogate
        stored = {name: list(map(_without_surrogates, values)) for name, values in columns.items()}
        return pa.RecordBatch.from_pydict(stored, schema=schema())


def _without_surrogates(value: Any) -> Any:
    """Return a text that UTF-8 can hold: a lone surrogate becomes a question mark."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def index_samples(writer: IndexWriter, totals: Sequence[TaskTotals], folder: RunFolder) -> Iterator[None]:
    """Read all samples of a run, and pass them to the writer of its index; yield whenever a part is written.

    Raises:
        StoreError: a part cannot be written.
    """
    for number, one in enumerate(totals):
        writer.begin(number)
        for prediction, _, line in samples_of(one, folder):
            if writer.add(prediction, line):
                yield
        if writer.end_batch():
            yield


def line_starts(path: Path) -> Iterator[int]:
    """Yield where each line of a file begins, in bytes.

    Raises:
        ConfigError: there is no such file.
        StoreError: it cannot be read.
    """
    start = 0
    with reading(path, fix=ASK_FIRST, absent=NO_ANSWERS), path.open("rb") as lines:
        for line in lines:
            yield start
            start += len(line)


class Indexing:
    """The index of a run, made in a thread of its own where there is none.

    While it is made, `newest` has the samples so far: the first part, and more each time that their number has doubled.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._changed = threading.Condition()
        self._error: AisPromptError | None = None
        self._writer: IndexWriter | None = None
        self._newest = stored_index(folder)
        self._is_whole = self._newest is not None
        if not self._is_whole:
            threading.Thread(target=self._run, daemon=True).start()

    @property
    def share(self) -> float:
        """How much of the predictions is indexed, 0 to 1; 1 after an error."""
        if self._is_whole or self._error:
            return 1.0
        return self._writer.share if self._writer else 0.0

    def newest(self) -> Index:
        """Return the samples so far; wait for the first part.

        Raises:
            StoreError: the run cannot be read, or the index cannot be written.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._error or self._newest)
            return self._found()

    def whole(self) -> Index:
        """Wait for all samples, and return them.

        Raises:
            StoreError: as `newest`.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._error or self._is_whole)
            return self._found()

    def _found(self) -> Index:
        if self._error:
            raise self._error
        assert self._newest is not None
        return self._newest

    def _run(self) -> None:
        try:
            self._make()
        except AisPromptError as error:
            self._fail(error)
        except Exception as error:  # a page waits, and must hear of it
            what, fix = f"cannot make the index: {exception_line(error)}", "report it"
            self._fail(StoreError(what, where=str(self._folder.view), fix=fix))

    def _make(self) -> None:
        rows = summary_of(self._folder)
        totals = [TaskTotals(task) for task in shown_tasks(self._folder, rows)]
        self._writer = writer = IndexWriter(self._folder, rows, totals)
        shown = 0
        for _ in index_samples(writer, totals, self._folder):
            if writer.parts >= max(2 * shown, 1):
                shown = writer.parts
                self._publish(writer.so_far())
        self._publish(writer.end(), is_whole=True)

    def _publish(self, index: Index, *, is_whole: bool = False) -> None:
        with self._changed:
            self._newest, self._is_whole = index, is_whole
            self._changed.notify_all()

    def _fail(self, error: AisPromptError) -> None:
        with self._changed:
            self._error = error
            self._changed.notify_all()
