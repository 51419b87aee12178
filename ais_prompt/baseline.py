"""No significant drop: a run held against an earlier one, or against the small file that was made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct

from ais_prompt.compare import StoredRun, open_run
from ais_prompt.metrics.paired import LEVEL, detectable_drop, holm, mcnemar_worse, mean_is_negative
from ais_prompt.report.gates import Verdict
from ais_prompt.store.baseline_file import Baseline, BaselineTask, read_baseline

GATE: Final = "no significant drop"


def make_baseline(run: StoredRun) -> Baseline:
    """The baseline that a run makes.

    Raises:
        StoreError: results of the run are missing or broken.
    """
    return Baseline(
        run.name,
        tuple(
            BaselineTask(
                task.task.spec.model.abbr,
                task.task.spec.dataset.abbr,
                task.metric.metric,
                task.metric.fraction,
                task.values,
            )
            for task in run.tasks
            if task.task.spec.dataset.eval.evaluator is not None
        ),
    )


def open_baseline(name: str, work_dir: str | None = None) -> Baseline:
    """A baseline file, or the baseline that a run makes (its path, name or time).

    Raises:
        ConfigError: there is neither such a file nor such a run.
        StoreError: it cannot be read.
    """
    return read_baseline(Path(name)) if Path(name).is_file() else make_baseline(open_run(name, work_dir))


class _Pair(Struct, frozen=True):
    """A data set that both have, with the differences of the samples that both have answered."""

    before: BaselineTask
    after: BaselineTask
    differences: tuple[float, ...]

    @property
    def p_value(self) -> float:
        """How likely so large a drop is if nothing became worse: McNemar's exact test, or that of the mean."""
        values = {*self.before.values.values(), *self.after.values.values()}
        if values <= {0.0, 1.0}:
            worse, better = (sum(one * sign > 0 for one in self.differences) for sign in (-1, 1))
            return mcnemar_worse(worse, better)
        return mean_is_negative(self.differences)

    @property
    def drop(self) -> float:
        """How far the mean fell."""
        return -sum(self.differences) / len(self.differences)


def check_baseline(baseline: Baseline, run: Baseline, min_drop: float = 0.0) -> list[Verdict]:
    """Fail where a data set dropped significantly, by ``min_drop`` or more.

    One-sided tests of paired samples at a level of 5 %, corrected over all data sets by Holm's procedure: runs that are
    equally good fail in 5 % of all cases at most, however many data sets there are.

    Args:
        baseline: what is held against.
        run: the run that is looked at, as a baseline of its own.
        min_drop: the smallest drop that matters, in the metric's unit.
    """
    old = {_key(task, baseline, run): task for task in baseline.tasks}
    verdicts, pairs = [], []
    for task in run.tasks:
        before = old.get(_key(task, baseline, run))
        if fault := _cannot_pair(before, task):
            verdicts.append(Verdict(GATE, f"{task.model}/{task.dataset}", False, fault))
        elif before is not None:
            pairs.append(_pair(before, task))
    missing = old.keys() - {_key(task, baseline, run) for task in run.tasks}
    verdicts += [Verdict(GATE, name, False, "is in the baseline but not in the run") for name in sorted(missing)]
    corrected = holm({number: pair.p_value for number, pair in enumerate(pairs)})
    return verdicts + [_verdict(pair, corrected[number], min_drop, len(pairs)) for number, pair in enumerate(pairs)]


def _key(task: BaselineTask, baseline: Baseline, run: Baseline) -> str:
    """Data sets are known by model too, if one of the runs has several models."""
    several = any(len({one.model for one in side.tasks}) > 1 for side in (baseline, run))
    return f"{task.model}/{task.dataset}" if several else task.dataset


def _cannot_pair(before: BaselineTask | None, after: BaselineTask) -> str:
    """Why nothing can be said of a data set; empty if it can."""
    if before is None:
        return "is not in the baseline"
    if before.metric != after.metric:
        return f"has the metric {after.metric}, in the baseline it is {before.metric}"
    if not before.values.keys() & after.values.keys():
        return "has no answered sample in common with the baseline"
    return ""


def _pair(before: BaselineTask, after: BaselineTask) -> _Pair:
    common = [name for name in after.values if name in before.values]
    return _Pair(before, after, tuple(after.values[name] - before.values[name] for name in common))


def _verdict(pair: _Pair, p_value: float, min_drop: float, tests: int) -> Verdict:
    significant = p_value < LEVEL
    passed = not significant or pair.drop < min_drop or pair.drop <= 0
    subject = f"{pair.after.model}/{pair.after.dataset}"
    detectable = detectable_drop(pair.differences, tests)
    words = [
        f"{pair.after.metric} {_points(-pair.drop, pair)} on {len(pair.differences)} common samples, p {p_value:.2g}",
        "nothing changed" if detectable is None else f"a drop of {_points(detectable, pair)} would be found in 80 %",
    ]
    left_out = len(pair.before.values.keys() ^ pair.after.values.keys())
    if left_out:
        words.append(f"{left_out} samples that only one of the runs has answered are left out")
    if significant and passed and pair.drop > 0:
        words.append(f"significant, but less than {_points(min_drop, pair)}")
    return Verdict(GATE, subject, passed, "; ".join(words))


def _points(value: float, pair: _Pair) -> str:
    """A difference; of parts of 1 in points of percent."""
    return f"{100 * value:+.1f} points" if pair.after.fraction else f"{value:+.4g}"


__all__ = ["Baseline", "check_baseline", "make_baseline", "open_baseline"]
