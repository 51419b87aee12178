"""The variants of a run for the browser: a matrix, a table for each model, and the plot of score against cost."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

from ais_prompt.comparison import VariantGroup
from ais_prompt.errors import AisPromptError
from ais_prompt.report.score_cost import cost_units, front_legend, front_plot
from ais_prompt.report.variant_table import cell_of, notes, rows_of, sentences, titles_of
from ais_prompt.report.web.run_files import summary_of
from ais_prompt.store import RunFolder

VARIANTS_STYLE: Final = """
.variants table{border-collapse:collapse;margin:.5rem 0 1rem}
.variants th,.variants td{padding:.2rem .7rem;text-align:right;white-space:pre}
.variants th,.variants td{border-bottom:1px solid var(--line,#8884)}
.variants th:first-child,.variants td:first-child,.variants td.name{text-align:left;white-space:normal}
.variants td.best{font-weight:700}.variants td.worse{opacity:.6}
.front-plot{max-width:46rem;width:100%;height:auto;font:11px sans-serif;fill:currentColor}
.front-plot .axis,.front-plot .front{fill:none;stroke:currentColor;stroke-opacity:.5}
.front-plot .front{stroke-dasharray:4 3}.front-plot .end{text-anchor:end}
.front-plot g line{stroke-opacity:.5;stroke-width:1.5}
.front-plot .model0 line{stroke:#3b76c4}.front-plot .model0 circle{fill:#3b76c4}
.front-legend .model0{color:#3b76c4;margin-right:1rem}
.front-plot .model1 line{stroke:#c9562c}.front-plot .model1 circle{fill:#c9562c}
.front-legend .model1{color:#c9562c;margin-right:1rem}
.front-plot .model2 line{stroke:#3a8f5c}.front-plot .model2 circle{fill:#3a8f5c}
.front-legend .model2{color:#3a8f5c;margin-right:1rem}
.front-plot .model3 line{stroke:#9a54b4}.front-plot .model3 circle{fill:#9a54b4}
.front-legend .model3{color:#9a54b4;margin-right:1rem}
.front-plot .model4 line{stroke:#a3812b}.front-plot .model4 circle{fill:#a3812b}
.front-legend .model4{color:#a3812b;margin-right:1rem}
.front-plot .model5 line{stroke:#3f8f95}.front-plot .model5 circle{fill:#3f8f95}
.front-legend .model5{color:#3f8f95;margin-right:1rem}
"""


def variants_part(folder: RunFolder) -> str:
    """Return the HTML of the variants of a run; empty if it has none, or its results cannot be read."""
    try:
        if not any(row.base_model for row in summary_of(folder)):  # most runs have none
            return ""
        from ais_prompt.comparison import read_stored_run, variant_groups

        groups = variant_groups(read_stored_run(str(folder.root)))
    except AisPromptError:  # of a task that cannot be read the report has a note
        return ""
    return variants_html(groups)


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
