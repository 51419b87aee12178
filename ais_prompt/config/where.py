"""Find the file and line of a config path such as ``datasets[2].infer_cfg.retriever``, without running anything.

This reads the config's assignments in order and follows names, ``dict(...)`` calls, literals, ``+``, ``*`` and base
configs. Whatever cannot be followed (loops, comprehensions, calls) ends the walk at the nearest ancestor found.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from ais_prompt.config.bases import bases_of, is_read_base, read_syntax
from ais_prompt.errors import ConfigError
from ais_prompt.parts import place

REORDERING = {"clear", "insert", "pop", "remove", "reverse", "sort"}
"""Methods after which the items of a list are no longer where they were written."""


class Spot(Struct, frozen=True):
    """An expression in a config: its place, and what the names in it meant at that point.

    Attributes:
        nodes: the expression; several for a list that was made by ``a = [...]`` and then ``a += [...]``.
    """

    nodes: tuple[Spot | ast.expr, ...]
    file: Path
    line: int
    names: Names

    def inside(self, node: ast.expr) -> Spot:
        """A part of this expression."""
        return Spot((node,), self.file, node.lineno, self.names)


Names: TypeAlias = dict[str, Spot]


def find_spot(config_path: str, file: Path, tables: dict[Path, Names] | None = None) -> str | None:
    """Return ``file:line`` of a config path, or of its nearest ancestor that can be found; None if there is none.

    Args:
        config_path: the path, such as ``datasets[2].infer_cfg``.
        file: the config.
        tables: the names of files that were read before; those of this file are added. A config with hundreds of
            faults is read once.
    """
    tables = {} if tables is None else tables
    steps = [int(index) if index else name for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", config_path)]
    try:
        if file not in tables:
            tables[file] = _names_of(file, ())
        return _walk(tables[file], steps)
    except (ConfigError, RecursionError):
        # It is broken in another way, of which loading it tells.
        return None


def _walk(names: Names, steps: list[int | str]) -> str | None:
    found = None
    spot = names.get(str(steps[0])) if steps else None
    for step in [*steps[1:], None]:
        if spot is None:
            break
        found = place(spot.file, spot.line)
        if step is not None:
            spot = _item(spot, step) if isinstance(step, int) else _value(spot, step)
    return found


def _names_of(file: Path, trail: tuple[Path, ...]) -> Names:
    """Return what every top-level name of a config means at its end."""
    file = file.resolve()
    tree = read_syntax(file)
    imported: Names = {}
    if file in trail:
        return imported
    for base in bases_of(tree, file):
        found = _names_of(base.file, (*trail, file))
        for name, alias in base.names:
            if name == "*":
                imported.update(found)
            elif name in found:
                imported[alias] = found[name]
    names = {} if any(map(is_read_base, tree.body)) else dict(imported)
    for node in tree.body:
        if is_read_base(node):
            names.update(imported)
        else:
            _follow(node, file, names)
    return names


def _follow(node: ast.stmt, file: Path, names: Names) -> None:
    """Take one top-level statement into account."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        spot = Spot((node.value,), file, node.lineno, dict(names))
        names.update({target.id: spot for target in targets if isinstance(target, ast.Name)})
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in names:
        before = names[node.target.id]
        after = Spot((node.value,), file, node.lineno, dict(names))
        names[node.target.id] = Spot((before, after), before.file, before.line, before.names)
    else:
        for changed in _reordered_names(node):
            names.pop(changed, None)


def _reordered_names(statement: ast.stmt) -> Iterator[str]:
    """Return names that a statement assigns in a branch or loop, or whose list it reorders."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in REORDERING:
            yield node.value.id


def _item(spot: Spot, index: int) -> Spot | None:
    items = _items(spot)
    if items is None or index >= len(items):
        return None
    return _defined(items[index])


def _items(spot: Spot) -> list[Spot] | None:
    """Return the items of a list expression; None if it cannot be followed."""
    items: list[Spot] = []
    for node in spot.nodes:
        more = _items(node) if isinstance(node, Spot) else _items_of_node(node, spot)
        if more is None:
            return None
        items += more
    return items


def _items_of_node(node: ast.expr, spot: Spot) -> list[Spot] | None:
    match node:
        case ast.Name(id=name):
            return _items(spot.names[name]) if name in spot.names else None
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            parts = [_items(spot.inside(e.value)) if isinstance(e, ast.Starred) else [spot.inside(e)] for e in elements]
            return None if None in parts else [item for part in parts if part for item in part]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _items(spot.inside(left)), _items(spot.inside(right))
            return None if first is None or second is None else first + second
        case ast.BinOp(left=left, op=ast.Mult(), right=ast.Constant(value=int(times))):
            repeated = _items(spot.inside(left))
            return None if repeated is None else repeated * times
    return None


def _value(spot: Spot, key: str) -> Spot | None:
    """Return the value of a key in a dict expression; None if it cannot be followed."""
    match _defined(spot).nodes:
        case (ast.Dict(keys=keys, values=values),):
            pairs = [
                (k.value if isinstance(k, ast.Constant) else k, value) for k, value in zip(keys, values, strict=True)
            ]
        case (ast.Call(func=ast.Name(id="dict"), args=arguments, keywords=keywords),):
            pairs = [(None, argument) for argument in arguments]
            pairs += [(keyword.arg, keyword.value) for keyword in keywords]
        case _:
            return None
    # The last one wins, and None means `**other` or `dict(other)`.
    for name, value in reversed(pairs):
        inside = _defined(spot).inside(value)
        if name is None and (nested := _value(inside, key)):
            return nested
        if name is not None and str(name) == key:
            return inside
    return None


def _defined(spot: Spot) -> Spot:
    """Return where the value of a name is written, if the expression is only a name."""
    match spot.nodes:
        case (ast.Name(id=name),) if name in spot.names:
            return _defined(spot.names[name])
        case (ast.Subscript(value=value, slice=ast.Constant(value=int(index))),):
            return _item(spot.inside(value), index) or spot
    return spot
