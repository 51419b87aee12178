"""The variants of a run in the terminal: prompts and options as columns, and each group with what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from ais_prompt.extensions.variants.variant_group import UNITS, Variant, VariantGroup
from ais_prompt.scoring import bare, value
from ais_prompt.terminal import Cell, Column, print_heading, print_table
from ais_prompt.utils import counted, listed, printable

BEHIND_NOTE: Final = "behind: the best less this variant, on the questions of both; all intervals hold together (95 %)"
MATRIX_NOTE: Final = "! best of its line · < worse than the best (p < 5 %, corrected for all pairs of the line)"
_NAMED: Final = 4
"""Variants that a sentence names."""
_MOST_GROUPS: Final = 6
"""So many groups have a table each; of more only the matrix is printed."""

ON_FRONT: Final = "*"
"""Behind an amount for which no variant has a better score."""
FRONT_NOTE: Final = "* no variant of the dataset scores better for as little"


def print_variants(groups: Sequence[VariantGroup], console: Console) -> None:
    """Print the variants of each model and dataset: side by side, and one below the other with differences and costs.

    Args:
        groups: of `variant_groups`.
        console: where to.
    """
    if len(groups) > 1:
        titles = titles_of(groups)
        columns = [Column(name, is_name=True, right=False) for name in ("dataset", "model")]
        lines: list[list[Cell]] = [
            [printable(group.dataset), printable(group.model), *(cell_of(group, title) for title in titles)]
            for group in groups
        ]
        print_table([*columns, *(Column(printable(title)) for title in titles)], lines, console)
        console.print(Text(f"{MATRIX_NOTE}\n", "dim"), soft_wrap=True)
    if len(groups) <= _MOST_GROUPS:
        for group in groups:
            _print_group(group, console)
        for note in notes(groups):
            console.print(Text(note, "dim"), soft_wrap=True)
    else:
        for group in groups:
            for sentence in sentences(group):
                console.print(Text(printable(f"{group.model} on {group.dataset}: {sentence}")), soft_wrap=True)


def titles_of(groups: Sequence[VariantGroup]) -> list[str]:
    """Return the titles of all variants, each once and in the order of the config."""
    return list(dict.fromkeys(one.title for group in groups for one in group.variants))


def cell_of(group: VariantGroup, title: str) -> str:
    """Return the score of a variant in the matrix: ``75.0 ±4.2``, with ``<`` behind it if the best is better."""
    found = next((one for one in group.variants if one.title == title), None)
    if found is None or found.score is None:
        return "" if found is None else "–"
    mark = {"best": "!", "worse": "<", "unclear": " "}[found.verdict]
    return f"{_score(group, found)}{mark}"


def sentences(group: VariantGroup) -> Iterator[str]:
    """Yield what the scores of a group say: the best variant, how sure that is, and how much of it is luck."""
    if group.best is None:
        yield f"the variants cannot be compared: {group.note}"
        return
    best = group.variants[group.best]
    worse = [one.title for one in group.variants if one.verdict == "worse"]
    unclear = [one.title for one in group.variants if one.verdict == "unclear" and one.score is not None]
    yield f"best: {best.title}" + (f"; better than {listed(worse, _NAMED)}" if worse else "")
    if unclear:
        number = counted(len(group.variants), "variant")
        yield f"may be as good: {listed(unclear, _NAMED)} (p ≥ 5 %, corrected for {number})"
    if group.optimism is not None:
        points = bare(group.optimism, fraction=group.fraction)
        unit = " points" if group.fraction else ""
        yield f"chosen as the best of {len(group.variants)}, its score is too high by about {points}{unit}"
    if (held := group.holdout) is not None:
        chosen = group.variants[held.chosen].title
        ends = f"{bare(held.ci95_low, fraction=group.fraction)}–{bare(held.ci95_high, fraction=group.fraction)}"
        score = value(held.score, fraction=group.fraction)
        yield f"chosen on {counted(held.on, 'question')}: {chosen}; on the other {held.n:,}: {score} ({ends})"


def notes(groups: Sequence[VariantGroup]) -> list[str]:
    """Return what the marks of the tables mean."""
    has_front = any(one.front for group in groups for one in group.variants)
    return [BEHIND_NOTE, *([FRONT_NOTE] if has_front else [])]


def rows_of(group: VariantGroup, groups: Sequence[VariantGroup]) -> tuple[list[str], list[list[str]]]:
    """Return titles and cells of the table of a group, one line for each variant."""
    units = cost_units(groups)
    titles = ["variant", "score", "", "behind", "95 %", "p", *(cost_title(unit, groups) for unit in units)]
    lines = []
    for one in group.variants:
        behind = "" if one.behind is None else bare(one.behind, fraction=group.fraction)
        ends = "" if one.interval is None else " to ".join(bare(end, fraction=group.fraction) for end in one.interval)
        p = "" if one.p_adjusted is None else f"{one.p_adjusted:.3f}" if one.p_adjusted >= 0.001 else "<0.001"
        costs = [cost_cell(one, unit) for unit in units]
        lines.append([one.title, _score(group, one), one.verdict.replace("unclear", ""), behind, ends, p, *costs])
    return titles, lines


def _print_group(group: VariantGroup, console: Console) -> None:
    size = f", {counted(group.common, 'question')}" if group.common else ""
    name = f"{group.model} on {group.dataset}: {group.metric}{' in %' if group.fraction else ''}{size}"
    print_heading(printable(name), console)
    titles, lines = rows_of(group, [group])
    columns = [Column(title, is_name=not number, right=number not in (0, 2)) for number, title in enumerate(titles)]
    print_table(columns, [[printable(cell) for cell in line] for line in lines], console)
    for sentence in sentences(group):
        console.print(Text(printable(sentence)), soft_wrap=True)
    console.print()


def _score(group: VariantGroup, one: Variant) -> str:
    if one.score is None:
        return "–"
    score = bare(one.score, fraction=group.fraction)
    if one.ci95_low is None or one.ci95_high is None:
        return score
    return f"{score} ±{bare((one.ci95_high - one.ci95_low) / 2, fraction=group.fraction)}"


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
    return f"{about}{shown_amount(1000 * amount if unit == 'cost' else amount)}{mark}"


def shown_amount(amount: float) -> str:
    """Return an amount with three digits, or without decimals."""
    if amount >= 1000:
        return f"{amount:,.0f}"
    return f"{amount:.3g}"
