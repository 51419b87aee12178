"""What judges were asked about the answers of a task, and what they said."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.json import Decoder

from ais_prompt.errors import StoreError
from ais_prompt.store.disk import reading
from ais_prompt.store.layout import RunFolder
from ais_prompt.types import Prediction
from ais_prompt.utils.files import open_regular
from ais_prompt.utils.jsonl import decode_own


class _Head(Struct):
    id: str


class Judgements:
    """Find the judgements of a sample. Memory holds where their lines begin.

    Args:
        folder: of the run.
        model, dataset: ``abbr`` of the judged task.
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
            StoreError: the file was changed meanwhile.
        """
        return [_read(*place) for place in self._places.get(sample_id, ())]

    def _find(self, path: Path) -> None:
        decoder = Decoder(_Head)
        with reading(path, fix="score again: aisprompt score RUN"), open_regular(path) as lines:
            start = 0
            for line in lines:
                try:
                    name = decoder.decode(line).id
                except ValueError:  # a lone surrogate or NaN
                    name = str(_object(line, path)["id"])
                # The name of a question is that of the sample, "-" and a digest.
                self._places[name.rpartition("-")[0]].append((path, start))
                start += len(line)


def _read(path: Path, start: int) -> Prediction:
    with reading(path, fix="score again: aisprompt score RUN"), open_regular(path) as lines:
        lines.seek(start)
        return Prediction.from_json(_object(lines.readline(), path))


def _object(line: bytes, path: Path) -> dict[str, Any]:
    try:
        value: dict[str, Any] = decode_own(line)
    except ValueError as error:
        raise StoreError(f"a line is not JSON: {error}", where=str(path), fix="score again") from None
    return value
