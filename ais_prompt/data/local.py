"""Read data files on this machine."""

from __future__ import annotations

import codecs
import os
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from ais_prompt.data.file_kinds import UTF8, Format
from ais_prompt.data.formats import missing_file, read_file, reading, split_name
from ais_prompt.data.given_rows import SPLIT_NAMES, tables_of
from ais_prompt.data.row_shape import parse_shape, shaped
from ais_prompt.data.table import Table, join_lines, join_tables
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.registry import READERS
from ais_prompt.utils import Held, listed, split_sheet


@READERS.register_module()
class LocalDataset:
    """Read JSONL, JSON, CSV and TSV, also as ``.gz``, Parquet, sheets, folders of ``save_to_disk``, and rows in memory.

    Args:
        path: a file, which is one split and serves as train and test at once, or a sheet (``FILE.xlsx#SHEET``, else the
            first that is shown); or a folder with ``train.*``, ``validation.*``, ``dev.*`` and ``test.*``, or one that
            `datasets` wrote with ``save_to_disk``.
        data_files: a file, several for one split, or split → file or files; relative to the folder ``path`` if given.
        format: how the files are read; None: each as its ending says, or its content where there is no known ending.
        join_lines: columns of lists of texts that become one text, a line for each entry.
        delimiter: the character between the fields of CSV and TSV; None: a comma or a tab.
        encoding: of CSV and TSV, such as ``gb18030``; other formats are UTF-8.
        quotechar: the quotation mark around fields of CSV and TSV, "" if there is none; None: ``"`` in CSV, and none in
            TSV, where quotation marks are text.
        rows: in place of ``path``, the rows themselves: a list of dicts, or split → list. From Python they may also be
            a frame of pandas, polars, Arrow or `datasets`. A run folder keeps rows of Python as files in ``rows/``.
        shape: what rows mean that are no plain texts, such as a list of options: the keys of
            `ais_prompt.data.row_shape.RowShape`.

    Raises:
        ConfigError: not one of ``path``, ``data_files`` and ``rows`` is given, ``delimiter`` or ``quotechar`` is longer
            than one character, or there is no such encoding.
    """

    def __init__(
        self,
        path: str | None = None,
        data_files: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None = None,
        format: Format | None = None,
        join_lines: Sequence[str] = (),
        delimiter: str | None = None,
        encoding: str = UTF8,
        quotechar: str | None = None,
        rows: Any = None,
        shape: Mapping[str, Any] | None = None,
    ) -> None:
        if bool(path or data_files) == (rows is not None):
            what = "LocalDataset needs path or data_files" if rows is None else "rows are given beside a path"
            raise ConfigError(what, fix="set path to a file or folder, or rows to a list of dicts")
        self._rows = rows.value if isinstance(rows, Held) else rows
        if isinstance(self._rows, str):  # where a run folder keeps them
            path, self._rows = self._rows, None
        _check_csv_form(delimiter, quotechar, encoding)
        self._path = Path(path) if path else None
        self._data_files = data_files
        self._format = format
        self._join_lines = join_lines
        self._read_file = partial(read_file, format=format, delimiter=delimiter, encoding=encoding, quotechar=quotechar)
        self._shape = None if shape is None else parse_shape(shape)
        # Path.is_file raises an error for a name that is too long.
        self._is_file = self._path is not None and os.path.isfile(split_sheet(self._path)[0])  # noqa: PTH113
        self._saved = None
        if self._path is not None and not data_files and not self._is_file:
            from ais_prompt.data.hugging_face import HuggingFaceDataset, is_saved

            self._saved = HuggingFaceDataset(str(self._path)) if is_saved(self._path) else None

    def splits(self) -> tuple[str, ...]:
        """Return the names of the splits.

        Raises:
            DataError: there is no such file or folder, or the folder's files are ambiguous.
        """
        if self._rows is not None:
            return tuple(self._tables)
        return self._saved.splits() if self._saved else tuple(self._files)

    def read(self, split: str) -> Table:
        """Return all rows of a split; several files follow each other.

        Raises:
            DataError: a file cannot be read, or its content is not of its format.
        """
        if self._rows is not None:
            table = self._tables[split]
        elif self._saved:
            table = self._saved.read(split)
        else:
            table = join_tables(list(map(self._read_file, self._files[split])))
        table = join_lines(table, self._join_lines) if self._join_lines else table
        return table if self._shape is None else shaped(table, self._shape)

    @cached_property
    def _tables(self) -> Mapping[str, Table]:
        """The tables of rows in memory; those of a `Held` are made already."""
        made = isinstance(self._rows, Mapping) and all(isinstance(table, Table) for table in self._rows.values())
        return self._rows if made else tables_of(self._rows)

    @cached_property
    def _files(self) -> dict[str, list[Path]]:
        """The files of each split; `splits` and `read` look for them once."""
        if self._path is None or self._data_files:
            return _named_files(self._path or Path(), self._data_files or ())
        if not self._is_file:
            with reading(self._path):  # a name may be too long for the system
                if self._path.is_dir():
                    return _files_of_folder(self._path, self._format)
                if not self._path.exists():  # also true of a link to itself
                    raise missing_file(self._path)
        return {split_name(self._path)[0]: [self._path]}


def _check_csv_form(delimiter: str | None, quotechar: str | None, encoding: str) -> None:
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '\r\n"'):
        raise ConfigError(f"delimiter cannot be {delimiter!r}", fix="write one character, such as ';'")
    if quotechar and (len(quotechar) != 1 or quotechar in "\r\n"):
        raise ConfigError(f"quotechar cannot be {quotechar!r}", fix="write one character, or '' for none")
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise ConfigError(f"there is no encoding {encoding!r}", fix="write a name such as 'gb18030'") from None


def _named_files(
    folder: Path, data_files: str | Sequence[str] | Mapping[str, str | Sequence[str]]
) -> dict[str, list[Path]]:
    splits = data_files if isinstance(data_files, Mapping) else {"test": data_files}
    found = {}
    for split, files in splits.items():
        found[split] = [folder / file for file in ([files] if isinstance(files, str) else files)]
        if not found[split]:
            raise DataError(f"data_files names no file for the split {split!r}", fix="name one, or take the split out")
    return found


def _files_of_folder(folder: Path, wanted: Format | None) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    with reading(folder):
        paths = sorted(folder.iterdir())
    for path in paths:
        name, kind = split_name(path)
        if kind is not None and wanted in (None, kind):
            found.setdefault(name, []).append(path)
    splits = {name: found[name] for name in SPLIT_NAMES if name in found}
    for name, paths in splits.items():
        if len(paths) > 1:
            files = listed(path.name for path in paths)
            fix = "remove one, set format, or name the files with data_files"
            raise DataError(f"several files for the split {name!r}: {files}", where=str(folder), fix=fix)
    if not splits:
        names = [path.name for paths in found.values() for path in paths]
        others = f" (it has {listed(names)})" if names else ""
        fix = "name the files with data_files={'train': ..., 'test': ...}"
        raise DataError(f"no file for {', '.join(SPLIT_NAMES)} in the folder{others}", where=str(folder), fix=fix)
    return splits
