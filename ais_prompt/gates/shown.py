"""Show gates: verdicts as lines, JUnit XML and Markdown, the samples that a claim needs, and expected false alarms."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from typing import Final

from ais_prompt.gates.baseline import BaselineTask
from ais_prompt.metrics import NIGHTS, alarms_per_year, fewest_for, samples_for, samples_for_drop
from ais_prompt.report import MANY, markdown_cell, to_markdown
from ais_prompt.scoring import Row
from ais_prompt.types import Gate, Verdict
from ais_prompt.utils import counted, printable

MARK: Final = 6
"""Columns of ``FAIL`` and of the space behind it in the line of a verdict."""


def gate_lines(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, str, str]]:
    """Yield one line for each verdict, those that fail last, and a line with the totals.

    A line is a head, which has a colour, its text, and the colour.

    Of many verdicts, only those that fail or are inconclusive have lines, the last `MANY` of them.
    """
    ordered = sorted(verdicts, key=lambda verdict: (not verdict.passed, not verdict.inconclusive))
    bad = [verdict for verdict in ordered if not verdict.passed]
    shown = ordered if len(ordered) <= MANY else bad[-MANY:]
    if len(ordered) > MANY and len(bad) > MANY:
        yield "", f"… {len(bad) - MANY} more that fail or are inconclusive: --junit FILE writes all", "red"
    for verdict in shown:
        colour = "green" if verdict.passed else "yellow" if verdict.inconclusive else "red"
        line = printable(str(verdict))
        yield line[:MARK], line[MARK:], colour
    failed, inconclusive = _failed(verdicts)
    yield ", ".join(_totals(verdicts)), "", "red" if failed else "yellow" if inconclusive else "green"


def _totals(verdicts: Sequence[Verdict]) -> list[str]:
    """Return ``1 of 26 gates failed`` and ``2 of 26 gates are inconclusive``, or that all hold."""
    failed, inconclusive = _failed(verdicts)
    states = [f"{failed} of {len(verdicts)} gates failed"] if failed else []
    states += [f"{inconclusive} of {len(verdicts)} gates are inconclusive"] if inconclusive else []
    return states or ["the gate holds" if len(verdicts) == 1 else f"all {len(verdicts)} gates hold"]


def _failed(verdicts: Sequence[Verdict]) -> tuple[int, int]:
    """Return the number of failed and of inconclusive verdicts."""
    inconclusive = sum(verdict.inconclusive for verdict in verdicts)
    return sum(not verdict.passed for verdict in verdicts) - inconclusive, inconclusive


def to_junit(verdicts: Sequence[Verdict], name: str) -> bytes:
    """Return JUnit XML with a test case for each gate, and an ``error`` if it is inconclusive.

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
    """Return the text without characters that XML forbids."""
    return printable(text).replace("\n", " ")


def to_pull_request(verdicts: Sequence[Verdict], rows: Sequence[Row], run: str) -> str:
    """Return Markdown for a pull request: whether the run passes, each gate, and the table of scores."""
    state = ", ".join(f"**{total}**" if "hold" not in total else total.capitalize() for total in _totals(verdicts))
    rows_of_gates = []
    for one in verdicts:
        mark = "✅" if one.passed else "❔" if one.inconclusive else "❌"
        cells = map(markdown_cell, (mark, one.gate, one.subject, one.found))
        rows_of_gates.append(f"| {' | '.join(cells)} |")
    lines = [
        f"### {state}",
        "",
        "| | gate | model/dataset | found |",
        "| --- | --- | --- | --- |",
        *rows_of_gates,
        "",
        f"<details><summary>Scores of {markdown_cell(run)}</summary>",
        "",
        to_markdown(rows),
        "</details>",
    ]
    return "\n".join(lines) + "\n"


CHANGED = (0.02, 0.1, 0.3)
"""Shares of samples that change between two runs of one model; a line is printed for each."""
MARGIN = 0.05
"""Assumed distance of the true value from the limit; half the way to the best value where that is nearer."""


def describe_claim(gate: Gate, dataset: str, size: int) -> Iterator[str]:
    """Yield how many samples a claim needs, and a warning if the dataset has fewer.

    Args:
        gate: with a claim.
        dataset: its ``abbr``.
        size: how many questions it has.
    """
    assert gate.confidence is not None
    confidence, limit = float(gate.confidence), float(gate.limit) / (100 if gate.percent else 1)
    yield f"{gate.text}  {dataset}, {size} questions"
    if gate.limits_drop:
        for changed in CHANGED:
            needed = _number(samples_for_drop(limit, changed, confidence))
            yield f"  if nothing drops and {changed:.0%} of the answers change: {needed} samples show it in 80 %"
        least = samples_for_drop(limit, 0.0, confidence) or size + 1
        usual = samples_for_drop(limit, CHANGED[1], confidence) or size + 1
    else:
        # A claim that a share is at most 30 % is the claim that the rest is at least 70 %.
        least_share = limit if gate.comparator[0] == ">" else 1 - limit
        margin = min(MARGIN, (1 - least_share) / 2)
        least = fewest_for(least_share, confidence)
        found = samples_for(least_share, least_share + margin, confidence)
        usual = found or size + 1
        sign = 1 if gate.comparator[0] == ">" else -1
        true = f"{100 * (limit + sign * margin):g} %"
        yield f"  at a true value of {true}: {_number(found)} samples show it in 80 %"
        yield f"  if every answer is in its favour: {least} samples"
    if size < least:
        yield f"  Warning: {size} questions can never show it"
    elif size < usual:
        yield f"  Warning: {size} questions are too few for that"


def _number(samples: int | None) -> str:
    return "more than a million" if samples is None else str(samples)


def alarm_words(tasks: Sequence[BaselineTask], runs: int) -> str:
    """Return what to expect of a baseline.

    Args:
        tasks: its datasets.
        runs: how many runs it was made of.
    """
    varying = len(tasks) if runs == 1 else sum(bool(task.noise) for task in tasks)
    if not varying:
        return f"False alarms: none expected, since every value is the same in all {runs} runs."
    mean, unlucky = alarms_per_year(varying, runs)
    lines = [
        "False alarms" + (", if answers vary from run to run:" if runs == 1 else ":"),
        f"  up to {mean:.0f} of {NIGHTS} nights, on average over all such baselines",
        f"  {unlucky:.0f} or more with one such baseline in ten",
    ]
    if runs == 1:
        lines.append("A baseline of several runs shows whether answers vary, and has less noise of its own.")
    else:
        lines.append(f"Values vary between the {runs} runs in {varying} of {counted(len(tasks), 'dataset')}.")
    return "\n".join([*lines, "With --level 0.0027 about one night a year fails without a drop."])
