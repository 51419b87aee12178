"""Find the module that defines a name of a package, by reading its files. None of them is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

SKIPPED: Final = frozenset({"configs", "__pycache__"})
"""Folders without modules that a part needs."""


class Definition(Struct, frozen=True):
    """Where a name comes from.

    Attributes:
        module: dotted name of the module that defines it.
        name: what it is called there; empty if the module itself is meant.
    """

    module: str
    name: str


def find_definition(package: str, folder: Path, name: str) -> Definition | None:
    """Return where a name that is asked of a package comes from.

    What the package's ``__init__.py`` says decides, its last line first. Names that it does not mention are looked for
    in all files below the package: first where they are defined, then where they are imported.

    Args:
        package: its dotted name.
        folder: its files.
        name: the name that is asked for.
    """
    return (
        _by_init(package, folder, name)
        or _submodule(package, folder, name)
        or _below(package, folder, name, _defined)
        or _below(package, folder, name, _imported)
    )


def find_registering(package: str, folder: Path, name: str) -> str | None:
    """Return the module that registers a part under a name, which may be put together when the module runs.

    Args:
        package, folder: as for `find_definition`.
        name: the registered name.
    """
    for file in _files(folder):
        if "register_module(" in _text(file) and any(_registers(node, name) for node in ast.walk(_tree(file))):
            return _module(package, folder, file)
    return None


def _by_init(package: str, folder: Path, name: str) -> Definition | None:
    init = folder / "__init__.py"
    if not init.is_file():
        return None
    for node in reversed(_tree(init).body):
        if isinstance(node, ast.ImportFrom) and (found := _by_import(node, package, folder, name)):
            return found
        if name in _defined(node):
            # The file is loaded under a name of its own, so that the package itself stays empty.
            return Definition(f"{package}.__init__", name)
    return None


def _by_import(node: ast.ImportFrom, package: str, folder: Path, name: str) -> Definition | None:
    source = _absolute(node, package)
    for alias in node.names:
        if name == (alias.asname or alias.name):
            return _submodule(package, folder, alias.name) if source == package else Definition(source, alias.name)
        if alias.name == "*" and source.startswith(f"{package}.") and not name.startswith("_"):
            place = folder.joinpath(*source[len(package) + 1 :].split("."))
            if place.is_dir() and (found := _by_init(source, place, name)):
                return found
            if (file := place.with_suffix(".py")).is_file() and _has(file, name, _defined):
                return Definition(source, name)
    return None


def _submodule(package: str, folder: Path, name: str) -> Definition | None:
    there = (folder / f"{name}.py").is_file() or (folder / name).is_dir()
    return Definition(f"{package}.{name}", "") if there else None


def _below(package: str, folder: Path, name: str, names_of: Callable[[ast.stmt], Iterator[str]]) -> Definition | None:
    """Search all files below a folder; those nearest to it come first."""
    found = (file for file in _files(folder) if _has(file, name, names_of))
    file = next(found, None)
    return None if file is None else Definition(_module(package, folder, file), name)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    base = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


@cache
def _files(folder: Path) -> tuple[Path, ...]:
    files = (file for file in folder.rglob("*.py") if not SKIPPED & set(file.relative_to(folder).parts))
    return tuple(sorted(files, key=lambda file: (len(file.parts), str(file))))


def _module(package: str, folder: Path, file: Path) -> str:
    return ".".join([package, *file.relative_to(folder).with_suffix("").parts])


def _has(file: Path, name: str, names_of: Callable[[ast.stmt], Iterator[str]]) -> bool:
    # A text search first: parsing all files of a package takes seconds.
    return re.search(rf"\b{re.escape(name)}\b", _text(file)) is not None and any(
        name in names_of(node) for node in _tree(file).body
    )


def _defined(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement at the top of a module defines itself; imports are not definitions."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
    elif isinstance(node, ast.If | ast.Try | ast.With):
        bodies = [node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])]
        bodies += [handler.body for handler in getattr(node, "handlers", [])]
        for body in bodies:
            for inner in body:
                yield from _defined(inner)


def _imported(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement imports from a module."""
    if isinstance(node, ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names)


def _registers(node: ast.AST, name: str) -> bool:
    """Return whether a node registers a name.

    It is a call ``REGISTRY.register_module('name')``, one with ``'beginning_of_' + …``, or a class or function of that
    name with the decorator ``@REGISTRY.register_module()``.
    """
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        calls = (one.func for one in node.decorator_list if isinstance(one, ast.Call))
        return node.name == name and any(getattr(call, "attr", "") == "register_module" for call in calls)
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") != "register_module":
        return False
    for given in [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "name")]:
        texts = [one.value for one in ast.walk(given) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if name in texts or (isinstance(given, ast.BinOp) and texts and name.startswith(f"{texts[0].rstrip('_')}_")):
            return True
    return False


@cache
def _text(file: Path) -> str:
    return file.read_text("utf-8", errors="replace")


@cache
def _tree(file: Path) -> ast.Module:
    try:
        return ast.parse(_text(file))
    except (SyntaxError, ValueError):  # a file that the peer itself cannot import
        return ast.Module([], [])
