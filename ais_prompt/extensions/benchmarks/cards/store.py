"""Store the rows of a benchmark as Parquet with our columns, and write ``data.lock``."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from ais_prompt.data import Row, Table, parse_shape, rows_of
from ais_prompt.errors import AisPromptError, DataError
from ais_prompt.extensions.benchmarks.card import LOCK, Card
from ais_prompt.extensions.benchmarks.cards.catalog_dataset import (
    DataLock,
    SourceFile,
    SplitLock,
    changed_file,
    ids_file,
    read_lock,
    split_file,
)
from ais_prompt.extensions.benchmarks.cards.publisher_files import FoundFile, raw_rows
from ais_prompt.extensions.benchmarks.cards.publisher_rows import FOLDER, MEDIA_ROWS, ROWS, marked
from ais_prompt.parts import exception_line
from ais_prompt.utils import encode, file_digest, listed


def built(
    card: Card, files: Sequence[FoundFile], kind: Literal["hub", "files"], origin: str, revision: str = ""
) -> tuple[Path, DataLock]:
    """Make the stored form of a benchmark in a new folder beside that of its data, for `install`.

    Args:
        card: the benchmark.
        files: the publisher's files.
        kind, origin, revision: as in `DataLock`.

    Raises:
        DataError: a file is of another version: it lacks a column, or a value is of another kind.
        OSError: the disk does not take them.
    """
    with _new_folder(card) as folder:
        splits = {}
        for split in dict.fromkeys(one.split for one in files):
            parts = [one for one in files if one.split == split]
            table = Table.of_rows(_rows(card, parts, folder), [part.name for part in parts])
            if not len(table):
                fix = f"bring the files again: {card.source}"
                raise DataError(f"{card.name} has no rows in the split {split!r}", where=str(parts[0].path), fix=fix)
            splits[split] = _stored(table, folder, split)
        sources = {one.name: SourceFile(one.path.stat().st_size, file_digest(one.path)) for one in files}
        lock = DataLock(card.name, origin, kind, sources, splits, revision)
        (folder / LOCK).write_bytes(encode(msgspec.to_builtins(lock), indent=2))
    return folder, lock


def copied(card: Card, source: Path) -> tuple[Path, DataLock]:
    """Copy the stored form of a benchmark, which has a lock, from another machine; as `built`.

    Raises:
        DataError: a file is not that of the lock.
        OSError: the disk does not take them.
    """
    lock = read_lock(card, source)
    with _new_folder(card) as folder:
        for split in lock.splits:
            if error := changed_file(source, lock, split):
                raise error
            shutil.copyfile(split_file(source, split), split_file(folder, split))
            if ids_file(source, split).is_file():
                shutil.copyfile(ids_file(source, split), ids_file(folder, split))
        if (source / FOLDER).is_dir():
            shutil.copytree(source / FOLDER, folder / FOLDER)
        shutil.copyfile(source / LOCK, folder / LOCK)
    return folder, lock


@contextmanager
def _new_folder(card: Card) -> Iterator[Path]:
    """Make an empty folder beside that of the data; it is removed if the body raises."""
    folder = card.data.with_name(f".{card.name}-{secrets.token_hex(4)}")
    folder.mkdir(parents=True)
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def install(card: Card, folder: Path) -> None:
    """Put a folder of `built` in the place of the data that are there."""
    if card.data.exists():
        shutil.rmtree(card.data)
    folder.replace(card.data)


def _stored(table: Table, folder: Path, split: str) -> SplitLock:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = split_file(folder, split)
    schema = pa.Table.from_pylist(list(table)).schema  # lists are lists of Parquet: other programs read these files
    with pq.ParquetWriter(file, schema) as writer:
        for batch in table.batches:
            writer.write_batch(pa.RecordBatch.from_pylist(rows_of(batch, table.columns), schema=schema))
    ids_file(folder, split).write_text("".join(f"{one}\n" for one in table.row_ids), "ascii")
    return SplitLock(len(table), table.digest, file_digest(file))


def _rows(card: Card, files: Sequence[FoundFile], folder: Path) -> Iterator[Row]:
    """Yield the rows of files with the columns of the card; their images are written below the folder."""
    for file in files:
        row: Row = {}
        number = -1
        try:
            for number, row in enumerate(raw_rows(file)):  # noqa: B007  # read below
                yield _row(card, row, folder)
        except AisPromptError:
            raise
        except MemoryError as error:
            fix = "use a machine with more memory, or other files"
            raise DataError("there is not enough memory for the file", where=str(file.path), fix=fix) from error
        except Exception as error:  # another version can break a mapping in any way
            raise _other_version(card, file, number, row, error) from error


def _row(card: Card, row: Row, folder: Path) -> Row:
    """Return a row with the columns of the card.

    Raises:
        _OtherValueError: a column has objects, which a template would show as Python writes them.
        KeyError: a column is missing.
    """
    make = {**ROWS, **MEDIA_ROWS}[card.rows] if card.rows else parse_shape(card.shape).row
    made = make({**row, **{ours: row[theirs] for ours, theirs in card.rename.items()}})
    if card.rows in MEDIA_ROWS:
        made["content"] = marked(made["content"], folder, card.name)
    found = {column: made[column] for column in card.columns}
    if objects := [column for column, value in found.items() if isinstance(value, Mapping)]:
        raise _OtherValueError(f"the column {objects[0]!r} has objects")
    return found


class _OtherValueError(Exception):
    """A value of another kind than the card describes."""


def _other_version(card: Card, file: FoundFile, number: int, row: Row, error: Exception) -> DataError:
    why = exception_line(error)
    if isinstance(error, KeyError):
        why = f"no column {error.args[0]!r} (it has {listed(map(repr, row))})"
    elif isinstance(error, _OtherValueError):
        why = str(error)
    return DataError(
        f"the file is of another version of {card.name}: {why}",
        where=f"{file.path}, row {number}" if number >= 0 else str(file.path),
        fix=f"bring the version that the card describes: {card.source}",
    )
