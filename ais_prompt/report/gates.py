"""Whether a run keeps to its gates: one line for each, JUnit XML for CI, Markdown for a pull request."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Sequence

from ais_prompt.regression.gates import Verdict
from ais_prompt.report.formats import escaped, to_markdown
from ais_prompt.summary.rows import Row
from ais_prompt.utils.text import printable


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
