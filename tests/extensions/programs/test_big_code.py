"""BigCodeBench: verdicts on programs with tests of `unittest`, and packages that are missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from ais_prompt import run
from ais_prompt.errors import DataError, PartError
from ais_prompt.extensions.programs.big_code import BigCodeBenchEvaluator

pytestmark = [pytest.mark.process, pytest.mark.thorough]

PROMPT: Final = "import json\nTWO = 2\ndef task_func(text):"
TEST: Final = """
import unittest
from unittest.mock import patch

class TestCases(unittest.TestCase):
    def test_value(self):
        self.assertEqual(task_func('[1, 2]'), 3)

    @patch("json.loads", return_value=[5])
    def test_library_is_called(self, loads):
        self.assertEqual(task_func('[1]'), 5)
        loads.assert_called_once()

    def test_error(self):
        self.assertRaises(ValueError, task_func, 'x')
"""
RIGHT: Final = "import json\ndef task_func(text):\n    return sum(json.loads(text))"
VERDICTS: Final[list[tuple[str, str]]] = [
    (RIGHT, "accuracy"),
    ("def task_func(text):\n    return sum(json.loads(text)) * TWO // 2", "accuracy"),
    (f"{RIGHT}\nif __name__ == '__main__':\n    raise ValueError", "accuracy"),
    ("def task_func(text):\n    return 3", "assertion"),
    ("def task_func(text):\n    return sum(json.loads(text)) + len(undefined)", "exception"),
    ("x = 1", "assertion"),
    ("raise ValueError", "exception"),
    ("def task_func(text:", "syntax"),
    ("import os\nos._exit(0)", "exited"),
    ("while True:\n    pass", "timeout"),
]


def gold(**changes: Any) -> dict[str, Any]:
    return {"code_prompt": PROMPT, "test": TEST, "libs": ["json", "unittest.mock"], **changes}


def test_verdicts() -> None:
    evaluator = BigCodeBenchEvaluator(allow_code_execution=True, timeout=3, memory=1024)
    found = [
        (answer, [name for name, value in evaluator.score(answer, gold()).items() if value]) for answer, _ in VERDICTS
    ]
    assert found == [(answer, [kind]) for answer, kind in VERDICTS]


def test_a_package_that_is_missing_is_no_wrong_answer() -> None:
    evaluator = BigCodeBenchEvaluator(allow_code_execution=True)
    with pytest.raises(PartError, match="not installed: no_such_package, nor_this"):
        evaluator.score(RIGHT, gold(libs=["json", "no_such_package.part", "nor_this"]))
    assert evaluator.score(RIGHT, gold())["accuracy"] == 1


def test_a_question_without_its_packages_is_not_scored(tmp_path: Path) -> None:
    rows = [{"q": "first", **gold()}, {"q": "second", **gold(libs=["no_such_package"])}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    dataset = {
        "abbr": "code",
        "path": str(tmp_path / "rows.jsonl"),
        "reader_cfg": {"input_columns": ["q"], "output_column": None, "gold_columns": list(gold())},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": "{q}"},
            "inferencer": {"type": "GenInferencer"},
        },
        "eval_cfg": {"evaluator": {"type": "BigCodeBenchEvaluator"}},
    }
    model = {"type": "ScriptedModel", "abbr": "scripted", "answers": {"first": RIGHT, "second": RIGHT}}
    config = {"models": [model], "datasets": [dataset], "work_dir": str(tmp_path / "out")}
    done = run(config, report=False, quiet=True, allow_code_execution=True)
    [row] = [row for row in done.rows if row.metric == "accuracy"]
    assert (row.score, row.unscored) == (1.0, "1 failed (scoring failed)")
    [results] = (tmp_path / "out").rglob("results/scripted/code.json")
    assert "packages of the question are not installed: no_such_package" in results.read_text("utf-8")


def test_a_gold_without_tests() -> None:
    evaluator = BigCodeBenchEvaluator(allow_code_execution=True)
    for broken in (None, "x", gold(test=""), gold(libs=None)):
        with pytest.raises(DataError, match="the gold has no tests"):
            evaluator.score(RIGHT, broken)
