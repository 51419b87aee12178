"""The resolved config as a Python file that can be run again, without secrets."""

from __future__ import annotations

import keyword
import math
import os
import re
from collections.abc import Mapping
from typing import Any

HEADER = '"""The config of this run, resolved. Run it again: aisprompt run <this file>."""\n\n'
HIDDEN = "***"

# A column called `token` or an `ice_token` is no secret; an `api_token` is.
_SECRET_KEY = re.compile(
    r"(.*_)?(api_?keys?|access_keys?|secrets?|secret_key|passw(or)?d|authorization|credentials?)"
    r"|((use|hf|auth|access|api|bearer|refresh|session)_)*token"
)
_SECRET_VALUE = re.compile(r"(Bearer\s+)?(sk-|hf_|ghp_|xox[a-z]-)[\w-]{16,}")
_VARIABLE_NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
_PASSWORD_IN_URL = re.compile(r"(?<=://)[^/@\s]+(?=@)")


def render_config(values: Mapping[str, Any]) -> str:
    """Write plain values as a Python config.

    A value is replaced by ``***`` if its key says that it is a secret and it is not the name of an environment
    variable, and if it looks like a well-known kind of key itself.
    """
    lines = [f"{name} = {_literal(_redacted(value, name), 0)}\n" for name, value in values.items()]
    return HEADER + "\n".join(lines)


def _redacted(value: Any, key: str) -> Any:
    """The value without secrets; what stands below a secret key belongs to that key."""
    if isinstance(value, Mapping):
        return {name: _redacted(item, key if _is_secret(key) else str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_redacted(item, key) for item in value)
    if _is_secret(key):
        return value if value is None or isinstance(value, bool) or _names_variable(value) else HIDDEN
    if isinstance(value, str) and _SECRET_VALUE.fullmatch(value):
        return HIDDEN
    return _PASSWORD_IN_URL.sub(HIDDEN, value) if isinstance(value, str) and key.endswith(("url", "proxy")) else value


def _is_secret(key: str) -> bool:
    return _SECRET_KEY.fullmatch(key.lower().replace("-", "_")) is not None


def _names_variable(value: Any) -> bool:
    return isinstance(value, str) and (value in os.environ or _VARIABLE_NAME.fullmatch(value) is not None)


def _literal(value: Any, depth: int) -> str:
    if isinstance(value, Mapping):
        return _dict(value, depth)
    if isinstance(value, list | tuple):
        return _sequence(value, depth)
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)


def _dict(value: Mapping[Any, Any], depth: int) -> str:
    if all(isinstance(key, str) and key.isidentifier() and not keyword.iskeyword(key) for key in value):
        return _lines("dict(", [f"{key}={_literal(item, depth + 1)}" for key, item in value.items()], ")", depth)
    return _lines("{", [f"{_literal(key, 0)}: {_literal(item, depth + 1)}" for key, item in value.items()], "}", depth)


def _sequence(value: list[Any] | tuple[Any, ...], depth: int) -> str:
    begin, end = ("(", ")") if isinstance(value, tuple) else ("[", "]")
    return _lines(begin, [_literal(item, depth + 1) for item in value], end, depth)


def _lines(begin: str, items: list[str], end: str, depth: int) -> str:
    """Short and flat on one line, with a comma at the end that also makes a tuple of one item; else an item a line."""
    flat = f"{begin}{', '.join(items)}{',' if begin == '(' and len(items) == 1 else ''}{end}"
    if len(flat) <= 80 and "\n" not in flat and sum(flat.count(sign) for sign in "([{") <= 1:
        return flat
    indent = "    " * (depth + 1)
    return "".join([begin, "\n", *(f"{indent}{item},\n" for item in items), "    " * depth, end])
