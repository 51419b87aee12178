"""Literals and expressions of Python in configs: read them without running code; say what differs in two configs."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from ais_prompt.utils import counted, one_line, shortened

_WORD: Final = re.compile(r"\w+|[^\w\s]")
_MOST_WORDS: Final = 500_000
"""Most words and marks of a config: Python takes nearly a kilobyte for each."""
_PLACES: Final = ("work_dir", "run_name", "paths_relative_to")
"""Where a run is, which is no difference of what is asked."""
_LONGEST: Final = 40
"""Characters of a value."""
_ABSENT: Final = object()
_OPERATORS: Final[dict[type, Callable[..., float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_FUNCTIONS: Final[dict[str, Callable[..., float]]] = {"min": min, "max": max, "abs": abs}


def parse_literal(text: str) -> Any:
    """Return the Python value of a literal (``64``, ``None``, ``['a', 'b']``), otherwise the text itself."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return value if _is_plain(value) else text


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(item) for pair in value.items() for item in pair)
    if isinstance(value, list | tuple):
        return all(_is_plain(item) for item in value)
    return isinstance(value, str | int | float | None)


def literals_of(node: ast.AST) -> Any:
    """Yield the literals of a syntax tree with the names that they are assigned to."""
    match node:
        case ast.Constant(value):
            return value
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return [_named_after(target, literals_of(node.value)) for target in targets if node.value]
        case ast.Dict(keys, values):
            named = [
                (key.value if isinstance(key, ast.Constant) else None, value)
                for key, value in zip(keys, values, strict=True)
            ]
            return [{key: literals_of(value)} for key, value in named]
        case ast.keyword(name, value):
            return {name: literals_of(value)}
    return [literals_of(child) for child in ast.iter_child_nodes(node)]


def _named_after(target: ast.AST, value: Any) -> Any:
    """Return the value below the names of a target such as ``models[0]['headers']['Cookie']``."""
    for name in reversed(re.findall(r"[\w-]+", ast.unparse(target))):
        value = {name: value}
    return value


def literal_values(config: str) -> dict[str, Any]:
    """Read a config that only assigns literals, without running it.

    Raises:
        ValueError, SyntaxError: it does something else.
        RecursionError: it is nested too deep.
    """
    if next(islice(_WORD.finditer(config), _MOST_WORDS, None), None):
        raise ValueError(f"it has more than {_MOST_WORDS:,} words")
    try:
        statements = ast.parse(config).body
        assignments = [node for node in statements if not (isinstance(node, ast.Expr) and _is_text(node.value))]
        return {node.targets[0].id: _value(node.value) for node in assignments}  # type: ignore[attr-defined]
    except (TypeError, AttributeError) as error:
        raise ValueError(f"it is not a config of literals: {error}") from None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _value(node: ast.expr) -> Any:
    """Return the value of a literal, ``dict(...)`` and ``float('inf')`` included.

    mmengine writes ``dict({0: 'a', 'b c': 'd'})`` where a key is no identifier.
    """
    match node:
        case ast.Call(ast.Name("dict"), [] | [ast.Dict()] as given, keywords):
            items = {key: value for one in given for key, value in _value(one).items()}
            return items | {keyword.arg: _value(keyword.value) for keyword in keywords}
        case ast.Call(ast.Name("float"), [ast.Constant(str(text))], []):
            return float(text)
        case ast.Dict(keys, values) if all(keys):
            return {_value(key): _value(value) for key, value in zip(keys, values, strict=True) if key}
        case ast.List(items):
            return list(map(_value, items))
        case ast.Tuple(items):
            return tuple(map(_value, items))
    return ast.literal_eval(node)


def evaluate(expression: str, x: float) -> float:
    """Return the value of an expression of numbers, ``x``, ``+ - * /``, ``min``, ``max`` and ``abs``.

    Raises:
        ValueError: it is anything else, or divides by zero.
    """
    try:
        return float(_computed(ast.parse(expression.strip(), mode="eval").body, x))
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"{expression!r} is not an expression of x") from error
    except (ZeroDivisionError, OverflowError, TypeError) as error:
        raise ValueError(f"{expression!r} has no value for x = {x}: {error}") from error


def _computed(node: ast.expr, x: float) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id="x"):
            return x
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_computed(left, x), _computed(right, x))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_computed(operand, x))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS and args:
            return _FUNCTIONS[name](*(_computed(argument, x) for argument in args))
    raise ValueError(f"{ast.unparse(node)!r} cannot be in an expression of x")


def differing_values(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return ``temperature: 0.0 → 0.7`` for each value that differs; of other models or datasets, how many they are.

    Args:
        before, after: plain values, as of `literal_values`.
    """
    names = [name for name in {**before, **after} if name not in _PLACES]
    found = (line for name in names for line in _lines(name, before.get(name, _ABSENT), after.get(name, _ABSENT)))
    return list(dict.fromkeys(found))


def _lines(name: str, before: Any, after: Any) -> Iterator[str]:
    if before == after:
        return
    old, new = _options(before, after), _options(after, before)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in {**old, **new}:
            yield from _lines(str(key), old.get(key, _ABSENT), new.get(key, _ABSENT))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for one, other in zip(before, after, strict=True):
            yield from _lines(name, one, other)
    else:
        yield f"{name}: {_shown(before)} → {_shown(after)}"


def _options(value: Any, other: Any) -> Any:
    """Return a value; no options in place of those that only the other config has, unless they are of a part."""
    return {} if value is _ABSENT and isinstance(other, Mapping) and "type" not in other else value


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "not set"
    if isinstance(value, Mapping) and "type" in value:
        return _shown(value["type"])
    if isinstance(value, Mapping | list):
        return counted(len(value), "value")
    return shortened(one_line(repr(value) if isinstance(value, str) else str(value)), _LONGEST)
