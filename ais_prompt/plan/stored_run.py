"""Open a run folder: to read it, or to score its answers again.

A run that this user made here (`ais_prompt.store.runs`) may name modules of its own, a judge, or a command for the
sandbox, as its config did when it ran. Of all other runs only data is used; see
`ais_prompt.config.stored_config.without_permissions`.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec

from ais_prompt.catalog import PARTS
from ais_prompt.config import (
    DEFAULT_WORK_DIR,
    Dropped,
    LoadedConfig,
    Options,
    expand,
    import_custom_modules,
    load_stored,
    make_importable,
    unusable_parts,
)
from ais_prompt.errors import ConfigError, raise_all
from ais_prompt.plan.named_config import read_spec
from ais_prompt.registry import runs_code
from ais_prompt.store import RunFolder, is_made_here, locate_run, reading
from ais_prompt.types import LOG, RunSpec
from ais_prompt.utils import listed, read_regular

logger = logging.getLogger(__name__)


@cache
def is_code(name: str) -> bool:
    """Return whether a type names code that does not come with this program, or that runs such code."""
    package, _, last = name.rpartition(".")
    if package and not (package.startswith("ais_prompt.") and any(last in parts for parts in PARTS.values())):
        return True
    return runs_code(last)


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


def _load(
    folder: RunFolder, overrides: Sequence[str], *, as_of_others: bool = False
) -> tuple[LoadedConfig, list[Dropped]]:
    """Return the config of a run, and what was left out of it."""
    path = folder.config_file
    with reading(path, fix="name a run folder"):
        content = read_regular(path)
    trusted = not as_of_others and is_made_here(folder, content)
    return load_stored(path, content.decode("utf-8", "replace"), overrides, trusted=trusted, is_code=is_code)


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
