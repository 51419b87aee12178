"""The variants of a run for the browser: a matrix, a table for each model, and the plot of score against cost."""

from __future__ import annotations

import html
from collections.abc import Sequence

from ais_prompt.extensions.variants.score_cost import cost_units, front_legend, front_plot
from ais_prompt.extensions.variants.variant_group import VariantGroup
from ais_prompt.extensions.variants.variant_table import cell_of, notes, rows_of, sentences, titles_of


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
