"""Show how answers are read: by postprocessors of ordinary phrasings, by audited scorers, and not at all."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import Final

from ais_prompt.checks import PHRASINGS, ExtractionTrial, FooledScorer, LostAnswer, ScorerAudit
from ais_prompt.report.score_notes import ALL, NAMED
from ais_prompt.scoring import TaskOutcome, value
from ais_prompt.store import RunFolder, read_details, read_head, read_predictions
from ais_prompt.utils import counted, printable

MANY: Final = 0.1
"""Share of unparsed answers above which one of them is shown."""

_SHOWN: Final = 200
"""Characters of the answer that are shown: its end, where most answers are."""

_LONGEST_ANSWER = 120
"""Characters of an answer that are shown."""


def describe(trials: Iterable[ExtractionTrial]) -> Iterator[str]:
    """Yield lines with the number of phrasings that give back every gold, and one for each that does not.

    If none does, a few have lines. Datasets with one postprocessor that loses the same phrasings have the lines of
    the first of them.
    """
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


def unread_answers(folder: RunFolder, outcomes: Iterable[TaskOutcome]) -> Iterator[str]:
    """Yield lines for the worst tasks with more than 10 % unparsed answers: the first of them, and what reads them.

    Raises:
        StoreError: a file of the run cannot be read.
    """
    found = []
    for task in outcomes:
        counts = task.scores[0].counts if task.scores else {}
        unparsed, total = counts.get("unparsed", 0), sum(counts.values())
        if unparsed > MANY * total:
            found.append((unparsed / total, f"no answer is found in {unparsed} of {total}", task))
    found.sort(key=lambda one: -one[0])
    for _, words, task in found[:NAMED]:
        yield f"{task.name}: {words}; the first ends with {_first(folder, task)!r}"
        if remedy := _remedy(folder, task):
            yield f"  {remedy}"
    if more := found[NAMED:]:
        yield f"… and in more than {100 * MANY:.0f} % of the answers of {counted(len(more), 'more task')}: {ALL}"


def _remedy(folder: RunFolder, task: TaskOutcome) -> str:
    """Return what the best other postprocessor makes of the stored answers, with the command; empty without any."""
    _, found, _ = read_head(folder.results(task.model, task.dataset))
    [main, *_] = task.scores
    if found is None or main.lower_is_better:
        return ""
    best = max(found.others, key=lambda other: other.score)
    if best.score <= found.score:
        return ""
    scores = [value(score, fraction=main.fraction) for score in (best.score, found.score)]
    drawn = f" of {counted(found.samples, 'sample')}" if found.samples < found.of else ""
    command = f"aisprompt score {shlex.quote(str(folder.root))} --postprocessor {best.postprocessor}"
    return f"{best.postprocessor} would give {scores[0]}{drawn}, and {found.postprocessor} gives {scores[1]}: {command}"


def _first(folder: RunFolder, task: TaskOutcome) -> str:
    details = read_details(folder.results(task.model, task.dataset))
    sample = next(detail.sample_id for detail in details if detail.status == "unparsed")
    predictions = read_predictions(folder.predictions(task.model, task.dataset), with_prompts=False)
    answer = next((one.prediction for one in predictions if one.sample_id == sample), "")
    text = answer if isinstance(answer, str) else str((answer or [""])[-1])  # of a dialogue, the last turn
    return printable(text.strip()[-_SHOWN:])


def describe_audits(audits: Iterable[ScorerAudit]) -> Iterator[str]:
    """Yield a line for each audited dataset, and one for each answer that knows nothing and scores above chance."""
    for audit in audits:
        tried = (
            "quoted verdicts" if not audit.samples else f"{counted(audit.samples, 'sample')}, chance {audit.chance:.0%}"
        )
        result = "scores above chance:" if audit.fooled else audit.rejects or "nothing scores above chance"
        yield f"Audit of {audit.dataset} ({audit.scorer}; {tried}): {result}"
        yield from map(_fooled_line, audit.fooled)


def _fooled_line(fooled: FooledScorer) -> str:
    text = fooled.text if len(fooled.text) <= _LONGEST_ANSWER else fooled.text[:_LONGEST_ANSWER] + "…"
    return f"  {fooled.answer}: {fooled.score:.0%}, read by {fooled.rule or 'the evaluator'}: {text!r}"
