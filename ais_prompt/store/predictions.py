"""``predictions/<model>/<dataset>.jsonl``: one prediction a line, in sample order."""

from __future__ import annotations

import os
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import NoneType
from typing import BinaryIO, Final

import numpy as np

from ais_prompt.errors import DataError
from ais_prompt.store.disk import reading, replacing, unwritable, writing
from ais_prompt.types import Prediction
from ais_prompt.utils.files import open_regular
from ais_prompt.utils.guard import exception_line
from ais_prompt.utils.jsonl import encode, encode_plain, read_objects
from ais_prompt.utils.secrets import SECRETS

_PLAIN: Final = {str, int, float, bool, NoneType}
"""Types of a gold that JSON knows. Data has others too, such as dates."""


class PredictionSorter:
    """Accept predictions in any order, and return them in sample order.

    They are kept in a file; memory holds only the position of each.
    """

    def __init__(self, file: BinaryIO, path: Path) -> None:
        """Use `sorted_predictions`."""
        self._file = file
        self._path = path
        self._indices = array("q")  # of the samples, in the order of arrival
        self._starts = array("q", [0])  # in the file; the last entry is its end

    def add(self, prediction: Prediction) -> None:
        """Add a prediction; each sample has one.

        Raises:
            StoreError: it cannot be written.
        """
        line = (encode_plain if type(prediction.gold) in _PLAIN else encode)(prediction.to_json())
        line = SECRETS.hide_in_json(line)
        try:
            self._file.write(line)
        except OSError as error:
            raise unwritable(self._path, error) from error
        self._indices.append(prediction.index)
        self._starts.append(self._starts[-1] + len(line))

    def lines(self) -> Iterator[bytes]:
        """Yield the lines in sample order."""
        self._file.flush()
        for place in np.argsort(np.frombuffer(self._indices, dtype=np.int64), kind="stable"):
            start, end = self._starts[place], self._starts[place + 1]
            yield os.pread(self._file.fileno(), end - start, start)


@contextmanager
def sorted_predictions(path: Path) -> Iterator[PredictionSorter]:
    """Write the predictions of a task as they come. At the end of the body the file is replaced, complete and sorted.

    If the body raises, the file keeps its earlier content.

    Raises:
        StoreError: they cannot be written.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115  # it has no name, and is removed when the process ends
    try:
        sorter = PredictionSorter(file, path)
        yield sorter
        with replacing(path, json=True, restorable=True) as stream:
            stream.writelines(sorter.lines())
    finally:
        with suppress(OSError):  # data that a full disk refused is not needed any more
            file.close()


def write_predictions(path: Path, predictions: Iterable[Prediction]) -> None:
    """Write all predictions of a task.

    Raises:
        StoreError: they cannot be written; the file keeps its earlier content.
    """
    with sorted_predictions(path) as sorter:
        for prediction in predictions:
            sorter.add(prediction)


def read_predictions(path: Path, *, with_prompts: bool = True) -> Iterator[Prediction]:
    """Yield the predictions of a task.

    Args:
        path: the file.
        with_prompts: False leaves the prompts out, which saves time where they are not needed.

    Raises:
        StoreError: there is no such file, or it cannot be read.
        DataError: a line is not a prediction; it names the line.
    """
    with reading(path, fix="ask the model first: -m infer, or -m all"), open_regular(path) as lines:
        for number, values in read_objects(lines, str(path), own=True):
            try:
                prediction = Prediction.from_json(values, with_prompt=with_prompts)
            except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
                raise DataError(
                    f"the line is not a prediction: {exception_line(error)}",
                    where=f"{path}:{number}",
                    fix="remove the file and go on with -r: answers are in the journal, nothing is asked again",
                ) from None
            yield prediction
