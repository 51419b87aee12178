"""Decide whether the scores of a run pass its gates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from msgspec import Struct

from ais_prompt.metrics import exact
from ais_prompt.scoring import REFERENCE_NOTE, Row, span, value
from ais_prompt.types import AVERAGES, Gate


class Verdict(Struct, frozen=True):
    """The verdict of one gate for one model and dataset.

    Attributes:
        gate: the condition, in words.
        subject: ``model/dataset``; empty if the gate applies to none.
        passed: whether the run passes the gate.
        found: what was found, in words.
        inconclusive: whether the evidence is not enough; the gate has not passed then.
    """

    gate: str
    subject: str
    passed: bool
    found: str
    inconclusive: bool = False

    def __str__(self) -> str:
        mark = "ok  " if self.passed else "????" if self.inconclusive else "FAIL"
        return f"{mark}  {self.gate}  {self.subject}  {self.found}"


def check_gates(gates: Iterable[Gate], rows: Sequence[Row]) -> list[Verdict]:
    """Check the scores against the gates. A gate without a matching score fails: nothing was proved.

    If not every sample was asked, a gate is decided only if the others cannot change that.
    """
    return [verdict for gate in gates for verdict in _verdicts(gate, rows)]


def _verdicts(gate: Gate, rows: Sequence[Row]) -> Iterator[Verdict]:
    chosen = [row for row in rows if gate.concerns(row.model, row.dataset) and row.note != REFERENCE_NOTE]
    if gate.counts_answers:
        # Every metric of a dataset has the same counts.
        chosen = list({(row.model, row.dataset): row for row in reversed(chosen)}.values())[::-1]
        yield from (_of_count(gate, row) for row in chosen)
    else:
        # A dataset that could not be scored has no metric, and must not pass.
        chosen = [row for row in chosen if row.metric == gate.name or row.metric is None]
        yield from (_of_score(gate, row) for row in chosen)
    if not chosen:
        yield Verdict(gate.text, "", False, "there is no such score")


def _of_score(gate: Gate, row: Row) -> Verdict:
    subject = f"{row.model}/{row.dataset}"
    if row.score is None:
        return Verdict(gate.text, subject, False, row.note or "no score")
    if not math.isfinite(row.score):
        return Verdict(gate.text, subject, False, f"the score is {row.score}")
    if row.fraction and not gate.percent and gate.limit > 1:
        limit = f"{float(gate.limit):g}%"
        return Verdict(gate.text, subject, False, f"{gate.name} is a part of 1: write the limit as {limit}")
    if row.of is not None:
        holds = {gate.holds_score(end, fraction=row.fraction) for end in _possible_scores(row)}
        return Verdict(gate.text, subject, holds == {True}, _shown(row), inconclusive=len(holds) != 1)
    return Verdict(gate.text, subject, gate.holds_score(exact(row.score), fraction=row.fraction), _shown(row))


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


def _shown(row: Row) -> str:
    assert row.score is not None
    interval = span(row.ci95_low, row.ci95_high, fraction=row.fraction)
    return f"{value(row.score, fraction=row.fraction)}{f' ({interval})' if interval else ''}, n {row.size}"


def _of_count(gate: Gate, row: Row) -> Verdict:
    subject = f"{row.model}/{row.dataset}"
    if row.n is None:
        return Verdict(gate.text, subject, False, row.note or "no score")
    count: int = getattr(row, gate.name) or 0
    if row.of is not None:
        holds = {gate.holds_count(number, row.of) for number in (count, count + row.of - row.n)}
        found = f"{count} of {row.n} asked, of {row.of} samples"
        return Verdict(gate.text, subject, holds == {True}, found, inconclusive=len(holds) != 1)
    return Verdict(gate.text, subject, gate.holds_count(count, row.n), f"{count} of {row.n}")
