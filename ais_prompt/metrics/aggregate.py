"""Aggregate the scores of samples into one number with its standard error, interval and bounds."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import repeat
from operator import mul
from typing import Final, NamedTuple

from msgspec.structs import replace

from ais_prompt.errors import DataError
from ais_prompt.metrics.interval import (
    Z,
    drawn_spread,
    largest_variance,
    mean_interval,
    spread_of,
    stratum_weights,
    wilson_interval,
)
from ais_prompt.types import STATUSES, SampleScore, Score, Spread, Status
from ais_prompt.types import lower_is_better as less_is_better

_ROUNDING: Final = 1e-9


class Estimate(NamedTuple):
    """The value of one question, and its bounds.

    Attributes:
        value: the value; None if nothing was answered.
        low: the value if all failed and unparsed answers were wrong.
        high: the value if all failed and unparsed answers were right.
        weight: of the question in the mean; one without weight is left out.
        noise: how much the value varies with the answers at least, as a variance.
    """

    value: float | None
    low: float
    high: float
    weight: float = 1.0
    noise: float = 0.0


class AnswerCounts:
    """Count answers, question by question.

    Args:
        scores: one for each question.

    Attributes:
        repeats: the most answers to one question.
    """

    def __init__(self, scores: Iterable[SampleScore] = ()) -> None:
        self.repeats = 1
        self._counts: Counter[Status] = Counter()
        for score in scores:
            self.add(score)

    def add(self, score: SampleScore) -> None:
        """Count the answers to one question."""
        if score.repeats:
            self.repeats = max(self.repeats, len(score.repeats))
            self._counts.update(answer.status for answer in score.repeats)
        else:
            self._counts[score.status] += 1

    @property
    def statuses(self) -> Mapping[Status, int]:
        """Number of answers in each of the four states."""
        return {status: self._counts[status] for status in STATUSES}

    @property
    def n(self) -> int:
        """Number of answers."""
        return self._counts.total()


def mean_scores(
    metrics: Sequence[str],
    scores: Iterable[SampleScore],
    best: float | None = 1.0,
    weight_of: Callable[[SampleScore], float] | None = None,
    worst: float = 0.0,
    lower_is_better: bool | None = None,
) -> list[Score]:
    """Return the mean of each metric over the answered samples, in the order of ``metrics``.

    A failed sample does not count in the value. An unparsed one counts as ``worst``, a truncated one as scored. A
    question with several answers counts as their mean.

    Args:
        metrics: their names.
        scores: one for each question.
        best: the value of a right answer, or the largest value where less is better; None if the metric has no right
            and wrong.
        weight_of: the weight of a question in the means; None for equal weights. The standard error is then that of a
            ratio of two means (Cochran 1977, "Sampling Techniques", section 2.11).
        worst: the value of a wrong answer, such as 1 for ratings from 1 to 10.
        lower_is_better: as in `Score`. An answer without a value counts as 1 then, as in an error rate.

    Raises:
        DataError: values are too large.
    """
    less = [less_is_better(metric) if lower_is_better is None else lower_is_better for metric in metrics]

    def estimates(score: SampleScore) -> list[Estimate]:
        weight = 1.0 if weight_of is None else weight_of(score)
        if not weight:  # it may have no value of the metric
            return [Estimate(None, 0.0, 0.0, 0.0)] * len(metrics)
        each = zip(metrics, less, strict=True)
        found = [_estimate(score, metric, best, worst, lower_is_better=lower) for metric, lower in each]
        return found if weight_of is None else [one._replace(weight=weight) for one in found]

    try:
        means = estimated_means(metrics, estimates, scores, best, worst)
    except OverflowError:
        raise DataError("the scores are too large to be averaged", fix="use scores below 1e100") from None
    means = [replace(mean, lower_is_better=lower) for mean, lower in zip(means, less, strict=True)]
    return means if weight_of is None else [replace(mean, is_mean=False) for mean in means]


def estimated_means(
    metrics: Sequence[str],
    estimates_of: Callable[[SampleScore], Sequence[Estimate]],
    scores: Iterable[SampleScore],
    best: float | None = 1.0,
    worst: float = 0.0,
) -> list[Score]:
    """Return the mean over questions, with a standard error that is clustered by question (Miller 2024).

    Repeats of a question are one unit, and so are questions of one cluster. Where questions were drawn, mean, error and
    interval are about all questions of their strata (`ais_prompt.metrics.interval`). The questions are read once, and a
    few numbers of each are kept.

    Args:
        metrics: their names.
        estimates_of: one estimate of a question for each of ``metrics``.
        scores: one for each question.
        best, worst: as in `mean_scores`.
    """
    counts = AnswerCounts()
    columns = [_Column(worst) for _ in metrics]
    for score in scores:
        counts.add(score)
        for column, estimate in zip(columns, estimates_of(score), strict=True):
            column.add(estimate, score)
    return [_mean(metric, column, counts, best) for metric, column in zip(metrics, columns, strict=True)]


def without_truncated(scores: Iterable[SampleScore]) -> Iterator[SampleScore]:
    """Yield the questions with a finished answer, of repeated questions with the finished answers only."""
    for score in scores:
        if not score.repeats:
            if score.status != "truncated":
                yield score
        elif finished := tuple(answer for answer in score.repeats if answer.status != "truncated"):
            yield replace(score, repeats=finished)


def spread_of_questions(
    questions: Sequence[tuple[str, float]],
    mean: float,
    best: float | None = 1.0,
    weights: Sequence[float] | None = None,
    least: float = 0.0,
) -> Spread | None:
    """Return the spread of a mean over questions; None for fewer than two units.

    Args:
        questions: the unit of each question, which is the question itself or its cluster, and its value.
        mean: of the values.
        best: as in `mean_scores`.
        weights: of the questions; None for equal weights.
        least: as in `spread_of`.
    """
    deviations = unit_deviations(questions, mean, weights)
    alone = len(deviations) == len(questions)
    binary = alone and best is not None and all(value in (0.0, best) for _, value in questions)
    shares: defaultdict[str, float] = defaultdict(float)
    for (unit, _), weight in zip(questions, repeat(1.0) if weights is None else weights, strict=False):
        shares[unit] += weight
    total = math.fsum(shares.values())
    largest = largest_variance(mean, best, [share / total for share in shares.values()])
    return spread_of(deviations, binary, largest, least, clustered=not alone)


def unit_deviations(
    questions: Sequence[tuple[str, float]], mean: float, weights: Sequence[float] | None = None
) -> list[float]:
    """Return what each unit adds to the mean; they add up to 0.

    Args:
        questions, mean, weights: as in `spread_of_questions`.
    """
    deviations: defaultdict[str, list[float]] = defaultdict(list)
    for (unit, value), weight in zip(questions, repeat(1.0) if weights is None else weights, strict=False):
        deviations[unit].append(weight * (value - mean))
    total = len(questions) if weights is None else math.fsum(weights)
    # Clusters with one and the same mean do not vary; what is left of their deviations is rounding.
    found = [(math.fsum(each), 1e-12 * math.fsum(map(abs, each))) for each in deviations.values()]
    return [0.0 if abs(deviation) <= rounding else deviation / total for deviation, rounding in found]


def exact_mean(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Return the mean, summed without rounding errors and kept within the range of the values."""
    if weights is None:
        mean = math.fsum(values) / len(values)
    else:
        mean = math.fsum(map(mul, values, weights)) / math.fsum(weights)
    return min(max(mean, min(values)), max(values))


def _estimate(
    score: SampleScore, metric: str, best: float | None, worst: float, *, lower_is_better: bool = False
) -> Estimate:
    if score.repeats:
        each = [_estimate(one, metric, best, worst, lower_is_better=lower_is_better) for one in score.repeats]
        known = [one.value for one in each if one.value is not None]
        low, high = exact_mean([one.low for one in each]), exact_mean([one.high for one in each])
        return Estimate(exact_mean(known) if known else None, low, high)
    if score.status == "failed":
        return Estimate(None, worst, best or worst)
    if score.status == "scored":
        value = float(score.values[metric])
        return Estimate(value, value, value)
    # An answer that could not be parsed may come without values, or without some.
    value = float(score.values.get(metric, 1.0 if lower_is_better else worst))
    if score.is_read:
        return Estimate(value, value, value)
    if lower_is_better:
        return Estimate(value, worst, value)
    value = max(value, worst)
    return Estimate(value, value, max(value, best or worst))


class _Column:
    """The estimates of all questions: ``values`` above the worst one of those that were answered, ``lows`` and
    ``highs`` of all."""

    def __init__(self, worst: float) -> None:
        self.worst = worst
        self.values, self.lows, self.highs = array("d"), array("d"), array("d")
        self.weights, self.all_weights = array("d"), array("d")  # of the values, and of lows and highs
        self.units: list[str] = []  # the cluster of each value, where there are clusters
        self.strata: list[str] = []  # the stratum of each value, where questions were drawn
        self.all_strata: list[str] = []
        self.sizes: dict[str, int] = {}  # stratum → questions in it, drawn or not
        self.is_weighted = self.is_ratio = False  # questions weigh differently, for any reason or of themselves
        self.noise = 0.0

    def add(self, estimate: Estimate, score: SampleScore) -> None:
        if not estimate.weight:
            return
        self.is_weighted = self.is_ratio = self.is_ratio or estimate.weight != 1.0
        if estimate.value is not None:
            self.values.append(estimate.value - self.worst)
            self.weights.append(estimate.weight)
            self.noise += estimate.weight**2 * estimate.noise
            if score.cluster is not None:
                self.units.append(score.cluster)
            if score.stratum is not None:
                self.strata.append(score.stratum.name)
        self.lows.append(estimate.low)
        self.highs.append(estimate.high)
        self.all_weights.append(estimate.weight)
        if score.stratum is not None:
            self.all_strata.append(score.stratum.name)
            self.sizes[score.stratum.name] = score.stratum.size

    def weigh_strata(self) -> None:
        """Let each question count as many times as there are questions in the whole set for each that was drawn."""
        for weights, strata in ((self.weights, self.strata), (self.all_weights, self.all_strata)):
            if represented := stratum_weights(strata, self.sizes):
                self.is_weighted = True
                weights[:] = array("d", map(mul, weights, represented))


def _mean(metric: str, column: _Column, counts: AnswerCounts, best: float | None) -> Score:
    if column.sizes:
        column.weigh_strata()
    mean = spread = interval = bounds = None
    if column.values:
        mean = column.worst + exact_mean(column.values, column.weights if column.is_weighted else None)
        spread, interval = _uncertainty(column, mean, best)
    if interval is not None:
        interval = interval[0] + column.worst, interval[1] + column.worst
    if best is not None and column.lows:
        weights = column.all_weights if column.is_weighted else None
        bounds = exact_mean(column.lows, weights), exact_mean(column.highs, weights)
    return Score(
        metric=metric,
        value=mean,
        stderr=standard_error(spread, interval),
        n=counts.n,
        counts=counts.statuses,
        interval=interval,
        bounds=bounds,
        repeats=counts.repeats,
        fraction=best == 1.0,
        is_mean=best == 1.0,
        questions=len(column.values),
        population=sum(column.sizes.values()) or None,
    )


def _uncertainty(column: _Column, mean: float, best: float | None) -> tuple[Spread | None, tuple[float, float] | None]:
    """Return the spread of a mean, and its interval above the worst value: Wilson's if all are right or wrong."""
    values = column.values
    mean -= column.worst
    best = None if best is None else best - column.worst
    if column.sizes:
        return _uncertainty_of_drawn(column, mean, best)
    least = column.noise / math.fsum(column.weights) ** 2  # it varies with the answers to its questions at least
    if column.units or column.is_weighted:
        units = column.units or map(str, range(len(values)))
        weights = column.weights if column.is_weighted else None
        spread = spread_of_questions(list(zip(units, values, strict=True)), mean, best, weights, least)
    else:
        largest = largest_variance(mean, best, [1 / len(values)] * len(values))
        deviations = array("d", ((value - mean) / len(values) for value in values))
        binary = best is not None and all(value in (0.0, best) for value in values)
        spread = spread_of(deviations, binary, largest, least)
        if binary and best is not None:
            low, high = wilson_interval(math.fsum(values) / best, len(values))
            return spread, (low * best, high * best)
    return spread, None if spread is None else mean_interval(mean, spread, best)


def _uncertainty_of_drawn(
    column: _Column, mean: float, best: float | None
) -> tuple[Spread | None, tuple[float, float] | None]:
    """Return the spread and the interval of a mean over drawn questions, about the mean over the whole set."""
    total = math.fsum(column.weights)
    deviations = [w * (value - mean) / total for w, value in zip(column.weights, column.values, strict=True)]
    largest = largest_variance(mean, best, (weight / total for weight in column.weights))
    binary = best is not None and not column.is_ratio and all(value in (0.0, best) for value in column.values)
    spread = drawn_spread(deviations, column.strata, column.sizes, binary=binary, largest=largest)
    if spread is None:
        return None, None
    low, high = mean_interval(mean, spread, best)
    if binary and best is not None:
        # So many of the questions are right: an interval between two whole numbers would hold no possible score.
        size = sum(column.sizes.values())
        low = math.floor(low / best * size + _ROUNDING) / size * best
        high = math.ceil(high / best * size - _ROUNDING) / size * best
    return spread, (low, high)


def standard_error(spread: Spread | None, interval: tuple[float, float] | None) -> float | None:
    """Return the standard error; where nothing varies, because all is right or all is wrong, that of the interval."""
    if spread is None or interval is None:
        return None
    return spread.stderr or (interval[1] - interval[0]) / (2 * Z)


def clipped_score(score: Score) -> Score:
    """Return a mean as HealthBench publishes it, with interval and bounds: from 0 to 1, whatever its values are."""

    def clipped(ends: tuple[float, float] | None) -> tuple[float, float] | None:
        return None if ends is None else (min(1.0, max(0.0, ends[0])), min(1.0, max(0.0, ends[1])))

    value = None if score.value is None else min(1.0, max(0.0, score.value))
    return replace(score, value=value, interval=clipped(score.interval), bounds=clipped(score.bounds))


def incident_shares(incidents: Sequence[str], scores: Sequence[SampleScore]) -> list[Score]:
    """Return the share of answers with each incident, 0 to 1; incidents that never happened are left out.

    Args:
        incidents: keys of the samples' ``values``, with 1 where it happened and 0 elsewhere.
        scores: one for each question.
    """
    # An incident is neither right nor wrong, so failed and unparsed answers have no bounds.
    return [replace(share, bounds=None) for share in mean_scores(incidents, scores) if share.value]


LARGEST_DENOMINATOR: Final = 10_000_000
"""Two fractions with denominators up to this differ by at least 1e-14, far more than rounding errors of a float."""


def exact(value: float) -> Fraction:
    """Return the fraction that a float was rounded from.

    The mean of ``n`` values of 0 and 1 comes back as exactly ``k/n``, for up to ten million answers; so does any other
    number with such a denominator. A number without one moves by less than 1e-14.
    """
    return Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
