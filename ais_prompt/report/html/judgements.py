"""What judges were asked about the answers of a task, and what they said."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.json import Decoder

from ais_prompt.errors import DataError
from ais_prompt.store.disk import reading
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import read_prediction
from ais_prompt.types import Prediction
from ais_prompt.utils.files import open_regular
from ais_prompt.utils.guard import exception_line
from ais_prompt.utils.jsonl import decode_own


class _Head(Struct):
    id: str


class Judgements:
    """Find the judgements of a sample. Memory holds where their lines begin.

    Args:
        folder: of the run.
        model, dataset: ``abbr`` of the judged task.

    Raises:
        StoreError, DataError: a file cannot be read.
    """

    def __init__(self, folder: RunFolder, model: str, dataset: str) -> None:
        self._places: defaultdict[str, list[tuple[Path, int]]] = defaultdict(list)
        judge = folder.judge(model)
        name = judge.predictions("", dataset).name
        for path in sorted(judge.root.glob("predictions/*")):
            if (path / name).exists():
                self._find(path / name)

    def of(self, sample_id: str) -> list[Prediction]:
        """Return what judges were asked about a sample, in order: one prediction for each different answer.

        Raises:
            StoreError, DataError: the file was changed meanwhile.
        """
        return [read_prediction(*place) for place in self._places.get(sample_id, ())]

    def _find(self, path: Path) -> None:
        decoder = Decoder(_Head)
        with reading(path, fix=_FIX), open_regular(path) as lines:
            start = 0
            for number, line in enumerate(lines, 1):
                try:
                    name = decoder.decode(line).id
                except ValueError:  # a lone surrogate or NaN
                    name = _id_in(line, f"{path}:{number}")
                # The name of a question is that of the sample, "-" and a digest.
                self._places[name.rpartition("-")[0]].append((path, start))
                start += len(line)


def _id_in(line: bytes, where: str) -> str:
    try:
        return str(decode_own(line)["id"])
    except (KeyError, TypeError, ValueError) as error:
        what = f"the line is not a prediction of a judge: {exception_line(error)}"
        raise DataError(what, where=where, fix=_FIX) from None


_FIX: Final = "score again: aisprompt score RUN"
