"""Accuracy of questions that are asked four times, with their options turned around."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.errors import DataError
from ais_prompt.metrics import mean_scores
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score

_ORDERS: Final = ("ABCD", "BCDA", "CDAB", "DABC")


@EVALUATORS.register_module()
class CircularEvaluator:
    """Accuracy of questions with four options that are asked in each of the orders ABCD, BCDA, CDAB and DABC.

    The gold is ``question--letter--order``, such as ``7--C--BCDA``: `BenchmarkDataset` makes it for MathBench. The
    answers to one question depend on each other, so the standard error is clustered by question. Source: OpenCompass,
    ``CircularEvaluator``; Liu et al. 2023, "MMBench: Is Your Multi-modal Model an All-around Player?".

    ``acc_4`` is the accuracy of all answers, ``acc_1`` of those in the order ABCD; ``perf_4`` is the share of questions
    that are right in all four orders; ``vote_4`` is the accuracy of the option that most of the four answers mean.
    """

    metrics: tuple[str, ...] = ("acc_4", "acc_1", "perf_4", "vote_4")

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return whether this answer is right, for each metric.

        Raises:
            DataError: the gold is no question, letter and order.
        """
        _, letter, _ = _parts(gold)
        return dict.fromkeys(self.metrics, float(str(extracted) == letter))

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the four metrics."""
        clustered = (replace(score, cluster=_parts(score.gold)[0]) if _is_known(score) else score for score in scores)
        known = [score for score in scores if _is_known(score)]
        return [
            *mean_scores(self.metrics[:1], clustered),
            *mean_scores(self.metrics[1:2], (score for score in known if _parts(score.gold)[2] == _ORDERS[0])),
            *mean_scores(self.metrics[2:], _questions(known)),
        ]


def _is_known(score: SampleScore) -> bool:
    """Return whether the question of an answer is known; one whose gold cannot be used has failed."""
    with suppress(DataError):
        _parts(score.gold)
        return True
    return False


def _questions(scores: Iterable[SampleScore]) -> list[SampleScore]:
    """Return one score for each question, with a repeat for each time that all four orders were asked."""
    answers: dict[str, list[list[SampleScore]]] = {}
    for score in scores:
        question = answers.setdefault(_parts(score.gold)[0], [])
        for number, answer in enumerate(score.repeats or (score,)):
            if number == len(question):
                question.append([])
            question[number].append(replace(answer, gold=score.gold))
    return [_question(name, [_in_all_orders(name, one) for one in rounds]) for name, rounds in answers.items()]


def _question(name: str, rounds: Sequence[SampleScore]) -> SampleScore:
    return rounds[0] if len(rounds) == 1 else replace(rounds[0], sample_id=name, repeats=tuple(rounds))


def _in_all_orders(name: str, answers: Sequence[SampleScore]) -> SampleScore:
    """Return the score of the answers to one question; it fails with the first of them that failed."""
    odd = [answer for answer in answers if answer.status != "scored"]
    worst = next((answer for answer in odd if answer.status == "failed"), odd[0] if odd else answers[0])
    if worst.status == "failed":
        return SampleScore(name, "failed", reason=worst.reason)
    votes = Counter(_meant(answer) for answer in answers)
    letter, order = _parts(answers[0].gold)[1:]
    values = {
        "perf_4": float(all(answer.values["acc_4"] == 1 for answer in answers)),
        "vote_4": float(votes.most_common(1)[0][0] == order["ABCD".index(letter)]),
    }
    return SampleScore(name, worst.status, extracted=worst.extracted, values=values, reason=worst.reason)


def _meant(answer: SampleScore) -> str:
    """Return the option of the order ABCD that an answer means; ``-`` for any other text."""
    order, letter = _parts(answer.gold)[2], str(answer.extracted)
    return order["ABCD".index(letter)] if letter in tuple("ABCD") else "-"


def _parts(gold: Any) -> tuple[str, str, str]:
    """Return question, letter and order."""
    parts = str(gold).split("--")
    if len(parts) != 3 or parts[1] not in tuple("ABCD") or parts[2] not in _ORDERS:
        raise DataError(f"the gold {gold!r:.60} is not question--letter--order", fix="see CircularEvaluator")
    return parts[0], parts[1], parts[2]
