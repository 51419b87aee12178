"""Change single values of a config from the command line: ``--set models.0.max_out_len=64``."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any, Final

from ais_prompt.config.keys import CONFIG, TABLES, keys_of
from ais_prompt.config.literals import parse_literal
from ais_prompt.config.redact import redacted_at, redacted_override
from ais_prompt.errors import ConfigError
from ais_prompt.utils import advice, counted

_OPEN: Final = frozenset(
    [
        *("generation_kwargs", "chat_template_kwargs", "model_kwargs", "tokenizer_kwargs"),
        *("sampling", "limits", "wire", "loading", "batching", "headers", "body_fields"),
    ]
)
"""Dicts of a model that are made if they are not there, with all dicts below them."""


def apply_overrides(values: dict[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Return the config with every ``path=value`` applied in order; the given one stays as it is.

    A path goes through keys, positions in lists (``datasets.0``, ``datasets[0]``, ``datasets.-1``), the ``abbr`` of an
    item (``models.demo``), or ``*`` for every item. The value is a Python literal, or else the text itself. The last
    key of a path may be new; all before it must exist, except dicts (`_is_dict`, `_OPEN`).

    Raises:
        ConfigError: a path that does not lead anywhere; it names the part that does not exist and the nearest one.
    """
    changed = copy.deepcopy(values)
    for override in overrides:
        path, equals, text = override.partition("=")
        where = f"--set {redacted_override(override)}"
        if not equals or not path.strip():
            fix = "write --set models.0.max_out_len=64"
            raise ConfigError("this is not an override", where=where, fix=fix)
        path = re.sub(r"\[(-?\d+|\*)\]", r".\1", path.strip())
        key = path.partition(".")[0]
        if key not in CONFIG.names:
            # The config has run already: a new value for one of its helper variables would change nothing.
            raise ConfigError(
                f"{key!r} cannot be set",
                where=where,
                fix=f"{advice(key, CONFIG.names)}; the keys of one dataset follow its number: datasets.0.eval_cfg",
            )
        _descend(changed, path, "", parse_literal(text), where)
    return changed


def items_at(items: Sequence[Any], path: str, done: str, where: str) -> list[tuple[int, str]]:
    """Return the positions of the items of a list that the first part of a path means, and the rest of the path.

    Args:
        items: such as the models.
        path: as in `apply_overrides`, from the list on: ``*.max_out_len``.
        done: config path of the list.
        where: of errors.

    Raises:
        ConfigError: it means none.
    """
    part, _, rest = path.partition(".")
    if part == "*" and items:
        return [(index, rest) for index in range(len(items))]
    is_position = re.fullmatch(r"-?\d+", part) is not None
    if is_position and -len(items) <= int(part) < len(items):
        return [(int(part) % len(items), rest)]
    abbrs = {str(item["abbr"]): index for index, item in enumerate(items) if isinstance(item, dict) and "abbr" in item}
    # An abbr may contain dots, so the longest one that fits is meant.
    abbr = max((known for known in abbrs if f"{path}.".startswith(f"{known}.")), key=len, default=None)
    if abbr is not None:
        return [(abbrs[abbr], path.removeprefix(abbr).removeprefix("."))]
    what = f"{done} has {counted(len(items), 'item')} and none is {part!r}"
    fix = f"give a position from 0 to {len(items) - 1}, or *" if items else ""
    raise ConfigError(what, where=where, fix=("" if is_position else advice(part, abbrs)) or fix)


def changed_item(item: dict[str, Any], path: str, value: Any, done: str, where: str) -> dict[str, Any]:
    """Return an item with the value at a path below it; the given one stays as it is.

    Args:
        item: such as a model.
        path: as in `apply_overrides`, from the item on: ``max_out_len``.
        value: the new value.
        done: config path of the item.
        where: of errors.

    Raises:
        ConfigError: the path does not lead anywhere.
    """
    changed = copy.deepcopy(item)
    _descend(changed, path, done, value, where)
    return changed


def _descend(container: Any, path: str, done: str, value: Any, where: str) -> None:
    """Put a value at a path below a container, whose own path is ``done``."""
    if isinstance(container, list | tuple):
        for index, rest in items_at(container, path, done, where):
            _put(container, index, rest, f"{done}[{index}]", value, where)
    elif isinstance(container, dict):
        key, _, rest = path.partition(".")
        numbers = [known for known in container if isinstance(known, int) and str(known) == key]
        known_key = numbers[0] if numbers and key not in container else key
        _put(container, known_key, rest, f"{done}.{key}".removeprefix("."), value, where)
    else:
        what = f"{done} is {redacted_at(done, container)!r:.60}, which has no {path.partition('.')[0]!r}"
        raise ConfigError(what, where=where, fix=f"set it as a whole: --set \"{done}={{'{path}': ...}}\"")


def _put(container: Any, key: Any, rest: str, done: str, value: Any, where: str) -> None:
    if not rest:
        container[key] = copy.deepcopy(value)
        return
    if isinstance(container, dict) and key not in container:
        if not (_is_dict(key) or not _OPEN.isdisjoint(done.split("."))):
            raise ConfigError(f"there is no {done!r} in the config", where=where, fix=advice(str(key), container))
        container[key] = {}
    elif isinstance(container[key], tuple):  # cannot be changed in place
        container[key] = list(container[key])
    _descend(container[key], rest, done, value, where)


def _is_dict(key: Any) -> bool:
    """Return whether a key of the config is a dict, which is made if it is not there."""
    kinds = (keys_of(table.struct)[key].kind for table in TABLES if key in keys_of(table.struct))
    return key in CONFIG.more or any(kind.startswith("dict(") for kind in kinds)
