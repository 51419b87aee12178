"""What is shown of benchmarks fits into the terminal; a gold that a metric cannot use is found before asking."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from ais_prompt.checks import check_plan
from ais_prompt.plan import Plan
from ais_prompt.types import PartSpec, RunSpec
from tests.support.cli import run_cli
from tests.support.parts import dataset_spec, model_spec, write_rows


@pytest.mark.thorough
@pytest.mark.parametrize("args", [["describe", "ToolCallEvaluator"], ["data", "check"]])
def test_no_line_is_wider_than_the_terminal(args: list[str]) -> None:
    done = run_cli(*args, columns=70)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 70


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("chat_core", ["chat_core (suite)", "aisprompt data get mmlu_pro gpqa"]),
        ("bfcl", ["not here: aisprompt data get bfcl --from FOLDER, with the wheel"]),
        ("gsm8k_gen", ["gsm8k (benchmark)", "openai/gsm8k, configuration main"]),
    ],
)
def test_benchmarks_suites_and_their_configs_are_described_once(name: str, said: list[str]) -> None:
    done = run_cli("describe", name, environment={"COLUMNS": "80"})
    assert done.returncode == 0, done.stderr
    assert all(words in done.stdout for words in said)
    assert "gsm8k_gen (config of datasets)" not in done.stdout


@pytest.mark.parametrize(
    ("evaluator", "what"),
    [
        ("CircularEvaluator", "is not question--letter--order"),
        ("ToolCallEvaluator", "the gold has no functions and answers"),
    ],
)
def test_what_is_known_to_fail_at_scoring_is_refused(tmp_path: Path, evaluator: str, what: str) -> None:
    spec = dataset_spec(write_rows(tmp_path / "rows.jsonl", [{"question": "1+1 is", "answer": "2"}] * 3))
    part = PartSpec(evaluator, {}, "datasets[0].eval_cfg.evaluator")
    spec = replace(spec, eval=replace(spec.eval, evaluator=part))
    [fault] = check_plan(Plan(RunSpec("run", (model_spec(),), (spec,), tmp_path, None, {})), lambda path: path).faults
    assert what in fault.what
