"""Write the resolved config as a Python file that can be run again, without secrets."""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from ais_prompt.config.redact import redacted

HEADER = '"""The config of this run, resolved. Run it again: aisprompt run <this file>."""\n\n'

_WORD: Final = re.compile(r"\w+|[^\w\s]")
_MOST_WORDS: Final = 500_000
"""Most words and marks of a config: Python takes nearly a kilobyte for each."""


def render_config(values: Mapping[str, Any], header: str = HEADER) -> str:
    """Write plain values as a Python config; a secret among them becomes ``***`` (see `redacted`)."""
    lines = [f"{name} = {_literal(redacted(value, name), 0)}\n" for name, value in values.items()]
    return header + "\n".join(lines)


def hidden_again(config: str) -> str:
    """Return a config that an earlier version wrote, without the secrets that this version hides."""
    try:
        values = literal_values(config)
    except (SyntaxError, ValueError, RecursionError):  # edited by hand
        return config
    return render_config(values)


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


def _literal(value: Any, depth: int) -> str:
    if isinstance(value, str):  # most values
        return repr(value)
    if isinstance(value, Mapping):
        return _dict(value, depth)
    if isinstance(value, list | tuple):
        begin, end = ("(", ")") if isinstance(value, tuple) else ("[", "]")
        return _lines(begin, [_literal(item, depth + 1) for item in value], end, depth)
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)


def _dict(value: Mapping[Any, Any], depth: int) -> str:
    if all(map(_can_be_keyword, value)):
        return _lines("dict(", [f"{key}={_literal(item, depth + 1)}" for key, item in value.items()], ")", depth)
    return _lines("{", [f"{_literal(key, 0)}: {_literal(item, depth + 1)}" for key, item in value.items()], "}", depth)


@lru_cache(4096)
def _can_be_keyword(key: Any) -> bool:
    # Python normalises other letters in a keyword (ﬁ becomes fi), and nothing may assign to __debug__.
    is_name = isinstance(key, str) and key.isascii() and key.isidentifier()
    return is_name and not keyword.iskeyword(key) and key != "__debug__"


def _lines(begin: str, items: list[str], end: str, depth: int) -> str:
    """Write a short flat value on one line, otherwise one item a line; the last comma also makes tuples of one."""
    if sum(map(len, items)) <= 80:
        flat = f"{begin}{', '.join(items)}{',' if begin == '(' and len(items) == 1 else ''}{end}"
        if len(flat) <= 80 and "\n" not in flat and flat.count("(") + flat.count("[") + flat.count("{") <= 1:
            return flat
    indent = "    " * (depth + 1)
    return "".join([begin, "\n", *(f"{indent}{item},\n" for item in items), "    " * depth, end])
