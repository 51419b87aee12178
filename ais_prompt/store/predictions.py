"""``predictions/<model>/<dataset>.jsonl``: one prediction a line, in sample order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ais_prompt.errors import DataError
from ais_prompt.store.disk import reading, replacing
from ais_prompt.types import Prediction
from ais_prompt.utils.jsonl import encode, read_objects


def write_predictions(path: Path, predictions: Iterable[Prediction]) -> None:
    """Write the predictions of a task, whole or not at all.

    Raises:
        StoreError: they cannot be written; what the file held before stays as it was.
    """
    with replacing(path) as stream:
        for prediction in predictions:
            stream.write(encode(prediction.to_json()))


def read_predictions(path: Path) -> Iterator[Prediction]:
    """The predictions of a task, one at a time.

    Raises:
        StoreError: there is no such file, or it cannot be read.
        DataError: a line is not a prediction; it names the line.
    """
    with reading(path, mend="ask the model first: -m infer, or -m all"), path.open("rb") as lines:
        for number, values in read_objects(lines, str(path)):
            try:
                prediction = Prediction.from_json(values)
            except (KeyError, TypeError, AttributeError) as error:
                raise DataError(
                    f"the line is not a prediction: {error!r}",
                    where=f"{path}:{number}",
                    mend="remove the file and go on with -r: answers are in the journal, nothing is asked again",
                ) from None
            yield prediction
