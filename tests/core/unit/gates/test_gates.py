"""Gates: what they mean, and what they are held against."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError
from ais_prompt.gates import Advice, advice_lines, check_gates, gate_lines, to_junit, to_pull_request
from ais_prompt.metrics import Threshold
from ais_prompt.scoring import Row
from ais_prompt.types import Verdict, parse_gate

SUMS = Row("sums", "m", "accuracy", 0.8, n=10, scored=7, unparsed=1, truncated=1, failed=1)
TALK = Row("talk", "m", "bleu", 27.3, fraction=False, n=10, scored=10, unparsed=0, truncated=0, failed=0)
BROKEN = Row("broken", "m", note="error: ModelError: no server")
ROWS = [SUMS, TALK, BROKEN]


def passes(text: str) -> list[bool]:
    return [verdict.passed for verdict in check_gates([parse_gate(text, "here")], ROWS)]


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("sums: accuracy >= 0.8", [True]),
        ("sums: accuracy > 80%", [False]),
        ("m/sums: accuracy >= 80 %", [True]),
        ("other/*: accuracy >= 0", [False]),
        ("s*: failed <= 1", [True]),
        ("s*: failed <= 9.9%", [False]),
        ("s*: unparsed < 1", [False]),
        ("truncated <= 10%", [True, True, False]),  # what has no score cannot pass
        ("bleu >= 27", [True, False]),
        ("bleu >= 30", [False, False]),
        ("sums: acuracy >= 0.1", [False]),
        ("sums: accuracy >= 80", [False]),  # a part of 1 is meant
    ],
)
def test_what_a_gate_means(text: str, passed: list[bool]) -> None:
    assert passes(text) == passed


@pytest.mark.parametrize("text", ["accuracy", "accuracy = 3", ">= 3", "accuracy >= x", "accuracy >= 3 %%", 7])
def test_what_is_no_condition(text: object) -> None:
    with pytest.raises(ConfigError, match="is no condition"):
        parse_gate(text, "here")


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.integers(0, 1000))
def test_a_gate_compares_exactly_what_is_written(share: tuple[int, int], tenths: int) -> None:
    right, n = share
    row = Row("d", "m", "accuracy", right / n, n=n, scored=n, unparsed=0, truncated=0, failed=right)
    difference = 1000 * right - tenths * n
    expected = {">=": difference >= 0, ">": difference > 0, "<=": difference <= 0, "<": difference < 0}
    for comparator, holds in expected.items():
        for text in (
            f"accuracy {comparator} {tenths / 10:.1f}%",
            f"accuracy {comparator} {tenths / 1000:.3f}",
            f"failed {comparator} {tenths / 10:.1f} %",
        ):
            [verdict] = check_gates([parse_gate(text, "here")], [row])
            assert verdict.passed is holds, text


@pytest.mark.thorough
@pytest.mark.parametrize("n", [100, 200, 1000])
def test_every_share_reaches_the_limit_that_is_written_as_itself(n: int) -> None:
    for right in range(n + 1):
        row = Row("d", "m", "accuracy", right / n, n=n, scored=n, unparsed=0, truncated=0, failed=0)
        percent = f"{right * 100 // n}.{right * 1000 // n % 10}%"
        verdicts = check_gates([parse_gate(f"accuracy {sign} {percent}", "") for sign in (">=", ">", "<=", "<")], [row])
        assert [verdict.passed for verdict in verdicts] == [True, False, True, False], percent


def test_a_score_that_is_no_number_fails_every_gate() -> None:
    row = Row("d", "m", "accuracy", float("nan"), n=1, scored=1, unparsed=0, truncated=0, failed=0)
    for sign in (">=", "<="):
        assert not check_gates([parse_gate(f"accuracy {sign} 0.5", "here")], [row])[0].passed


def test_a_run_that_stopped_shows_how_much_was_asked() -> None:
    row = Row("d", "m", "accuracy", 1.0, n=57, of=100, scored=57, unparsed=0, truncated=0, failed=0)
    verdicts = check_gates([parse_gate("accuracy >= 50%", "here"), parse_gate("failed <= 50%", "here")], [row])
    assert all("57 " in verdict.found and "of 100" in verdict.found for verdict in verdicts)
    assert b"57 of 100" in to_junit(verdicts, "run")
    text = to_pull_request(verdicts, [row], "run")
    assert text.count("57 of 100") == 3  # the gate, the table, the note


def test_files_for_ci_hold_whatever_a_name_holds() -> None:
    row = Row('<x>|"&\x1b\n', "m", "accuracy", 0.1, n=1, scored=1, unparsed=0, truncated=0, failed=0)
    verdicts = check_gates([parse_gate("accuracy >= 0.5", "here"), parse_gate("failed <= 0", "here")], [row])
    suite = ElementTree.fromstring(to_junit(verdicts, "run"))[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case[0].tag for case in suite] == ["failure", "system-out"]
    text = to_pull_request(verdicts, [row], "run")
    assert "**1 of 2 gates failed**" in text
    assert all(line.count(" | ") == text.splitlines()[4].count(" | ") for line in text.splitlines()[4:6])
    assert "<x>" not in text


def test_failures_are_the_last_lines_before_the_totals() -> None:
    holds, fails = (Verdict(gate, "m/d", passed, "") for gate, passed in (("accuracy >= 0.1", True), ("n >= 9", False)))
    *lines, totals = gate_lines([fails, holds, holds])
    shown = [(head + text, colour) for head, text, colour in lines]
    assert shown == [(str(one), colour) for one, colour in ((holds, "green"), (holds, "green"), (fails, "red"))]
    assert totals == ("1 of 3 gates failed", "", "red")
    assert list(gate_lines([holds]))[-1] == ("the gate holds", "", "green")


def test_of_many_gates_those_that_hold_have_no_lines() -> None:
    holds, fails = (Verdict("accuracy >= 0.1", f"m/{passed}", passed, "") for passed in (True, False))
    assert ["".join(line[:2]) for line in gate_lines([fails, *[holds] * 99])] == [str(fails), "1 of 100 gates failed"]
    first, *_ = lines = ["".join(line[:2]) for line in gate_lines([fails] * 100)]
    assert (len(lines), first) == (12, "… 90 more that fail or are inconclusive: --junit FILE writes all")


def test_advice_of_few_runs_says_what_a_run_effect_does() -> None:
    def words(runs: int, deviation: float = 0.01, less: bool = False) -> str:
        found = Threshold(0.8, deviation, 0.75, 0.06, varies_beyond=False, level=1 / 365)
        advice = Advice("m", "d", "accuracy", "m/d: accuracy >= 75.0%", 100, found, 0.06, lower_is_better=less)
        return "\n".join(advice_lines([advice], runs, 1))

    assert "3 runs rarely show a run effect" in words(3)
    assert "about 9 of 365 nights fail" in words(3)
    assert "a drop of 6.0 % is found" in words(5)
    assert "a rise of 6.0 % is found" in words(5, less=True)
    assert "run effect" not in words(5) + words(3, deviation=0.0)
