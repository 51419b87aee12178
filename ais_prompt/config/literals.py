"""Literals of Python: the value of ``--set key=VALUE``, and those in the syntax tree of a config file."""

from __future__ import annotations

import ast
import re
from typing import Any


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
