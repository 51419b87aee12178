"""Gates: what they mean, and what they are held against."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from ais_prompt.config.parse_gates import parse_gate
from ais_prompt.errors import ConfigError
from ais_prompt.report.gates import check_gates, to_junit, to_pull_request
from ais_prompt.report.outcome import Row

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


def test_files_for_ci_hold_whatever_a_name_holds() -> None:
    row = Row('<x>|"&\x1b\n', "m", "accuracy", 0.1, n=1, scored=1, unparsed=0, truncated=0, failed=0)
    verdicts = check_gates([parse_gate("accuracy >= 0.5", "here"), parse_gate("failed <= 0", "here")], [row])
    suite = ElementTree.fromstring(to_junit(verdicts, "run"))[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [len(case) for case in suite] == [1, 0]
    text = to_pull_request(verdicts, [row], "run")
    assert "**1 of 2 gates fail**" in text
    assert all(line.count(" | ") == text.splitlines()[4].count(" | ") for line in text.splitlines()[4:6])
    assert "<x>" not in text
