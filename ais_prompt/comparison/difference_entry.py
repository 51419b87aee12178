"""A difference of two scores as plain JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from ais_prompt.comparison.differences import Difference


class DifferenceEntry(TypedDict):
    """The difference of two scores of a dataset, or the mean over several: all (the name is empty), or a group."""

    dataset: str
    model: str
    metric: str
    fraction: bool
    lower_is_better: bool
    datasets: int
    before: float
    after: float
    difference: float
    interval: tuple[float, float] | None
    n: int
    p: float
    p_adjusted: float


def difference_json(one: Difference) -> dict[str, Any]:
    """Return a difference as plain JSON values, without its samples."""
    return {
        "dataset": one.dataset,
        "model": one.model,
        "metric": one.metric,
        "fraction": one.fraction,
        "lower_is_better": one.lower_is_better,
        "datasets": one.datasets,
        "before": one.before,
        "after": one.after,
        "difference": one.difference,
        "interval": one.interval,
        "n": one.common,
        "p": one.p,
        "p_adjusted": one.p_adjusted,
    }
