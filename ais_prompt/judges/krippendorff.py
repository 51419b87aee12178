"""How far judges agree with each other: Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, Literal, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.metrics import bootstrap_interval

Level: TypeAlias = Literal["nominal", "interval"]
"""How far two verdicts differ: by 1 if they are not equal, or by the square of their difference."""

ALPHA: Final = "krippendorff_alpha"
"""The metric of a dataset that several judges rate: 1 is agreement, 0 that of chance."""

_OBSERVED, _COUNT, _SUM, _SQUARES = range(4)


class Agreement(Struct, frozen=True):
    """The agreement of judges.

    Attributes:
        alpha: 1 is agreement, 0 that of chance; None if no two judges rated the same answer, or nothing varies.
        stderr, interval: by the bootstrap over the answers; None if unknown.
        answers: answers that at least two judges have rated.
    """

    alpha: float | None
    stderr: float | None = None
    interval: tuple[float, float] | None = None
    answers: int = 0


def agreement(
    verdicts: Sequence[Sequence[Hashable | None]],
    level: Level = "nominal",
    clusters: Sequence[str] | None = None,
) -> Agreement:
    """Return Krippendorff's alpha with its 95 % interval.

    A resample in which nothing varies counts as agreement.

    Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability".

    Args:
        verdicts: for each answer the verdict of each judge, None where there is none.
        level: how far verdicts differ; numbers only for ``interval``.
        clusters: what answers depend on together, one for each; None if all are independent.
    """
    rated = [
        (given, clusters[place] if clusters else "")
        for place, answer in enumerate(verdicts)
        if len(given := [one for one in answer if one is not None]) > 1
    ]
    if not rated:
        return Agreement(None)
    values = [given for given, _ in rated]
    rows = _nominal_rows(values) if level == "nominal" else _interval_rows(values)
    statistic = _nominal if level == "nominal" else _interval
    alpha = statistic(rows.sum(axis=0))
    if alpha is None:
        return Agreement(None, answers=len(rated))

    def resampled(sums: NDArray[np.float64]) -> float:
        found = statistic(sums)
        return 1.0 if found is None else found

    units = [cluster for _, cluster in rated] if clusters else None
    stderr, interval = bootstrap_interval(rows, resampled, clusters=units) or (None, None)
    return Agreement(alpha, stderr, interval, len(rated))


def krippendorff_alpha(verdicts: Sequence[Sequence[Hashable | None]], level: Level = "nominal") -> float | None:
    """Return Krippendorff's alpha alone; see `agreement`."""
    return agreement(verdicts, level).alpha


def _nominal_rows(answers: Sequence[Sequence[Hashable]]) -> NDArray[np.float64]:
    """Return the observed disagreement of each answer, and how often it was given each verdict."""
    numbers = {one: place for place, one in enumerate(dict.fromkeys(one for given in answers for one in given))}
    rows = np.zeros((len(answers), 1 + len(numbers)))
    for row, given in zip(rows, answers, strict=True):
        for one in given:
            row[1 + numbers[one]] += 1
        row[_OBSERVED] = (len(given) ** 2 - (row[1:] ** 2).sum()) / (len(given) - 1)
    return rows


def _nominal(sums: NDArray[np.float64]) -> float | None:
    n = sums[1:].sum()
    return _alpha(sums[_OBSERVED], n**2 - (sums[1:] ** 2).sum(), n)


def _interval_rows(answers: Sequence[Sequence[Hashable]]) -> NDArray[np.float64]:
    """Return the observed disagreement of each answer, and number, sum and sum of squares of its verdicts."""
    rows = np.zeros((len(answers), 4))
    for row, given in zip(rows, answers, strict=True):
        values = np.array(given, dtype=np.float64)
        row[_COUNT], row[_SUM], row[_SQUARES] = len(values), values.sum(), (values**2).sum()
        row[_OBSERVED] = 2 * len(values) * ((values - values.mean()) ** 2).sum() / (len(values) - 1)
    return rows


def _interval(sums: NDArray[np.float64]) -> float | None:
    # The squared differences of all ordered pairs are 2 (n Σx² - (Σx)²).
    n = sums[_COUNT]
    expected = 2 * (n * sums[_SQUARES] - sums[_SUM] ** 2)
    return _alpha(sums[_OBSERVED], expected if expected > 1e-9 * n * sums[_SQUARES] else 0.0, n)


def _alpha(observed: float, expected: float, n: float) -> float | None:
    """Return alpha from the disagreement within answers and that of all pairs; None if nothing varies."""
    return float(1 - (n - 1) * observed / expected) if expected else None
