"""Open a run folder: to read it, or to score its answers again.

The folder may come from anybody. Its config is data: nothing in it is executed. A run that this user made here
(`ais_prompt.store.runs`) may name modules of its own, a judge, or a command for the sandbox, as its config did when it
ran. Of a run of others, parts that do not come with this program are renamed so that no registry finds them, and keys
that start programs, import modules or run code of others are left out.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from ais_prompt.catalog import PARTS
from ais_prompt.config import (
    DEFAULT_WORK_DIR,
    LoadedConfig,
    Options,
    apply_overrides,
    expand,
    import_custom_modules,
    literal_values,
    make_importable,
    register_config_secrets,
)
from ais_prompt.errors import ConfigError, raise_all
from ais_prompt.parts import place
from ais_prompt.plan.named_config import read_spec
from ais_prompt.registry import runs_code
from ais_prompt.store import RunFolder, is_made_here, locate_run, reading
from ais_prompt.types import ELSEWHERE, LOG, RunSpec
from ais_prompt.utils import listed, read_regular

logger = logging.getLogger(__name__)

ISOLATIONS: Final = ("bubblewrap", "landlock")
"""What ``sandbox`` may name besides a command."""


class Dropped(Struct, frozen=True):
    """A value that a run of others may not decide.

    Attributes:
        where: its config path.
        what: what was left out, for a note.
    """

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}; give the config that you trust with --config"


def stored_spec(folder: RunFolder, *, as_of_others: bool = False) -> RunSpec:
    """Return the config of a run that is only read. No model and no evaluator of it is meant to be used.

    Args:
        folder: the run.
        as_of_others: read it as if somebody else had made it.

    Raises:
        ConfigError: it is more than plain data, or has faults.
    """
    loaded, _ = _load(folder, (), as_of_others=as_of_others)
    if loaded.trusted:
        with suppress(ConfigError):  # only a metric of the user's own needs its module, to be compared
            _make_modules_known(loaded)
    return read_spec(Options(loaded=loaded)).spec


def with_stored_config(run: str, options: Options) -> tuple[Options, RunFolder]:
    """Return options with the config of a stored run, and the folder of the run.

    Args:
        run: its path, or its name below the work dir.
        options: names no config.

    Raises:
        ConfigError: there is no such run, or this user did not make it and its scoring needs what only the user may
            allow.
    """
    folder = locate_run(expand(options.work_dir or DEFAULT_WORK_DIR), run)
    loaded, dropped = _load(folder, options.overrides)
    if loaded.trusted:
        _make_modules_known(loaded)
    for one in dropped:
        if not one.where.startswith("models["):  # they are not asked
            logger.warning("%s", one)
    raise_all(_refusals(loaded, folder))
    return replace(options, loaded=loaded), folder


def without_permissions(
    values: Mapping[str, Any], *, keeps_judges: bool = False
) -> tuple[dict[str, Any], list[Dropped]]:
    """Return a config without what a run of others may not decide.

    These are modules to import, commands and servers to start, code that comes with a model, the permission to execute
    programs, and judges, who are sent keys. A type that is code becomes ``elsewhere:my_parts:Mine``, and so does a
    function.

    Args:
        values: the config, as plain data.
        keeps_judges: whether the judges stay.
    """
    dropped: list[Dropped] = []

    def walked(value: Any, where: str, key: str) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(walked(item, f"{where}[{number}]", key) for number, item in enumerate(value))
        if not isinstance(value, Mapping):
            return value
        kept = {}
        for name, item in value.items():
            below = f"{where}.{name}" if where else str(name)
            if why := _permission(name, item, value):
                dropped.append(Dropped(below, why))
            elif name == "function" and "type" in value and isinstance(item, str):
                kept[name] = _elsewhere(item)
            else:
                kept[name] = walked(item, below, str(name))
        found = kept.get("type")
        is_judge = key == "judge_cfg" and not keeps_judges and found != "ScriptedModel"
        if isinstance(found, str) and not found.startswith(ELSEWHERE) and (is_judge or _is_code(found)):
            kept["type"] = _elsewhere(found)
        return kept

    return walked(values, "", ""), dropped


def unusable_parts(values: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Yield the config path and the name of every part that `without_permissions` renamed."""
    if isinstance(values, Mapping):
        name = values.get("type")
        if isinstance(name, str) and name.startswith(ELSEWHERE):
            yield where, name.removeprefix(ELSEWHERE).replace(":", ".")
        for key, value in values.items():
            yield from unusable_parts(value, f"{where}.{key}" if where else str(key))
    elif isinstance(values, list | tuple):
        for number, value in enumerate(values):
            yield from unusable_parts(value, f"{where}[{number}]")


def with_model(spec: RunSpec, abbr: str | None) -> RunSpec:
    """Return the config with only one of its models; with all of them if ``abbr`` is None.

    Args:
        spec: the config.
        abbr: of the model, or a part of it that only one model has.

    Raises:
        ConfigError: the model is unknown, or several models have that part.
    """
    if abbr is None:
        return spec
    models = [model for model in spec.models if abbr == model.abbr]
    models = models or [model for model in spec.models if abbr in model.abbr]
    if len(models) != 1:
        what = f"{listed(model.abbr for model in models)} match" if models else "there is no model"
        fix = f"it has: {listed(model.abbr for model in spec.models)}"
        raise ConfigError(f"{what} {abbr!r} in {spec.name}", where="--models", fix=fix)
    return msgspec.structs.replace(spec, models=tuple(models))


def _load(
    folder: RunFolder, overrides: Sequence[str], *, as_of_others: bool = False
) -> tuple[LoadedConfig, list[Dropped]]:
    """Return the config of a run with the overrides of the command line, and what was left out of it.

    Raises:
        ConfigError: it is more than plain data, or an override is wrong.
    """
    path = folder.config_file
    with reading(path, fix="name a run folder"):
        content = read_regular(path)
    trusted = not as_of_others and is_made_here(folder, content)
    try:
        values = literal_values(content.decode("utf-8", "replace"))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ConfigError(
            "the config of a run folder must be plain data; it is not executed",
            where=place(path, getattr(error, "lineno", None)),
            fix="undo the change to that file, or name a config that you trust: aisprompt score RUN --config CONFIG",
        ) from error
    dropped: list[Dropped] = []
    if not trusted:
        values, dropped = without_permissions(values)
    values = apply_overrides(values, overrides) if overrides else values
    register_config_secrets(values)
    return LoadedConfig(values, path.stem, path, trusted=trusted), dropped


def _make_modules_known(loaded: LoadedConfig) -> None:
    """Let the user's own modules be found as they were when the run was made; import those of ``custom_imports``."""
    beside = loaded.values.get("paths_relative_to")
    make_importable([*([expand(beside)] if isinstance(beside, str) else []), Path.cwd()])
    import_custom_modules(loaded.values, loaded.place("custom_imports"))


def _refusals(loaded: LoadedConfig, folder: RunFolder) -> list[ConfigError]:
    """Return an error for each part that scoring needs and that only the user may allow."""
    items = loaded.values.get("datasets")
    # The rule of another tool is not needed: such a dataset keeps the scores of its log.
    kept = [
        f"datasets[{number}].eval_cfg.evaluator"
        for number, item in enumerate(items if isinstance(items, list | tuple) else ())
        if isinstance(item, Mapping) and LOG in item
    ]
    run, config = (shlex.quote(str(path)) for path in (folder.root, folder.config_file))
    fix = f"read {config}, and if you trust it: aisprompt score {run} --config {config}"
    return [
        ConfigError(
            f"you did not make this run here, and its scoring uses {name}: code of others, or a judge",
            where=loaded.place(where),
            fix=fix,
        )
        for where, name in unusable_parts(loaded.values)
        if (".eval_cfg" in where or where.endswith(".inferencer")) and where not in kept
    ]


def _elsewhere(path: str) -> str:
    return f"{ELSEWHERE}{path.replace('.', ':')}"


def _permission(name: Any, value: Any, owner: Mapping[Any, Any]) -> str:
    """Return what a key lets a run do, for a note; empty if it is harmless."""
    if value in (None, False) or (isinstance(value, list | tuple | dict) and not value):
        return ""
    is_part = "type" in owner
    match name:
        case "custom_imports":
            return "modules that the run names are not imported"
        case "trust_remote_code":
            return "code that comes with a model is not run"
        case "allow_code_execution":
            return "the permission to run programs is not taken over"
        case "sandbox" if is_part and value not in ISOLATIONS:
            return f"the command of the sandbox is not used: {value!r:.60}"
        case "server" if is_part:
            return "no server is started"
        case "token_provider":
            return "the function that gives a token is not called"
        case "client" if is_part and isinstance(value, str):
            return f"the client is not used: {value!r:.60}"
        case "prompt_template" if is_part and any("." in text for text in _role_templates(value)):
            return "the role template is not imported"
    return ""


def _role_templates(value: Any) -> Iterator[str]:
    """Yield the dotted paths in a role template of a model: itself, or its values; a part has a ``type``."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and "type" not in value:
        yield from (item for item in value.values() if isinstance(item, str))


@cache
def _is_code(name: str) -> bool:
    """Return whether a type names code that does not come with this program, or that runs such code."""
    package, _, last = name.rpartition(".")
    if package and not (package.startswith("ais_prompt.") and any(last in parts for parts in PARTS.values())):
        return True
    return runs_code(last)
