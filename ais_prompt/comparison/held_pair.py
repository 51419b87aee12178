"""A dataset of a run paired with the same dataset of a baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.metrics.bootstrap import SumsDifference, sums_difference
from ais_prompt.metrics.difference import MeanDifference, mean_difference
from ais_prompt.metrics.distributions import t_quantile
from ais_prompt.metrics.paired import matched_worse
from ais_prompt.metrics.power import POWER, detectable_drop
from ais_prompt.store.baseline_file import BaselineTask

Statistic = Callable[[NDArray[np.float64]], float]


class HeldPair(Struct, frozen=True, dict=True):
    """A dataset of a baseline and a run, with the samples that both have answered.

    Attributes:
        before, after: the dataset in the baseline and in the run.
        names: ids of these samples; at least one.
        statistic: computes the metric from sums; None if it is a mean.
        clusters: the cluster of each sample that has one.
        runs: how many runs the baseline was made of.
    """

    before: BaselineTask
    after: BaselineTask
    names: tuple[str, ...]
    statistic: Statistic | None
    clusters: Mapping[str, str]
    runs: int = 1

    @cached_property
    def differences(self) -> list[float]:
        """``after`` less ``before`` of each sample."""
        return [self.after.values[name] - self.before.values[name] for name in self.names]

    @cached_property
    def difference(self) -> MeanDifference | SumsDifference:
        """The difference of the metric, with interval and p-value."""
        found = self.clusters
        clusters = [f"cluster {found[name]}" if name in found else name for name in self.names] if found else None
        if self.statistic is None:
            values = [*self.before.values.values(), *self.after.values.values()]
            bounded = self.after.fraction and min(values) >= 0 and max(values) <= 1
            return mean_difference(self.differences, clusters, 1.0 if bounded else None)
        before, after = (np.array([side.sums[name] for name in self.names]) for side in (self.before, self.after))
        return sums_difference(before, after, self.statistic, clusters)

    @cached_property
    def p_value(self) -> float:
        """The p-value of the drop, by the test that fits the metric."""
        right = None if self.runs == 1 or self.clusters or self.statistic else self._counts()
        return self.difference.p_worse if right is None else matched_worse(*right, self.runs)

    def _counts(self) -> tuple[list[int], list[int]] | None:
        """Return the right answers to each sample in all runs of the baseline and in the run; None if not countable."""
        before = [self.before.values[name] * self.runs for name in self.names]
        after = [self.after.values[name] for name in self.names]
        whole = all(abs(value - round(value)) < 1e-9 and -1e-9 < value < self.runs + 1e-9 for value in before)
        if not whole or any(value not in (0.0, 1.0) for value in after):
            return None
        return [round(value) for value in before], [round(value) for value in after]

    @property
    def drop(self) -> float:
        """The drop of the metric."""
        return 0.0 - self.difference.value  # and not -0.0

    def detectable(self, level: float) -> float | None:
        """Return the drop that the test finds in 80 % of all runs; None if there is none, or it is not known."""
        found = self.difference
        if isinstance(found, MeanDifference) and found.best is not None:
            n, changed = found.effective(level), (found.worse + found.better) / found.best
            # One change more than was seen: where nothing changed, something may the next time.
            drop = detectable_drop(round(n), (changed * n + 1) / (n + 2), level)
            return None if drop is None else drop * found.best
        if not found.stderr:
            return None
        freedom = found.units - 1
        return found.stderr * (t_quantile(1 - level, freedom) + t_quantile(POWER, freedom))

    @property
    def nothing_changed(self) -> bool:
        """Whether no sample changed its value."""
        sums = [(self.before.sums.get(name), self.after.sums.get(name)) for name in self.names]
        return not any(self.differences) and all(old == new for old, new in sums)

    @property
    def left_out(self) -> int:
        """Number of samples that only one of the runs has answered."""
        return len(self.before.values.keys() ^ self.after.values.keys())
