"""The gate of a baseline: no significant drop.

`check_baseline` pairs each score of a dataset with the same score of the baseline, tests the drop of its samples
(`HeldPair`), and corrects the p-values of all of them together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.comparison import StoredRun
from ais_prompt.errors import AisPromptError, ConfigError
from ais_prompt.gates.baseline import ENOUGH_ANSWERED, Baseline, BaselineTask, baseline_task
from ais_prompt.metrics import (
    LEVEL,
    POWER,
    MeanDifference,
    SumsDifference,
    detectable_drop,
    exact,
    holm,
    matched_worse,
    mean_difference,
    sums_difference,
    t_quantile,
)
from ais_prompt.types import Verdict

GATE: Final = "no significant drop"

Statistic = Callable[[NDArray[np.float64]], float]


def check_run(baseline: Baseline, run: StoredRun, min_drop: float = 0.0, level: float = LEVEL) -> list[Verdict]:
    """Check a run against a baseline, as `check_baseline` does; inconclusive as a whole if it is not finished."""
    found, metrics, faults = _as_baseline(run, baseline)
    return check_baseline(baseline, found, min_drop, metrics, faults, level)


def check_baseline(
    baseline: Baseline,
    run: Baseline,
    min_drop: float = 0.0,
    metrics: Mapping[str, Statistic] | None = None,
    faults: Mapping[str, str] | None = None,
    level: float = LEVEL,
) -> list[Verdict]:
    """Fail where a dataset dropped significantly, by ``min_drop`` or more; inconclusive without enough evidence.

    A metric of which less is better drops by rising. Scores of further evaluators are checked if the baseline has them.

    One-sided tests of paired samples, corrected over all datasets by Holm's procedure: runs that are equally good fail
    in ``level`` of all cases at most, however many datasets there are.

    Args:
        baseline: the earlier run.
        run: the run to check, as a baseline.
        min_drop: the smallest drop that matters, in the metric's unit.
        metrics: name of a task of the run → the function of its metric from sums, where it is not a mean.
        faults: name of a task of the run → why it cannot be compared.
        level: how often equally good runs may fail.

    Raises:
        ConfigError: one of them identifies samples by rows, the other by ids.
    """
    pairs, unpaired = _pairs(baseline, run, metrics or {}, faults or {})
    verdicts = [_inconclusive(one, why) for one, why in unpaired if not (one.evaluator and why == NOT_THERE)]
    corrected = holm({number: pair.p_value for number, pair in enumerate(pairs)})
    return verdicts + [_verdict(pair, corrected[n], min_drop, level, len(pairs)) for n, pair in enumerate(pairs)]


def held_pairs(baseline: Baseline, run: StoredRun) -> tuple[list[HeldPair], list[Unpaired]]:
    """Return the scores that a baseline and a run share, and why others cannot be compared.

    Raises:
        ConfigError: as `check_baseline`.
    """
    found, metrics, faults = _as_baseline(run, baseline)
    return _pairs(baseline, found, metrics, faults)


Unpaired: TypeAlias = tuple[BaselineTask, str]
"""A score of the run, or of the baseline alone, and why it cannot be compared."""
NOT_THERE: Final = "is not in the baseline"


class HeldPair(Struct, frozen=True, dict=True):
    """A score of a dataset in a baseline and in a run, with the samples that both have answered.

    Attributes:
        before, after: the score in the baseline and in the run.
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

    @property
    def sign(self) -> int:
        """1, or -1 for a metric of which less is better."""
        return -1 if self.after.lower_is_better else 1

    @cached_property
    def differences(self) -> list[float]:
        """By how much each sample is better in ``after``: below 0 if it became worse."""
        return [self.sign * (self.after.values[name] - self.before.values[name]) for name in self.names]

    @cached_property
    def difference(self) -> MeanDifference | SumsDifference:
        """By how much the metric is better in ``after``, with interval and p-value."""
        found = self.clusters
        clusters = [f"cluster {found[name]}" if name in found else name for name in self.names] if found else None
        if self.statistic is None:
            values = [*self.before.values.values(), *self.after.values.values()]
            bounded = self.after.fraction and min(values) >= 0 and max(values) <= 1
            return mean_difference(self.differences, clusters, 1.0 if bounded else None)
        before, after = (np.array([side.sums[name] for name in self.names]) for side in (self.before, self.after))
        statistic, sign = self.statistic, self.sign
        return sums_difference(before, after, lambda sums: sign * statistic(sums), clusters)

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
        if self.sign < 0:  # 0 is right
            before, after = [self.runs - value for value in before], [1 - value for value in after]
        return [round(value) for value in before], [round(value) for value in after]

    @property
    def drop(self) -> float:
        """By how much the metric became worse."""
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


def _as_baseline(run: StoredRun, baseline: Baseline) -> tuple[Baseline, dict[str, Statistic], dict[str, str]]:
    """Return the run as a baseline, the functions of its corpus metrics, and why datasets cannot be compared."""
    tasks: list[BaselineTask] = []
    faults: dict[str, str] = {}
    metrics: dict[str, Statistic] = {}
    scored = [task for task in run.tasks if task.is_scored]
    by_row = baseline.by_row or any(task.knows_only_rows for task in scored)
    for task in (one for each in scored for one in (each, *each.further)):
        stand_in = BaselineTask(task.model, task.dataset, "", True, {}, evaluator=task.evaluator)
        name = stand_in.name
        try:
            tasks.append(baseline_task(task, by_row=by_row))
            if task.metric.of is not None:
                faults[name] = f"only {task.metric.n} of {task.metric.of} samples were asked"
            elif run.status != "finished":
                faults[name] = f"the run is {run.status}"
            if task.corpus is not None:
                metrics[name] = task.corpus.statistic
        except AisPromptError as error:
            tasks.append(stand_in)
            faults[name] = error.what
    return Baseline(run.name, tuple(tasks), by_row), metrics, faults


def _pairs(
    baseline: Baseline, run: Baseline, metrics: Mapping[str, Statistic], faults: Mapping[str, str]
) -> tuple[list[HeldPair], list[Unpaired]]:
    if baseline.by_row != run.by_row:
        raise ConfigError(
            "the run is of an earlier version, which knew samples by their whole rows, and the baseline is not",
            where=run.run,
            fix="let this version write the run's predictions again: give its command with -r; nothing is asked twice",
        )
    old = {_key(task, baseline, run): task for task in baseline.tasks}
    pairs: list[HeldPair] = []
    unpaired: list[Unpaired] = []
    for task in run.tasks:
        statistic = metrics.get(task.name)
        before = old.pop(_key(task, baseline, run), None)
        if before is None:
            fault = NOT_THERE if task.evaluator else faults.get(task.name, NOT_THERE)
        else:
            fault = faults.get(task.name) or _cannot_pair(before, task, is_mean=statistic is None)
        if fault:
            unpaired.append((task, fault))
        elif before is not None:
            common = tuple(name for name in task.values if name in before.values)
            pairs.append(HeldPair(before, task, common, statistic, task.clusters, baseline.runs))
    return pairs, [*unpaired, *((one, "is in the baseline but not in the run") for one in old.values())]


def _key(task: BaselineTask, baseline: Baseline, run: Baseline) -> tuple[str, str, str]:
    """Return the key of a score, with the model if one of the runs has several models."""
    several = any(len({one.model for one in side.tasks}) > 1 for side in (baseline, run))
    return task.model if several else "", task.dataset, task.evaluator


def _inconclusive(task: BaselineTask, why: str) -> Verdict:
    return Verdict(GATE, task.name, False, f"inconclusive: {why}", inconclusive=True)


def _cannot_pair(before: BaselineTask, after: BaselineTask, *, is_mean: bool) -> str:
    """Return why two scores cannot be compared; empty if they can."""
    if before.metric != after.metric:
        return f"has the metric {after.metric}, in the baseline it is {before.metric}"
    common = len(before.values.keys() & after.values.keys())
    all_samples = max(before.size, after.size)
    if not common or common < ENOUGH_ANSWERED * all_samples:
        answered = [f"{len(side.values)} of {side.size}" for side in (before, after)]
        return (
            f"{common} of {all_samples} samples are answered in both runs, which is less than {ENOUGH_ANSWERED:.0%} "
            f"({answered[0]} in the baseline, {answered[1]} in the run)"
        )
    if not is_mean and not before.sums:
        return f"the baseline has no sums for {after.metric}: write it again with aisprompt baseline"
    return ""


def _verdict(pair: HeldPair, p_value: float, min_drop: float, level: float, tests: int) -> Verdict:
    fewest = math.floor(-math.log2(level)) + 1  # so that all of them becoming worse is less likely than the level
    if (units := pair.difference.units) < fewest and pair.runs == 1:
        what = f"{units} samples or clusters cannot show a drop; {fewest} are the fewest that can"
        return _inconclusive(pair.after, what)
    significant = p_value < level
    passed = not significant or exact(pair.drop) < exact(min_drop) or pair.drop <= 0
    change = _points(-pair.drop * pair.sign, pair)
    words = [
        f"{pair.after.metric} {change} on {len(pair.names)} common samples, p {p_value:.2g}",
        *_limits_of_evidence(pair, level / tests),
    ]
    if significant and passed and pair.drop > 0:
        words.append(f"significant, but less than {_points(min_drop, pair)}")
    return Verdict(GATE, pair.after.name, passed, "; ".join(words))


def _limits_of_evidence(pair: HeldPair, level: float) -> Iterator[str]:
    """Yield which drop would be found at a level of significance, and how many samples are left out."""
    before, after = pair.before, pair.after
    left_out = len(before.values.keys() ^ after.values.keys())
    found = pair.detectable(level)
    if not any(pair.differences) and all(before.sums.get(name) == after.sums.get(name) for name in pair.names):
        yield "nothing changed" if not left_out else "nothing changed on these"
    elif found is not None:
        yield f"a {'rise' if pair.sign < 0 else 'drop'} of {_points(found, pair)} would be found in 80 %"
    if left_out:
        yield f"{left_out} samples that only one of the runs has answered are left out"


def _points(value: float, pair: HeldPair) -> str:
    """Return a difference in words; of parts of 1 in points of percent."""
    value += 0.0  # no sign before a zero
    return f"{round(100 * value, 1) + 0.0:+.1f} points" if pair.after.fraction else f"{value:+.4g}"
