"""Two runs of one data set, sample by sample: what changed, how sure that is, and what it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import DataError
from ais_prompt.metrics.difference import mean_difference
from ais_prompt.tasks.changed_parts import Change, changed_parts, same_extraction
from ais_prompt.tasks.corpus_comparison import Numbers, Share, clusters_of, compare_corpus, same_prompt
from ais_prompt.tasks.scored_task import ScoredTask
from ais_prompt.types import Prediction


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


class Comparison(Struct, frozen=True):
    """Two runs of one data set.

    Attributes:
        model: abbr of the model, or ``before → after`` if these differ.
        dataset: abbr of the data set.
        metric: the main metric.
        fraction: whether its values are parts of 1.
        common: samples that both runs have answered; all numbers are of these.
        only_before, only_after: samples that only one run has.
        failed_before, failed_after: common samples without an answer, which are left out.
        before, after: the two scores.
        differences: ``after`` less ``before`` of each common sample.
        interval: where the true difference lies, with 95 % confidence; None if that cannot be known.
        p: how likely so large a difference is if there is none; below 5 % exactly where ``interval`` leaves out 0.
        units: independent units among the samples: these, or clusters of them.
        p_adjusted: the same after Holm's correction over all data sets.
        flips: samples whose value changed, those that became worse first.
        shares: what the difference comes from; they add up to it.
        changes: the parts that differ.
    """

    model: str
    dataset: str
    metric: str
    fraction: bool
    common: int
    only_before: int
    only_after: int
    failed_before: int
    failed_after: int
    before: float
    after: float
    differences: tuple[float, ...]
    interval: tuple[float, float] | None
    p: float
    units: int
    flips: tuple[Flip, ...]
    shares: tuple[Share, ...]
    changes: tuple[Change, ...]
    p_adjusted: float = 1.0

    @property
    def difference(self) -> float:
        """``after`` less ``before``."""
        return self.after - self.before

    @property
    def worse(self) -> int:
        """How many samples became worse."""
        return sum(difference < 0 for difference in self.differences)

    @property
    def better(self) -> int:
        """How many samples became better."""
        return sum(difference > 0 for difference in self.differences)


def compare(before: ScoredTask, after: ScoredTask) -> Comparison:
    """Compare two runs of a data set on the samples that both have answered.

    Raises:
        DataError: they have no such sample, or different metrics.
        StoreError: results or predictions are missing or broken.
    """
    metric = after.metric
    if metric.metric != before.metric.metric:
        raise DataError(
            f"the runs have different metrics: {before.metric.metric} and {metric.metric}",
            where=after.task.spec.name,
            fix="score one of them again with the other's config: aisprompt score RUN --config CONFIG",
        )
    if before.knows_only_rows != after.knows_only_rows:
        before, after = replace(before, by_row=True), replace(after, by_row=True)
    old, new = before.values, after.values
    ids = [name for name in before.predictions if name in old and name in new]
    if not ids:
        raise DataError(
            "the runs have no answered sample in common",
            where=after.task.spec.name,
            fix="were they made with the same data? Samples are known by a digest of their input columns"
            + (", in one of these runs, which version 1 made, of the whole row" if before.by_row else ""),
        )
    before.check_comparable()
    after.check_comparable()
    differences = tuple(new[name] - old[name] for name in ids)
    if before.corpus is not None and after.corpus is not None:
        numbers = compare_corpus(before, after, ids)
    else:
        numbers = _mean_numbers(before, after, ids, differences)
    both = before.predictions.keys() & after.predictions.keys()
    changes = changed_parts(before.task, after.task)
    return Comparison(
        model=_joined(before.task.spec.model.abbr, after.task.spec.model.abbr),
        dataset=after.task.spec.dataset.abbr,
        metric=metric.metric,
        fraction=metric.fraction,
        common=len(ids),
        only_before=len(before.predictions) - len(both),
        only_after=len(after.predictions) - len(both),
        failed_before=len(both - old.keys()),
        failed_after=len(both - new.keys()),
        before=numbers.before,
        after=numbers.after,
        differences=differences,
        interval=numbers.difference.interval,
        p=numbers.difference.p,
        units=numbers.difference.units,
        flips=tuple(_flips(before, after, ids, differences)),
        shares=numbers.shares,
        changes=tuple(changes),
    )


def adjusted(comparison: Comparison, p_adjusted: float) -> Comparison:
    """The comparison with its corrected p-value."""
    return replace(comparison, p_adjusted=p_adjusted)


def _mean_numbers(before: ScoredTask, after: ScoredTask, ids: Sequence[str], differences: Sequence[float]) -> Numbers:
    return Numbers(
        before=_mean(before.values[name] for name in ids),
        after=_mean(after.values[name] for name in ids),
        difference=mean_difference(differences, clusters_of(after, ids), before.best and after.best),
        shares=tuple(_shares(before, after, ids, differences)),
    )


def _joined(before: str, after: str) -> str:
    return before if before == after else f"{before} → {after}"


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def _flips(before: ScoredTask, after: ScoredTask, ids: Sequence[str], differences: Sequence[float]) -> list[Flip]:
    old, new = before.values, after.values
    read_before, read_after = before.extracted, after.extracted
    changed = sorted((difference, number) for number, difference in enumerate(differences) if difference)
    return [
        Flip(
            sample_id=after.predictions[name := ids[number]].sample_id,
            index=before.predictions[name].index,
            before=old[name],
            after=new[name],
            same_prompt=same_prompt(before, after, name),
            predictions=(before.predictions[name], after.predictions[name]),
            extracted=(read_before.get(name), read_after.get(name)),
        )
        for _, number in changed
    ]


def _shares(before: ScoredTask, after: ScoredTask, ids: Sequence[str], differences: Sequence[float]) -> Iterable[Share]:
    """The difference, divided between extraction and answers, and these between changed and equal prompts.

    The answers of each run are scored in the way of the other as well. What the extraction does is the mean over both
    sets of answers, and what the answers do is the mean over both extractions (the Shapley value of two causes).
    """
    by_answers = dict(zip(ids, differences, strict=True))
    if not same_extraction(before.task.spec.dataset, after.task.spec.dataset):
        by_answers = _by_answers(before, after, ids, by_answers)
        extraction = [by_name - by_answers[name] for name, by_name in zip(ids, differences, strict=True)]
        yield Share("extraction", sum(extraction) / len(ids), sum(map(bool, extraction)))
    for cause, same in (("answers to changed prompts", False), ("answers to the same prompts", True)):
        found = [by_answers[name] for name in ids if same_prompt(before, after, name) is same]
        if found:
            yield Share(cause, sum(found) / len(ids), len(found))


def _by_answers(
    before: ScoredTask, after: ScoredTask, ids: Sequence[str], differences: Mapping[str, float]
) -> dict[str, float]:
    """Of each sample the part of the difference that its answers make."""
    old, new = before.values, after.values
    old_by_after, new_by_before = before.values_by(after, ids), after.values_by(before, ids)
    return {
        # A sample whose gold only one of the extractions can use is the extraction's affair as a whole.
        name: ((new_by_before[name] - old[name]) + (new[name] - old_by_after[name])) / 2
        if name in new_by_before and name in old_by_after
        else 0.0
        for name in differences
    }
