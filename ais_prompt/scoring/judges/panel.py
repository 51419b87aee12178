"""Several judges: the score that each of them gives alone, and their agreement, as scores of the dataset."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ais_prompt.evaluators.base import best_of, worst_of
from ais_prompt.evaluators.judge import JudgeEvaluator, decide
from ais_prompt.metrics.aggregate import Estimate, estimated_means, exact_mean
from ais_prompt.metrics.agreement import ALPHA, agreement
from ais_prompt.types import SampleScore, Score


def by_judge(metric: str, judge: str) -> str:
    """Return the name of a metric as one of several judges gives it."""
    return f"{metric} by {judge}"


def scores_of_judges(evaluator: JudgeEvaluator, judges: Sequence[str], samples: Iterable[SampleScore]) -> list[Score]:
    """Return the main score that each judge gives alone.

    Args:
        evaluator: makes values of verdicts.
        judges: ``abbr`` of each.
        samples: the scores of all samples, with the votes on each answer and each turn.
    """

    def estimates(sample: SampleScore) -> list[Estimate]:
        return [_alone(evaluator, sample, place, len(judges)) for place in range(len(judges))]

    metrics = [by_judge(evaluator.metrics[0], judge) for judge in judges]
    return estimated_means(metrics, estimates, samples, best_of(evaluator), worst_of(evaluator))


def _alone(evaluator: JudgeEvaluator, sample: SampleScore, place: int, judges: int) -> Estimate:
    """Return the value of a question by one judge, and its bounds; answers without its vote are not known."""
    answers = sample.repeats or (sample,)
    values = [_value(evaluator, answer, place, judges) for answer in answers]
    known = [value for value in values if value is not None]
    best, worst = best_of(evaluator), worst_of(evaluator)
    lows = [worst if value is None else value for value in values]
    highs = [
        value if value is not None and answer.is_read else best for value, answer in zip(values, answers, strict=True)
    ]
    return Estimate(exact_mean(known) if known else None, exact_mean(lows), exact_mean(highs))


def _value(evaluator: JudgeEvaluator, answer: SampleScore, place: int, judges: int) -> float | None:
    """Return the value of an answer if the votes of all other judges are left out; None if it is not known."""
    metric = evaluator.metrics[0]
    panels = [answer.verdicts[start : start + judges] for start in range(0, len(answer.verdicts), judges)]
    alone = [decide(evaluator, panel[place : place + 1], answer.gold) for panel in panels]
    if not all(alone):
        return None
    if answer.status == "failed":  # by the judges together; a failed dialogue has no votes
        return alone[0][metric] if alone and alone[0] else None
    together = [decide(evaluator, panel, answer.gold) for panel in panels]
    turns = len(answer.extracted) if isinstance(answer.extracted, list) else 1
    changes = [one[metric] - all_of[metric] for one, all_of in zip(alone, together, strict=True) if one and all_of]
    # Turns that no judge was asked about keep their values.
    return answer.values.get(metric, 0.0) + math.fsum(changes) / turns


def agreement_of_judges(judges: int, samples: Iterable[SampleScore], main: Score) -> Score:
    """Return Krippendorff's alpha of the votes: of numbers as interval data, of tags as categories.

    Args:
        judges: how many there are.
        samples: the scores of all samples, with the votes on each answer and each turn.
        main: the main score, whose counts this one has.
    """
    votes: list[list[str | float | None]] = []
    clusters: list[str] = []
    for sample in samples:
        for answer in sample.repeats or (sample,):
            for start in range(0, len(answer.verdicts), judges):
                votes.append([one.vote for one in answer.verdicts[start : start + judges]])
                clusters.append(sample.sample_id if sample.cluster is None else sample.cluster)
    numeric = all(isinstance(vote, float) for given in votes for vote in given if vote is not None)
    found = agreement(votes, "interval" if numeric else "nominal", clusters)
    return replace(
        main,
        metric=ALPHA,
        value=found.alpha,
        stderr=found.stderr,
        interval=found.interval,
        bounds=None,
        fraction=False,
        is_mean=False,
        questions=None,
        precision=None,
    )
