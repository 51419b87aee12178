"""How far judges can be trusted: their agreement with each other, and their errors against labels of people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.data import read_file
from ais_prompt.errors import DataError
from ais_prompt.metrics import Z, bootstrap_interval, wilson_interval
from ais_prompt.utils import is_missing, listed

Level: TypeAlias = Literal["nominal", "interval"]
"""How far two verdicts differ: by 1 if they are not equal, or by the square of their difference."""

ALPHA: Final = "krippendorff_alpha"
"""The metric of a dataset that several judges rate: 1 is agreement, 0 that of chance."""

_OBSERVED: Final = 0

_COUNT: Final = 1

_SUM: Final = 2

_SQUARES: Final = 3

_ROUNDING: Final = 1e-12

_LABELS: Mapping[str, bool] = {
    **dict.fromkeys(("1", "1.0", "true", "right", "correct", "yes"), True),
    **dict.fromkeys(("0", "0.0", "false", "wrong", "incorrect", "no"), False),
}


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


class Estimated(NamedTuple):
    """A number with its 95 % confidence interval."""

    value: float
    low: float
    high: float


class Confusion(Struct, frozen=True):
    """Verdicts of a judge beside labels: how often each pair occurs.

    Attributes:
        true_right: right answers that the judge calls right.
        false_right: wrong answers that it calls right.
        true_wrong: wrong answers that it calls wrong.
        false_wrong: right answers that it calls wrong.
    """

    true_right: int = 0
    false_right: int = 0
    true_wrong: int = 0
    false_wrong: int = 0

    @classmethod
    def of(cls, pairs: Sequence[tuple[bool, bool]]) -> Confusion:
        """Count pairs of verdict and label, each true for a right answer."""
        counts = Counter(pairs)
        return cls(counts[True, True], counts[True, False], counts[False, False], counts[False, True])

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.true_right + self.false_right + self.true_wrong + self.false_wrong

    @property
    def sensitivity(self) -> Estimated | None:
        """The share of right answers that the judge calls right; None without a right answer."""
        return _share(self.true_right, self.true_right + self.false_wrong)

    @property
    def specificity(self) -> Estimated | None:
        """The share of wrong answers that the judge calls wrong; None without a wrong answer."""
        return _share(self.true_wrong, self.true_wrong + self.false_right)

    @property
    def kappa(self) -> Estimated | None:
        """Cohen's kappa: the agreement beyond that of chance. None if verdicts or labels do not vary.

        The interval is that of the large-sample variance (Fleiss, Cohen, Everitt 1969, equation 13). If all verdicts
        agree, or none does, this variance is 0, and the ends are those of Wilson's interval of the share that agrees.
        """
        table = [[self.true_right, self.false_right], [self.false_wrong, self.true_wrong]]
        shares = [[cell / self.n for cell in row] for row in table] if self.n else [[0.0, 0.0], [0.0, 0.0]]
        rows = [sum(row) for row in shares]
        columns = [sum(column) for column in zip(*shares, strict=True)]
        observed = shares[0][0] + shares[1][1]
        expected = sum(row * column for row, column in zip(rows, columns, strict=True))
        if not self.n or expected == 1:
            return None
        kappa = (observed - expected) / (1 - expected)
        diagonal = sum(shares[i][i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in range(2))
        others = (1 - kappa) ** 2 * sum(shares[i][j] * (columns[i] + rows[j]) ** 2 for i, j in ((0, 1), (1, 0)))
        variance = diagonal + others - (kappa - expected * (1 - kappa)) ** 2
        half = Z * math.sqrt(max(0.0, variance) / self.n) / (1 - expected)
        low, high = kappa - half, kappa + half
        if variance <= _ROUNDING:
            low, high = ((end - expected) / (1 - expected) for end in wilson_interval(observed * self.n, self.n))
        return Estimated(kappa, max(-1.0, low), min(1.0, high))

    def corrected(self, right: int, n: int) -> Estimated | None:
        """Return the share of right answers that a judge with these errors saw, from the share that it calls right.

        The value is the estimate of Rogan and Gladen 1978, the interval that of Lang and Reiczigel 2014, which also
        counts how few labels there are. None if the judge is no better than chance, or a kind of label is missing.

        Args:
            right: answers that the judge called right.
            n: answers that it judged.
        """
        rights, wrongs = self.true_right + self.false_wrong, self.true_wrong + self.false_right
        if not (rights and wrongs and n):
            return None
        youden = self.true_right / rights + self.true_wrong / wrongs - 1
        if youden <= 0:
            return None
        value = min(1.0, max(0.0, (right / n + self.true_wrong / wrongs - 1) / youden))
        observed = (right + Z * Z / 2) / (n + Z * Z)
        sensitivity, specificity = (self.true_right + 1) / (rights + 2), (self.true_wrong + 1) / (wrongs + 2)
        youden = sensitivity + specificity - 1
        if youden <= 0:
            return None
        share = min(1.0, max(0.0, (observed + specificity - 1) / youden))
        by_right = share * sensitivity * (1 - sensitivity) / (rights + 2)
        by_wrong = (1 - share) * specificity * (1 - specificity) / (wrongs + 2)
        centre = share + 2 * Z * Z * (by_right - by_wrong)
        variance = observed * (1 - observed) / (n + Z * Z) + share * by_right + (1 - share) * by_wrong
        half = Z * math.sqrt(variance) / youden
        return Estimated(value, max(0.0, min(value, centre - half)), min(1.0, max(value, centre + half)))


def _share(count: int, n: int) -> Estimated | None:
    return Estimated(count / n, *wilson_interval(count, n)) if n else None


class Judge(Struct, frozen=True):
    """What is known of the judge of one task.

    Attributes:
        task: ``model/dataset``.
        run: name of the run folder.
        verdicts: what it judged → whether it calls it right, or finds the criterion met.
        confusion: its verdicts beside the labels.
        unjudged: labelled answers without a verdict.
    """

    task: str
    run: str
    verdicts: Mapping[LabelKey, bool]
    confusion: Confusion
    unjudged: int

    @property
    def corrected(self) -> Estimated | None:
        """The share of right answers, corrected for the errors of the judge."""
        return self.confusion.corrected(sum(self.verdicts.values()), len(self.verdicts))


LabelKey: TypeAlias = tuple[str, str]
"""The id of a sample, and the criterion of a rubric that a label is about; empty for a label of the whole answer."""


def read_labels(file: Path) -> dict[LabelKey, bool]:
    """Return what is labelled → label of a file.

    Raises:
        DataError: it lacks a column, an id is there twice, or a label is neither right nor wrong.
    """
    table = read_file(file)
    for column in ("id", "label"):
        if column not in table.columns:
            what = f"the labels have no column {column!r} (there are {listed(table.columns)})"
            raise DataError(what, where=str(file), fix='write rows such as {"id": "68ce634d8fd5", "label": true}')
    found: dict[LabelKey, bool] = {}
    for number, row in enumerate(table):
        criterion = row.get("criterion")
        where, sample = f"{file}, row {number}", (str(row["id"]), "" if is_missing(criterion) else str(criterion))
        label = _LABELS.get(str(row["label"]).strip().casefold())
        if label is None:
            what = f"the label {row['label']!r} is neither right nor wrong"
            raise DataError(what, where=where, fix=f"write one of {listed(_LABELS)}")
        if sample in found:
            what = " with the criterion ".join(map(repr, filter(None, sample)))
            raise DataError(f"the id {what} is there twice", where=where, fix="keep one of them")
        found[sample] = label
    return found
