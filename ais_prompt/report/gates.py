"""Whether a run keeps to its gates: one line for each, JUnit XML for CI, Markdown for a pull request."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from ais_prompt.metrics.exact import exact
from ais_prompt.report.formats import escaped, to_markdown
from ais_prompt.report.numbers import span, value
from ais_prompt.report.outcome import Row
from ais_prompt.types import Gate
from ais_prompt.utils.text import printable


class Verdict(Struct, frozen=True):
    """What became of one gate for one model and data set.

    Attributes:
        gate: the condition, in words.
        subject: ``model/dataset``; empty if there is none to which it applies.
        passed: whether the run keeps to it.
        found: what was found, in words.
        inconclusive: whether there is too little evidence to tell; it has not passed then.
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
    """Hold the scores against the gates. A gate that finds no score to hold against it fails: nothing was proved."""
    return [verdict for gate in gates for verdict in _verdicts(gate, rows)]


def _verdicts(gate: Gate, rows: Sequence[Row]) -> Iterator[Verdict]:
    chosen = [row for row in rows if gate.concerns(row.model, row.dataset)]
    if gate.counts_answers:
        # Every metric of a data set has the same counts.
        chosen = list({(row.model, row.dataset): row for row in reversed(chosen)}.values())[::-1]
        yield from (_of_count(gate, row) for row in chosen)
    else:
        # A data set that could not be scored has no metric, and no right to pass.
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
    return Verdict(gate.text, subject, gate.holds_score(exact(row.score), fraction=row.fraction), _shown(row))


def _shown(row: Row) -> str:
    assert row.score is not None
    interval = span(row.ci95_low, row.ci95_high, fraction=row.fraction)
    return f"{value(row.score, fraction=row.fraction)}{f' ({interval})' if interval else ''}, n {row.size}"


def _of_count(gate: Gate, row: Row) -> Verdict:
    subject = f"{row.model}/{row.dataset}"
    if row.n is None:
        return Verdict(gate.text, subject, False, row.note or "no score")
    count: int = getattr(row, gate.name) or 0
    found = f"{count} of {row.n}" + (f" asked, of {row.of} samples" if row.of else "")
    return Verdict(gate.text, subject, gate.holds_count(count, row.n), found)


def gate_lines(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """One line for each gate."""
    return (printable(str(verdict)) for verdict in verdicts)


def _failed(verdicts: Sequence[Verdict]) -> tuple[int, int]:
    """How many failed, and how many are inconclusive."""
    inconclusive = sum(verdict.inconclusive for verdict in verdicts)
    return sum(not verdict.passed for verdict in verdicts) - inconclusive, inconclusive


def to_junit(verdicts: Sequence[Verdict], name: str) -> bytes:
    """JUnit XML: one test case for each gate, with an ``error`` if it is inconclusive.

    Source of the format: the schema of Apache Ant's JUnit task.
    """
    failures, errors = _failed(verdicts)
    suite = ElementTree.Element(
        "testsuite", name=name, tests=str(len(verdicts)), failures=str(failures), errors=str(errors)
    )
    for verdict in verdicts:
        case = ElementTree.SubElement(
            suite, "testcase", classname=_xml(verdict.subject or name), name=_xml(verdict.gate), time="0"
        )
        if verdict.passed:
            ElementTree.SubElement(case, "system-out").text = _xml(str(verdict))
        else:
            kind = "error" if verdict.inconclusive else "failure"
            ElementTree.SubElement(case, kind, message=_xml(verdict.found)).text = _xml(str(verdict))
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    content: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _xml(text: str) -> str:
    """The text without what XML cannot hold."""
    return printable(text).replace("\n", " ")


def to_pull_request(verdicts: Sequence[Verdict], rows: Sequence[Row], run: str) -> str:
    """Markdown for a pull request: whether the run passes, each gate, and the table of scores."""
    failed, inconclusive = _failed(verdicts)
    states = [f"**{failed} of {len(verdicts)} gates fail**"] if failed else []
    states += [f"**{inconclusive} of {len(verdicts)} gates are inconclusive**"] if inconclusive else []
    state = ", ".join(states) or f"All {len(verdicts)} gates hold"
    lines = [
        f"### {state}",
        "",
        "| | gate | model/dataset | found |",
        "| --- | --- | --- | --- |",
        *map(_markdown_row, verdicts),
        "",
        f"<details><summary>Scores of {escaped(run)}</summary>",
        "",
        to_markdown(rows),
        "</details>",
    ]
    return "\n".join(lines) + "\n"


def _markdown_row(verdict: Verdict) -> str:
    mark = "✅" if verdict.passed else "❔" if verdict.inconclusive else "❌"
    cells = (mark, verdict.gate, verdict.subject, verdict.found)
    return f"| {' | '.join(map(escaped, cells))} |"
