"""Decide whether a run passes its gates: by the rows of its summary, or by its samples.

Samples are needed by claims (the true score meets the limit with a given confidence), and by limits for each sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

from ais_prompt.comparison import ScoredTask, StoredRun
from ais_prompt.gates.baseline import ENOUGH_ANSWERED, Baseline, BaselineTask
from ais_prompt.gates.drop import HeldPair, held_pairs
from ais_prompt.metrics import exact, exact_mean, low_end
from ais_prompt.scoring import REFERENCE_NOTE, Row, span, value
from ais_prompt.store import read_details, read_questions, read_scores
from ais_prompt.types import AVERAGES, Gate, Score, Verdict
from ais_prompt.utils import listed

_NAMED: Final = 5
"""Most samples that a verdict names."""


def check_gates(gates: Iterable[Gate], rows: Sequence[Row]) -> list[Verdict]:
    """Check the scores against the gates. A gate without a matching score fails: nothing was proved.

    If not every sample was asked, a gate is decided only if the others cannot change that.
    """
    return [verdict for gate in gates for verdict in _verdicts(gate, rows)]


def _verdicts(gate: Gate, rows: Sequence[Row]) -> Iterator[Verdict]:
    chosen = [
        row
        for row in rows
        if gate.concerns(row.model, row.dataset, row.base_model, row.base_dataset) and row.note != REFERENCE_NOTE
    ]
    if gate.counts_answers:
        # Every metric of a dataset has the same counts.
        chosen = list({(row.model, row.dataset): row for row in reversed(chosen)}.values())[::-1]
        yield from (_count_verdict(gate, row) for row in chosen)
    else:
        # A dataset that could not be scored has no metric, and must not pass.
        chosen = [row for row in chosen if row.metric == gate.name or row.metric is None]
        yield from (_score_verdict(gate, row) for row in chosen)
    if not chosen:
        yield Verdict(gate.text, "", False, "there is no such score")


def _score_verdict(gate: Gate, row: Row) -> Verdict:
    subject = f"{row.model}/{row.dataset}"
    if row.score is None:
        return Verdict(gate.text, subject, False, row.note or "no score")
    if not math.isfinite(row.score):
        return Verdict(gate.text, subject, False, f"the score is {row.score}")
    if row.fraction and not gate.percent and gate.limit > 1:
        limit = f"{float(gate.limit):g}%"
        return Verdict(gate.text, subject, False, f"{gate.name} is a part of 1: write the limit as {limit}")
    possible = [exact(row.score)] if row.of is None else _possible_scores(row)
    holds = {gate.holds_score(end, fraction=row.fraction) for end in possible}
    interval = span(row.ci95_low, row.ci95_high, fraction=row.fraction)
    shown = f"{value(row.score, fraction=row.fraction)}{f' ({interval})' if interval else ''}, n {row.size}"
    return Verdict(gate.text, subject, holds == {True}, shown, inconclusive=len(holds) != 1)


def _count_verdict(gate: Gate, row: Row) -> Verdict:
    subject = f"{row.model}/{row.dataset}"
    if row.n is None:
        return Verdict(gate.text, subject, False, row.note or "no score")
    count: int = getattr(row, gate.name) or 0
    of = row.n if row.of is None else row.of
    holds = {gate.holds_count(number, of) for number in (count, count + of - row.n)}
    found = f"{count} of {row.n}" if row.of is None else f"{count} of {row.n} asked, of {row.of} samples"
    return Verdict(gate.text, subject, holds == {True}, found, inconclusive=len(holds) != 1)


def _possible_scores(row: Row) -> Sequence[Fraction]:
    """Return the lowest and the highest score that the samples that were not asked can lead to; empty if unknown."""
    if row.bound_low is None or row.bound_high is None or row.score is None or row.n is None or row.of is None:
        return ()
    if row.questions is None or row.metric in AVERAGES:
        return exact(row.bound_low), exact(row.bound_high)
    # Samples that failed have no part in the mean.
    left = (row.of - row.n) // row.repeats
    total = exact(row.score) * row.questions
    return total / (row.questions + left), (total + left) / (row.questions + left)


def check_claims(gates: Sequence[Gate], run: StoredRun, baseline: Baseline | None) -> list[Verdict]:
    """Check the gates of a run that need its samples. A gate without enough evidence is inconclusive.

    Args:
        gates: those with a claim, or about each sample.
        run: a run that is scored.
        baseline: the run from which drops are measured; needed by gates on drops.

    Raises:
        StoreError: results are missing or broken.
    """
    found = [verdict for gate in gates if not gate.limits_drop for verdict in _score_claims(gate, run)]
    drops = [gate for gate in gates if gate.limits_drop]
    if drops and baseline is not None:
        pairs, faults = held_pairs(baseline, run)
        for gate in drops:
            found += [_inconclusive(gate, task.name, why) for task, why in faults if _limits(gate, task)]
            found += [_drop_verdict(gate, pair) for pair in pairs if _limits(gate, pair.after)]
    return found


def _limits(gate: Gate, task: BaselineTask) -> bool:
    """Return whether a gate limits the drop of a score."""
    return task.evaluator == gate.evaluator and gate.concerns(task.model, task.dataset)


def _score_claims(gate: Gate, run: StoredRun) -> Iterator[Verdict]:
    found: list[Verdict] = []
    for task in run.tasks:
        model, dataset = task.spec.model, task.spec.dataset
        if gate.concerns(model.abbr, dataset.abbr, model.base, dataset.base):
            found += _task_claims(gate, task, run.status)
    yield from found or [Verdict(gate.text, "", False, "there is no such score")]


def _task_claims(gate: Gate, task: ScoredTask, status: str) -> Iterator[Verdict]:
    spec = task.spec
    path = task.folder.results(spec.model.abbr, spec.dataset.abbr)
    if not (spec.is_scored or path.is_file()):
        return
    if gate.holds_each:
        each = [task] if not gate.evaluator else [one for one in task.further if one.evaluator == gate.evaluator]
        yield from (_each_verdict(gate, one, path) for one in each)
        return
    score = next((one for one in read_scores(path) if one.metric == gate.name), None)
    if score is None:
        return
    if why := _why_no_evidence(score, status):
        yield _inconclusive(gate, task.name, why)
        return
    questions = list(read_questions(path, gate.name))
    if len(questions) < ENOUGH_ANSWERED * task.size:
        yield _inconclusive(gate, task.name, f"only {len(questions)} of {task.size} samples have a value")
    elif not math.isclose(score.value or 0.0, exact_mean([value for _, value in questions]), abs_tol=1e-9):
        yield _inconclusive(gate, task.name, "the drawn questions weigh differently: draw without sample_by")
    else:
        yield _claim_verdict(gate, task.name, score, questions)


def _each_verdict(gate: Gate, task: ScoredTask, path: Path) -> Verdict:
    """Return whether every sample keeps to a gate by its main metric, as the mean over its answers."""
    below, failed, total = [], 0, 0
    for sample in (one.by(task.evaluator) for one in read_details(path)):
        total += 1
        value = exact(sample.values.get(task.metric.metric, 0.0))
        if sample.status == "failed":
            failed += 1
        elif not gate.holds_score(value, fraction=True):
            answers = len(sample.repeats) or 1
            below.append(f"{sample.sample_id} ({float(value * answers):g} of {answers})")
    kept = f"{total - len(below) - failed} of {total} samples keep to it"
    if below:
        return Verdict(gate.text, task.name, False, f"{kept}; not: {listed(below[:_NAMED])}")
    if failed or total < task.size:
        return _inconclusive(gate, task.name, f"{kept}, {task.size - total + failed} have no answer")
    return Verdict(gate.text, task.name, True, kept)


def _why_no_evidence(score: Score, status: str) -> str:
    """Return why the score of a run with a status shows nothing; empty if it does."""
    if not score.is_mean:
        return f"{score.metric} is no mean of values from 0 to 1"
    if status != "finished":
        return f"the run is {status}"
    return "" if score.of is None else "not every sample was asked"


def _claim_verdict(gate: Gate, name: str, score: Score, questions: Sequence[tuple[str, float]]) -> Verdict:
    """Return whether the end of the interval of a score, by the value of each question, keeps to a gate."""
    assert gate.confidence is not None
    is_least = gate.comparator[0] == ">"
    end = interval_end(gate, questions, float(gate.confidence))
    if end is None:
        return _inconclusive(gate, name, "one sample or cluster shows nothing")
    holds = gate.holds_score(Fraction(end), fraction=True)
    words = f"{100 * (score.value or 0.0):.1f} %, with {_confidence(gate)} at {'least' if is_least else 'most'}"
    return Verdict(gate.text, name, holds, f"{words} {100 * end:.1f} %, n {score.n}")


def interval_end(gate: Gate, questions: Sequence[tuple[str, float]], confidence: float) -> float | None:
    """Return the end of the one-sided interval of a mean that a gate limits; None if one unit shows nothing.

    Args:
        gate: whether it limits the lower or the upper end.
        questions: question, or its cluster, and value from 0 to 1.
        confidence: of the interval.
    """
    if gate.comparator[0] == ">":
        return low_end(questions, confidence)
    end = low_end([(unit, 1 - value) for unit, value in questions], confidence)
    return None if end is None else 1 - end


def _drop_verdict(gate: Gate, pair: HeldPair) -> Verdict:
    assert gate.confidence is not None
    name = pair.after.name
    end = 0.0 if (low := pair.difference.low_end(float(gate.confidence))) is None else -low
    if low is None:
        return _inconclusive(
            gate, name, "too few samples, or a metric without a highest value of which nothing changed"
        )
    unit, scale = ("points", 100) if pair.after.fraction else ("", 1)
    holds = gate.holds_score(exact(end), fraction=pair.after.fraction)
    kind = "a rise of " if pair.sign < 0 else ""
    words = f"{kind}{scale * pair.drop:+.1f} {unit}, with {_confidence(gate)} at most {scale * end:+.1f} {unit}"
    return Verdict(gate.text, name, holds, f"{words}, on {len(pair.names)} common samples")


def _confidence(gate: Gate) -> str:
    return f"{100 * float(gate.confidence or 0):g} % confidence"


def _inconclusive(gate: Gate, name: str, why: str) -> Verdict:
    return Verdict(gate.text, name, False, f"inconclusive: {why}", inconclusive=True)
