"""The reader of famous benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from ais_prompt.data import (
    HuggingFaceDataset,
    NumberedRow,
    Table,
    find_data,
    missing_data,
    missing_file,
    require_data,
    store_rows,
)
from ais_prompt.errors import AisPromptError, ConfigError, DataError
from ais_prompt.extensions.benchmarks.layouts import bfcl_questions, exact, multiple_choice, reading
from ais_prompt.extensions.benchmarks.layouts.file_layout import Call, Layout, Numbered, unchanged
from ais_prompt.parts import exception_line
from ais_prompt.registry import READERS
from ais_prompt.utils import listed, nearest


@READERS.register_module()
class BenchmarkDataset:
    """Read a famous benchmark from the files that OpenCompass and AISBench use, with the columns of their loaders.

    Args:
        loader: name of the class there, such as ``GSM8KDataset``. docs/reference/counterparts.md lists all.
        path: an id such as ``opencompass/gsm8k``, a path such as ``./data/gpqa/``, or a hub id. It is looked up where
            the two programs keep data: ``$COMPASS_DATA_CACHE``, ``$AIS_BENCH_DATASETS_CACHE``, the working directory,
            ~/.cache/opencompass, and the folder of an installed AISBench.
        arguments: other arguments of the class, such as ``name``.

    Raises:
        ConfigError: there is no layout of this name, or an argument is missing or unknown.
    """

    def __init__(self, loader: str, path: str, **arguments: Any) -> None:
        self._loader = loader
        self._layout = _layout(loader)
        self._path = path
        self._arguments = {**self._layout.defaults, **arguments}
        known = self._layout.required | self._layout.defaults.keys()
        # A file of its own needs no name, but a config may give one.
        wrong = [name for name in arguments if name not in {*known, "name"}]
        missing = [] if self._layout.alone else sorted(self._layout.required - arguments.keys())
        if wrong or missing:
            problem = f"has no argument {wrong[0]!r}" if wrong else f"needs the argument {missing[0]!r}"
            raise ConfigError(f"{loader} {problem}", fix=f"its arguments: {listed(sorted({'path', *known}))}")

    def splits(self) -> tuple[str, ...]:
        """Return the names of the splits.

        Raises:
            DataError: there are no such data.
        """
        if self._is_loaded:
            return self._hub.splits()
        return tuple(self._files())

    def read(self, split: str) -> Table:
        """Return all rows of a split.

        Raises:
            DataError: a file is not there, cannot be read, or does not have the layout.
        """
        call = Call(split, self._arguments)
        if self._is_loaded:
            table = self._hub.read(split)
            if self._layout.rows is unchanged:
                return table
            stored = store_rows(self._rows(enumerate(table), call, self._path), lambda row: f"{self._path}, row {row}")
            return self._filled(stored, table.origins)
        files = self._files()[split]
        read = (numbered for file in files for numbered in self._read(file))
        where = str(files[-1])
        return self._filled(
            store_rows(self._rows(read, call, where), lambda line: f"{where}:{line}"), [*map(str, files)]
        )

    def _read(self, file: Path) -> Iterator[Numbered]:
        if not file.exists():
            fault = missing_file(file)
            fault.fix = self._layout.source or fault.fix
            raise fault
        return self._layout.read(file)

    def _rows(self, values: Iterator[Numbered], call: Call, where: str) -> Iterator[NumberedRow]:
        """Yield the rows of raw values, with the number of the value that each was made of."""
        last = 0

        def unnumbered() -> Iterator[Any]:
            nonlocal last
            for last, value in values:  # noqa: B007  # read below
                yield value

        try:
            for row in self._layout.rows(unnumbered(), call):
                yield last, row
        except AisPromptError:
            raise
        except Exception as error:  # a file of another layout can break a mapping in any way
            what = f"this is not what {self._loader} expects: {exception_line(error)}"
            raise DataError(
                what, where=f"{where}:{last}", fix="check that path leads to the files of this benchmark"
            ) from error

    def _filled(self, stored: Any, origins: Any) -> Table:
        table = Table(stored, origins)
        if not len(table):
            chosen = {name: value for name, value in self._arguments.items() if value is not None}
            raise DataError(f"{self._loader} has no rows", where=self._path, fix=f"check its arguments: {chosen}")
        return table

    @property
    def _is_loaded(self) -> bool:
        """Whether `datasets` loads the data; a file that is there is read here if the layout knows how."""
        if self._layout.loaded is None:
            return False
        found = find_data(self._path)
        return not (self._layout.alone and found is not None and found.is_file())

    @cached_property
    def _hub(self) -> HuggingFaceDataset:
        assert self._layout.loaded is not None
        arguments = dict(self._layout.loaded(self._arguments))
        if arguments.get("data_files"):
            arguments["data_files"] = _located(arguments["data_files"])
        return HuggingFaceDataset(str(find_data(self._path) or self._path), **arguments)

    def _files(self) -> Mapping[str, list[Path]]:
        """Return the files of each split; one that is only needed by another split may be missing."""
        root = require_data(self._path)
        if root.is_file():
            if not self._layout.alone:
                fix = "give the folder that holds the files of all splits"
                raise DataError(f"{self._loader} needs a folder", where=str(root), fix=fix)
            return {split: [root] for split in self._layout.alone}
        found = {}
        for split, files in self._layout.files.items():
            patterns = [files] if isinstance(files, str) else files
            found[split] = [root / pattern.format(**self._arguments) for pattern in patterns]
        if not found:
            raise DataError(f"{self._loader} needs a file", where=str(root), fix="give the path of the file")
        return found


def _layout(loader: str) -> Layout:
    if loader in LAYOUTS:
        return LAYOUTS[loader]
    near = nearest(loader, LAYOUTS)
    fix = f"did you mean {near!r}?" if near else f"known ones: {listed(sorted(LAYOUTS))}"
    raise ConfigError(f"there is no layout for {loader!r}", fix=fix)


def _located(files: Any) -> Any:
    """Return data files with each path as it is found.

    Raises:
        DataError: one is nowhere.
    """
    if isinstance(files, str):
        if "://" in files or any(sign in files for sign in "*?["):
            return files
        found = find_data(files)
        if found is None:
            raise missing_data(files)
        return str(found)
    if isinstance(files, Mapping):
        return {split: _located(names) for split, names in files.items()}
    return [_located(name) for name in files]


LAYOUTS: Final[Mapping[str, Layout]] = {
    **multiple_choice.KNOWLEDGE,
    **exact.LAYOUTS,
    **multiple_choice.LAYOUTS,
    **reading.LAYOUTS,
    **reading.LANGUAGE_TASKS,
    **reading.LONG_TEXTS,
    **bfcl_questions.LAYOUTS,
}
