"""Compare two runs of one dataset: which samples changed, by how much and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ais_prompt.comparison.causes import Share, divided, reported_difference, shares_left_out
from ais_prompt.comparison.changes import Change, changed_parts, same_prompt
from ais_prompt.comparison.differences import Difference, common_ids, score_difference
from ais_prompt.comparison.pairing import why_undivided, with_common_names
from ais_prompt.comparison.scored_task import ScoredTask, have_one_metric
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
        shares=() if undivided else (*divided(before, after, ids), *shares_left_out(before, after)),
        undivided=undivided,
        changes=tuple(changed_parts(before, after)),
        reported=reported_difference(before, after),
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
