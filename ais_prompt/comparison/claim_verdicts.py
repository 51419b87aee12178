"""Gates that need the samples: claims (the true score meets the limit with a given confidence), and limits for each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

from ais_prompt.comparison.baseline import ENOUGH, HeldPair, paired
from ais_prompt.comparison.gates import Verdict
from ais_prompt.comparison.paired_runs import StoredRun
from ais_prompt.comparison.scored_task import ScoredTask
from ais_prompt.metrics import exact, exact_mean, low_end
from ais_prompt.store import Baseline, read_details, read_questions, read_scores
from ais_prompt.types import Gate, Score
from ais_prompt.utils import listed

_NAMED: Final = 5
"""Most samples that a verdict names."""


def check_claims(gates: Sequence[Gate], run: StoredRun, baseline: Baseline | None) -> list[Verdict]:
    """Check the gates of a run that need its samples. A gate without enough evidence is inconclusive.

    Args:
        gates: those with a claim, or about each sample.
        run: a run that is scored.
        baseline: the run from which drops are measured; needed by gates on drops.

    Raises:
        StoreError: results are missing or broken.
    """
    found = [verdict for gate in gates if not gate.limits_drop for verdict in _of_scores(gate, run)]
    drops = [gate for gate in gates if gate.limits_drop]
    if drops and baseline is not None:
        pairs, faults = paired(baseline, run)
        for gate in drops:
            found += [_verdict(gate, name, why) for name, why in faults.items() if gate.concerns(*_parts(name))]
            concerned = [pair for pair in pairs if gate.concerns(pair.after.model, pair.after.dataset)]
            found += [_of_drop(gate, pair) for pair in concerned]
    return found


def _of_scores(gate: Gate, run: StoredRun) -> Iterator[Verdict]:
    tasks = [task for task in run.tasks if gate.concerns(task.model, task.dataset)]
    found = [verdict for task in tasks for verdict in _of_score(gate, task, run.status)]
    yield from found or [Verdict(gate.text, "", False, "there is no such score")]


def _of_score(gate: Gate, task: ScoredTask, status: str) -> Iterator[Verdict]:
    spec = task.spec
    if not spec.is_scored:
        return
    path = task.folder.results(spec.model.abbr, spec.dataset.abbr)
    if gate.holds_each:
        yield _of_each(gate, task, path)
        return
    score = next((one for one in read_scores(path) if one.metric == gate.name), None)
    if score is None:
        return
    if why := _why_no_evidence(score, status):
        yield _verdict(gate, task.name, why)
        return
    questions = list(read_questions(path, gate.name))
    if len(questions) < ENOUGH * task.size:
        yield _verdict(gate, task.name, f"only {len(questions)} of {task.size} samples have a value")
    elif not math.isclose(score.value or 0.0, exact_mean([value for _, value in questions]), abs_tol=1e-9):
        yield _verdict(gate, task.name, "the drawn questions weigh differently: draw without sample_by")
    else:
        yield _of_questions(gate, task.name, score, questions)


def _of_each(gate: Gate, task: ScoredTask, path: Path) -> Verdict:
    """Return whether every sample keeps to a gate by its main metric, as the mean over its answers."""
    below, failed, total = [], 0, 0
    for sample in read_details(path):
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
        return _verdict(gate, task.name, f"{kept}, {task.size - total + failed} have no answer")
    return Verdict(gate.text, task.name, True, kept)


def _why_no_evidence(score: Score, status: str) -> str:
    """Return why the score of a run with a status shows nothing; empty if it does."""
    if not score.is_mean:
        return f"{score.metric} is no mean of values from 0 to 1"
    if status != "finished":
        return f"the run is {status}"
    return "" if score.of is None else "not every sample was asked"


def _of_questions(gate: Gate, name: str, score: Score, questions: Sequence[tuple[str, float]]) -> Verdict:
    """Return whether the end of the interval of a score, by the value of each question, keeps to a gate."""
    assert gate.confidence is not None
    is_least = gate.comparator[0] == ">"
    sided = questions if is_least else [(unit, 1 - value) for unit, value in questions]
    end = low_end(sided, float(gate.confidence))
    if end is None:
        return _verdict(gate, name, "one sample or cluster shows nothing")
    end = end if is_least else 1 - end
    holds = gate.holds_score(Fraction(end), fraction=True)
    words = f"{100 * (score.value or 0.0):.1f} %, with {_confidence(gate)} at {'least' if is_least else 'most'}"
    return Verdict(gate.text, name, holds, f"{words} {100 * end:.1f} %, n {score.n}")


def _of_drop(gate: Gate, pair: HeldPair) -> Verdict:
    assert gate.confidence is not None
    name = f"{pair.after.model}/{pair.after.dataset}"
    end = 0.0 if (low := pair.difference.low_end(float(gate.confidence))) is None else -low
    if low is None:
        return _verdict(gate, name, "too few samples, or a metric without a highest value of which nothing changed")
    unit, scale = ("points", 100) if pair.after.fraction else ("", 1)
    holds = gate.holds_score(exact(end), fraction=pair.after.fraction)
    kind = "a rise of " if pair.sign < 0 else ""
    words = f"{kind}{scale * pair.drop:+.1f} {unit}, with {_confidence(gate)} at most {scale * end:+.1f} {unit}"
    return Verdict(gate.text, name, holds, f"{words}, on {len(pair.names)} common samples")


def _confidence(gate: Gate) -> str:
    return f"{100 * float(gate.confidence or 0):g} % confidence"


def _verdict(gate: Gate, name: str, why: str) -> Verdict:
    return Verdict(gate.text, name, False, f"inconclusive: {why}", inconclusive=True)


def _parts(name: str) -> tuple[str, str]:
    model, _, dataset = name.partition("/")
    return model, dataset
