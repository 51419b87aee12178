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
    return {name: getattr(one, "common" if name == "n" else name) for name in DifferenceEntry.__annotations__}
