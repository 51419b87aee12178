"""LiveCodeBench gives the verdicts of the published checker, on recorded programs."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Final

import pytest

from ais_prompt.extensions.programs.live_code import LiveCodeBenchEvaluator, live_code_bench_postprocess

STDIN: Final[list[tuple[str, str, str]]] = [
    ("print(sum(map(int, input().split())))", "1 2\n", "3\n"),
    ("import sys\nprint(sum(map(int, sys.stdin.read().split())))", "1 2", "3"),
    ("import sys\nprint(sum(map(int, sys.stdin.buffer.readline().split())))", "1 2\n", "3"),
    ("print(sum(map(int, open(0).read().split())))", "1 2", "3"),
    ("if __name__ == '__main__':\n    print(input())\n    exit()", "x", "x"),
    ("print('1.50')", "", "1.5"),
    ("print('  1   2 ')", "", "1 2"),
    ("print('1.0000001')", "", "1"),
    ("print('yes')", "", "YES"),
    ("print('a\\nb\\n\\n')", "", "a\nb"),
    ("print('a')", "", "a\nb"),
    ("print(defaultdict(int)['x'] + gcd(4, 6))", "", "2"),
    ("raise ValueError", "", ""),
    ("print(input(", "", ""),
    ("import sys\nsys.stdout.write('7')", "", "7"),
]
METHODS: Final[list[tuple[str, str, str]]] = [
    ("class Solution:\n    def f(self, a, b):\n        return a + b", "1\n2", "3"),
    ("class Solution:\n    def f(self, a, b):\n        return a, b", "1\n2", "[1, 2]"),
    ("class Solution:\n    def f(self, a: List[int]) -> List[int]:\n        return sorted(a)", "[3, 1]", "[1, 3]"),
    ("class Solution:\n    def f(self, a):\n        return [(1, 2)]", "1", "[[1, 2]]"),
    ("class Solution:\n    def f(self, a):\n        return a == 1", "1", "true"),
    ("class Solution:\n    def g(self, a):\n        return a", "1", "1"),
    ("def f(a):\n    return a + '!'", '"x"', '"x!"'),
]


def published_text(prediction: str, gold: str) -> bool:
    """As ``grade_stdio`` compares one output."""

    def lines(text: str) -> list[str]:
        return [line.strip() for line in text.strip().split("\n")]

    def decimals(line: str) -> tuple[bool, list[Decimal]]:
        try:
            return True, [Decimal(word) for word in line.split()]
        except Exception:
            return False, []

    if len(lines(prediction)) != len(lines(gold)):
        return False
    for one, other in zip(lines(prediction), lines(gold), strict=True):
        if one == other:
            continue
        (is_number, found), (is_other, wanted) = decimals(one), decimals(other)
        if not (is_number and is_other and found == wanted):
            return False
    return True


EXPECTED_TEXT: Final = [True] * 5 + [
    published_text("1.50\n", "1.5"),
    published_text("  1   2 \n", "1 2"),
    published_text("1.0000001\n", "1"),
    published_text("yes\n", "YES"),
    published_text("a\nb\n\n\n", "a\nb"),
    published_text("a\n", "a\nb"),
    *(True, False, False, True),
]
EXPECTED_VALUE: Final = [True, True, True, False, True, False, True]


@pytest.mark.process
@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "cases", "expected"), [("", STDIN, EXPECTED_TEXT), ("f", METHODS, EXPECTED_VALUE)])
def test_verdicts_are_those_of_the_published_checker(
    kind: str, cases: list[tuple[str, str, str]], expected: list[bool]
) -> None:
    evaluator = LiveCodeBenchEvaluator(allow_code_execution=True, timeout=20)
    found = []
    for program, given, wanted in cases:
        gold: dict[str, Any] = {"tests": json.dumps([{"input": given, "output": wanted}]), "method": kind}
        found.append(evaluator.score(program, gold)["accuracy"] == 1.0)
    assert found == expected


def test_programs_are_between_the_last_fences() -> None:
    for text, program in [
        ("```python\na\n```\nand\n```python\nb\nc\n```", "b\nc"),
        ("no fence", None),
        ("```python\na", None),
        ("```\n```", ""),
    ]:
        assert live_code_bench_postprocess(text) == program
