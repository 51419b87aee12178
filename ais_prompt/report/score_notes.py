"""What is said of scores and answers: notes below a table of scores, lost answers, and better ways to read them.

Notes say why there is no score, which answers were not scored, and which were repeated. Files have all of them. A
screen has of each kind the worst three, the number of the others, and the file with all.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from ais_prompt.scoring import NOTHING_FOUND, UNUSABLE_GOLD, Row, TaskOutcome, half_width, plain, span, value
from ais_prompt.store import RunFolder, read_details, read_head, read_predictions
from ais_prompt.types import STATUSES, Prediction
from ais_prompt.utils import counted, listed, printable

if TYPE_CHECKING:
    from ais_prompt.checks import ExtractionTrial, LostAnswer


NOT_ALL_ASKED: Final = "Not every sample was asked, so there is no interval; in brackets the possible final scores:"
DRAWN: Final = "Drawn at random; ± is about the score of all questions of the set:"
LEGEND: Final = "Not every answer was scored{star}; in brackets the score if all others were wrong – were right:"
STAR: Final = " (* more than 5 %)"
WORDS: Final = {"scored": "scored", "unparsed": "no answer", "truncated": "cut", "failed": "failed"}
"""The words of a screen for the states of answers; files have the statuses themselves."""
NO_GOLD: Final = "no gold"
NAMED: Final = 3
"""Notes of a kind that a screen shows; of more, so many of the worst."""
ENDED: Final = ("error:", "paused:")
"""Beginnings of the notes of tasks that ended with an error."""
ALL: Final = "summary/summary.txt"
"""The file of the run folder with all notes."""

MANY: Final = 0.1
"""Share of unparsed answers above which another reader is named."""

_SHOWN: Final = 60
"""Characters of the answer that are shown: its end, where most answers are."""


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


def without_gold(outcome: TaskOutcome) -> int:
    """Return the answers of a task that cannot be scored because of their gold."""
    return outcome.scores[0].reasons.get(f"failed: {UNUSABLE_GOLD}", 0) if outcome.scores else 0


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


def describe(trials: Iterable[ExtractionTrial]) -> Iterator[str]:
    """Yield lines with the number of phrasings that give back every gold, and one for each that does not.

    If none does, a few have lines. Datasets with one postprocessor that loses the same phrasings have the lines of
    the first of them.
    """
    from ais_prompt.checks import PHRASINGS

    groups: dict[tuple[str, ...], list[ExtractionTrial]] = {}
    for trial in trials:
        groups.setdefault((trial.postprocessor, *(lost.phrasing for lost in trial.lost)), []).append(trial)
    whole = len(PHRASINGS)
    for found, *others in groups.values():
        which = found.dataset + (f" and {counted(len(others), 'more dataset')}" if others else "")
        golds = counted(found.golds + sum(other.golds for other in others), "gold")
        kept = f"{whole - len(found.lost)} of {whole} ordinary phrasings give back the answer"
        yield f"Extraction of {which}: {kept} ({found.postprocessor}, {golds})"
        if len(found.lost) == whole:
            yield from map(_line, found.lost[:NAMED])
            yield f"  … and the {whole - NAMED} others"
        else:
            yield from map(_line, found.lost)


def _line(lost: LostAnswer) -> str:
    result = "nothing" if lost.extracted is None else repr(lost.extracted)
    return f"  lost, {lost.phrasing}: {lost.text!r} gives {result}"


class LostAnswers(Struct, frozen=True):
    """The answers of a run that are not scored like others, for one reason.

    Attributes:
        word: their state, as `ais_prompt.report.score_table` names it.
        count: how many they are.
        example: one of them, where it can be shown: the end of an answer, or the kinds of failures.
        row: dataset and row of the first of them, where the reason is the row.
    """

    word: str
    count: int
    example: str = ""
    row: tuple[str, int] | None = None


def lost_answers(folder: RunFolder, outcomes: Sequence[TaskOutcome]) -> Iterator[LostAnswers]:
    """Yield for each state how many answers of the run are in it, with one of the task that has most of them.

    Raises:
        StoreError: a file of the run cannot be read.
    """
    tasks = [(task, task.scores[0].counts, without_gold(task)) for task in outcomes if task.scores]
    for status in STATUSES[1:]:
        counts = [counts.get(status, 0) - golds * (status == "failed") for _, counts, golds in tasks]
        if not (count := sum(counts)):
            continue
        worst = tasks[counts.index(max(counts))][0]
        reasons = {} if status == "truncated" else reasons_of(outcomes, status)
        odd = {why: number for why, number in reasons.items() if why not in (UNUSABLE_GOLD, NOTHING_FOUND)}
        example = listed((f"{why} {number}" for why, number in odd.items()), NAMED)
        if status == "unparsed" and not example:
            example = repr(_first(folder, worst))
        yield LostAnswers(WORDS[status], count, example)
    if count := sum(golds for *_, golds in tasks):
        first = next(task for task, _, golds in tasks if golds)
        details = read_details(folder.results(first.model, first.dataset))
        sample = next(detail.sample_id for detail in details if detail.reason.startswith(UNUSABLE_GOLD))
        rows = ((first.dataset, one.index) for one in _predictions(folder, first) if one.sample_id == sample)
        yield LostAnswers(NO_GOLD, count, row=next(rows, None))


def better_readings(folder: RunFolder, outcomes: Iterable[TaskOutcome]) -> Iterator[tuple[str, str]]:
    """Yield for each of the worst tasks with many unparsed answers what another postprocessor makes of them.

    Each has a sentence and its command. Tasks of which no other postprocessor reads more are left out.

    Raises:
        StoreError: a file of the run cannot be read.
    """
    found = []
    for task in outcomes:
        counts = task.scores[0].counts if task.scores else {}
        unparsed, total = counts.get("unparsed", 0), sum(counts.values())
        if unparsed > MANY * total:
            found.append((unparsed / total, task))
    found.sort(key=lambda one: -one[0])
    yield from filter(None, (_remedy(folder, task) for _, task in found[:NAMED]))


def _remedy(folder: RunFolder, task: TaskOutcome) -> tuple[str, str] | None:
    """Return what the best other postprocessor makes of the stored answers, and the command; None without any."""
    _, found, _ = read_head(folder.results(task.model, task.dataset))
    [main, *_] = task.scores
    if found is None or main.lower_is_better:
        return None
    best = max(found.far, key=lambda other: other.score, default=None)
    if best is None or best.score <= found.score:
        return None
    scores = [value(score, fraction=main.fraction) for score in (best.score, found.score)]
    drawn = f" of {counted(found.samples, 'sample')}" if found.samples < found.of else ""
    command = f"aisprompt score {shlex.quote(str(folder.root))} --postprocessor {best.postprocessor}"
    what = f"{best.postprocessor} would give {scores[0]}{drawn}, and {found.postprocessor} gives {scores[1]}"
    return what, command


def _first(folder: RunFolder, task: TaskOutcome) -> str:
    details = read_details(folder.results(task.model, task.dataset))
    sample = next(detail.sample_id for detail in details if detail.status == "unparsed")
    answer = next((one.prediction for one in _predictions(folder, task) if one.sample_id == sample), "")
    text = answer if isinstance(answer, str) else str((answer or [""])[-1])  # of a dialogue, the last turn
    return printable(text.strip()[-_SHOWN:])


def _predictions(folder: RunFolder, task: TaskOutcome) -> Iterator[Prediction]:
    return read_predictions(folder.predictions(task.model, task.dataset), with_prompts=False)


def reasons_of(tasks: Iterable[TaskOutcome], status: str) -> dict[str, int]:
    """Return why answers are in a state, such as ``timeout`` → 3; the most frequent reason first."""
    found: Counter[str] = Counter()
    for task in tasks:
        for reason, count in task.scores[0].reasons.items() if task.scores else ():
            state, _, why = reason.partition(": ")
            if state == status:
                found[why] += count
    return dict(found.most_common())
