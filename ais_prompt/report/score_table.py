"""The scores of a run in a terminal: models side by side, or a line for each score of one model or one dataset.

Models are side by side with one line for each dataset, in as many columns as a screen has. Of these layouts the first
one that fits is printed: everything; without the columns ``n`` and ``metric``; with shortened names of datasets; with
letters in place of the models' names; all of this without intervals; and at last several tables below each other, each
with as many models as fit. A line for a score has its interval and the states of its answers.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ais_prompt.metrics import Z
from ais_prompt.report.language import term
from ais_prompt.report.score_notes import NO_GOLD, WORDS, without_gold
from ais_prompt.scoring import (
    Line,
    Row,
    TaskOutcome,
    bare,
    best_rows,
    half_width,
    is_starred,
    models_of,
    pivot,
    right_answers,
    span,
    value,
)
from ais_prompt.terminal import fitted
from ais_prompt.types import STATUSES
from ais_prompt.utils import one_line, printable

NAME_WITH_INTERVALS: Final = 28
"""Cells of a dataset's name below which intervals are left out instead."""
NAME: Final = 20
"""Cells of a dataset's name below which models are moved to a further table."""
_FEWEST: Final = 3
"""Datasets from which on their mean is shown."""
_SHORT: Final = 6
"""Longest reason for a missing score that is printed in its place; the notes have all reasons."""
ABSENT: Final = "–"
BOLD: Final = "bold: best, or as good"

INTERVAL: Final = "95 % interval"
_STYLES: Final = {"wrong": "", "no answer": "yellow", "cut": "yellow", NO_GOLD: "yellow", "failed": "bold red"}
_LEAST_NAME: Final = 12
_INDENT: Final = 6


def print_matrix(rows: Sequence[Row], console: Console, groups: Collection[str] = ()) -> None:
    """Print datasets as lines and models as columns. No line is longer than the width of the console.

    Args:
        rows: of `ais_prompt.scoring.rows.summary_rows`, groups first.
        console: where to.
        groups: names of groups; a blank line separates them from datasets. Without any, the mean of all datasets is
            first. Models are in the order of the first line: the best one first.
    """
    ranking = ranked(rows, groups)
    if ranking.means:
        rows, groups = [*ranking.means, *rows], {ranking.means[0].dataset}
    columns = {model: number for number, model in enumerate(models_of(rows))}
    order = [columns[model] for model in ranking.models]
    lines = [replace(line, rows=tuple(line.rows[number] for number in order)) for line in pivot(rows)]
    models = [one_line(model) for model in ranking.models]
    layout = _layout(lines, models, console, groups)
    text, width = _matrix_caption(rows, lines, layout, console, groups), max(console.width, 1)
    caption = textwrap.wrap(text, width, break_on_hyphens=False)
    for text in (*caption, *_legend(layout.titles, models, console.width)):
        console.print(Text(text, "dim"), soft_wrap=True)
    for start in range(0, len(models), layout.models):
        if start:
            console.print()
        _print_block(lines, slice(start, start + layout.models), layout, console, groups)


class Ranking(Struct, frozen=True):
    """Which model is first.

    Attributes:
        means: the rows of `mean_rows`, the first line of a table; empty with groups, whose averages are first.
        models: the best of the first line first; of rows without means and groups in their own order.
    """

    means: Sequence[Row]
    models: Sequence[str]


def ranked(rows: Sequence[Row], groups: Collection[str]) -> Ranking:
    """Rank the models of a table.

    Args:
        rows, groups: as of `print_matrix`.
    """
    means, models = [] if groups else mean_rows(rows), models_of(rows)
    if not (means or groups):
        return Ranking(means, models)
    first = {row.model: row for row in means or rows if row.dataset == (means or rows)[0].dataset}
    return Ranking(means, sorted(models, key=lambda model: _rank(first.get(model))))


def mean_rows(rows: Sequence[Row]) -> list[Row]:
    """Return the mean of each model over all datasets, each with the same weight; none if they cannot be compared.

    All datasets must have the same main metric, and all models a score for each. The standard error takes the datasets
    as they are: it is that of other questions of the same datasets. The name has the widest half of the 95 % intervals.
    """
    if any(row.base_model for row in rows):  # variants of a dataset ask the same questions
        return []
    main: dict[tuple[str, str], Row] = {}
    for row in rows:
        main.setdefault((row.model, row.dataset), row)
    models, datasets = models_of(rows), list(dict.fromkeys(row.dataset for row in rows))
    complete = len(main) == len(models) * len(datasets) and all(row.score is not None for row in main.values())
    if len(datasets) < _FEWEST or not complete or len({(row.metric, row.fraction) for row in main.values()}) > 1:
        return []
    found, widths = [], []
    for model in models:
        of = [main[model, dataset] for dataset in datasets]
        stderr = math.hypot(*(math.nan if row.stderr is None else row.stderr for row in of)) / len(of)
        widths.append(Z * stderr)
        known = None if math.isnan(stderr) else stderr
        mean = math.fsum(row.score or 0.0 for row in of) / len(of)
        first = of[0]
        found.append(
            Row("", model, first.metric, mean, known, fraction=first.fraction, lower_is_better=first.lower_is_better)
        )
    width = "" if math.isnan(sum(widths)) else f" (±{bare(max(widths), fraction=found[0].fraction)})"
    return [replace(row, dataset=f"mean of {len(datasets)}{width}") for row in found]


def _rank(row: Row | None) -> tuple[bool, float]:
    """Order the best first, and scores before models without a score."""
    if row is None or row.score is None:
        return True, 0.0
    return False, row.score if row.lower_is_better else -row.score


class _Layout(Struct, frozen=True):
    """How the table is printed.

    Attributes:
        name: cells of the names of datasets.
        sides: columns between them and the scores: of ``metric`` and ``n``.
        intervals: whether scores have their intervals.
        titles: of the columns of scores, one for each model: its name or a letter.
        models: most models side by side.
        gap: blanks before a column of scores, beside the place of a star before them.
    """

    name: int
    sides: tuple[str, ...]
    intervals: bool
    titles: Sequence[str]
    models: int
    gap: int = 1


def _layout(lines: Sequence[Line], models: Sequence[str], console: Console, groups: Collection[str]) -> _Layout:
    """Return the first layout that fits."""
    longest = max(
        cell_len(name) for name in [_heading("dataset", console), *(one_line(line.dataset) for line in lines)]
    )
    # A column that is the same for each dataset is in the caption instead.
    needed = ("metric",) if len({line.dataset for line in lines}) < len(lines) else ()
    told = tuple(side for side in ("metric", "n") if side in needed or _common(side, lines, groups) is None)
    letters = [_letter(number) for number in range(len(models))]
    for intervals, least in ((True, NAME_WITH_INTERVALS), (False, NAME)):
        for titles in (models, letters):
            scores = sum(1 + _width(lines, number, title, intervals=intervals) for number, title in enumerate(titles))
            for sides, name in ((told, longest), (needed, longest), (needed, min(longest, least))):
                room = console.width - scores - sum(_side_width(side, lines, console) for side in sides)
                if room >= name:
                    gap = 2 if room - longest >= len(models) else 1
                    return _Layout(min(longest, room), sides, intervals, titles, len(models), gap)
    widest = 1 + max(_width(lines, number, title, intervals=False) for number, title in enumerate(letters))
    others = sum(_side_width(side, lines, console) for side in needed)
    name = max(1, min(longest, NAME, console.width - widest - others))
    return _Layout(name, needed, False, letters, max(1, (console.width - name - others) // widest))


def _print_block(
    lines: Sequence[Line], models: slice, layout: _Layout, console: Console, groups: Collection[str]
) -> None:
    """Print the table of some models."""
    titles = layout.titles[models]
    numbers = range(models.start, models.start + len(titles))
    widths = [
        layout.gap + _width(lines, number, title, intervals=layout.intervals)
        for number, title in zip(numbers, titles, strict=True)
    ]
    tails = [_tail(lines, number, intervals=layout.intervals) for number in numbers]
    sides = [(side, _side_width(side, lines, console)) for side in layout.sides]
    head = [_fit(_heading("dataset", console), layout.name)]
    head += [f"  {_fit(_heading(side, console), width - 2, right=side == 'n')}" for side, width in sides]
    head += [_fit(f"{title} ", width, right=True) for title, width in zip(titles, widths, strict=True)]
    console.print(Text("".join(head).rstrip(), "bold"), soft_wrap=True)
    for number, line in enumerate(lines):
        if number and lines[number - 1].dataset in groups and line.dataset not in groups:
            console.print()
        text = Text(_fit(fitted(one_line(line.dataset), layout.name), layout.name))
        for side, width in sides:
            text.append(f"  {_fit(_side(side, line), width - 2, right=side == 'n')}")
        best = best_rows(line.rows)
        for row, width, tail in zip(line.rows[models], widths, tails, strict=True):
            score, spread = _cell(row, intervals=layout.intervals)
            text.append(" " * (width - tail - cell_len(score)))
            style = _cell_style(row, is_best=any(row is one for one in best))
            text.append(score, style).append(spread[:-1]).append(spread[-1], "yellow")
            text.append(" " * (tail - len(spread)))
        text.rstrip()
        console.print(text, soft_wrap=True)


def _matrix_caption(
    rows: Sequence[Row], lines: Sequence[Line], layout: _Layout, console: Console, groups: Collection[str]
) -> str:
    """Return what the numbers are: ``accuracy in % ± half of the 95 % interval · n = 40 · bold: best``."""
    scored = [row for row in rows if row.score is not None]
    words = _common("metric", lines, groups) or "scores"
    fractions = {row.fraction for row in scored}
    words += " in %" if True in fractions else ""
    if layout.intervals and any(half_width(row) for row in scored):
        words += " ± half of the 95 % interval"
    size = _common("n", lines, groups)
    parts = [words, f"n = {size}" if size else ""]
    parts += ["two decimals: in the unit of the metric" if len(fractions) > 1 else ""]
    has_averages = lines[0].n and lines[0].dataset in groups and lines[-1].dataset not in groups  # a mean has no n
    parts += ["averages of groups first" if has_averages else ""]
    parts += [BOLD if console.is_terminal and any(best_rows(line.rows) for line in lines) else ""]
    parts += [f"{ABSENT}: not measured" if any(row is None for line in lines for row in line.rows) else ""]
    return " · ".join(filter(None, parts))


def _common(side: str, lines: Sequence[Line], groups: Collection[str]) -> str | None:
    """Return the metric or the number of answers that all scored datasets have; None if they differ."""
    found = {_side(side, line) for line in lines if line.dataset not in groups} - {""}
    return next(iter(found), "") if len(found) < 2 else None


def _legend(titles: Sequence[str], models: Sequence[str], width: int) -> Iterator[str]:
    """Yield ``A = one model   B = another model`` in lines of equal columns; nothing if the titles are the names."""
    if titles is models:
        return
    pairs = [f"{title} = {model}" for title, model in zip(titles, models, strict=True)]
    widest = max(map(cell_len, pairs))
    each_line = max(1, (width + 3) // (widest + 3))
    for start in range(0, len(pairs), each_line):
        line = "   ".join(_fit(pair, widest) for pair in pairs[start : start + each_line]).rstrip()
        yield fitted(line, width)


def _cell(row: Row | None, *, intervals: bool) -> tuple[str, str]:
    """Return ``94.5`` and `` ±1.6*``, with a blank for the star; ``error`` without a score."""
    if row is None or row.score is None:
        reason = ABSENT if row is None else row.note.partition(":")[0]
        return reason if len(reason) <= _SHORT else ABSENT, " "
    spread = half_width(row) if intervals else ""
    star = "*" if is_starred(row) else " "
    return bare(row.score, fraction=row.fraction), f" ±{spread}{star}" if spread else star


def _cell_style(row: Row | None, *, is_best: bool) -> str:
    if row is None or row.score is None:
        return "red" if row is not None else "dim"
    return " ".join(filter(None, ("bold" if is_best else "", "red" if row.failed else "")))


def _width(lines: Sequence[Line], number: int, title: str, *, intervals: bool) -> int:
    """Return the cells of a column of scores, with the place of the star."""
    scores = max(cell_len(_cell(line.rows[number], intervals=intervals)[0]) for line in lines)
    return max(cell_len(title) + 1, scores + _tail(lines, number, intervals=intervals))


def _tail(lines: Sequence[Line], number: int, *, intervals: bool) -> int:
    """Return the cells of the widest interval in a column, with its star."""
    return max(len(_cell(line.rows[number], intervals=intervals)[1]) for line in lines)


def _side_width(side: str, lines: Sequence[Line], console: Console) -> int:
    return 2 + max(cell_len(text) for text in [_heading(side, console), *(_side(side, line) for line in lines)])


def _side(side: str, line: Line) -> str:
    return line.n if side == "n" else printable(line.metric or "")


def _heading(name: str, console: Console) -> str:
    """Return a heading in the reader's language; files and pipes, which programs read, have English ones."""
    return term(name) if console.is_terminal else name


def _fit(text: str, width: int, *, right: bool = False) -> str:
    padding = " " * (width - cell_len(text))
    return padding + text if right else text + padding


def _letter(number: int) -> str:
    """Return A to Z, AA, AB, … for 0, 1, 2, …"""
    head, place = divmod(number, 26)
    return (_letter(head - 1) if head else "") + chr(ord("A") + place)


def print_score_lines(
    rows: Sequence[Row], console: Console, groups: Collection[str], outcomes: Sequence[TaskOutcome]
) -> None:
    """Print a line for each score. No line is longer than the width of the console.

    Args:
        rows: of one model or one dataset, groups first.
        console: where to.
        groups: names of groups; a blank line separates them from datasets.
        outcomes: of the tasks, which know the samples without a usable gold.
    """
    golds = {(one.dataset, one.model): without_gold(one) for one in outcomes}
    names = [one_line(_label(row, rows)) for row in rows]
    scores = [
        row.note.partition(":")[0] if row.score is None else value(row.score, fraction=row.fraction) for row in rows
    ]
    spans = [span(row.ci95_low, row.ci95_high, fraction=row.fraction) for row in rows]
    score_width, span_width = (max(map(cell_len, texts)) for texts in (scores, spans))
    with_spans = console.width >= _LEAST_NAME + score_width + span_width + 4
    numbers = score_width + (span_width + 4 if with_spans else 2)
    name_width = max(1, min(max(map(cell_len, names)), console.width - numbers))
    best = [one for line in pivot(rows) for one in best_rows(line.rows)]
    common = _lines_caption(rows, console, with_spans=with_spans and any(spans))
    common += f" · {BOLD}" if best and console.is_terminal else ""
    for caption in textwrap.wrap(common, max(console.width, 1)):
        console.print(Text(caption, "dim"), soft_wrap=True)
    told: dict[tuple[str, str], set[tuple[int | None, ...]]] = {}
    for number, row in enumerate(rows):
        if number and rows[number - 1].dataset in groups and row.dataset not in groups:
            console.print()
        name = fitted(names[number], name_width)
        line = Text(name + " " * (name_width - cell_len(name)) + "  ")
        style = "red" if row.score is None else "bold" if any(row is one for one in best) else ""
        line.append(f"{scores[number]:>{score_width}}", style)
        if with_spans:
            line.append(f"  {spans[number]:<{span_width}}")
        task = (row.dataset, row.model)
        # The counts of a task once, and again for an evaluator that has others.
        counts, shown = tuple(getattr(row, status) for status in STATUSES), told.setdefault(task, set())
        is_new = counts not in shown and row.dataset not in groups
        states = states_of(row, 0 if shown else golds.get(task, 0)) if is_new else {}
        shown.add(counts)
        words = Text(" · ").join(
            Text(f"{count:,} {_heading(word, console)}", _STYLES.get(word, "")) for word, count in states.items()
        )
        if cell_len(line.plain) + 4 + cell_len(words.plain) <= console.width:
            line.append("    ").append_text(words)
            words = Text()
        line.rstrip()
        console.print(line, soft_wrap=True)
        for below in filter(None, (words, _bounds(row, console))):
            for wrapped in below.wrap(console, max(console.width - _INDENT, 1)):
                console.print(Text(" " * _INDENT).append_text(wrapped), soft_wrap=True)


def _bounds(row: Row, console: Console) -> Text:
    """Return what the score could be, where many answers have none: from all of them wrong to all of them right."""
    bounds = span(row.bound_low, row.bound_high, fraction=row.fraction)
    if not bounds or row.of is not None or not is_starred(row):
        return Text()
    what = "if the answers without a score were all wrong or all right"
    return Text(f"{bounds} {_heading(what, console)}", "dim")


def states_of(row: Row, without_gold: int = 0) -> dict[str, int]:
    """Return state → number of answers, in the words of a screen; states without an answer are left out.

    Args:
        row: of a task; one that was not scored has no states.
        without_gold: how many of its failed answers failed because their gold cannot be used.
    """
    right = right_answers(row)
    counts = {WORDS[status]: getattr(row, status) or 0 for status in STATUSES}
    if right is not None:
        scored = counts.pop("scored")
        counts = {"right": right, "wrong": scored - right, **counts}
    counts["failed"] -= without_gold
    counts[NO_GOLD] = without_gold
    return {word: count for word, count in counts.items() if count > 0}


def _label(row: Row, rows: Sequence[Row]) -> str:
    """Return what tells a row from the others: its model or its dataset, and its metric."""
    metrics = {one.metric for one in rows if one.metric}
    name = row.dataset if len({one.dataset for one in rows}) > 1 else row.model
    return f"{name}  {row.metric}" if len(metrics) > 1 and row.metric else name


def _lines_caption(rows: Sequence[Row], console: Console, *, with_spans: bool) -> str:
    """Return ``questions: accuracy · 95 % interval · n = 30``: what the lines have in common."""
    metrics, sizes, datasets = (
        list(dict.fromkeys(getattr(row, name) for row in rows if getattr(row, name)))
        for name in ("metric", "size", "dataset")
    )
    common = datasets[0] if len(datasets) == 1 else models_of(rows)[0]
    parts = (
        metrics[0] if len(metrics) == 1 else "scores",
        _heading(INTERVAL, console) if with_spans else "",
        f"n = {sizes[0]}" if len(sizes) == 1 else "",
    )
    return f"{printable(common)}: " + " · ".join(filter(None, parts))
