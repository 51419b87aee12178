"""Parse a config file, and find and check its base configs (``read_base()`` or ``_base_``), without running any.

mmengine runs the files; it answers a wrong base with an assertion, a bare name or its own recursion limit. Here the
whole family is walked first, so that each of these faults has a file, a line and a fix.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from ais_prompt.config.locate import file_in_tree, installed_path, searched_folders, tree_of
from ais_prompt.errors import ConfigError
from ais_prompt.parts import place
from ais_prompt.utils import advice, read_regular


class Base(Struct, frozen=True):
    """One config that another builds on.

    Attributes:
        written: as in the config: ``.datasets.gsm8k`` or ``./gsm8k.py``.
        file: the file that is meant, there or not.
        line: where it is written.
        names: (name in the base, name in the config); ``("*", "*")`` for all names.
    """

    written: str
    file: Path
    line: int
    names: tuple[tuple[str, str], ...]


def check_bases(file: Path, trail: tuple[Path, ...] = ()) -> set[Path]:
    """Walk a config and all that it builds on; returns their resolved paths.

    Raises:
        ConfigError: a base that does not exist, a circle, two styles of inheritance in one family, broken syntax.
    """
    file = file.resolve()
    tree = read_syntax(file)
    family = {file}
    for base in bases_of(tree, file):
        where = place(file, base.line)
        if base.file.resolve() in (*trail, file):
            raise ConfigError(f"the config {base.written!r} builds on itself", where=where, fix="break the circle")
        if not base.file.is_file():
            names = sorted(item.stem for item in base.file.parent.glob("*.py"))
            raise ConfigError(
                f"the base config {base.written!r} does not exist: no file {place(base.file)}",
                where=where,
                fix=advice(base.file.stem, names) or "check the number of leading dots and the folder",
            )
        if bases_of(base_tree := read_syntax(base.file), base.file) and is_old_style(base_tree) != is_old_style(tree):
            fix = "write both with `with read_base(): from .name import *`"
            raise ConfigError("a config with _base_ and one with read_base() cannot be mixed", where=where, fix=fix)
        family |= check_bases(base.file, (*trail, file))
    _check_relative_imports(tree, file)
    return family


def bases_of(tree: ast.Module, file: Path) -> list[Base]:
    """Return the direct bases of a config, in its order.

    Raises:
        ConfigError: a form that mmengine cannot read.
    """
    assignment = _base_assignment(tree)
    if assignment is not None:
        return _old_style_bases(assignment, file)
    blocks = [node for node in tree.body if is_read_base(node)]
    _check_blocks(tree, blocks, file)
    return [_base_of_import(node, file) for block in blocks for node in block.body]  # type: ignore[attr-defined]


def absolute_bases(family: Iterable[Path]) -> dict[str, Path]:
    """Return the name and the file of every base that the files of a family import by an absolute name."""
    bases = (base for file in family for base in bases_of(read_syntax(file), file))
    return {base.written: base.file for base in bases if not base.written.startswith(".")}


def is_old_style(tree: ast.Module) -> bool:
    """Return whether the config inherits with ``_base_ = [...]``."""
    return _base_assignment(tree) is not None


def is_read_base(node: ast.AST) -> bool:
    """Return whether a statement is ``with read_base():``."""
    if not isinstance(node, ast.With):
        return False
    call = node.items[0].context_expr
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "read_base"


def read_syntax(file: Path) -> ast.Module:
    """Parse a config file.

    Raises:
        ConfigError: it cannot be read, is not UTF-8 text or is not Python; with file and line where they are known.
    """
    try:
        text = read_regular(file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError("the config is not UTF-8 text", where=place(file), fix="save it as UTF-8") from error
    except OSError as error:
        fix = "give the path of a .py file that you may read"
        raise ConfigError(f"the config cannot be read: {error.strerror}", where=place(file), fix=fix) from error
    try:
        return ast.parse(text)
    except SyntaxError as error:
        # What cannot be parsed may hold a secret anywhere.
        error.text = re.sub(r"(['\"])(?:\\.|(?!\1).)*\1?", r"\1…\1", error.text or "")
        line = error.text.strip()
        fix = f"look at: {line}" if line else "fix the Python syntax"
        raise ConfigError(f"the config is not Python: {error.msg}", where=place(file, error.lineno), fix=fix) from error
    except (ValueError, RecursionError, MemoryError) as error:
        fix = "a config is a small Python file"
        raise ConfigError(f"the config is not Python: {error}", where=place(file), fix=fix) from error


def _base_assignment(tree: ast.Module) -> ast.Assign | None:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "_base_":
            return node
    return None


def _old_style_bases(assignment: ast.Assign, file: Path) -> list[Base]:
    try:
        value = ast.literal_eval(assignment.value)
    except ValueError:
        value = None
    written = [value] if isinstance(value, str) else value
    if not isinstance(written, list | tuple) or not all(isinstance(item, str) for item in written):
        where = place(file, assignment.lineno)
        raise ConfigError("_base_ is not a list of file names", where=where, fix="write _base_ = ['./base.py']")
    return [Base(item, file.parent / item, assignment.lineno, (("*", "*"),)) for item in written]


def _base_of_import(node: ast.stmt, file: Path) -> Base:
    where = place(file, node.lineno)
    if not isinstance(node, ast.ImportFrom) or node.module is None:
        fix = "write `from .name import *` or `from .name import variable`"
        raise ConfigError("read_base() can only read `from FILE import NAMES`", where=where, fix=fix)
    written = "." * node.level + node.module
    names = tuple((alias.name, alias.asname or alias.name) for alias in node.names)
    return Base(written, _file_of_module(node.module, node.level, file, where), node.lineno, names)


def _file_of_module(module: str, level: int, file: Path, where: str) -> Path:
    parts = module.split(".")
    if level:
        return file.parent.joinpath(*[".."] * (level - 1), *parts).with_suffix(".py")
    if len(parts) == 1:
        fix = f"a file beside this one is `from .{module} import ...`"
        raise ConfigError(f"read_base() cannot read the package {module!r}", where=where, fix=fix)
    if in_tree := file_in_tree(module, file):
        return in_tree
    try:
        root = installed_path(parts[0])
    except ConfigError as error:
        if tree := tree_of(parts[0]):
            searched = ", ".join(dict.fromkeys(map(str, searched_folders(tree, file))))
            what = f"the base config {module!r} is in no config tree; searched: {searched}"
            raise ConfigError(what, where=where, fix=tree.fix) from error
        raise ConfigError(error.what, where=where, fix=error.fix) from error
    return Path(root, *parts[1:]).with_suffix(".py")


def _check_blocks(tree: ast.Module, blocks: list[ast.stmt], file: Path) -> None:
    first = next((node for node in tree.body if isinstance(node, ast.With)), None)
    if first and not is_read_base(first):
        where = place(file, first.lineno)
        fix = "put it into a function, or read a file with pathlib.Path(name).read_text()"
        raise ConfigError("the first `with` of a config can only be `with read_base():`", where=where, fix=fix)
    # mmengine reads the first block only, and takes what the others import for parts: names instead of values.
    unread = [node for node in ast.walk(tree) if is_read_base(node) and node not in blocks[:1]]
    if unread:
        where = place(file, unread[0].lineno)  # type: ignore[attr-defined]
        fix = "put all of its imports into one `with read_base():` at the top of the file"
        raise ConfigError("only one read_base() block at the top level is read", where=where, fix=fix)


def _check_relative_imports(tree: ast.Module, file: Path) -> None:
    in_blocks = {id(child) for node in tree.body if is_read_base(node) for child in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level > 0 and id(node) not in in_blocks:
            name = node.module or node.names[0].name
            raise ConfigError(
                f"the relative import of {name!r} is outside of read_base()",
                where=place(file, node.lineno),
                fix=f"for a config: put it into `with read_base():`; for a part: `from {name} import ...`",
            )
