"""Explain the differences of two runs or logs, dataset by dataset."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ais_prompt.comparison import (
    ScoredTask,
    StoredRun,
    has_rule,
    has_scores,
    pair_tasks,
    paired,
    with_equal_trust,
)
from ais_prompt.errors import AisPromptError
from ais_prompt.extensions.logs.explain.ladder import Ladder, explain
from ais_prompt.metrics import exact_mean
from ais_prompt.plan import Task
from ais_prompt.scoring import sample_scores
from ais_prompt.utils import listed


def explain_runs(
    before: StoredRun, after: StoredRun, dataset: str | None = None, names: tuple[str, str] | None = None
) -> tuple[Sequence[Ladder], Sequence[str]]:
    """Return the explanation of each dataset that both have, and notes on what cannot be explained.

    Args:
        before, after: the runs.
        dataset: only this dataset of either.
        names: of the runs for the reader; None: those of their folders, which for a log is a temporary one.
    """
    before, after = with_equal_trust(before, after)
    pairs = [
        (old, new) for old, new in pair_tasks(before, after) if dataset is None or dataset in (old.dataset, new.dataset)
    ]
    names = names or (before.name, after.name)
    found, notes = [], []
    for old, new in pairs:
        scored = [task for task in (old, new) if task.is_scored and has_scores(task)]
        if len(scored) < 2:
            notes.append(_unscored(old, new, scored))
            continue
        try:
            found.append(explain(old, new, names))
        except AisPromptError as error:
            notes.append(f"{new.name} cannot be explained: {error}")
    if not pairs:
        datasets = " and ".join(listed(task.name for task in run.tasks) for run in (before, after))
        notes.append(f"there is no dataset in common: {datasets}")
    return found, notes


def _unscored(old: ScoredTask, new: ScoredTask, scored: Sequence[ScoredTask]) -> str:
    """Return what can be said of two tasks if one has no scores: equal answers, and their score by the other's rule."""
    pairing = paired(old.predictions, new.predictions, same_dataset=old.dataset == new.dataset)
    pairs = [(old.predictions[one], new.predictions[other]) for one, other in pairing.names.items()]
    equal = sum(one.prediction == other.prediction for one, other in pairs)
    what = (
        f"{new.name} cannot be explained, since there are no scores: {equal} of {len(pairs)} pairs have equal answers"
    )
    if not scored or not pairs or not has_rule(scored[0]):
        return what
    [ruled] = scored
    answers = [
        replace(one if ruled is new else other, gold=(other if ruled is new else one).gold) for one, other in pairs
    ]
    found = [score for score in sample_scores(Task.of(ruled.spec), answers) if score.status != "failed"]
    values = [next(iter(score.values.values()), 0.0) for score in found]
    if not values:
        return what
    return f"{what}; by the rule of the other log the unscored answers score {100 * exact_mean(values):.1f} %"
