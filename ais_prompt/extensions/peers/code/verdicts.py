"""Read what an evaluator of OpenCompass or AISBench returns: numbers for the dataset, details for the answers."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.evaluators.base import BatchVerdict

RIGHT: Final = ("correct", "is_correct", "cascade_correct")
"""Keys of a detail that say whether an answer is right, in the order in which the peers look for them."""
WHOLE: Final = (
    "score",
    "total",
    "overall",
    "overall_score",
    "Average_score",
    "final_score",
    "average",
    "总分",
    "accuracy",
)
"""Names of the number for the whole dataset, among those for its categories."""
DETAILS: Final = "details"
PERCENT: Final = 100.0


class NoVerdict(Exception):
    """An evaluator returned no number."""


def verdict(result: Any, answers: int, name: str) -> BatchVerdict:
    """Return the numbers of a result.

    Args:
        result: what ``score`` returned.
        answers: how many there were.
        name: of what returned it, for the error.

    Raises:
        NoVerdict: it holds no number, or an ``error``.
    """
    if not isinstance(result, Mapping):
        raise NoVerdict(f"{name} returns {type(result).__name__}, not a dict")
    if "error" in result:
        raise NoVerdict(f"{name}: {result['error']}")
    metrics = dict(_numbers(result))
    if not metrics:
        raise NoVerdict(f"{name} gives no number but {', '.join(map(str, result)) or 'nothing'}")
    return BatchVerdict(metrics, _each(result.get(DETAILS), answers, metrics))


def judged_verdict(result: Any, answers: int, name: str, model: str) -> BatchVerdict:
    """Return the numbers that a function makes of what a judge said. The one for the whole dataset comes first.

    Args:
        result: what it returned.
        answers: how many there were.
        name: its name, for the error.
        model: whose answers were judged; comparisons, as ``matches``, become its ``win_rate``.

    Raises:
        NoVerdict: it holds no number, or an ``error``.
    """
    if isinstance(result, Mapping) and isinstance(matches := result.get("matches"), list):
        if not matches:
            raise NoVerdict(f"{name} found no verdict in what the judge said")
        return BatchVerdict(
            {"win_rate": PERCENT * math.fsum(_share(match, model) for match in matches) / len(matches)}, {}
        )
    found = verdict(result, answers, name)
    first = [name for name in WHOLE if name in found.metrics]
    return BatchVerdict({name: found.metrics[name] for name in (*first, *found.metrics)}, found.each)


def _share(match: Mapping[str, Any], model: str) -> float:
    """Return what a comparison is worth to a model: 1 for a win, 0.5 for a tie."""
    if match["winner"] not in ("model_a", "model_b"):
        return 0.5
    return float(match[match["winner"]] == model)


def _numbers(values: Mapping[Any, Any], prefix: str = "") -> list[tuple[str, float]]:
    """Return all numbers, those of an inner dict as ``outer/inner``."""
    found: list[tuple[str, float]] = []
    for key, value in values.items():
        if key == DETAILS:
            continue
        if isinstance(value, Mapping):
            found += _numbers(value, f"{prefix}{key}/")
        elif (number := _number(value)) is not None:
            found.append((f"{prefix}{key}", number))
    return found


def _each(details: Any, answers: int, metrics: Mapping[str, float]) -> dict[str, Sequence[float]]:
    """Return the values of each answer for those metrics that are a mean of what the details say."""
    items = list(details.values()) if isinstance(details, Mapping) else details
    if not isinstance(items, list | tuple) or len(items) != answers or not answers:
        return {}
    columns = [column for key in (*RIGHT, *metrics) if (column := _column(items, key))]
    found: dict[str, Sequence[float]] = {}
    for metric, value in metrics.items():
        means = [column for column in columns if _is_mean(value, column)]
        if means:
            found[metric] = means[0]
    return found


def _column(items: Sequence[Any], key: str) -> list[float]:
    """Return the numbers of all details under a key; empty if one of them has none."""
    values = [_number(item.get(key)) if isinstance(item, Mapping) else None for item in items]
    return [value for value in values if value is not None] if None not in values else []


def _is_mean(value: float, column: Sequence[float]) -> bool:
    """Return whether a metric is the mean of a column, or its percentage; some evaluators round it to two digits."""
    mean = math.fsum(column) / len(column)
    return any(
        math.isclose(value, exact, rel_tol=1e-6, abs_tol=1e-9) or math.isclose(value, round(exact, 2), abs_tol=1e-9)
        for exact in (mean, PERCENT * mean)
    )


def _number(value: Any) -> float | None:
    """Return a number of any library as a float; None for anything else."""
    if isinstance(value, numbers.Real) or hasattr(value, "dtype"):
        try:
            number = float(value)
        except (TypeError, ValueError):
            return None
        return number if math.isfinite(number) else None
    return None
