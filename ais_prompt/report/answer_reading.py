"""Show how answers are read: by postprocessors of ordinary phrasings, and not at all."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from ais_prompt.report.score_lines import NO_GOLD, without_gold
from ais_prompt.report.score_notes import NAMED, WORDS
from ais_prompt.scoring import NOTHING_FOUND, UNUSABLE_GOLD, TaskOutcome, value
from ais_prompt.store import RunFolder, read_details, read_head, read_predictions
from ais_prompt.types import STATUSES, Prediction
from ais_prompt.utils import counted, listed, printable

if TYPE_CHECKING:
    from ais_prompt.checks import ExtractionTrial, LostAnswer

MANY: Final = 0.1
"""Share of unparsed answers above which another reader is named."""

_SHOWN: Final = 60
"""Characters of the answer that are shown: its end, where most answers are."""


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
        word: their state, as `ais_prompt.report.score_lines` names it.
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
        yield LostAnswers(NO_GOLD, count, row=_row_without_gold(folder, first))


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


def _row_without_gold(folder: RunFolder, task: TaskOutcome) -> tuple[str, int] | None:
    details = read_details(folder.results(task.model, task.dataset))
    sample = next(detail.sample_id for detail in details if detail.reason.startswith(UNUSABLE_GOLD))
    return next(((task.dataset, one.index) for one in _predictions(folder, task) if one.sample_id == sample), None)


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
