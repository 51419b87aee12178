"""Evaluate ``max((2 - x) / 2, 0) * 100`` for a number, without running code."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, Final

_OPERATORS: Final[dict[type, Callable[..., float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_FUNCTIONS: Final[dict[str, Callable[..., float]]] = {"min": min, "max": max, "abs": abs}


def evaluate(expression: str, x: float) -> float:
    """Return the value of an expression of numbers, ``x``, ``+ - * /``, ``min``, ``max`` and ``abs``.

    Raises:
        ValueError: it is anything else, or divides by zero.
    """
    try:
        return float(_value(ast.parse(expression.strip(), mode="eval").body, x))
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"{expression!r} is not an expression of x") from error
    except (ZeroDivisionError, OverflowError, TypeError) as error:
        raise ValueError(f"{expression!r} has no value for x = {x}: {error}") from error


def _value(node: ast.expr, x: float) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id="x"):
            return x
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, x), _value(right, x))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(operand, x))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS and args:
            return _FUNCTIONS[name](*(_value(argument, x) for argument in args))
    raise ValueError(f"{ast.unparse(node)!r} cannot be in an expression of x")
