"""Histograms of many tasks over one axis, so that their shapes can be compared by eye."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Final

BINS: Final = 40
"""Most bins."""
_WIDE: Final = 20
"""If the largest value is more than so many times the median, the axis is logarithmic."""


def distributions(groups: Sequence[Sequence[float]]) -> dict[str, Any]:
    """One histogram for each group, as JSON values.

    Args:
        groups: values >= 0 of each task; a task may have none.

    Returns:
        ``edges`` of the bins, one more than there are bins, and empty if there are no values (bins of whole numbers
        begin and end at whole numbers); ``groups``, each with
        ``counts`` (one for each bin), ``median`` and ``p95``, or None where there are no values.
    """
    edges = _edges(sorted(value for group in groups for value in group))
    return {"edges": edges, "groups": [_distribution(sorted(group), edges) if group else None for group in groups]}


def _edges(values: Sequence[float]) -> list[float]:
    """Bins of one width, or of one ratio if a few values are far above the others."""
    if not values:
        return []
    high = values[-1] or 1.0
    if high <= _WIDE * _quantile(values, 0.5):
        if all(float(value).is_integer() for value in values):
            width = math.ceil((high + 1) / BINS)
            return [float(edge) for edge in range(0, int(high) + width + 1, width)]
        return [high * step / BINS for step in range(BINS + 1)]
    # What is smaller than a ten-thousandth of the largest value falls into the first bin.
    low = max(next((value for value in values if value > 0), high), high / 1e4)
    low = min(low, high / 10)
    return [low * (high / low) ** (step / BINS) for step in range(BINS + 1)]


def _distribution(values: Sequence[float], edges: Sequence[float]) -> dict[str, Any]:
    counts = [0] * (len(edges) - 1)
    for value in values:
        counts[min(max(bisect_right(edges, value) - 1, 0), len(counts) - 1)] += 1
    return {"counts": counts, "median": _quantile(values, 0.5), "p95": _quantile(values, 0.95)}


def _quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that is not below this share of the values (nearest rank); ``values`` are sorted."""
    return values[max(0, -int(-share * len(values) // 1) - 1)]
