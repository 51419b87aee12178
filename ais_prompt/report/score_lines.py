"""The scores of one model, or of one dataset: a line for each, with its interval and the states of its answers."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ais_prompt.report.language import term
from ais_prompt.report.matrix import BOLD
from ais_prompt.report.score_notes import WORDS
from ais_prompt.scoring import (
    UNUSABLE_GOLD,
    Row,
    TaskOutcome,
    best_rows,
    is_starred,
    models_of,
    pivot,
    right_answers,
    span,
    value,
)
from ais_prompt.terminal import fitted
from ais_prompt.types import STATUSES
from ais_prompt.utils import printable

NO_GOLD: Final = "no gold"
INTERVAL: Final = "95 % interval"
_STYLES: Final = {"wrong": "", "no answer": "yellow", "cut": "yellow", NO_GOLD: "yellow", "failed": "bold red"}
_LEAST_NAME: Final = 12
_INDENT: Final = 6


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
    names = [printable(_label(row, rows)).replace("\n", r"\n") for row in rows]
    scores = [
        row.note.partition(":")[0] if row.score is None else value(row.score, fraction=row.fraction) for row in rows
    ]
    spans = [span(row.ci95_low, row.ci95_high, fraction=row.fraction) for row in rows]
    score_width, span_width = (max(map(cell_len, texts)) for texts in (scores, spans))
    with_spans = console.width >= _LEAST_NAME + score_width + span_width + 4
    numbers = score_width + (span_width + 4 if with_spans else 2)
    name_width = max(1, min(max(map(cell_len, names)), console.width - numbers))
    best = [one for line in pivot(rows) for one in best_rows(line.rows)]
    common = _caption(rows, console, with_spans=with_spans and any(spans))
    common += f" · {BOLD}" if best and console.is_terminal else ""
    for caption in textwrap.wrap(common, max(console.width, 1)):
        console.print(Text(caption, "dim"), soft_wrap=True)
    told: dict[tuple[str, str], set[tuple[int | None, ...]]] = {}
    for number, row in enumerate(rows):
        if number and rows[number - 1].dataset in groups and row.dataset not in groups:
            console.print()
        name = fitted(names[number], name_width)
        line = Text(name + " " * (name_width - cell_len(name)) + "  ")
        line.append(f"{scores[number]:>{score_width}}", _style(row, best))
        if with_spans:
            line.append(f"  {spans[number]:<{span_width}}")
        task = (row.dataset, row.model)
        # The counts of a task once, and again for an evaluator that has others.
        counts, shown = tuple(getattr(row, status) for status in STATUSES), told.setdefault(task, set())
        is_new = counts not in shown and row.dataset not in groups
        states = states_of(row, 0 if shown else golds.get(task, 0)) if is_new else {}
        shown.add(counts)
        words = Text(" · ").join(
            Text(f"{count:,} {term(word) if console.is_terminal else word}", _STYLES.get(word, ""))
            for word, count in states.items()
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
    return Text(f"{bounds} {term(what) if console.is_terminal else what}", "dim")


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


def without_gold(outcome: TaskOutcome) -> int:
    """Return the answers of a task that cannot be scored because of their gold."""
    return outcome.scores[0].reasons.get(f"failed: {UNUSABLE_GOLD}", 0) if outcome.scores else 0


def _style(row: Row, best: Sequence[Row]) -> str:
    return "red" if row.score is None else "bold" if any(row is one for one in best) else ""


def _label(row: Row, rows: Sequence[Row]) -> str:
    """Return what tells a row from the others: its model or its dataset, and its metric."""
    metrics = {one.metric for one in rows if one.metric}
    name = row.dataset if len({one.dataset for one in rows}) > 1 else row.model
    return f"{name}  {row.metric}" if len(metrics) > 1 and row.metric else name


def _caption(rows: Sequence[Row], console: Console, *, with_spans: bool) -> str:
    """Return ``questions: accuracy · 95 % interval · n = 30``: what the lines have in common."""
    metrics, sizes, datasets = (
        list(dict.fromkeys(getattr(row, name) for row in rows if getattr(row, name)))
        for name in ("metric", "size", "dataset")
    )
    common = datasets[0] if len(datasets) == 1 else models_of(rows)[0]
    parts = [
        metrics[0] if len(metrics) == 1 else "scores",
        (term(INTERVAL) if console.is_terminal else INTERVAL) if with_spans else "",
    ]
    parts += [f"n = {sizes[0]}" if len(sizes) == 1 else ""]
    return f"{printable(common)}: " + " · ".join(filter(None, parts))
