"""Read a config file into plain values. No object of mmengine passes this boundary."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, Final

from msgspec import Struct, field

from ais_prompt.catalog import PARTS
from ais_prompt.config.bases import absolute_bases, check_bases, is_old_style, read_syntax
from ais_prompt.config.keys import CONFIG
from ais_prompt.config.literals import literals_of
from ais_prompt.config.locate import expand, missing_config
from ais_prompt.config.overrides import apply_overrides
from ais_prompt.config.redact import register_secrets
from ais_prompt.config.surroundings import import_custom_modules, make_importable
from ais_prompt.config.where import Names, find_spot
from ais_prompt.errors import ConfigError
from ais_prompt.mmengine_import import Config
from ais_prompt.moved import stored_name
from ais_prompt.parts import PYTHON, ends_program, last_line_in, place
from ais_prompt.terminal import NOTE
from ais_prompt.utils import Held, advice


class Note(Struct, frozen=True):
    """One thing about a config that a user may want to know.

    Attributes:
        what: one sentence.
        where: config path; empty for what the command line names.
        fix: what the user can do about it; may be empty.
        level: of the log: `FACT` for a line that describes the run, ``INFO`` for what its end shows as well.
    """

    what: str
    where: str = ""
    fix: str = ""
    level: int = NOTE


class LoadedConfig(Struct, frozen=True):
    """A config as plain values: dict, list, tuple, str, int, float, bool, None.

    Attributes:
        values: the top-level variables after overrides, helper variables with plain values included.
        name: names the folder below ``work_dir`` unless the config has a ``run_name``.
        path: the config file; None if it was composed of named ones.
        origins: for a composed config: config path of an item → its file and its config path there.
        notes: how its words were understood: what was chosen among several configs of one name, what data means.
        tables: file → what its names mean, of those that `place` has read.
        trusted: whether the user named the config, or made the run whose folder it is in.
    """

    values: dict[str, Any]
    name: str
    path: Path | None = None
    origins: Mapping[str, tuple[Path, str]] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    tables: dict[Path, Names] = field(default_factory=dict)
    trusted: bool = True

    def place(self, where: str) -> str:
        """Return a config path with the ``file:line`` where it was written, if that can be found."""
        file, path_there = self.path, where
        item = re.match(r"\w+\[\d+\]", where)
        if item and item.group() in self.origins:
            file, begin = self.origins[item.group()]
            path_there = begin + where[item.end() :]
        elif re.search(r"[:/\\]", where):  # a data file with a line
            file = None
        found = find_spot(path_there, file, self.tables) if file else None
        return f"{where} ({found})" if found else where


_OTHER_LANGUAGES: Final = {".json": "JSON", ".toml": "TOML", ".yaml": "YAML", ".yml": "YAML"}
_DATA_SUFFIXES: Final = {".csv", ".jsonl", ".ods", ".parquet", ".tsv", ".xlsx"}


def load_config(path: Path, overrides: Sequence[str] = ()) -> LoadedConfig:
    """Read a config file with its bases, and apply the overrides of the command line.

    Imported classes become dotted names without being imported. Afterwards the modules in the config's folder and in
    the working directory can be imported, and those that ``custom_imports`` names have been.

    Raises:
        ConfigError: whatever is wrong, with ``file:line`` as ``where``.
    """
    path = Path(path)
    if not path.is_file():
        raise missing_config(path)
    if language := _OTHER_LANGUAGES.get(path.suffix.lower()):
        fix = "write it as a Python file: models = [dict(type=..., ...)] and datasets = [...]"
        raise ConfigError(f"the config is {language}, and a config is written in Python", where=place(path), fix=fix)
    if is_data_file(path):
        fix = f"name it with --data: aisprompt run --url http://…/v1 --data {path}"
        raise ConfigError("this is a data file, and a config is written in Python", where=place(path), fix=fix)
    make_importable([path.resolve().parent, Path.cwd()])
    values = _read(path)
    loaded = LoadedConfig(apply_overrides(values, overrides) if overrides else values, path.stem, path)
    register_config_secrets(loaded.values)
    if isinstance(loaded.values.get("paths_relative_to"), str):
        make_importable([expand(loaded.values["paths_relative_to"])])
    import_custom_modules(loaded.values, loaded.place("custom_imports"))
    return loaded


def register_config_secrets(values: Mapping[str, Any]) -> None:
    """Hide the secrets of all that a run reads of a config from now on."""
    # Helper variables are no part of it: a secret often is one before it becomes a header.
    register_secrets({key: values[key] for key in CONFIG.names if key in values})


def is_data_file(path: Path) -> bool:
    """Return whether the name of a file says that it holds questions."""
    return path.suffix.lower() in _DATA_SUFFIXES


def plain_config(variables: dict[str, Any], *, holds: bool = False) -> dict[str, Any]:
    """Return the top level of a config as plain values.

    A variable that is not plain (a function, a module, a loop variable of any type) is a helper of the config and is
    left out, and so is one whose name begins with an underscore; what a run reads (`CONFIG.names`) must be plain.

    Args:
        variables: name → value.
        holds: let a text hold a function that no module has (`Held`), which is possible in the process that has it.

    Raises:
        ConfigError: a value that is not plain, with its config path as ``where``.
    """
    values: dict[str, Any] = {}
    for name, value in variables.items():
        if name.startswith("_"):
            continue
        try:
            values[name] = plain_value(value, name, holds=holds)
        except ConfigError:
            if name in CONFIG.names:
                raise
    return values


def plain_value(value: Any, where: str, *, holds: bool = False) -> Any:
    """Return one value of a config as plain values: a class or function becomes its dotted name.

    Args:
        value, where: the value and its config path.
        holds: as in `plain_config`.

    Raises:
        ConfigError: as `plain_config`.
    """
    if type(value) in _PLAIN or isinstance(value, Held):
        return value
    if type(value) is int:
        if value.bit_length() > _MOST_BITS:
            raise ConfigError("an integer has more than 1,200 digits", where=where, fix="give a smaller number")
        return value
    if isinstance(value, dict):
        return {
            _plain_key(key, where): item if type(item) in _PLAIN else plain_value(item, f"{where}.{key}", holds=holds)
            for key, item in value.items()
        }
    if type(value) in (list, tuple):
        return type(value)(plain_value(item, f"{where}[{index}]", holds=holds) for index, item in enumerate(value))
    if callable(value):
        return _dotted_name(value, where, holds=holds)
    fix = "use plain values: dict, list, tuple, str, int, float, bool, None"
    if isinstance(value, Iterable):
        fix = f"make a list of it: {where} = list(...), or [...] in place of (...)"
    raise ConfigError(f"a {type(value).__name__} cannot be in a config: {value!r:.60}", where=where, fix=fix)


_PLAIN: Final = frozenset((str, float, bool, NoneType))
"""Types of values that have no values inside, and need no check."""
_MOST_BITS: Final = 4096
"""Of an integer; Python writes none of more than 4,300 digits, so no error could show it."""


def _read(path: Path) -> dict[str, Any]:
    try:
        family = check_bases(path)
        for file in family:  # before it runs: a traceback shows its lines
            register_secrets(literals_of(read_syntax(file)))
    except RecursionError:  # Python parses more levels than functions can walk through, since 3.12 ten times as many
        raise _too_deep(place(path)) from None
    from ais_prompt.config.mmengine_gaps import patched_mmengine

    # Files without any import would be copied, changed as text and run elsewhere if mmengine were left to choose.
    lazy = not is_old_style(read_syntax(path))
    try:
        with patched_mmengine(absolute_bases(family)), warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # it prints the line, which may hold a secret
            config = Config.fromfile(
                str(path.resolve()), lazy_import=lazy, import_custom_modules=False, format_python_code=False
            )
        return plain_config(config.to_dict(keep_imported=True))
    except ConfigError as error:
        found = find_spot(error.where, path)
        raise ConfigError(
            error.what, where=f"{error.where} ({found})" if found else place(path), fix=error.fix
        ) from error
    except BaseException as error:
        if ends_program(error):
            raise
        raise _failure(error, path, family) from error


def _failure(error: BaseException, path: Path, family: set[Path]) -> ConfigError:
    """Return the error of a config whose code failed, or that mmengine refused."""
    refused = _refused_import(error)
    if refused:
        return refused
    where = last_line_in(error, lambda file: file.resolve() in family) or place(path)
    if isinstance(error, RecursionError):
        return _too_deep(where)
    if isinstance(error, RuntimeError) and not str(error):
        what = "the config calls or computes with something that it imports; imports only name the parts to use"
        return ConfigError(what, where=where, fix="import from the standard library only, or write out the value")
    if isinstance(error, SystemExit):
        return ConfigError("the config ends the program", where=where, fix="take the exit() out of it")
    fix = _undefined(error.name or "", where) if isinstance(error, NameError) else "fix this line"
    message = error.args[0] if isinstance(error, KeyError) and error.args else error
    return ConfigError(f"the config fails: {type(error).__name__}: {message}", where=where, fix=fix)


def _too_deep(where: str) -> ConfigError:
    return ConfigError("a value of the config contains itself, or is nested too deep", where=where, fix="flatten it")


def _undefined(name: str, where: str) -> str:
    """Return what to do about a name that a config does not define; ``where`` is the line."""
    if name in PYTHON:
        return f"write {PYTHON[name]}"
    file, _, number = where.rpartition(":")
    lines = Path(file).read_text("utf-8-sig").splitlines() if number.isdigit() and Path(file).is_file() else []
    line = lines[int(number) - 1] if lines else ""
    if re.search(rf"\b[rR]?[fF]['\"].*\{{{re.escape(name)}\b", line):
        return (
            f"a template is no f-string: remove the f in front of the text, so that {{{name}}} is filled from the data"
        )
    if any(name in parts for parts in PARTS.values()):
        return f"write its name as a text, {name!r}, or import it: from ais_prompt import {name}"
    if name in sys.stdlib_module_names:
        return f"add the line: import {name}"
    return "define the name above this line, or import it"


def _refused_import(error: BaseException) -> ConfigError | None:
    """Return the error of an import that mmengine cannot handle; its frames tell which statement."""
    frame = error.__traceback__
    while frame and frame.tb_frame.f_code.co_name not in ("visit_Import", "visit_ImportFrom"):
        frame = frame.tb_next
    if frame is None:
        return None
    statement, transformer = frame.tb_frame.f_locals["node"], frame.tb_frame.f_locals["self"]
    where = place(Path(transformer.filename), statement.lineno)
    base = transformer.base_dict.get(frame.tb_frame.f_locals.get("module"))
    if isinstance(error, KeyError) and base is not None:
        written = "." * statement.level + (statement.module or "")
        what = f"the base config {written!r} has no variable {error.args[0]!r}"
        return ConfigError(what, where=where, fix=advice(str(error.args[0]), base))
    fix = "write `import name` or `from name import part`; `import *` only inside `with read_base():`"
    return ConfigError(f"the config cannot import this: {ast.unparse(statement)}", where=where, fix=fix)


def _plain_key(key: Any, where: str) -> Any:
    if type(key) in _PLAIN or type(key) is int:
        return plain_value(key, where)
    raise ConfigError(f"{key!r:.60} cannot be the key of a dict in a config", where=where, fix="use a text or a number")


def _dotted_name(part: Any, where: str, *, holds: bool) -> str:
    """Return ``module.name`` of a class or function that a config really imported, as old-style configs do."""
    module, name = getattr(part, "__module__", None), getattr(part, "__qualname__", type(part).__qualname__)
    found: Any = sys.modules.get(str(module))
    for step in name.split("."):
        found = getattr(found, step, None)
    if found is not part and holds:
        return Held(stored_name(str(module), name), part)
    if found is not part:
        raise ConfigError(
            f"{name or part!r} is defined in the config itself and has no name elsewhere",
            where=where,
            fix="move it into a Python file beside the config and import it from there",
        )
    return stored_name(str(module), name)
