"""The requests to judges about the answers of a run: where they are in their files, and what came of each."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.json import Decoder
from msgspec.structs import replace

from ais_prompt.errors import AisPromptError, StoreError
from ais_prompt.store import RunFolder, read_prediction, reading, safe_name
from ais_prompt.types import Completion, Failure, JudgeVerdict, Prediction, SampleScore
from ais_prompt.utils import counted, decode_own, open_regular

if TYPE_CHECKING:
    from ais_prompt.evaluators import AsksInParts

logger = logging.getLogger(__name__)


class _Head(Struct):
    id: str


class Judgement(Struct, frozen=True):
    """What a judge was asked about an answer, and what it said.

    Attributes:
        judge: the name of its folder.
        said: its reply, with the prompt.
        evaluator: the folder of the evaluator that asked, of several.
    """

    judge: str
    said: Prediction
    evaluator: str = ""

    def verdict_of(self, score: SampleScore | None, prediction: Prediction) -> tuple[str | float | None, bool]:
        """Return the verdict in the reply as far as the score has it, and whether the reference answer came first.

        Args:
            score: of the sample; None if it was not scored.
            prediction: the answers to it.
        """
        if (found := self._found(score, prediction)) is None:
            return None, False
        one, _, place = found
        return (one.orders[place] if one.orders else one.vote), bool(place)

    def said_of_parts(
        self, score: SampleScore | None, prediction: Prediction, asking: AsksInParts
    ) -> Sequence[tuple[str, Any]]:
        """Return each part that the reply is about, with what it says of it as far as the score has it.

        That is as in `AsksInParts.said`; none if the score is of another reply.
        """
        with suppress(AisPromptError):  # the gold cannot be used
            if found := self._found(score, prediction, asking):
                one, answer, place = found
                said = asking.said(one.vote, answer.gold)
                return said if len(asking.parts(answer.gold)) == 1 else said[place : place + 1]
        return []

    def _found(
        self, score: SampleScore | None, prediction: Prediction, asking: AsksInParts | None = None
    ) -> tuple[JudgeVerdict, SampleScore, int] | None:
        """Return the verdict of the judge, the answer that it is about, and the place of the reply in it."""
        from ais_prompt.judges import questions_about

        if score is not None:
            score = next((one for name, one in score.further.items() if safe_name(name) == self.evaluator), score)
        for answer, earlier in _judged_answers(score, prediction) if score else ():
            for one in answer.verdicts:
                names = questions_about(answer, earlier, compares=bool(one.orders), evaluator=asking)
                if safe_name(one.judge) == self.judge and self.said.sample_id in names:
                    return one, answer, names.index(self.said.sample_id)
        return None


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


def judgement_places(folder: RunFolder, model: str, dataset: str) -> Iterator[tuple[str, Path, int]]:
    """Yield each request to a judge about a task: the id of the sample, the file, and the byte where its line begins.

    What is broken in the files of judges is left out, with a warning: the answers and scores can be shown without it.

    Args:
        folder: of the run.
        model, dataset: ``abbr`` of the judged task.
    """
    first, *named = folder.judges(model)
    if not first.root.exists():  # most tasks have no judge
        return
    name = first.predictions("", dataset).name
    for path in (path for one in named or [first] for path in sorted(one.root.glob(f"predictions/*/{escape(name)}"))):
        try:
            with reading(path, fix=""), open_regular(path) as lines:
                yield from _places(path, lines)
        except StoreError as error:
            logger.warning("the report leaves out a file of a judge: %s (%s)", error.what, path)


def read_judgements(places: Iterable[tuple[Path, int]]) -> list[Judgement]:
    """Return the requests to judges about a sample, from their files and the bytes where their lines begin.

    A line that is broken is a failed request.
    """
    return [Judgement(path.parent.name, _reply(path, start), _evaluator(path)) for path, start in places]


def _evaluator(path: Path) -> str:
    """Return the folder of the evaluator in the path of a judge's replies; empty if the dataset has one evaluator."""
    *_, by, evaluator, _, _, _ = path.parts
    return evaluator if by == "by" else ""


def _places(path: Path, lines: Iterable[bytes]) -> Iterator[tuple[str, Path, int]]:
    decoder = Decoder(_Head)
    start = broken = 0
    for line in lines:
        question = _id_in(line, decoder)
        if question is None:
            broken += 1
        else:
            # The name of a question is that of the sample, "-" and a digest.
            yield question.rpartition("-")[0], path, start
        start += len(line)
    if broken:
        logger.warning("the report leaves out %s of a judge: %s", counted(broken, "broken line"), path)


def _id_in(line: bytes, decoder: Decoder[_Head]) -> str | None:
    with suppress(ValueError):
        return decoder.decode(line).id
    with suppress(KeyError, TypeError, ValueError):  # a lone surrogate or NaN
        return str(decode_own(line)["id"])
    return None


def _reply(path: Path, start: int) -> Prediction:
    try:
        return read_prediction(path, start)
    except AisPromptError as error:
        return Prediction("", 0, "", None, None, (Completion(failure=Failure("broken", error.what)),))
