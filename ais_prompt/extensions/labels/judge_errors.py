"""The errors of a judge: its verdicts beside labels of people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from ais_prompt.extensions.labels.statistics import Estimated
from ais_prompt.metrics import Z, wilson_interval

_ROUNDING: Final = 1e-12


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
