from __future__ import annotations

import gzip
import json
import platform
from collections.abc import Mapping
from typing import Any

import pytest

from ais_prompt.errors import ConfigError, DataError
from ais_prompt.evaluators import Evaluator
from ais_prompt.extensions.programs.evaluator import HumanEvalEvaluator, MBPPEvaluator, humaneval_program
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore
from tests.support.real_data import HUMANEVAL, needs
from tests.support.waiting import WATCHDOG_SECONDS

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(platform.system() != "Linux", reason="programs are confined on Linux only"),
]


PROBLEM = {
    "prompt": 'from typing import List\n\n\ndef first(numbers: List[int]) -> int:\n    """The first number."""\n',
    "test": "def check(candidate):\n    assert candidate([3, 4]) == 3\n    assert candidate([0]) == 0\n",
    "entry_point": "first",
}
POINTS = """
class P:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def sum(self):
        return self.x + self.y
"""
NONE = dict.fromkeys(("assertion", "exception", "syntax", "exited", "timeout", "memory", "forbidden"), 0.0)


@pytest.fixture(scope="module")
def humaneval() -> HumanEvalEvaluator:
    return HumanEvalEvaluator(allow_code_execution=True, timeout=WATCHDOG_SECONDS)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("    return numbers[0]\n", "accuracy"),
        ("return numbers[0]", "accuracy"),
        ("for number in numbers:\n        return number", "accuracy"),
        ("for number in numbers:\n    return number", "accuracy"),
        ("\n    number, *_ = numbers\n\n    return number", "accuracy"),
        ("def first(numbers: List[int]) -> int:\n    return numbers[0]", "accuracy"),
        (
            "import math\ndef other(): ...\n\ndef first(numbers):\n    return numbers[0]\n\nprint(first([1]))",
            "accuracy",
        ),
        ("    return numbers[-1]\n", "assertion"),
        ("I do not know.", "syntax"),
        ("", "assertion"),
        (None, ""),
    ],
)
def test_humaneval(humaneval: HumanEvalEvaluator, answer: str | None, outcome: str) -> None:
    found = humaneval.score(answer, PROBLEM)
    assert [name for name, value in found.items() if value] == ([outcome] if outcome else [])
    assert found.keys() == {"accuracy", *NONE}


@pytest.mark.parametrize(
    ("answer", "incident"),
    [
        ("    while True: pass", "timeout"),
        ("    return [0] * 10**10", "memory"),
        ("    import os; os._exit(0)", "exited"),
        ("    import socket; socket.socket()", "forbidden"),
        ("    open('/usr/x', 'w')", "forbidden"),
        ("    return 1 / 0", "exception"),
        ("    return (", "syntax"),
    ],
)
def test_what_a_program_failed_for_is_counted(answer: str, incident: str) -> None:
    evaluator = HumanEvalEvaluator(allow_code_execution=True, timeout=2 if incident == "timeout" else WATCHDOG_SECONDS)
    values = evaluator.score(answer, PROBLEM)
    assert values == {"accuracy": 0.0, **NONE, incident: 1.0}
    right = SampleScore("a", "scored", values=evaluator.score("    return numbers[0]", PROBLEM))
    scores = evaluator.aggregate([right, SampleScore("b", "scored", values=values)])
    assert [(score.metric, score.value) for score in scores] == [("accuracy", 0.5), (incident, 0.5)]


@pytest.mark.parametrize("gold", [None, "HumanEval/0", {"prompt": "", "test": ""}, {**PROBLEM, "test": None}])
def test_a_gold_without_its_columns_is_an_error(humaneval: HumanEvalEvaluator, gold: Any) -> None:
    with pytest.raises(DataError, match="entry_point") as caught:
        humaneval.score("    return 1", gold)
    assert "gold_columns" in caught.value.fix


@pytest.mark.parametrize(
    ("gold", "answer", "accuracy"),
    [
        ({"test_list": ["assert f(1) == 2", "assert f(2) == 3"]}, "def f(x):\n    return x + 1", 1.0),
        ({"test_list": ["assert f(1) == 2", "assert f(2) == 4"]}, "def f(x):\n    return x + 1", 0.0),
        ({"test_list": ["assert f() == T"], "test_setup_code": "T = 5"}, "def f():\n    return T", 1.0),
        ({"test_list": ["assert f() > 3"], "test_imports": ["import math"]}, "def f():\n    return math.pi", 1.0),
        (["assert f()"], "def f():\n    return 1", 1.0),
        ("assert f()", "def f():\n    return 0", 0.0),
        (["assert f()"], None, 0.0),
        (["assert math.isclose(f(), 3.14, abs_tol=0.01)"], "import math\ndef f():\n    return math.pi", 1.0),
        (["assert sum(10, 15) == 6"], "def sum(a, b):\n    return 6", 1.0),
        (
            ["assert f([P(1, 2), P(3, 4)]) == 10"],
            POINTS + "def f(points):\n    return sum(p.sum() for p in points)",
            1.0,
        ),
        ({"test_list": ["assert f(p) == 3"], "test_setup_code": "p = P(1, 2)"}, POINTS + "f = P.sum", 1.0),
        (["assert abs(f() - 3) < 0.1"], "def f():\n    return 5\ndef abs(x):\n    return 0", 0.0),
        (["assert math.isclose(f(), 3)"], "def f():\n    return 5\nclass math:\n    isclose = lambda *a: True", 0.0),
        (
            ["assert f() == 3"],
            "class A:\n    def __eq__(self, other):\n        return True\ndef f():\n    return A()",
            0.0,
        ),
    ],
)
def test_mbpp(gold: Any, answer: str | None, accuracy: float) -> None:
    assert MBPPEvaluator(allow_code_execution=True).score(answer, gold)["accuracy"] == accuracy


def test_mbpp_without_tests_is_an_error() -> None:
    with pytest.raises(DataError, match="no tests"):
        MBPPEvaluator(allow_code_execution=True).score("x = 1", {"test_list": []})


@pytest.mark.parametrize("name", ["HumanEvalEvaluator", "HumanEvaluator", "MBPPEvaluator"])
def test_nothing_is_run_that_was_not_allowed(name: str) -> None:
    with pytest.raises(ConfigError, match="not allowed") as caught:
        EVALUATORS.get(name)()
    assert "--allow-code-execution" in caught.value.fix
    assert isinstance(EVALUATORS.get(name)(allow_code_execution=True), Evaluator)


def problems() -> list[Mapping[str, str]]:
    with gzip.open(HUMANEVAL, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def broken(problem: Mapping[str, str]) -> str:
    """The canonical solution, whose result is then put into a tuple."""
    name, solution = problem["entry_point"], problem["canonical_solution"]
    right = humaneval_program(problem["prompt"], solution, name)
    return f"{right}\n_right = {name}\ndef {name}(*args):\n    return ('broken', _right(*args))\n"


@needs(HUMANEVAL)
@pytest.mark.slow
def test_all_canonical_solutions_of_the_real_data_pass(humaneval: HumanEvalEvaluator) -> None:
    found = {problem["task_id"]: humaneval.score(problem["canonical_solution"], problem) for problem in problems()}
    assert len(found) == 164
    assert [task for task, values in found.items() if values != {"accuracy": 1.0, **NONE}] == []


@needs(HUMANEVAL)
@pytest.mark.slow
def test_all_broken_solutions_of_the_real_data_fail(humaneval: HumanEvalEvaluator) -> None:
    found = {problem["task_id"]: humaneval.score(broken(problem), problem) for problem in problems()}
    assert [task for task, values in found.items() if values["accuracy"] != 0.0] == []
