"""Answers of other models that a judge compares with, as OpenCompass keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from ais_prompt.errors import DataError
from ais_prompt.readers.data_path import data_folders


class KnownAnswers(Struct, frozen=True):
    """The answers of a model to a dataset.

    Attributes:
        file: where they are.
        entries: number of the row → its answer.
    """

    file: Path
    entries: Mapping[int, Any]

    def of(self, row: int) -> Any:
        """Return the answer to a row: a text, or the rounds of a dialogue.

        Raises:
            DataError: there is none.
        """
        if row not in self.entries:
            raise DataError(f"there is no answer to row {row}", where=str(self.file), fix="give the whole file")
        return self.entries[row]


class AnsweredModel(Struct, frozen=True):
    """A model whose answers are there already.

    Attributes:
        abbr: its name.
        path: a JSON file ``{"0": {"prediction": …}, …}``, or a folder with one for each dataset, whole (``abbr.json``)
            or in parts (``abbr_0.json``, …).
    """

    abbr: str
    path: str

    def answers(self, dataset: str) -> KnownAnswers:
        """Read its answers to a dataset.

        Raises:
            DataError: they are absent, or cannot be read.
        """
        places = [folder / self.path for folder in data_folders(Path(self.path))]
        for place in places:
            if files := _files(place, dataset):
                return KnownAnswers(files[0], dict(enumerate(answer for file in files for answer in _read(file))))
        searched = ", ".join(str(place) for place in dict.fromkeys(places))
        raise DataError(
            f"there are no answers of the model {self.abbr!r} to {dataset!r} (searched: {searched})",
            fix=f"put its predictions there as {dataset}.json, or set COMPASS_DATA_CACHE to the folder of {self.path}",
        )


def _files(place: Path, dataset: str) -> list[Path]:
    if place.is_file():
        return [place]
    if (whole := place / f"{dataset}.json").is_file():
        return [whole]
    parts: list[Path] = []
    while (part := place / f"{dataset}_{len(parts)}.json").is_file():
        parts.append(part)
    return parts


def _read(file: Path) -> list[Any]:
    try:
        entries = json.loads(file.read_text("utf-8"))
        return [entries[str(number)]["prediction"] for number in range(len(entries))]
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"it does not hold predictions: {type(error).__name__}: {error}"
        raise DataError(what, where=str(file), fix='write it as {"0": {"prediction": "..."}, ...}') from error
