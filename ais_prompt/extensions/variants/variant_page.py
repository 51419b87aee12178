"""The variants of a run for the browser: a matrix, a table for each model, and the plot of score against cost."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final, NamedTuple

from ais_prompt.extensions.variants.variant_group import Variant, VariantGroup
from ais_prompt.extensions.variants.variant_table import (
    cell_of,
    cost_title,
    cost_units,
    notes,
    rows_of,
    sentences,
    shown_amount,
    titles_of,
)

_WIDTH: Final = 640
_HEIGHT: Final = 320
_LEFT: Final = 52
_BOTTOM: Final = 44
_COLOURS: Final = 6
"""Classes of points, one for each model."""


def variants_html(groups: Sequence[VariantGroup]) -> str:
    """Return the HTML of groups: matrix and plots of each dataset, then a table for each model."""
    if not groups:
        return ""
    parts = ['<section class="variants" id="variants"><h2>Variants</h2>']
    for dataset in dict.fromkeys(group.dataset for group in groups):
        own = [group for group in groups if group.dataset == dataset]
        parts.append(f"<h3>{html.escape(dataset)}</h3>{_matrix(own) if len(own) > 1 else ''}")
        if plots := [plot for unit in cost_units(own) if (plot := front_plot(own, unit))]:
            parts += [f"<p>{html.escape(own[0].metric)} against what an answer takes</p>", *plots, front_legend(own)]
        for group in own:
            titles, lines = rows_of(group, own)
            cells = [["name", *([""] * (len(titles) - 1))] for _ in lines]
            parts.append(f"<h4>{html.escape(group.model)}</h4>{_table(titles, lines, cells)}")
            parts += [f"<p>{html.escape(sentence)}</p>" for sentence in sentences(group)]
    parts += [f"<p>{html.escape(note)}</p>" for note in notes(groups)]
    return "".join([*parts, "</section>"])


def _matrix(groups: Sequence[VariantGroup]) -> str:
    titles = titles_of(groups)
    verdicts = [{one.title: one.verdict for one in group.variants} for group in groups]
    lines = [[group.model, *(cell_of(group, title).rstrip("!< ") for title in titles)] for group in groups]
    classes = [["name", *(found.get(title, "") for title in titles)] for found in verdicts]
    return _table(["", *titles], lines, classes)


def _table(titles: Sequence[str], lines: Sequence[Sequence[str]], classes: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(title)}</th>" for title in titles)
    rows = (
        "".join(
            f'<td class="{kind}">{html.escape(cell)}</td>' if kind else f"<td>{html.escape(cell)}</td>"
            for cell, kind in zip(line, kinds, strict=True)
        )
        for line, kinds in zip(lines, classes, strict=True)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table>"


class _Point(NamedTuple):
    """A variant in a plot: number of its group, what an answer takes, its score and the ends of the interval."""

    group: int
    variant: Variant
    amount: float
    score: float
    low: float
    high: float


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
        words = groups[one.group].model, title, shown_amount(one.score), f"{shown_amount(one.amount)} {unit}"
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
        f"{shown_amount(1000 * most if unit == 'cost' else most)} {html.escape(cost_title(unit, groups))}</text>"
        f'<text class="end" x="{_LEFT - 6}" y="{y(top) + 4:.1f}">{shown_amount(top)}</text>'
        f'<text class="end" x="{_LEFT - 6}" y="{y(bottom) + 4:.1f}">{shown_amount(bottom)}</text>'
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
