"""Turn what mmengine read into plain values; no mmengine object passes this boundary."""

from __future__ import annotations

import sys
from types import NoneType
from typing import Any, Final

from ais_prompt.config.schema import CONFIG
from ais_prompt.errors import ConfigError

_PLAIN: Final = frozenset((str, float, bool, NoneType))
"""Types of values that have no values inside, and need no check."""
_MOST_BITS: Final = 4096
"""Of an integer; Python writes none of more than 4,300 digits, so no error could show it."""


def plain_config(variables: dict[str, Any]) -> dict[str, Any]:
    """Return the top level of a config as plain values.

    A variable that is not plain (a function, a module, a loop variable of any type) is a helper of the config and is
    left out, and so is one whose name begins with an underscore; what a run reads (`CONFIG.names`) must be plain.

    Raises:
        ConfigError: a value that is not plain, with its config path as ``where``.
    """
    values: dict[str, Any] = {}
    for name, value in variables.items():
        if name.startswith("_"):
            continue
        try:
            values[name] = plain_value(value, name)
        except ConfigError:
            if name in CONFIG.names:
                raise
    return values


def plain_value(value: Any, where: str) -> Any:
    """Return one value of a config as plain values: a class or function becomes its dotted name.

    Raises:
        ConfigError: as `plain_config`.
    """
    if type(value) in _PLAIN:
        return value
    if type(value) is int:
        return _shown_int(value, where)
    if isinstance(value, dict):
        return {
            _plain_key(key, where): item if type(item) in _PLAIN else plain_value(item, _below(where, key))
            for key, item in value.items()
        }
    if type(value) in (list, tuple):
        return type(value)(plain_value(item, f"{where}[{index}]") for index, item in enumerate(value))
    if callable(value):
        return _dotted_name(value, where)
    raise ConfigError(
        f"a {type(value).__name__} cannot be in a config: {value!r:.60}",
        where=where,
        fix="use plain values: dict, list, tuple, str, int, float, bool, None",
    )


def _shown_int(value: int, where: str) -> int:
    if value.bit_length() > _MOST_BITS:
        raise ConfigError("an integer has more than 1,200 digits", where=where, fix="give a smaller number")
    return value


def _plain_key(key: Any, where: str) -> Any:
    if type(key) in _PLAIN:
        return key
    if type(key) is int:
        return _shown_int(key, where)
    raise ConfigError(f"{key!r:.60} cannot be the key of a dict in a config", where=where, fix="use a text or a number")


def _below(where: str, key: Any) -> str:
    return f"{where}.{key}"


def _dotted_name(part: Any, where: str) -> str:
    """Return ``module.name`` of a class or function that a config really imported, as old-style configs do."""
    module, name = getattr(part, "__module__", None), getattr(part, "__qualname__", "")
    found: Any = sys.modules.get(str(module))
    for step in name.split("."):
        found = getattr(found, step, None)
    if found is not part:
        raise ConfigError(
            f"{name or part!r} is defined in the config itself and has no name elsewhere",
            where=where,
            fix="move it into a Python file beside the config and import it from there",
        )
    return f"{module}.{name}"
