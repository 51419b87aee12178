"""The table of all samples of a run on the disk, for ``aisprompt view``: a million samples open and filter at once.

``view/samples-N.arrow`` have one row a sample, and where its prediction and score begin in their files. They are mapped
into memory and not read. ``view/overview.json`` is what a page shows before any sample; it is written last.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ais_prompt.errors import StoreError
from ais_prompt.report.html.rows import COLUMNS
from ais_prompt.store.disk import reading, writing
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.made_here import is_own
from ais_prompt.store.results import read_json

if TYPE_CHECKING:
    import pyarrow as pa

STATES: Final = ("right", "partial", "wrong", "scored", "answered", "unparsed", "truncated", "failed")
"""In the order in which they are shown and sorted."""
VERSION: Final = 2
"""Of the files; those of another version are made again."""
_FIX: Final = "remove the folder; it is made again"
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Index:
    """The samples of a run, or those that are indexed so far.

    Attributes:
        folder: with the scores of the run.
        overview: from `ais_prompt.report.html.overview.overview`.
        table: one row a sample, with `COLUMNS`, ``task``, ``text`` (lower case, to search), ``start`` and
            ``detail_start`` (bytes; -1 without a score).
    """

    def __init__(self, folder: RunFolder, overview: Mapping[str, Any], parts: int) -> None:
        """Map the first ``parts`` files of samples into memory.

        Raises:
            StoreError: they cannot be read.
        """
        import pyarrow as pa

        self.folder = folder
        self.overview = overview
        with reading(folder.view, _FIX), ExitStack() as files:
            maps = [files.enter_context(pa.memory_map(str(part_file(folder, number)))) for number in range(parts)]
            tables = [pa.ipc.open_file(one).read_all() for one in maps]
        self.table: pa.Table = pa.concat_tables([schema().empty_table(), *tables])

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


def stored_index(folder: RunFolder) -> Index | None:
    """Open the index of a run; None if there is none, the scores are newer, or somebody else made it.

    It is mapped into memory, and a wrong length or offset in it would end the process.
    """
    if not is_own(folder):
        return None
    try:
        made = (folder.view / "overview.json").stat().st_mtime_ns
        if made < (folder.summary_dir / "summary.json").stat().st_mtime_ns:
            return None
        overview = read_json(folder.view / "overview.json")
        return Index(folder, overview, overview["index_parts"]) if overview.get("index_version") == VERSION else None
    except (OSError, StoreError):
        return None


def part_file(folder: RunFolder, number: int) -> Path:
    """Return the file of a part of the samples; parts are counted from 0."""
    return folder.view / f"samples-{number}.arrow"


def forget_parts(folder: RunFolder, number: int) -> None:
    """Remove the parts of an earlier index behind the first ``number``, and the file of version 1.

    Raises:
        StoreError: one cannot be removed.
    """
    kept = {part_file(folder, place) for place in range(number)}
    with writing(folder.view):
        for path in set(folder.view.glob("samples*.arrow")) - kept:
            path.unlink(missing_ok=True)


def schema() -> pa.Schema:
    """Return names and types of the columns of the table."""
    import pyarrow as pa

    text, whole, number = pa.string(), pa.int64(), pa.float64()
    kinds = {"index": whole, "state": pa.uint8(), "value": number, "tokens": whole, "characters": whole}
    kinds |= {"seconds": number, "task": pa.int32(), "start": whole, "detail_start": whole}
    return pa.schema([(name, kinds.get(name, text)) for name in (*COLUMNS, "task", "text", "start", "detail_start")])


def json_text(value: Any) -> str:
    """Return a value in the one form in which ``columns`` has it and `ais_prompt.report.html.finding` searches it."""
    return _ENCODER.encode(value)
