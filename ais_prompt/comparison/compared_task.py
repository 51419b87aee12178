"""Compare two runs of one dataset: which samples changed, by how much and why.

The difference is divided among its causes, sample by sample. Causes that can be undone without a model are undone: the
answers of each run are scored with the golds, the postprocessors and the evaluator of the other. What is left comes
from the answers, and is attributed to what differs for each sample: truncation, the prompt, the model, the decoding.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from statistics import pvariance
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from ais_prompt.comparison.changes import (
    Change,
    changed_parts,
    has_rule,
    makers_that_differ,
    same_judge,
    same_metric,
    same_prompt,
    same_reading,
)
from ais_prompt.comparison.differences import Difference, common_ids, score_difference
from ais_prompt.comparison.pairing import why_undivided, with_common_names
from ais_prompt.comparison.scored_task import ScoredTask, clusters_of, have_one_metric
from ais_prompt.errors import AisPromptError
from ais_prompt.evaluators import BatchEvaluator, Evaluator, JudgeEvaluator, best_of, golds_of
from ais_prompt.metrics import bootstrap_interval, exact_mean, mean_difference, spread_of, t_quantile
from ais_prompt.plan import Task
from ais_prompt.scoring import sample_scores
from ais_prompt.types import EvalSpec, Prediction


class Flip(Struct, frozen=True):
    """A sample whose value changed.

    Attributes:
        sample_id, index: as in `ais_prompt.types.Sample`.
        before, after: its values.
        same_prompt: whether both runs sent the same.
        predictions: the two answers, whole.
        extracted: what was read out of each.
    """

    sample_id: str
    index: int
    before: float
    after: float
    same_prompt: bool
    predictions: tuple[Prediction, Prediction]
    extracted: tuple[Any, Any]


class Comparison(Difference, frozen=True, kw_only=True):
    """Two runs of one dataset; before and after are the scores of the common samples.

    Attributes:
        only_before, only_after: samples that only one run has.
        failed_before, failed_after: common samples without an answer, which are left out.
        without_gold: common samples whose gold cannot be used in one of the runs, which are left out too.
        both_right: samples with the best value in both; None unless every sample is right or wrong.
        differences: ``after`` less ``before`` of each common sample.
        flips: samples whose value changed, those that became worse first.
        shares: the causes of the reported difference; they add up to it, unless it is not divided.
        undivided: why the difference of logs is not divided; empty if it is.
        changes: the parts that differ.
        reported: by how much the scores of the runs differ, each of all samples that it has answered.
    """

    only_before: int
    only_after: int
    failed_before: int
    failed_after: int
    without_gold: int
    differences: tuple[float, ...]
    flips: tuple[Flip, ...]
    shares: tuple[Share, ...]
    changes: tuple[Change, ...]
    reported: float
    undivided: str = ""
    both_right: int | None = None


def compare(before: ScoredTask, after: ScoredTask) -> Comparison:
    """Compare two runs of a dataset on the samples that both have answered.

    Raises:
        DataError: they have no such sample, or different metrics.
        StoreError: results or predictions are missing or broken.
    """
    if have_one_metric(before, after):  # else there is nothing to pair
        before, after = with_common_names(before, after)
    found = score_difference(before, after)
    ids = common_ids(before, after)
    differences = tuple(after.values[name] - before.values[name] for name in ids)
    pairs = {(before.values[name], after.values[name]) for name in ids}
    is_binary = before.best == after.best == 1 and all(value in (0, 1) for pair in pairs for value in pair)
    right = 0 if found.lower_is_better else 1
    both = before.predictions.keys() & after.predictions.keys()
    undivided = ""
    if before.is_log or after.is_log:
        undivided = why_undivided(len(both) / min(len(before.predictions), len(after.predictions)))
    return Comparison(
        **{name: getattr(found, name) for name in Difference.__struct_fields__},
        only_before=len(before.predictions) - len(both),
        only_after=len(after.predictions) - len(both),
        failed_before=len(both - before.values.keys() - before.without_gold),
        failed_after=len(both - after.values.keys() - after.without_gold),
        without_gold=len(both & (before.without_gold | after.without_gold)),
        differences=differences,
        flips=tuple(_flips(before, after, ids, differences, lower_is_better=found.lower_is_better)),
        shares=() if undivided else (*Division(before, after, ids).shares(), *shares_left_out(before, after)),
        undivided=undivided,
        changes=tuple(changed_parts(before, after)),
        reported=_score(after, after.values.keys()) - _score(before, before.values.keys()),
        both_right=sum(before.values[name] == after.values[name] == right for name in ids) if is_binary else None,
    )


def _flips(
    before: ScoredTask, after: ScoredTask, ids: Sequence[str], differences: Sequence[float], *, lower_is_better: bool
) -> list[Flip]:
    old, new = before.values, after.values
    read_before, read_after = before.extracted, after.extracted
    sign = -1 if lower_is_better else 1
    changed = sorted((sign * difference, number) for number, difference in enumerate(differences) if difference)
    return [
        Flip(
            sample_id=after.predictions[name := ids[number]].sample_id,
            index=before.predictions[name].index,
            before=old[name],
            after=new[name],
            same_prompt=same_prompt(before.predictions[name], after.predictions[name]),
            predictions=(before.predictions[name], after.predictions[name]),
            extracted=(read_before.get(name), read_after.get(name)),
        )
        for _, number in changed
    ]


DATA, EXTRACTION, METRIC, JUDGE, TRUNCATION = "data", "extraction", "metric", "judge", "truncation"
RULE: Final = "scoring rule"
"""A tool scores by a rule that is not here, so its share cannot be separated from that of the answers."""
CHANCE: Final = "chance"
"""Answers differ although nothing that produces them does: models do not always answer the same."""

Rows = NDArray[np.float64]
Statistic = Callable[[Rows], float]


class Share(Struct, frozen=True):
    """A part of the difference.

    Attributes:
        cause: its name; ``prompt and model`` if both differ for the same samples, since only one effect is seen.
        difference: the part.
        samples: how many samples it comes from.
        interval: where the true part lies, with 95 % confidence; None if that cannot be known.
    """

    cause: str
    difference: float
    samples: int
    interval: tuple[float, float] | None = None


class _State(NamedTuple):
    """The run that golds, postprocessors and evaluator come from (False: the first)."""

    data: bool = False
    extraction: bool = False
    metric: bool = False


class Division:
    """Divides the difference of the common samples of two runs among its causes.

    The causes are put in place one after the other, and again in the opposite order; each has the mean of what it
    changes. So the shares add up to the difference. With two causes it is the Shapley value (Shapley 1953).

    Args:
        before, after: the runs.
        ids: samples that both have answered; at least one.

    Raises:
        AisPromptError: the answers cannot be scored with the parts of the other run.
    """

    def __init__(self, before: ScoredTask, after: ScoredTask, ids: Sequence[str]) -> None:
        self._before, self._after, self._ids = before, after, ids
        self._old = [before.predictions[name] for name in ids]
        self._new = [after.predictions[name] for name in ids]
        self._rows: dict[tuple[bool, _State], Rows] = {}

    def shares(self) -> list[Share]:
        """Return the shares in the order of scoring; those of the answers come last."""
        players = [*self._undone, *dict.fromkeys(label for label in self._labels if label)]
        forth, back = self._path(players), self._path(players[::-1])[::-1]
        found = []
        for number, cause in enumerate(players):
            # Going back the causes are put in place from the end, so the step of a cause begins at the entry after it.
            steps = ((forth[number], forth[number + 1]), (back[number + 1], back[number]))
            found.append(self._share(cause, steps))
        return found

    def samples_of(self, cause: str) -> list[str]:
        """Return the samples that a cause changes: the answers that it labels, or the values that it moves."""
        if cause not in self._undone:
            return [name for name, label in zip(self._ids, self._labels, strict=True) if label == cause]
        alone = _State(**{cause: True})
        moved = [self._scored(new, _State()) != self._scored(new, alone) for new in (False, True)]
        changed = np.any(moved, axis=(0, 2))
        return [name for name, is_changed in zip(self._ids, changed, strict=True) if is_changed]

    def crossed(self, *, answers_of_after: bool, rule_of_after: bool) -> float | None:
        """Return the score of the answers of a run by the golds and rules of a run; None if that cannot be computed."""
        if answers_of_after != rule_of_after:
            if self.cannot_score:
                return None
            if not self._undone:  # both have the same golds and rule
                rule_of_after = answers_of_after
        rows = self._scored(answers_of_after, self._whole if rule_of_after else _State())
        return self._statistic(metric=rule_of_after)(rows.sum(axis=0))

    def _statistic(self, *, metric: bool) -> Statistic:
        """Return what makes the score of the sums over all samples: the metric of the second run, or of the first."""
        corpus = (self._after if metric else self._before).corpus
        return (lambda sums: float(sums[0]) / len(self._ids)) if corpus is None else corpus.statistic

    @cached_property
    def _whole(self) -> _State:
        """Everything of the second run that can be put in the place of that of the first."""
        return _State(*(cause in self._undone for cause in _State._fields))

    @cached_property
    def _judged(self) -> bool:
        """Whether a judge scores; it is not asked again."""
        return any(task.spec.dataset.eval.judge is not None for task in (self._before, self._after))

    @cached_property
    def cannot_score(self) -> bool:
        """Whether answers cannot be scored again: a judge scores, or the rule of another tool that is not here."""
        sides = (self._before, self._after)
        return self._judged or not all(map(has_rule, sides))

    @cached_property
    def _undone(self) -> list[str]:
        """The causes that can be undone without a model."""
        if self.cannot_score:
            return []
        before, after = self._before.spec.dataset, self._after.spec.dataset
        differ = {
            DATA: not all(self._same_golds),
            EXTRACTION: not same_reading(before, after),
            METRIC: not same_metric(before, after),
        }
        return [cause for cause, differs in differ.items() if differs]

    @cached_property
    def _same_golds(self) -> list[bool]:
        """Whether the golds of each pair are the same answer, if not in the same notation, as "18" and "#### 18"."""
        rules = [Task.of(task.spec).dataset.evaluator for task in (self._before, self._after) if has_rule(task)]
        return [
            old.gold == new.gold or one == other or any(_takes_both(rule, one, other) for rule in rules)
            for old, new, one, other in zip(self._old, self._new, *self._read_golds, strict=True)
        ]

    @cached_property
    def _read_golds(self) -> tuple[list[Any], list[Any]]:
        """The golds of the two runs, each read by the ``dataset_postprocessor`` of its own run."""
        first, second = _read_golds(self._before, self._old), _read_golds(self._after, self._new)
        return first, second

    @cached_property
    def _labels(self) -> list[str]:
        """The cause of the changed answer of each sample; empty if neither answer nor value changed."""
        made = makers_that_differ(self._before, self._after)
        judged = self._judged_causes() if self.cannot_score else []
        moved = (self._stored[0] != self._stored[1]).any(axis=1)
        return [self._label(number, made, judged, moved=bool(moved[number])) for number in range(len(self._ids))]

    def _judged_causes(self) -> list[str]:
        before, after = self._before.spec.dataset, self._after.spec.dataset
        if not self._judged:
            return [] if same_reading(before, after) and same_metric(before, after) else [RULE]
        same = {EXTRACTION: same_reading(before, after), JUDGE: same_judge(before, after)}
        return [cause for cause, is_same in same.items() if not is_same]

    def _label(self, number: int, made: Sequence[str], judged: Sequence[str], *, moved: bool) -> str:
        old, new = self._old[number], self._new[number]
        scoring = [*([DATA] if self.cannot_score and not self._same_golds[number] else []), *judged]
        if old.prediction == new.prediction:
            if self._undone or not moved:
                return ""
            return " and ".join(scoring) or (JUDGE if self._judged else METRIC)
        causes = [*([] if same_prompt(old, new) else ["prompt"]), *made]
        causes = causes or ([CHANCE] if RULE in judged else [])  # the answers differ, whatever the rule adds to it
        return " and ".join([*([TRUNCATION] if _is_cut(old, new) else causes), *scoring]) or CHANCE

    def _path(self, players: Sequence[str]) -> list[tuple[Rows, Statistic]]:
        """Return the rows after each cause is applied in turn, from none of them to all."""
        state, done = _State(), set[str]()
        found = [self._mixed(state, done)]
        for player in players:
            if player in self._undone:
                state = state._replace(**{player: True})
            else:
                done.add(player)
            found.append(self._mixed(state, done))
        return found

    def _mixed(self, state: _State, done: set[str]) -> tuple[Rows, Statistic]:
        changed = np.array([label in done for label in self._labels])
        rows = np.where(changed[:, None], self._scored(True, state), self._scored(False, state))
        return rows, self._statistic(metric=state.metric)

    @cached_property
    def _stored(self) -> tuple[Rows, Rows]:
        """The rows of the two runs as stored."""
        first, second = (
            np.array([[task.values[name]] if task.corpus is None else task.rows[name] for name in self._ids])
            for task in (self._before, self._after)
        )
        return first, second

    def _scored(self, new: bool, state: _State) -> Rows:
        """Score the answers of one run as the state says; shape (samples, quantities)."""
        if state == (self._whole if new else _State()):
            return self._stored[new]
        if (new, state) not in self._rows:
            answers, answered = (self._new, self._after) if new else (self._old, self._before)
            found = self._score_again(answers, answered, state)
            # Where only one run can use the gold, the sample keeps the value of the other run.
            other = self._stored[not new]
            rows = [found.get(name, other[number]) for number, name in enumerate(self._ids)]
            self._rows[new, state] = np.array(rows)
        return self._rows[new, state]

    def values_of(self, answers: Sequence[Prediction]) -> list[float]:
        """Return the value of other answers to the samples, in order: the mean by the golds and rules of either run.

        NaN where an answer has no score.

        Raises:
            AisPromptError: an answer cannot be scored.
        """
        sides = ((self._before, _State()), (self._after, self._whole))
        found = [self._score_again(answers, task, state) for task, state in sides]
        missing = np.full(1, math.nan)
        return [float(np.mean([one.get(name, missing)[0] for one in found])) for name in self._ids]

    def _score_again(self, answers: Sequence[Prediction], answered: ScoredTask, state: _State) -> Mapping[str, Rows]:
        # Of two notations of a gold that of the run whose metric compares.
        ways = [state.metric if same else state.data for same in self._same_golds]
        golds = [new if way else old for way, old, new in zip(ways, *self._read_golds, strict=True)]
        # A rule may read the choices, which the other log may lack.
        mixed = [
            replace(answer, gold=gold, cluster=None, columns={**old.columns, **new.columns, **answer.columns})
            for answer, gold, old, new in zip(answers, golds, self._old, self._new, strict=True)
        ]
        dataset = answered.spec.dataset
        scoring = self._eval_spec(state)
        spec = replace(answered.spec, dataset=replace(dataset, eval=scoring))
        scores = [score for score in sample_scores(Task.of(spec), mixed) if score.status != "failed"]
        corpus = (self._after if state.metric else self._before).corpus
        if corpus is not None:
            return {score.sample_id: corpus.sums(score) for score in scores}
        metric = self._after.metric.metric
        # The evaluator of a log may call the main metric by another name than the log.
        return {
            score.sample_id: np.array([float(score.values.get(metric, next(iter(score.values.values()), 0.0)))])
            for score in scores
        }

    def _eval_spec(self, state: _State) -> EvalSpec:
        before, after = self._before.spec.dataset.eval, self._after.spec.dataset.eval
        reading, metric = after if state.extraction else before, after if state.metric else before
        return replace(
            metric,
            pred_postprocessor=reading.pred_postprocessor,
            dataset_postprocessor=None,  # the golds are read
            k=(),
            cluster=None,
        )

    def _share(self, cause: str, steps: Sequence[tuple[tuple[Rows, Statistic], tuple[Rows, Statistic]]]) -> Share:
        labelled = sum(label == cause for label in self._labels)
        touched = np.any([first[0] != second[0] for first, second in steps], axis=(0, 2))
        samples = labelled or int(touched.sum())
        clusters = clusters_of(self._after, self._ids)
        if self._after.corpus is None:
            parts = np.mean([second[0][:, 0] - first[0][:, 0] for first, second in steps], axis=0)
            found = mean_difference(parts.tolist(), clusters, self._before.best and self._after.best)
            return Share(cause, found.value, samples, found.interval)

        width = steps[0][0][0].shape[1]
        stacked = np.hstack([rows for step in steps for rows, _ in step])

        def effect(sums: Rows) -> float:
            ends = [
                statistic(sums[width * place : width * (place + 1)])
                for place, (_, statistic) in enumerate(end for step in steps for end in step)
            ]
            return (ends[1] - ends[0] + ends[3] - ends[2]) / 2

        spread = bootstrap_interval(stacked, effect, clusters=clusters)
        return Share(cause, effect(stacked.sum(axis=0)), samples, spread and spread[1])


def _read_golds(task: ScoredTask, predictions: Sequence[Prediction]) -> list[Any]:
    """Return the golds of a task as its rule reads them; one that it cannot read as it is."""
    if not has_rule(task) or task.spec.dataset.eval.dataset_postprocessor is None:
        return [one.gold for one in predictions]
    read, golds = Task.of(task.spec).dataset.gold_of, []
    for one in predictions:
        try:
            golds.append(read(one.gold))
        except AisPromptError:
            golds.append(one.gold)
    return golds


def _takes_both(evaluator: Evaluator | None, one: Any, other: Any) -> bool:
    """Return whether an evaluator takes each of two golds, as an answer, for the other one."""
    if evaluator is None or isinstance(evaluator, BatchEvaluator | JudgeEvaluator):
        return False
    try:
        first, second = golds_of(one), golds_of(other)
        return all(
            next(iter(evaluator.score(answer, golds).values())) >= best_of(evaluator)
            for answers, golds in ((first, second), (second, first))
            for answer in answers
        )
    except AisPromptError:
        return False


def _is_cut(old: Prediction, new: Prediction) -> bool:
    """Return whether a limit on the length made the answers differ."""
    if old.truncated != new.truncated:
        return True
    first, second = old.prediction, new.prediction
    texts = isinstance(first, str) and isinstance(second, str)
    return old.truncated and texts and (first.startswith(second) or second.startswith(first))


FAILURES, OTHER_SAMPLES = "failures", "other samples"


def shares_left_out(before: ScoredTask, after: ScoredTask) -> Iterator[Share]:
    """Yield the shares of samples that only one run has, or has answered.

    A run's score is that of the samples it has answered. So failures count as far as the samples that only the other
    run has answered are easier or harder than the rest; and so do samples that only one run has.
    """
    both = before.predictions.keys() & after.predictions.keys()
    sides = [(task, set(task.values)) for task in (before, after)]
    common = sides[0][1] & sides[1][1]
    yield from _share(FAILURES, [(task, found & both, common) for task, found in sides])
    yield from _share(OTHER_SAMPLES, [(task, found, found & both) for task, found in sides])


def _share(cause: str, sides: list[tuple[ScoredTask, set[str], set[str]]]) -> Iterator[Share]:
    """Yield the share of the samples that are in the first set of each side but not in the second."""
    if all(whole == part for _, whole, part in sides):
        return
    value = 0.0
    deviations: defaultdict[str, float] = defaultdict(float)
    for sign, (task, whole, part) in zip((-1, 1), sides, strict=True):
        value += sign * (_score(task, whole) - _score(task, part))
        for weight, names in ((sign, whole), (-sign, part)):
            # What each sample adds to the error of the mean over these samples.
            mean = exact_mean([task.values[name] for name in names])
            for name in names:
                deviations[task.clusters.get(name, name)] += weight * (task.values[name] - mean) / len(names)
    samples = len(set[str]().union(*(whole - part for _, whole, part in sides)))
    spread = spread_of(list(deviations.values())) if sides[0][0].corpus is None else None
    interval = None
    if spread is not None and spread.variance:
        # The few samples that are left out may be alike by chance; then they vary as all samples do.
        variance = max(spread.variance, math.fsum(_pooled_variance(task.values, *sets) for task, *sets in sides))
        half = t_quantile(0.975, spread.freedom or spread.units - 1) * math.sqrt(variance)
        interval = value - half, value + half
    yield Share(cause, value, samples, interval)


def _score(task: ScoredTask, names: Set[str]) -> float:
    if task.corpus is not None:
        return task.corpus.statistic(np.sum([task.rows[name] for name in sorted(names)], axis=0))
    return exact_mean([task.values[name] for name in sorted(names)])


def _pooled_variance(values: Mapping[str, float], whole: Set[str], part: Set[str]) -> float:
    """Return the variance of the difference of two means if all samples vary alike."""
    weights = [1 / len(whole) - (name in part) / len(part) for name in whole]
    return pvariance([values[name] for name in sorted(whole)]) * math.fsum(weight * weight for weight in weights)
