"""``predictions/<model>/<dataset>.jsonl``: one prediction a line, in sample order."""

from __future__ import annotations

import os
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from types import NoneType
from typing import Any, BinaryIO, Final

import numpy as np
from msgspec import Struct, convert
from msgspec.json import Decoder

from ais_prompt.errors import DataError
from ais_prompt.parts import exception_line
from ais_prompt.secrets import SECRETS
from ais_prompt.store.disk import reading, replacing, writing
from ais_prompt.types import Prediction
from ais_prompt.utils import decode_own, encode, encode_plain, open_regular, read_objects

NO_ANSWERS: Final = "there are no answers yet"
ASK_FIRST: Final = "ask the model first: -m infer, or -m all"
BROKEN_FIX: Final = "remove the file and go on with -r: answers are in the journal, nothing is asked again"
IN_MEMORY: Final = 2**16
"""Bytes of predictions of a task that are kept in memory. Small tasks are many, and need no file then."""
_PLAIN: Final = {str, int, float, bool, NoneType}
"""Types of a gold that JSON knows. Data has others too, such as dates."""


class PredictionSorter:
    """Accept predictions in any order, and write them in sample order.

    A few are kept in memory, more in a file without a name, which is removed when the process ends. Of those, memory
    holds only their positions.

    Attributes:
        failed: how many of them have no answer.
    """

    def __init__(self, path: Path) -> None:
        """Use `prediction_sorter`."""
        self.failed = 0
        self._path = path
        self._newest = bytearray()  # lines that are not in the file
        self._file: BinaryIO | None = None
        self._indices = array("q")  # of the samples, in the order of arrival
        self._starts = array("q", [0])  # of the lines; the last entry is their end

    def add(self, prediction: Prediction) -> None:
        """Add a prediction; each sample has one.

        Raises:
            StoreError: it cannot be written.
        """
        line = (encode_plain if type(prediction.gold) in _PLAIN else encode)(prediction.to_json())
        self.add_line(prediction.index, SECRETS.hide_in_json(line), failed=prediction.failed)

    def add_line(self, index: int, line: bytes, *, failed: bool) -> None:
        """Add a prediction that was written before, as `stored_lines` returns it.

        Raises:
            StoreError: it cannot be written.
        """
        self._newest += line
        self._indices.append(index)
        self._starts.append(self._starts[-1] + len(line))
        self.failed += failed
        if len(self._newest) > IN_MEMORY:
            with writing(self._path):
                self._put_away()

    def __len__(self) -> int:
        """Return the number of predictions."""
        return len(self._indices)

    def write(self, path: Path) -> None:
        """Replace a file of predictions, whole or not at all.

        Raises:
            StoreError: it cannot be written.
        """
        with replacing(path, json=True, restorable=True) as stream:
            stream.writelines(self._lines())

    def _lines(self) -> Iterator[bytes]:
        """Yield the lines in sample order."""
        if self._file is not None:
            self._put_away()
        for place in np.argsort(np.frombuffer(self._indices, dtype=np.int64), kind="stable"):
            start, end = self._starts[place], self._starts[place + 1]
            if self._file is None:
                yield bytes(self._newest[start:end])
            else:
                yield os.pread(self._file.fileno(), end - start, start)

    def close(self) -> None:
        """Remove the file."""
        if self._file is not None:
            with suppress(OSError):  # data that a full disk refused is not needed any more
                self._file.close()

    def _put_away(self) -> None:
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(dir=self._path.parent)  # noqa: SIM115  # `close` closes it
        self._file.write(self._newest)
        self._file.flush()
        self._newest.clear()


def prediction_sorter(path: Path) -> AbstractContextManager[PredictionSorter]:
    """Collect predictions beside a file. The file is left as it is; `PredictionSorter.write` writes them.

    Raises:
        StoreError: the disk does not take them.
    """
    return closing(PredictionSorter(path))


def write_predictions(path: Path, predictions: Iterable[Prediction]) -> None:
    """Write all predictions of a task.

    Raises:
        StoreError: they cannot be written; the file keeps its earlier content.
    """
    with prediction_sorter(path) as sorter:
        for prediction in predictions:
            sorter.add(prediction)
        sorter.write(path)


class _Answer(Struct):
    failure: Any = None


class _Head(Struct):
    """The parts of a line that say whose it is and whether it has an answer."""

    index: int
    completions: list[_Answer]


_HEAD: Final = Decoder(_Head)


def stored_lines(path: Path) -> Iterator[tuple[int, bool, bytes]]:
    """Yield each line of a file of predictions, with its index and whether it has failed, without reading all of it.

    Raises:
        StoreError: it cannot be read.
        ValueError: a line is not a prediction.
    """
    with reading(path, fix="remove the file: its answers are in the journal"), open_regular(path) as lines:
        for line in lines:
            try:
                head = _HEAD.decode(line)
            except ValueError:  # a lone surrogate or NaN, or no prediction
                head = convert(decode_own(line), _Head)
            yield head.index, any(answer.failure is not None for answer in head.completions), line


def read_predictions(path: Path, *, with_prompts: bool = True) -> Iterator[Prediction]:
    """Yield the predictions of a task.

    Args:
        path: the file.
        with_prompts: False leaves the prompts out, which saves time where they are not needed.

    Raises:
        ConfigError: there is no such file: the model was not asked yet.
        StoreError: it cannot be read.
        DataError: a line is not a prediction; it names the line.
    """
    with reading(path, fix=ASK_FIRST, absent=NO_ANSWERS), open_regular(path) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                prediction = Prediction.from_line(line, with_prompt=with_prompts)
            except (KeyError, TypeError, ValueError):
                yield from _read_slowly(line, path, number, with_prompts)
            else:
                yield prediction


def _read_slowly(line: bytes, path: Path, number: int, with_prompts: bool) -> Iterator[Prediction]:
    """Yield the prediction of a line of any JSON; nothing if the line is blank.

    Raises:
        DataError: it is not a prediction.
    """
    for _, values in read_objects([line], str(path), own=True, start=number):
        try:
            yield Prediction.from_json(values, with_prompt=with_prompts)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise DataError(
                f"the line is not a prediction: {exception_line(error)}",
                where=f"{path}:{number}",
                fix=BROKEN_FIX,
            ) from None


def read_prediction(path: Path, start: int) -> Prediction:
    """Return the prediction whose line begins at a place in a file, in bytes.

    Raises:
        ConfigError: there is no such file.
        StoreError: it cannot be read.
        DataError: there is none.
    """
    with reading(path, fix=ASK_FIRST, absent=NO_ANSWERS), open_regular(path) as lines:
        lines.seek(start)
        line = lines.readline()
    try:
        return Prediction.from_json(decode_own(line))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        what = f"the line is not a prediction: {exception_line(error)}"
        raise DataError(what, where=str(path), fix=BROKEN_FIX) from None
