"""Score against cost: the columns of a table, and a plot with the Pareto front."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final, NamedTuple

from ais_prompt.extensions.variants.variant_group import UNITS, Variant, VariantGroup

ON_FRONT: Final = "*"
"""Behind an amount for which no variant has a better score."""
FRONT_NOTE: Final = "* no variant of the dataset scores better for as little"
_WIDTH: Final = 640
_HEIGHT: Final = 320
_LEFT: Final = 52
_BOTTOM: Final = 44
_COLOURS: Final = 6
"""Classes of points, one for each model."""


class _Point(NamedTuple):
    """A variant in a plot: number of its group, what an answer takes, its score and the ends of the interval."""

    group: int
    variant: Variant
    amount: float
    score: float
    low: float
    high: float


def cost_units(groups: Sequence[VariantGroup]) -> list[str]:
    """Return the units in which any variant took something, in the order of the columns."""
    spent = [one.spent for group in groups for one in group.variants]
    return [unit for unit in UNITS if any(getattr(one, unit) is not None for one in spent)]


def cost_title(unit: str, groups: Sequence[VariantGroup]) -> str:
    """Return the title of a column: of an answer on average; cost is that of 1,000 answers."""
    currencies = dict.fromkeys(one.spent.currency for group in groups for one in group.variants if one.spent.currency)
    return f"{'/'.join(currencies)} per 1,000" if unit == "cost" else unit


def cost_cell(variant: Variant, unit: str) -> str:
    """Return what an answer takes, with the mark of the front; tokens that are estimates have ``~`` in front."""
    amount = getattr(variant.spent, unit)
    if amount is None:
        return ""
    mark = ON_FRONT if unit in variant.front else " "
    about = "~" if variant.spent.estimated and unit in ("tokens", "cost") else ""
    return f"{about}{_number(1000 * amount if unit == 'cost' else amount)}{mark}"


def front_plot(groups: Sequence[VariantGroup], unit: str) -> str:
    """Return an SVG of score against what an answer takes, for the groups of one dataset; empty without two points.

    Each point has the 95 % interval of its score. Points of the front are joined and named.
    """
    scale = 100 if groups[0].fraction else 1
    points = [
        _Point(
            number,
            one,
            getattr(one.spent, unit),
            scale * one.score,
            scale * (one.score if one.ci95_low is None else one.ci95_low),
            scale * (one.score if one.ci95_high is None else one.ci95_high),
        )
        for number, group in enumerate(groups)
        for one in group.variants
        if one.score is not None and getattr(one.spent, unit) is not None
    ]
    if len(points) < 2:
        return ""
    bottom, top = min(one.low for one in points), max(one.high for one in points)
    top = top if top > bottom else bottom + 1
    most = max(one.amount for one in points) or 1.0

    def x(amount: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 20) * amount / most

    def y(score: float) -> float:
        return 12 + (_HEIGHT - _BOTTOM - 12) * (top - score) / (top - bottom)

    front = sorted((x(one.amount), y(one.score)) for one in points if unit in one.variant.front)
    marks = [f'<polyline class="front" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in front)}"/>']
    for one in points:
        title = one.variant.title
        words = groups[one.group].model, title, _number(one.score), f"{_number(one.amount)} {unit}"
        across, up = x(one.amount), y(one.score)
        marks.append(
            f'<g class="model{one.group % _COLOURS}"><title>{html.escape(", ".join(words))}</title>'
            f'<line x1="{across:.1f}" x2="{across:.1f}" y1="{y(one.low):.1f}" y2="{y(one.high):.1f}"/>'
            f'<circle cx="{across:.1f}" cy="{up:.1f}" r="{6 if unit in one.variant.front else 4}"/>'
            f"{_label(title, across, up) if unit in one.variant.front else ''}</g>"
        )
    axes = (
        f'<text x="{_LEFT}" y="{_HEIGHT - 8}">0</text>'
        f'<text class="end" x="{_WIDTH - 20}" y="{_HEIGHT - 8}">'
        f"{_number(1000 * most if unit == 'cost' else most)} {html.escape(cost_title(unit, groups))}</text>"
        f'<text class="end" x="{_LEFT - 6}" y="{y(top) + 4:.1f}">{_number(top)}</text>'
        f'<text class="end" x="{_LEFT - 6}" y="{y(bottom) + 4:.1f}">{_number(bottom)}</text>'
        f'<path class="axis" d="M{_LEFT} 12V{_HEIGHT - _BOTTOM + 6}H{_WIDTH - 20}"/>'
    )
    label = html.escape(f"{groups[0].metric} against {unit} of {groups[0].dataset}")
    return (
        f'<svg class="front-plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">'
        f"{axes}{''.join(marks)}</svg>"
    )


def front_legend(groups: Sequence[VariantGroup]) -> str:
    """Return the models with the colours that they have in a plot; empty for one."""
    names = (
        f'<span class="model{number % _COLOURS}">● {html.escape(group.model)}</span>'
        for number, group in enumerate(groups)
    )
    return f'<p class="front-legend">{" ".join(names)}</p>' if len(groups) > 1 else ""


def _label(title: str, across: float, up: float) -> str:
    """Return the title beside a point, on the side that has room."""
    is_right = across > _WIDTH / 2
    side = f'class="end" x="{across - 9:.1f}"' if is_right else f'x="{across + 9:.1f}"'
    return f'<text {side} y="{up - 6:.1f}">{html.escape(title)}</text>'


def _number(amount: float) -> str:
    if amount >= 1000:
        return f"{amount:,.0f}"
    return f"{amount:.3g}"
