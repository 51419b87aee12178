"""``--json``, ``-q`` and ``-v``: what is printed, and where."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ais_prompt.extension import missing_extension, shipped
from tests.support.cli import ROOT, run_cli
from tools.schemas import FOLDER, all_documents, schemas
from tools.stub import NAMES

IS_WHOLE = set(json.loads(NAMES.read_text("utf-8")).values()) <= shipped().keys()
KEY = "sk-live-0123456789abcdef0123456789"
CONFIG = r"""
models = [dict(type='ScriptedModel', abbr='fake', answers={r'^3\+3': '6', r'^5': dict(failure='timeout', message='no')},
               default='4')]
datasets = [dict(
    abbr='sums', type='LocalDataset', path='sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question} {answer}'),
                   inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(8)]
    (tmp_path / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "eval.py").write_text(CONFIG)
    (tmp_path / "bad.py").write_text(CONFIG.replace("GenInferencer", "GenInferencr").replace("'{question}", "'{quest}"))
    done = run_cli("run", "eval.py", "--max-failures", "1", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path


def document(folder: Path, *args: str, code: int = 0) -> dict[str, Any]:
    """The document on standard output, which has nothing else, valid by the committed schema."""
    done = run_cli(*args, "--json", folder=folder)
    assert done.returncode == code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    validator = Draft202012Validator(json.loads((FOLDER / f"{args[0]}.json").read_text("utf-8")))
    validator.validate(found)
    assert list(validator.iter_errors({**found, "kind": "other"})), "the schema can refuse"
    assert (found["kind"], found["exit_code"]) == (args[0], code)
    return found


@pytest.mark.skipif(not IS_WHOLE, reason="an extension is missing, which adds fields to documents")
def test_the_committed_schemas_are_those_of_the_program() -> None:
    found = {path: path.read_text("utf-8") for path in FOLDER.iterdir() if not missing_extension(path.stem)}
    assert found == schemas(), "run python -m tools.schemas"
    assert {path.stem for path in found} == set(all_documents())


def test_a_run_is_one_document(folder: Path) -> None:
    found = document(
        folder, "run", "eval.py", "--max-failures", "1", "--gate", "accuracy >= 10%", "--gate", "failed <= 1"
    )
    [score] = found["scores"]
    assert (score["metric"], score["failed"], score["n"]) == ("accuracy", 1, 8)
    assert score["score"] == pytest.approx(2 / 7)
    assert found["tasks"] == [{"model": "fake", "dataset": "sums", "state": "scored", "error": None}]
    assert [gate["passed"] for gate in found["gates"]] == [True, True]
    assert (found["asked"], found["failed"], found["reasons"]) == (8, 1, {"timeout": 1})
    assert (folder / found["folder"] / "run.json").is_file()


@pytest.mark.thorough
def test_the_exit_code_and_its_reason_are_in_the_document(folder: Path) -> None:
    assert document(folder, "run", "eval.py", code=1)["failed"] == 1
    failed = document(folder, "run", "eval.py", "--max-failures", "1", "--gate", "accuracy >= 90%", code=1)
    assert [gate["passed"] for gate in failed["gates"]] == [False]
    faults = document(folder, "run", "bad.py", code=2)["errors"]
    assert any("GenInferencr" in fault["what"] and "bad.py" in fault["where"] for fault in faults)
    missing = document(folder, "score", "no-such-run", code=2)
    assert missing["errors"][0]["what"].startswith("there is no")
    assert missing["folder"] is None


def test_a_task_that_fails_has_its_error(folder: Path) -> None:
    (folder / "down.py").write_text(CONFIG.replace("default='4'", "default='4', fail_after=0"))
    found = document(folder, "run", "down.py", "--max-failures", "100%", code=3)
    [task] = found["tasks"]
    assert task["state"] == "failed"
    assert task["error"]["what"].startswith("all 8 requests so far failed")
    assert found["errors"] == [], "those of tasks are with the tasks"


def test_a_dry_run_shows_what_would_be_asked(folder: Path) -> None:
    found = document(folder, "run", "eval.py", "--dry-run")
    assert (found["estimates"][0]["requests"], found["folder"]) == (8, None)


@pytest.mark.thorough
def test_score_and_compare_and_list_are_documents(folder: Path) -> None:
    assert document(folder, "score", "eval", "--max-failures", "1")["scores"][0]["dataset"] == "sums"
    [compared] = document(folder, "compare", "eval", "eval")["comparisons"]
    assert (compared["difference"], compared["n"]) == (0.0, 7)
    found = document(folder, "list")
    assert {"models", "datasets"} == set(found["configs"])
    assert {"name": "GenInferencer", "about": "ais_prompt.inferencers.gen"} in found["parts"]["inferencers"]
    assert "anthropic" in [provider["name"] for provider in found["providers"]]
    assert document(folder, "list", "retrievers")["configs"] == {}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "eval.py", "--no-such-option"), "--no-such-option"),
        (("compare", "eval", "--flips", "many"), "many"),
        (("baseline", "eval"), "-o"),
    ],
)
def test_wrong_words_have_a_document(folder: Path, words: tuple[str, ...], said: str) -> None:
    [error] = document(folder, *words, code=2)["errors"]
    assert said in error["what"]
    assert error["fix"].endswith(f"{words[0]} --help")


def test_a_check_has_all_faults_or_all_remarks(folder: Path) -> None:
    found = document(folder, "check", "eval.py")
    assert (found["models"], found["datasets"], found["errors"]) == (1, 1, [])
    assert found["estimates"][0]["samples"] == 8
    faults = document(folder, "check", "bad.py", code=2)["errors"]
    assert len(faults) >= 1
    assert all(fault["what"] for fault in faults)


def test_a_secret_is_hidden_in_a_document(folder: Path) -> None:
    done = run_cli("check", f"{KEY}.py", "--json", folder=folder, environment={"MY_API_KEY": KEY})
    assert done.returncode == 2
    assert KEY not in done.stdout
    assert "***" in json.loads(done.stdout)["errors"][0]["what"]


@pytest.mark.thorough
def test_quiet_prints_results_and_errors_only(folder: Path) -> None:
    done = run_cli("run", "eval.py", "-q", "--max-failures", "1", "--gate", "accuracy >= 10%", folder=folder)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "accuracy" in done.stdout
    assert "Gates:" in done.stdout
    assert not [word for word in ("Next:", "Run folder", "asked:", "report.html") if word in done.stdout]
    failed = run_cli("run", "eval.py", "-q", folder=folder)
    assert failed.returncode == 1
    assert failed.stderr.strip().startswith("exit code 1: 1 of 8 samples failed")
    assert run_cli("check", "eval.py", "-q", folder=folder).stdout == ""
    wrong = run_cli("check", "bad.py", "-q", folder=folder)
    assert (wrong.returncode, "GenInferencr" in wrong.stderr) == (2, True)


@pytest.mark.thorough
def test_verbose_prints_the_messages_of_the_log(folder: Path) -> None:
    plain = run_cli("run", "eval.py", "--max-failures", "1", folder=folder)
    verbose = run_cli("run", "eval.py", "--max-failures", "1", "-v", folder=folder)
    assert "INFO: session begins" in verbose.stderr
    assert "INFO" not in plain.stderr
    again = run_cli("run", "eval.py", "--max-failures", "1", folder=folder)
    assert "INFO" not in again.stderr, "it is for one command only"


PRINTERS = {"verb.py", "completion.py"}
"""Files that print as click does: `echo` itself, and scripts for shells."""


def test_verbs_print_texts_by_the_function_that_escapes_them() -> None:
    """JSON, which `encode` returns as bytes, has its own escapes."""
    for path in (ROOT / "ais_prompt").rglob("*.py"):
        if path.name not in PRINTERS:
            text = path.read_text("utf-8").replace("click.echo(encode(", "")
            assert not {"click.echo", "click.secho"} & set(re.findall(r"click\.s?echo", text)), path
