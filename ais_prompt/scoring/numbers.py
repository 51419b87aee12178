"""Format numbers for people."""

from __future__ import annotations


def percent(fraction: float) -> str:
    """Format a fraction: ``0.9351`` as ``93.5 %``."""
    return f"{100 * fraction:.1f} %"


def value(number: float, *, fraction: bool) -> str:
    """Format a score: a fraction as ``93.5 %``, anything else as ``27.31``."""
    return percent(number) if fraction else plain(number)


def bare(number: float, *, fraction: bool) -> str:
    """Format the same number without its unit: ``1.8``."""
    return f"{100 * number:.1f}" if fraction else plain(number)


def plain(number: float) -> str:
    """Format with two decimals, or with four significant digits if the number is very large or small."""
    return f"{number:.2f}" if number == 0 or 0.01 <= abs(number) < 1e6 else f"{number:.4g}"


def span(low: float | None, high: float | None, *, fraction: bool) -> str:
    """Format a range: ``90.1–95.9``, or one number if both ends look the same; empty if either end is unknown."""
    if low is None or high is None:
        return ""
    ends = dict.fromkeys([bare(low, fraction=fraction), bare(high, fraction=fraction)])
    return ("–" if low >= 0 else " to ").join(ends)
