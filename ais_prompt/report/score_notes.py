"""The notes below a table of scores: why there is no score, which answers were not scored, repeated answers.

Files have all of them. A screen has of each kind the worst three, the number of the others, and the file with all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from msgspec import Struct

from ais_prompt.scoring import Row, TaskOutcome, half_width, plain, span, value
from ais_prompt.types import STATUSES
from ais_prompt.utils import counted, listed

NOT_ALL_ASKED: Final = "Not every sample was asked, so there is no interval; in brackets the possible final scores:"
DRAWN: Final = "Drawn at random; ± is about the score of all questions of the set:"
LEGEND: Final = "Not every answer was scored{star}; in brackets the score if all others were wrong – were right:"
STAR: Final = " (* more than 5 %)"
WORDS: Final = {"scored": "scored", "unparsed": "no answer", "truncated": "cut", "failed": "failed"}
"""The words of a screen for the states of answers; files have the statuses themselves."""
NAMED: Final = 3
"""Notes of a kind that a screen shows; of more, so many of the worst."""
ENDED: Final = ("error:", "paused:")
"""Beginnings of the notes of tasks that ended with an error."""
ALL: Final = "summary/summary.txt"
"""The file of the run folder with all notes."""


class Notes(Struct, frozen=True):
    """The notes of one kind.

    Attributes:
        head: the line above them; empty for notes that need none.
        lines: one for each task, group or dataset, with its weight: the greater, the worse.
        total: the line above the worst, in place of ``head``.
    """

    head: str
    lines: Sequence[tuple[float, str]]
    total: str = ""


def summary_notes(rows: Sequence[Row], *, starred: bool) -> list[str]:
    """Return all notes.

    Args:
        rows: what the table shows.
        starred: whether the table marks such scores with a star, as models side by side do.
    """
    without = dict.fromkeys(f"{_name(row)}: {row.note}" for row in rows if row.note)
    return [*without, *(text for kind in _kinds(rows, starred=starred, on_screen=False) for text in _all(kind))]


def worst_notes(rows: Sequence[Row], groups: Collection[str] = (), *, starred: bool) -> list[str]:
    """Return the worst notes of each kind.

    Errors are left out: a command that ends with errors prints their causes. So are averages, if a dataset of the run
    has no score.

    Args:
        rows: as for `summary_notes`.
        starred: whether scores have stars. Without them the lines of the table say which answers were not scored.
        groups: names of groups, whose counts are those of their datasets.
    """
    lacking = any(row.note for row in rows if row.dataset not in groups)
    shown = [
        row for row in rows if (row.note and not lacking if row.dataset in groups else not row.note.startswith(ENDED))
    ]
    found = []
    for kind in (_missing(shown), *_kinds(shown, starred=starred, on_screen=True)[not starred :]):
        if len(kind.lines) <= NAMED:
            found += _all(kind)
        else:
            worst = sorted(kind.lines, key=lambda line: -line[0])[:NAMED]
            more = f"  … and {len(kind.lines) - NAMED:,} more: {ALL}"
            found += [kind.total or kind.head, *(f"  {text}" for _, text in worst), more]
    return [text for text in found if text]


def precision_notes(rows: Iterable[Row]) -> list[str]:
    """Return a line for each task with drawn questions, and for each with repeated ones: how precise they are."""
    rows = list(rows)
    return [text for kind in (_drawn_notes(rows), _precision(rows)) for _, text in kind]


def names_of_tasks(outcomes: Sequence[TaskOutcome], tasks: Sequence[TaskOutcome]) -> str:
    """Return ``all 480``, ``all 30 datasets of demo, 2 of other``, ``gsm8k of all 8 models``, or names of a few tasks.

    Args:
        outcomes: the tasks to be named.
        tasks: all tasks of the run.
    """
    if len(outcomes) <= NAMED:
        return ", ".join(outcome.name for outcome in outcomes)
    if len(outcomes) == len(tasks):
        return f"all {len(tasks):,}"
    models, all_models = (Counter(outcome.model for outcome in of) for of in (outcomes, tasks))
    datasets, all_datasets = (Counter(outcome.dataset for outcome in of) for of in (outcomes, tasks))
    if len(datasets) < len(models):
        found = (f"{name} of {_of(count, all_datasets[name])} models" for name, count in datasets.most_common())
    else:
        found = (f"{_of(count, all_models[name])} datasets of {name}" for name, count in models.most_common())
    return listed(found, NAMED)


def _of(count: int, whole: int) -> str:
    return f"all {count}" if count == whole else f"{count} of {whole}"


def _all(kind: Notes) -> list[str]:
    return [*([kind.head] if kind.head and kind.lines else []), *(text for _, text in kind.lines)]


def _kinds(rows: Sequence[Row], *, starred: bool, on_screen: bool) -> list[Notes]:
    first: dict[tuple[str, str], Row] = {}
    for row in rows:
        first.setdefault((row.model, row.dataset), row)
    tasks = first.values()
    partly = [row for row in tasks if row.unscored and row.score is not None and not row.of]
    several = {row.dataset: row.repeats for row in rows if row.repeats > 1}
    return [
        Notes(
            LEGEND.format(star=STAR if starred else ""),
            [
                (1 - (row.scored or 0) / (row.n or 1), f"{_name(row)}: {_unscored(row, on_screen=on_screen)}")
                for row in partly
            ],
            _total(partly, list(tasks), starred=starred),
        ),
        Notes(NOT_ALL_ASKED, [(row.of / row.n, f"{_name(row)}: {_asked(row)}") for row in tasks if row.of and row.n]),
        Notes(DRAWN, _drawn_notes(tasks)),
        Notes("", [(row.refused, f"{_name(row)}: {_refused(row)}") for row in tasks if row.refused], "Refusals:"),
        Notes(
            "",
            [(n, f"{name}: {n} answers to each question; ± is that of the questions") for name, n in several.items()],
            "Repeated questions, with the ± of the questions:",
        ),
        Notes("", _precision(rows), "Repeated questions, and what narrower intervals need:"),
    ]


def _missing(rows: Sequence[Row]) -> Notes:
    """Return the reasons for missing scores; one that several scores share says how many."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            reasons.setdefault(row.note, []).append(_name(row))
    lines = [
        (len(names), f"{names[0]}: {note}" if len(names) == 1 else f"{note} ({counted(len(names), 'score')})")
        for note, names in reasons.items()
    ]
    return Notes("", lines, f"No score, for {counted(len(reasons), 'reason')}:")


def _name(row: Row) -> str:
    return f"{row.model}/{row.dataset}"


def _total(partly: Sequence[Row], tasks: Sequence[Row], *, starred: bool) -> str:
    """Return how many answers were not scored, over all tasks, in the words of a screen."""
    counts = [(status, sum(getattr(row, status) or 0 for row in partly)) for status in STATUSES[1:]]
    states = ", ".join(f"{count:,} {WORDS[status]}" for status, count in counts if count)
    answers, star = sum(row.n or 0 for row in tasks), STAR if starred else ""
    where = f"{len(partly):,} of {len(tasks):,} tasks"
    return f"Not scored{star}: {states} of {answers:,} answers, in {where}; in brackets the score if wrong – right:"


def _precision(rows: Iterable[Row]) -> list[tuple[float, str]]:
    found = []
    for row in rows:
        if row.half_width is None or row.target_half_width is None:
            continue
        now, target = (_width(width, fraction=row.fraction) for width in (row.half_width, row.target_half_width))
        needed = f"{row.repeats_needed:,} answers to each question" if row.repeats_needed else "more questions"
        text = f"{_name(row)}: a 95 % interval of ±{target} needs {needed} (now {row.repeats}: ±{now})"
        found.append((row.half_width, text))
    return found


def _width(width: float, *, fraction: bool) -> str:
    """Format a half width: ``1.6 points`` of a fraction, ``0.05 points`` if it is less than a tenth of a point."""
    if not fraction:
        return plain(width)
    return f"{100 * width:.1f} points" if width >= 0.001 else f"{100 * width:.2g} points"


def _asked(row: Row) -> str:
    bounds = span(row.bound_low, row.bound_high, fraction=row.fraction)
    return row.size + (f"  [{bounds}]" if bounds else "") + (f"; not scored: {row.unscored}" if row.unscored else "")


def _drawn_notes(rows: Iterable[Row]) -> list[tuple[float, str]]:
    found: dict[str, tuple[float, str]] = {}
    for row in rows:
        if row.population is None or row.score is None or row.of is not None:
            continue
        width = half_width(row)
        text = f"{row.size}, ±{width} for the whole set" if width else f"{row.size}, too few for an interval"
        found.setdefault(_name(row), (row.population / (row.n or 1), f"{_name(row)}: {text}"))
    return list(found.values())


def _refused(row: Row) -> str:
    return f"{row.refused} of {row.n} answers {'is a refusal' if row.refused == 1 else 'are refusals'}"


def _unscored(row: Row, *, on_screen: bool) -> str:
    counts = ", ".join(f"{count} {WORDS[status]}" for status in STATUSES[1:] if (count := getattr(row, status)))
    states = counts if on_screen else row.unscored
    bounds = span(row.bound_low, row.bound_high, fraction=row.fraction)
    of_finished = "" if row.finished is None else f"; finished answers: {value(row.finished, fraction=row.fraction)}"
    return f"{states} of {row.n}" + (f"  [{bounds}]" if bounds else "") + of_finished
