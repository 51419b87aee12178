"""Expressions of x, as summarizers of OpenCompass have them."""

from __future__ import annotations

import pytest

from ais_prompt.config import evaluate


@pytest.mark.parametrize(
    ("expression", "x", "value"),
    [
        ("max((2 - x) / 2, 0) * 100", 0.5, 75),
        ("min(100, max(0, 100*x/(1+x)))", 1, 50),
        ("-x + abs(-3)", 1, 2),
        ("x", 7, 7),
    ],
)
def test_a_value(expression: str, x: float, value: float) -> None:
    assert evaluate(expression, x) == value


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "y",
        "x.real",
        "__import__('os')",
        "x ** 9999999",
        "'a' * 9",
        "True",
        "max()",
        "1/x",
        "(" * 9999,
        "x = 1",
        "min(x, key=x)",
    ],
)
def test_nothing_else_is_evaluated(expression: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        evaluate(expression, 0)
