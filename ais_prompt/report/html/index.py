"""The table of all samples of a run on the disk, for ``aisprompt view``: a million samples open and filter at once.

``view/samples.arrow`` has one row a sample, and where its prediction and score begin in their files. It is mapped into
memory and not read. ``view/overview.json`` is what a page shows before any sample.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ais_prompt.report.html.overview import TaskTotals, overview
from ais_prompt.report.html.rows import COLUMNS
from ais_prompt.report.html.run_files import shown_tasks, summary_of
from ais_prompt.report.html.task_samples import samples_of
from ais_prompt.report.questions import questions
from ais_prompt.store.disk import reading, replacing
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import ASK_FIRST, NO_ANSWERS
from ais_prompt.store.results import detail_starts, read_json
from ais_prompt.types import Prediction
from ais_prompt.utils.jsonl import encode_finite

if TYPE_CHECKING:
    import pyarrow as pa

STATES: Final = ("right", "partial", "wrong", "scored", "answered", "unparsed", "truncated", "failed")
"""In the order in which they are shown and sorted."""
VERSION: Final = 1
"""Of the two files; those of another version are made again."""
_BATCH: Final = 1000
_FIX: Final = "remove the folder; it is made again"


class Index:
    """The samples of a run.

    Attributes:
        folder: with the scores of the run.
        overview: from `ais_prompt.report.html.overview.overview`.
        table: one row a sample, with `COLUMNS`, ``task``, ``text`` (lower case, to search), ``start`` and
            ``detail_start`` (bytes; -1 without a score).
    """

    def __init__(self, folder: RunFolder) -> None:
        """Open the index; make it if there is none, or the scores are newer.

        Raises:
            StoreError: there are no scores, or the files cannot be read or written.
        """
        import pyarrow as pa

        self.folder = folder
        if not _is_fresh(folder):
            _write(folder)
        self.overview = read_json(folder.view / "overview.json")
        with reading(folder.view, _FIX):
            self.table: pa.Table = pa.ipc.open_file(pa.memory_map(str(folder.view / "samples.arrow"))).read_all()

    @cached_property
    def tasks(self) -> np.ndarray[Any, Any]:
        """The number of the task of each sample."""
        return self._array("task")

    @cached_property
    def states(self) -> np.ndarray[Any, Any]:
        """The place of each sample's state in `STATES`."""
        return self._array("state")

    def _array(self, name: str) -> np.ndarray[Any, Any]:
        found: np.ndarray[Any, Any] = self.table.column(name).to_numpy()
        return found

    def rows(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """Return samples as JSON values, as the page expects them."""
        rows: list[dict[str, Any]] = (
            self.table.select([*COLUMNS, "task"]).take(np.array(numbers, dtype=np.int64)).to_pylist()
        )
        for number, line in zip(numbers, rows, strict=True):
            line |= {"number": int(number), "state": STATES[line["state"]], "columns": json.loads(line["columns"])}
        return rows


def _is_fresh(folder: RunFolder) -> bool:
    """Return whether the index is as new as the scores."""
    try:
        made = (folder.view / "overview.json").stat().st_mtime_ns
        return made >= (folder.summary_dir / "summary.json").stat().st_mtime_ns and _version(folder) == VERSION
    except OSError:
        return False


def _version(folder: RunFolder) -> Any:
    return read_json(folder.view / "overview.json").get("index_version")


def _write(folder: RunFolder) -> None:
    import pyarrow as pa

    rows = summary_of(folder)
    totals = [TaskTotals(task) for task in shown_tasks(folder, rows)]
    folder.view.mkdir(exist_ok=True)
    schema = _schema()
    with (
        replacing(folder.view / "samples.arrow", binary=True) as stream,
        pa.ipc.new_file(stream, schema) as samples,
    ):
        for number, task in enumerate(totals):
            for batch in _batches(number, task, folder):
                samples.write_batch(pa.RecordBatch.from_pydict(batch, schema=schema))
    values = {**overview(folder, rows, totals), "index_version": VERSION}
    with replacing(folder.view / "overview.json", json=True) as stream:
        stream.write(encode_finite(values))


def _schema() -> pa.Schema:
    import pyarrow as pa

    text, whole, number = pa.string(), pa.int64(), pa.float64()
    kinds = {"index": whole, "state": pa.uint8(), "value": number, "tokens": whole, "characters": whole}
    kinds |= {"seconds": number, "task": pa.int32(), "start": whole, "detail_start": whole}
    return pa.schema([(name, kinds.get(name, text)) for name in (*COLUMNS, "task", "text", "start", "detail_start")])


def _batches(number: int, totals: TaskTotals, folder: RunFolder) -> Iterator[dict[str, list[Any]]]:
    """Yield the columns of a task in parts."""
    task = totals.task
    starts = line_starts(folder.predictions(task.model, task.dataset))
    details = detail_starts(folder.results(task.model, task.dataset)) if task.scored else []
    places = count()
    predictions: list[Prediction] = []
    lines: list[dict[str, Any]] = []
    for prediction, _, line in samples_of(totals, folder):
        place = next(places)
        predictions.append(prediction)
        lines.append(
            {
                **line,
                "state": STATES.index(line["state"]),
                "columns": json_text(line["columns"]),
                "task": number,
                "start": int(starts[place]),
                "detail_start": int(details[place]) if place < len(details) else -1,
            }
        )
        if len(lines) == _BATCH:
            yield _columns(predictions, lines)
            predictions, lines = [], []
    if lines:
        yield _columns(predictions, lines)


def _columns(predictions: Sequence[Prediction], lines: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    for question, line in zip(questions(predictions), lines, strict=True):
        line["question"] = question
        line["text"] = "\n".join(line[name] or "" for name in ("id", "question", "extracted", "gold")).lower()
    return {name: [_stored(line[name]) for line in lines] for name in lines[0]}


def _stored(text: Any) -> Any:
    """Return a text that UTF-8 can hold: a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else text


def json_text(value: Any) -> str:
    """Return a value in the one form in which ``columns`` has it and `ais_prompt.report.html.finding` searches it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def line_starts(path: Path) -> np.ndarray[Any, Any]:
    """Return where each line of a file begins, in bytes.

    Raises:
        ConfigError: there is no such file.
        StoreError: it cannot be read.
    """
    starts = [0]
    with reading(path, fix=ASK_FIRST, absent=NO_ANSWERS), path.open("rb") as lines:
        for line in lines:
            starts.append(starts[-1] + len(line))
    return np.array(starts[:-1], dtype=np.int64)
