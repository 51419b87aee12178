"""Scoring of one question that was asked several times: every answer like a sample of its own, then all together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import ConfigError, DataError
from ais_prompt.metrics.aggregate import Estimate, estimated_means
from ais_prompt.metrics.repeated import avg_at_n, cons_at_k, pass_at_k
from ais_prompt.tasks.judged_scorer import JudgedScorer
from ais_prompt.tasks.scorer import SAME, Scorer
from ais_prompt.types import EvalSpec, Prediction, SampleScore, Score, Status
from ais_prompt.utils.jsonl import encode

WORST_FIRST: Final[tuple[Status, ...]] = ("truncated", "unparsed", "scored")


class RepeatScorer(Struct, frozen=True):
    """Gives each metric of the evaluator as its mean over the answers (avg@n), and two more of the main metric.

    ``pass@k`` is how likely one of ``k`` answers is right, and ``cons@n`` the value of the answer that most of the
    ``n`` agree on (`ais_prompt.metrics.repeated`). Both need a metric with right and wrong, whose best value is 1. An
    answer that failed has no part in a value; one that could not be read is wrong, and has no vote.

    Attributes:
        answer: what scores one answer.
        n: answers to each question.
        k: the numbers of ``pass@k``; see `check_k`.
    """

    answer: Scorer | JudgedScorer
    n: int
    k: tuple[int, ...] = ()

    def score(self, prediction: Prediction) -> SampleScore:
        """The score of one question; ``extracted`` has one entry for each answer.

        Raises:
            GoldError: the gold cannot be used; ``where`` names the sample.
            DataError: there are not ``n`` answers.
            PartError: a postprocessor or evaluator failed.
        """
        answers = tuple(self.answer.score(one) for one in self._answers(prediction))
        known = [answer for answer in answers if answer.status != "failed"]
        if not known:
            return replace(answers[0], repeats=answers)
        worst = min(known, key=lambda answer: WORST_FIRST.index(answer.status))
        values = {m: avg_at_n([answer.values.get(m, 0.0) for answer in known]) for m in self.answer.evaluator.metrics}
        more = {name: one.value for name, one in self._estimates(answers).items() if one.value is not None}
        return SampleScore(
            sample_id=prediction.sample_id,
            status=worst.status,
            extracted=[answer.extracted for answer in answers],
            gold=worst.gold,
            values={**values, **more},
            reason=next((answer.reason for answer in answers if answer.status == "failed"), worst.reason),
            repeats=answers,
        )

    def failed(self, prediction: Prediction, reason: str) -> SampleScore:
        """A question none of whose answers has a part in the values."""
        one = self.answer.failed(prediction, reason)
        return replace(one, repeats=(one,) * self.n)

    def aggregate(self, samples: Sequence[SampleScore]) -> list[Score]:
        """The scores of the evaluator, then ``pass@k`` and ``cons@n``."""
        scores = self.answer.evaluator.aggregate(samples)
        if scores[0].fraction:
            scores += estimated_means(self._names(), self._named_estimates, samples)
        return scores

    def _names(self) -> list[str]:
        names = [*(f"pass@{k}" for k in self.k), f"cons@{self.n}"]
        return [name for name in names if name not in self.answer.evaluator.metrics]

    def _named_estimates(self, sample: SampleScore) -> list[Estimate]:
        found = self._estimates(sample.repeats)
        return [found[name] for name in self._names()]

    def _estimates(self, answers: Sequence[SampleScore]) -> dict[str, Estimate]:
        """``pass@k`` and ``cons@n`` of one question."""
        metric = self.answer.evaluator.metrics[0]
        values = [answer.values.get(metric, 0.0) for answer in answers]
        right, unread = values.count(1.0), sum(not answer.is_read for answer in answers)
        known = sum(answer.status != "failed" for answer in answers)
        found = {
            f"pass@{k}": Estimate(
                value=pass_at_k(known, right, k) if k <= known else None,
                low=pass_at_k(self.n, right, k),
                high=pass_at_k(self.n, right + unread, k),
            )
            for k in self.k
        }
        agreed = cons_at_k([_vote(answer.extracted) for answer in answers], values) if known else None
        voted = unread < self.n
        found[f"cons@{self.n}"] = Estimate(agreed, agreed or 0.0, (agreed or 0.0) if voted else 1.0)
        return found

    def _answers(self, prediction: Prediction) -> Iterator[Prediction]:
        """Each answer as if the question was asked once."""
        answers = prediction.prediction
        if not isinstance(answers, list) or not len(answers) == len(prediction.completions) == self.n:
            count = len(answers) if isinstance(answers, list) else 1
            raise DataError(
                f"there are {count} answers to this question, and {self.n} to the first one",
                where=f"sample {prediction.sample_id}, row {prediction.index}",
                fix=SAME,
            )
        for text, completion in zip(answers, prediction.completions, strict=True):
            yield replace(prediction, prediction=text, completions=(completion,))


def check_k(spec: EvalSpec, n: int) -> None:
    """Whether there are enough answers to each question for every ``pass@k``.

    Raises:
        ConfigError: there are not.
    """
    most = max(spec.k, default=1)
    if most > n:
        raise ConfigError(
            f"pass@{most} needs {most} answers to each question, and there {'is 1' if n == 1 else f'are {n}'}",
            where=f"{spec.where}.k",
            fix=f"ask for more: inferencer=dict(type='GenInferencer', n={most}); or lower k",
        )


def _vote(extracted: object) -> str | None:
    """What was extracted, in a form in which equal answers are equal."""
    if extracted is None or isinstance(extracted, str):
        return extracted and extracted.strip()
    return encode(extracted).decode()
