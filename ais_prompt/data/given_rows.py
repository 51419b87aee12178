"""Rows that a program has in memory: lists of dicts, and frames of pandas, polars, Arrow and `datasets`.

A config that is a dict may have them. The run folder keeps them as files beside its ``config.py``, so that the run can
be resumed and scored again by another process. What JSON does not have, such as a date, becomes a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from ais_prompt.data.table import Table
from ais_prompt.errors import DataError
from ais_prompt.store import reading, replacing
from ais_prompt.utils import Held, digest, encode_plain

SPLIT_NAMES = ("train", "validation", "dev", "test")
"""Names of splits that files and rows in memory can have."""

_FOLDER: Final = "rows"
_ONLY_SPLIT: Final = "test"
_PAIR: Final = ("question", "answer")
_FIX: Final = (
    "give a list of dicts or of pairs (question, answer), a frame of pandas, polars or Arrow, "
    "a dict of column → values, or a dict of split → rows"
)


def hold_rows(rows: Any) -> Held:
    """Return the path that rows will have in a run folder; the text holds their tables.

    Raises:
        DataError: they are no rows.
    """
    tables = tables_of(rows)
    return Held(f"{_FOLDER}/{digest({split: table.digest for split, table in tables.items()}, 12)}", tables)


def tables_of(rows: Any) -> dict[str, Table]:
    """Return split → table; rows without splits are the split ``test``.

    Raises:
        DataError: they are no rows, or there are none.
    """
    splits = rows if isinstance(rows, Mapping) and not _are_columns(rows) else {_ONLY_SPLIT: rows}
    if unknown := [name for name in splits if name not in SPLIT_NAMES]:
        raise DataError(f"rows has the key {unknown[0]!r}, which is no split", fix=_FIX)
    tables = {split: Table.of_rows(map(_plain_row, _dicts(some))) for split, some in splits.items()}
    if not all(map(len, tables.values())) or not tables:
        raise DataError("there are no rows", fix=_FIX)
    return tables


def _are_columns(rows: Mapping[Any, Any]) -> bool:
    """Return whether a dict holds columns: lists of one length, of values that are no rows."""
    columns = [*rows.values()]
    are_lists = all(hasattr(column, "__len__") and not isinstance(column, str | bytes | Mapping) for column in columns)
    if not are_lists or len({*map(len, columns)}) != 1 or rows.keys() & {*SPLIT_NAMES}:
        return False
    return not any(isinstance(value, Mapping) for column in columns for value in column[:1])


def write_rows(rows: str, root: Path) -> None:
    """Write rows below a run folder, unless they are there.

    Args:
        rows: a `Held`, or the path below another run folder that keeps them.
        root: the run folder.

    Raises:
        StoreError: they cannot be read or written.
    """
    if not isinstance(rows, Held):
        kept = {split: Path(rows, f"{split}.jsonl") for split in SPLIT_NAMES}
        for split, file in kept.items():
            if file.is_file() and not (copy := root / _FOLDER / Path(rows).name / f"{split}.jsonl").exists():
                with reading(file, fix="check that you may read it"), replacing(copy) as stream:
                    stream.write(file.read_bytes())
        return
    for split, table in rows.value.items():
        if not (path := root / rows / f"{split}.jsonl").exists():
            with replacing(path) as stream:
                stream.writelines(map(encode_plain, table))


def _dicts(rows: Any) -> Iterator[Any]:
    """Yield the rows of a list or frame; a pair is a question with its answer."""
    if isinstance(rows, Mapping):
        rows = [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
    if type(rows).__module__.partition(".")[0] == "pandas":
        import pyarrow as pa

        rows = pa.Table.from_pandas(rows, preserve_index=False)
    elif not hasattr(rows, "to_batches") and hasattr(rows, "__arrow_c_stream__"):  # polars, among others
        import pyarrow as pa

        rows = pa.table(rows)
    if hasattr(rows, "to_batches"):
        for batch in rows.to_batches():
            yield from batch.to_pylist()
    elif isinstance(rows, Iterable) and not isinstance(rows, str | bytes):
        for row in rows:
            is_pair = isinstance(row, tuple | list) and len(row) == len(_PAIR)
            yield dict(zip(_PAIR, row, strict=True)) if is_pair else row
    else:
        raise DataError(f"rows is of type {type(rows).__name__}, which has no rows", fix=_FIX)


def _plain_row(row: Any) -> dict[str, Any]:
    if not isinstance(row, Mapping) or not all(isinstance(name, str) for name in row):
        raise DataError(f"a row is no dict of column → value: {row!r:.60}", fix=_FIX)
    plain: dict[str, Any] = json.loads(json.dumps(dict(row), default=_plain_value))
    return plain


def _plain_value(value: Any) -> Any:
    if isinstance(value, date | time | Decimal):
        return str(value)
    if hasattr(value, "tolist"):  # of NumPy
        return value.tolist()
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        return dict(value) if isinstance(value, Mapping) else list(value)
    what = f"a row holds {value!r:.60}, of type {type(value).__name__}"
    raise DataError(what, fix="give texts, numbers, lists and dicts; for media, paths of files")
