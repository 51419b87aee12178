"""The recorded cases of the peers and of the documents, and the tool that runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.conformance import main
from tools.conformance_runner.cases import Case, load_cases
from tools.conformance_runner.check import check

FILES = sorted((Path(__file__).parent / "cases").glob("*.json"))
CASES = [case for file in FILES for case in load_cases(file)]


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case) -> None:
    verdict = check(case)
    if verdict.status == "skipped":
        pytest.skip(verdict.details[0])
    assert verdict.status == "passed", "\n".join((case.title, *verdict.details))


def test_a_case_has_one_name() -> None:
    assert len({case.name for case in CASES}) == len(CASES) > 0


def case_values(**changes: Any) -> dict[str, Any]:
    """A case that passes, unless it is changed."""
    return {
        "id": "own-001",
        "title": "a sum",
        "category": "template",
        "config": {
            "reader_cfg": {"input_columns": ["q"], "output_column": "a"},
            "prompt_template": {"type": "PromptTemplate", "template": "Q: {q} A: {a}"},
            "mode": "gen",
        },
        "data": {"test": [{"q": "1+1=?", "a": "2"}]},
        "expect": {"prompts": ["Q: 1+1=? A: "]},
        **changes,
    }


def run(tmp_path: Path, *cases: Any) -> int:
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(cases, ensure_ascii=False), encoding="utf-8")
    return main([str(file)])


def with_template(template: Any) -> dict[str, Any]:
    values = case_values()
    values["config"]["prompt_template"]["template"] = template
    return values


def test_all_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, case_values(), case_values(id="own-002")) == 0
    assert capsys.readouterr().out == "2 passed, 0 failed\n"


def test_a_wrong_expectation_fails_with_a_diff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, case_values(), case_values(id="own-002", expect={"prompts": ["Q: 1+1=? A: 2"]})) == 1
    printed = capsys.readouterr().out
    assert "FAILED own-002 (template): a sum" in printed
    assert '-  "Q: 1+1=? A: 2"' in printed
    assert '+  "Q: 1+1=? A: "' in printed
    assert printed.endswith("1 passed, 1 failed\n")


def test_the_corrected_expectation_counts(tmp_path: Path) -> None:
    wrong = {"prompts": ["of the peer"]}
    right = case_values()["expect"]
    assert run(tmp_path, case_values(expect=wrong, expect_fixed=right, peer_bug="FIX-1")) == 0
    assert run(tmp_path, case_values(expect=right, expect_fixed=wrong, peer_bug="FIX-1")) == 1


@pytest.mark.parametrize("error", [True, {"stage": "construct", "type": "TypeError", "message": "said otherwise"}])
def test_a_wanted_error(tmp_path: Path, error: Any) -> None:
    assert run(tmp_path, {**with_template(None), "expect": {"error": error}}) == 0


def test_a_wanted_error_that_does_not_come(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, case_values(expect={"error": {"stage": "prompt", "type": "KeyError"}})) == 1
    assert "no error, but one was expected" in capsys.readouterr().out


def test_a_wanted_error_at_another_stage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, {**with_template(None), "expect": {"error": {"stage": "parse"}}}) == 1
    assert "the error comes at stage construct, not parse" in capsys.readouterr().out


def test_an_error_that_is_not_wanted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, with_template(["no template"])) == 1
    assert "unexpected error at stage construct" in capsys.readouterr().out


def test_blanks_at_the_end_count_unless_the_case_says_otherwise(tmp_path: Path) -> None:
    expect = {"prompts": ["Q: 1+1=? A:"]}
    assert run(tmp_path, case_values(expect=expect)) == 1
    assert run(tmp_path, case_values(expect=expect, match="strip")) == 0


def test_what_cannot_be_compared_is_skipped_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unclear = case_values(ambiguous=True, expect={"prompts": ["whatever"]})
    assert run(tmp_path, unclear, unclear, case_values()) == 0
    assert capsys.readouterr().out == "skipped: ambiguous 2\n1 passed, 0 failed, 2 skipped\n"


def test_an_unknown_category_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, case_values(category="tempalte")) == 1
    assert "unknown category 'tempalte' (known: doc, " in capsys.readouterr().out


def test_a_case_that_makes_no_sense_fails_and_the_others_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, case_values(config={}), case_values()) == 1
    printed = capsys.readouterr().out
    assert "crashed: KeyError" in printed
    assert printed.endswith("1 passed, 1 failed\n")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("[", "cannot be read"),
        ('{"id": "x"}', "is a list of cases"),
        ("[3]", "a case is an object"),
        ('[{"id": "x"}]', "has no 'category'"),
    ],
)
def test_a_broken_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, what: str) -> None:
    file = tmp_path / "broken.json"
    file.write_text(content, encoding="utf-8")
    assert main([str(file)]) == 2
    printed = capsys.readouterr()
    assert what in printed.err
    assert str(file) in printed.err
    assert printed.out == ""


def test_a_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.process
def test_it_is_a_file_that_runs_anywhere(tmp_path: Path) -> None:
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps([case_values()]), encoding="utf-8")
    tool = Path(__file__).parents[3] / "tools" / "conformance.py"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, str(tool), str(cases)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "1 passed, 0 failed\n"), done.stderr
