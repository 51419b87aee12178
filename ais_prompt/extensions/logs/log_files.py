"""Files of a log, which may come from anybody: they are bounded, links out of the log are refused, nothing is executed.

A file is recognized by the keys of its first object. Its name is never asked.

A file says little about what it makes of a machine: references repeat a text, a pattern goes on for hours, empty lists
take 30 times their bytes. So a log has one budget for all of its files, in proportion to their size. Each reader spends
it where it makes something, and reads each part of a file a few times at most.
"""

from __future__ import annotations

import importlib
import os
import re
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec import Struct

from ais_prompt.errors import DataError
from ais_prompt.store import LogFormat, reading
from ais_prompt.types import LoggedTask
from ais_prompt.utils import check_values, decode, open_regular

T = TypeVar("T")
LARGEST: Final = 1 << 28
"""Most bytes of a JSON file that is read at once."""
LONGEST_LINE: Final = 1 << 26
"""Most bytes of a line, and of a file in an archive."""
MOST_FILES: Final = 20_000
"""Most files of a folder that are looked at."""
_HEAD: Final = 1 << 18
_ZIP: Final = b"PK\x03\x04"
_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\]:]', re.DOTALL)
"""A text or a mark of JSON. A text without an end is one too, so that its end is looked for once."""

TIMES_ITS_SIZE: Final = 300
"""Most bytes that are made of each byte of a log: logs are text, which is compressed to a twentieth."""
LEAST_BYTES: Final = 1 << 24
SECONDS: Final = 10.0
SECONDS_PER_MEGABYTE: Final = 10.0
"""Most processor time, beside `SECONDS`. A thousand answers, about a megabyte, take one second."""
MOST_METRICS: Final = 100
"""Most metrics of a task: each is averaged by itself."""
OTHER_FILE: Final = "copy the log again, or name another file"


class LogBudget:
    """What is left for one log."""

    def __init__(self) -> None:
        self._bytes, self._seconds = LEAST_BYTES, SECONDS
        self._begun = time.process_time()

    def add(self, size: int) -> None:
        """Count a file of the log, with its size in bytes."""
        self._bytes += TIMES_ITS_SIZE * size
        self._seconds += SECONDS_PER_MEGABYTE * size / 1e6

    def spend(self, size: int, where: str) -> None:
        """Count what was made of the log.

        Args:
            size: bytes, or characters.
            where: the place in the log, for errors.

        Raises:
            DataError: it is more than the log is worth.
        """
        self._bytes -= size
        if self._bytes < 0:
            what = f"it is no log: it makes more than {TIMES_ITS_SIZE} times its size"
            raise DataError(what, where=where, fix=OTHER_FILE)
        if time.process_time() - self._begun > self._seconds:
            what = f"reading it takes more than {self._seconds:.0f} s of processor time"
            raise DataError(what, where=where, fix=OTHER_FILE)


class LogFile(Struct, frozen=True, dict=True):
    """A file that may belong to a log.

    Attributes:
        path: where it is.
        is_archive: whether it is an archive; else it is JSON, or JSON in lines.
        keys: of the first object of JSON; the names of the files of an archive.
        log: the reading that it is a part of.
    """

    path: Path
    is_archive: bool
    keys: frozenset[str]
    log: LogReading

    def has(self, *keys: str) -> bool:
        """Return whether the first object, or the archive, has all of these."""
        return self.keys.issuperset(keys)

    def beside(self) -> list[LogFile]:
        """Return the other files of its folder."""
        return [one for one in self.log.files_at(self.path.parent, deep=False) if one.path != self.path]

    @cached_property
    def value(self) -> Any:
        """The whole value of a JSON file.

        Raises:
            DataError: it is too large, or no JSON.
        """
        with reading(self.path, fix=OTHER_FILE), open_regular(self.path) as stream:
            content = stream.read(LARGEST + 1)
            _check_size(len(content), LARGEST, str(self.path))
            return _parsed(content, str(self.path), self.log.budget)

    def lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield where each object of a JSONL file begins, in bytes, and the object.

        Raises:
            DataError: a line is too long or no object.
        """
        with reading(self.path, fix=OTHER_FILE), open_regular(self.path) as stream:
            start = 0
            for number, line in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), 1):
                where = f"{self.path}:{number}"
                _check_size(len(line), LONGEST_LINE, where)
                if line.strip():
                    yield start, as_object(_parsed(line, where, self.log.budget), where)
                start += len(line)

    def lines_at(self, starts: Iterable[int]) -> Iterator[dict[str, Any]]:
        """Yield the objects of `lines` that begin at some places."""
        where = str(self.path)
        with reading(self.path, fix=OTHER_FILE), open_regular(self.path) as stream:
            for start in starts:
                stream.seek(start)
                yield as_object(_parsed(stream.readline(LONGEST_LINE), where, self.log.budget), where)


class Archive:
    """An archive of JSON files, read one file at a time and never unpacked to the disk."""

    def __init__(self, path: Path, budget: LogBudget) -> None:
        """Open an archive.

        Raises:
            DataError: it is broken, or is far larger than it looks.
        """
        self._path = path
        self._budget = budget
        try:
            self._zip = zip_file()(path)
        except Exception as error:  # a broken archive raises whatever its bytes lead to
            raise DataError(f"the archive cannot be read: {error}", where=str(path), fix=OTHER_FILE) from None
        self.names = self._zip.namelist()
        size = sum(member.file_size for member in self._zip.infolist())
        if size > TIMES_ITS_SIZE * path.stat().st_size + _HEAD:
            raise DataError(
                f"the archive is no log: {size:,} bytes unpacked, more than {TIMES_ITS_SIZE} times its size",
                where=str(path),
                fix=OTHER_FILE,
            )

    def read(self, name: str) -> Any:
        """Return the value of a JSON file.

        Raises:
            DataError: it is missing, broken, too large, or no JSON.
        """
        where = f"{self._path}, {name}"
        try:
            with self._zip.open(name) as stream:
                content = stream.read(LONGEST_LINE + 1)
        except Exception as error:  # as above; zlib, zstd and zipfile have errors of their own
            raise DataError(f"the archive cannot be read: {error}", where=where, fix=OTHER_FILE) from None
        _check_size(len(content), LONGEST_LINE, where)
        return _parsed(content, where, self._budget)


class LogReading:
    """One reading of a log, which looks at each of its files once.

    Attributes:
        path: the file or folder that a user has named.
        budget: what is left for it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.budget = LogBudget()
        self._known: dict[Path, LogFile | None] = {}

    @cached_property
    def files(self) -> list[LogFile]:
        """The files at its path; errors are those of `files_at`."""
        return self.files_at(self.path)

    def files_at(self, path: Path, *, deep: bool = True) -> list[LogFile]:
        """Return the files of JSON, and the archives, at a path: the file itself, or those of a folder.

        Raises:
            DataError: the folder has too many files, or links that lead out of it.
            ReadError: a file cannot be read.
        """
        paths = [path]
        if path.is_dir():
            paths = sorted(_walked(path) if deep else (one for one in path.iterdir() if one.is_file()))
        self.budget.spend(len(paths), str(path))
        return [found for one in paths if (found := self._looked_at(one))]

    def _looked_at(self, path: Path) -> LogFile | None:
        """Return a file if it is JSON or an archive."""
        if path not in self._known:
            with reading(path, fix="check the path"), open_regular(path) as stream:
                self.budget.add(os.fstat(stream.fileno()).st_size)
                head = stream.read(_HEAD)
            self._known[path] = self._of_head(path, head)
        return self._known[path]

    def _of_head(self, path: Path, head: bytes) -> LogFile | None:
        if head.startswith(_ZIP):
            return LogFile(path, True, frozenset(Archive(path, self.budget).names), self)
        text = head.decode("utf-8-sig", "replace").lstrip()
        return LogFile(path, False, _first_keys(text), self) if text.startswith(("{", "[")) else None


def of_files(
    name: str, recognizes: Callable[[LogFile], bool], read: Callable[[Sequence[LogFile]], Iterator[LoggedTask]]
) -> LogFormat:
    """Return a format whose files are recognized one by one.

    Args:
        name: of the tool.
        recognizes: whether a file has answers or scores in this format, by its content.
        read: reads the tasks of the files that it recognizes.
    """
    return LogFormat(
        name,
        lambda log: any(map(recognizes, log.files)),
        lambda log: read([file for file in log.files if recognizes(file)]),
    )


def as_object(value: Any, where: str) -> dict[str, Any]:
    """Return a value that must be an object.

    Raises:
        DataError: it is something else.
    """
    if not isinstance(value, dict):
        raise DataError(f"an object is expected, not {type(value).__name__}", where=where, fix=OTHER_FILE)
    return value


def mapping(value: Any, *keys: str) -> Mapping[str, Any]:
    """Return the object below some keys of a value; an empty one if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def first_of(values: Any) -> Mapping[str, Any]:
    """Return the first object of a list; an empty one if there is none."""
    return mapping(values[0]) if values else {}


def grouped(items: Sequence[T], group: Callable[[T], Any], place: Callable[[T], int]) -> list[T]:
    """Return items so that those of a group follow each other, in the order of their places.

    The groups are in the order of their first items.
    """
    order = {name: number for number, name in enumerate(dict.fromkeys(map(group, items)))}
    return sorted(items, key=lambda one: (order[group(one)], place(one)))


def _walked(folder: Path) -> Iterator[Path]:
    root = folder.resolve()
    count = 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in names:
            count += 1
            if count > MOST_FILES:
                what = f"the folder has more than {MOST_FILES:,} files"
                raise DataError(what, where=str(folder), fix="name the folder of one log")
            path = Path(place, name)
            if path.is_symlink() and not path.resolve().is_relative_to(root):
                what = "the name leads out of the run folder or log"
                raise DataError(what, where=str(path), fix="put the file itself there")
            yield path


def _first_keys(text: str) -> frozenset[str]:
    """Return the keys of the first object of JSON, which may be cut off."""
    depth, last, keys = 0, "", set()
    for token in _TOKEN.finditer(text, max(text.find("{"), 0)):
        found = token[0]
        if found in "{[":
            depth += 1
        elif found in "}]":
            depth -= 1
            if depth <= 0:
                break
        elif found == ":" and depth == 1:
            keys.add(last[1:-1])
        last = found
    return frozenset(keys)


def zip_file() -> Callable[..., zipfile.ZipFile]:
    """Return what opens an archive, with zstd (method 93) where Python does not know it."""
    try:
        home: Any = importlib.import_module("backports.zstd.zipfile")
    except ImportError:  # Python 3.14 knows zstd
        home = zipfile
    opened: Callable[..., zipfile.ZipFile] = home.ZipFile
    return opened


def _check_size(size: int, most: int, where: str) -> None:
    if size > most:
        raise DataError(f"it is too large: more than {most:,} bytes", where=where, fix=OTHER_FILE)


def _parsed(content: bytes, where: str, budget: LogBudget) -> Any:
    budget.spend(len(content), where)
    check_values(content, where)
    try:
        return decode(content.decode("utf-8-sig"))
    except ValueError as error:
        raise DataError(f"the log is not JSON: {error}", where=where, fix=OTHER_FILE) from None
