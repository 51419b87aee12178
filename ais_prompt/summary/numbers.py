"""Numbers as people read them."""

from __future__ import annotations


def percent(fraction: float) -> str:
    """``0.9351`` as ``93.5 %``."""
    return f"{100 * fraction:.1f} %"


def value(number: float, *, fraction: bool) -> str:
    """A score: ``93.5 %`` of a fraction, ``27.31`` of anything else."""
    return percent(number) if fraction else plain(number)


def bare(number: float, *, fraction: bool) -> str:
    """The same without its unit, for a number that stands beside one: ``1.8``."""
    return f"{100 * number:.1f}" if fraction else plain(number)


def plain(number: float) -> str:
    """Two digits behind the point, or four digits that count where the number is very large or small."""
    return f"{number:.2f}" if number == 0 or 0.01 <= abs(number) < 1e6 else f"{number:.4g}"


def span(low: float | None, high: float | None, *, fraction: bool) -> str:
    """``90.1–95.9``, or one number if both ends are shown alike; empty if either end is unknown."""
    if low is None or high is None:
        return ""
    ends = dict.fromkeys([bare(low, fraction=fraction), bare(high, fraction=fraction)])
    return ("–" if low >= 0 else " to ").join(ends)
