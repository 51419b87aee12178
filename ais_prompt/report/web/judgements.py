"""What judges were asked about the answers of a task, and what they said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.json import Decoder
from msgspec.structs import replace

from ais_prompt.errors import DataError
from ais_prompt.scoring.judges.verdicts import questions_about
from ais_prompt.store.disk import reading
from ais_prompt.store.layout import RunFolder, safe_name
from ais_prompt.store.predictions import read_prediction
from ais_prompt.types import Prediction, SampleScore
from ais_prompt.utils.files import open_regular
from ais_prompt.utils.guard import exception_line
from ais_prompt.utils.jsonl import decode_own


class _Head(Struct):
    id: str


class Judgement(Struct, frozen=True):
    """What a judge was asked about an answer, and what it said.

    Attributes:
        judge: the name of its folder.
        said: its reply, with the prompt.
    """

    judge: str
    said: Prediction

    def verdict_of(self, score: SampleScore | None, prediction: Prediction) -> tuple[str | float | None, bool]:
        """Return the verdict in the reply as far as the score has it, and whether the baseline's answer came first.

        Args:
            score: of the sample; None if it was not scored.
            prediction: the answers to it.
        """
        for answer, earlier in _judged_answers(score, prediction) if score else ():
            for one in answer.verdicts:
                names = questions_about(answer, earlier, compares=bool(one.orders))
                if safe_name(one.judge) == self.judge and self.said.sample_id in names:
                    place = names.index(self.said.sample_id)
                    return (one.orders[place] if one.orders else one.vote), bool(place)
        return None, False


def _judged_answers(score: SampleScore, prediction: Prediction) -> Iterator[tuple[SampleScore, Sequence[Any]]]:
    """Yield each answer that was judged: of repeats, or of the turns of a dialogue with the answers before them."""
    extracted, gold, said = score.extracted, score.gold, prediction.prediction
    if score.repeats or not (isinstance(extracted, list) and isinstance(gold, list) and isinstance(said, list)):
        yield from ((answer, ()) for answer in score.repeats or (score,))
        return
    turns = [number for number, answer in enumerate(extracted) if answer is not None]
    judges = len(score.verdicts) // (len(turns) or 1)
    for place, number in enumerate(turns):
        verdicts = score.verdicts[place * judges : (place + 1) * judges]
        yield replace(score, extracted=extracted[number], gold=gold[number], verdicts=verdicts), said[:number]


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
        if not judge.root.exists():  # most tasks have no judge
            return
        name = judge.predictions("", dataset).name
        for path in sorted(judge.root.glob("predictions/*")):
            if (path / name).exists():
                self._find(path / name)

    def of(self, sample_id: str) -> list[Judgement]:
        """Return what judges were asked about a sample, in order: one request for each different answer.

        Raises:
            StoreError, DataError: the file was changed meanwhile.
        """
        return [
            Judgement(path.parent.name, read_prediction(path, start)) for path, start in self._places.get(sample_id, ())
        ]

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
