"""Parse a loaded config into a `RunSpec`, or report all of its faults at once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from ais_prompt.config.bases import check_bases
from ais_prompt.config.load import LoadedConfig
from ais_prompt.config.parse.abbr import name_fault, refuse_duplicates
from ais_prompt.config.parse.budget import check_cost, parse_budget
from ais_prompt.config.parse.dataset import parse_dataset
from ais_prompt.config.parse.gates import parse_gates
from ais_prompt.config.parse.model import parse_model
from ais_prompt.config.parse.section import ConfigSection, Faults
from ais_prompt.config.parse.summary import parse_summary
from ais_prompt.config.paths import expand, resolve_data_path
from ais_prompt.config.schema import CONFIG
from ais_prompt.config.syntax import read_syntax
from ais_prompt.types import Budget, DatasetSpec, ModelSpec, RunSpec
from ais_prompt.utils.text import listed

DEFAULT_WORK_DIR = "outputs"
KEPT_KEYS = (
    *("custom_imports", "models", "datasets", "model_dataset_combinations"),
    *("summarizer", "gates", "budget", "runner", "partitioner"),
)
"""What the resolved config has as it was written."""

Spec = TypeVar("Spec", ModelSpec, DatasetSpec)


def parse_run(loaded: LoadedConfig, *, work_dir: str | None = None, budget: Budget | None = None) -> RunSpec:
    """Parse a config. Parts are not resolved here: the check binds their types and arguments.

    The specs hold absolute paths of data files and model folders that exist; ``resolved`` keeps every path as the user
    wrote it, and the folder that the paths are relative to.

    Args:
        loaded: the config.
        work_dir: replaces the config's ``work_dir``.
        budget: limits that replace those of the config.

    Raises:
        ConfigFaults: every fault of the config, each with its config path and, where it is known, ``file:line``.
    """
    faults = Faults(loaded.place)
    top = ConfigSection(loaded.values, "", faults)
    top.refuse_misspelt([key for key in CONFIG.names if key not in ("models", "datasets")], partial(_is_used, loaded))
    folder = _config_folder(top, loaded)
    find = partial(resolve_data_path, config_dir=folder)
    models = _parse_list(top, "models", partial(parse_model, find=find))
    datasets = _parse_list(top, "datasets", partial(parse_dataset, find=find))
    where_to = work_dir or _name(top, "work_dir", "a folder", DEFAULT_WORK_DIR)
    name = _run_name(top, loaded.name)
    cache = _name(top, "cache", "a folder", "")
    faults.raise_any()  # which datasets the summary may name is known only if all are
    pairs = _parse_pairs(top, [model.abbr for model in models], [dataset.abbr for dataset in datasets])
    summary = parse_summary(top, [dataset.abbr for dataset in datasets])
    gates = parse_gates(top)
    own = parse_budget(top)
    runner, partitioner = top.part("runner"), top.part("partitioner")
    budget = own if budget is None else budget.over(own)
    check_cost(budget, [*models, *_judges(datasets)], faults)
    faults.raise_any()
    resolved = {"work_dir": where_to, "run_name": name, "paths_relative_to": str(folder)}
    resolved |= {"cache": cache} if cache else {}
    kept = {key: loaded.values[key] for key in KEPT_KEYS if key in loaded.values}
    cache_folder = expand(cache) if cache else None
    return RunSpec(
        name=name,
        models=models,
        datasets=datasets,
        work_dir=expand(where_to),
        config_file=loaded.path,
        resolved=resolved | kept,
        summary=summary,
        cache=cache_folder,
        gates=gates,
        budget=budget,
        runner=runner,
        partitioner=partitioner,
        trusted=loaded.trusted,
        pairs=pairs,
    )


def _judges(datasets: Sequence[DatasetSpec]) -> Iterator[ModelSpec]:
    return (model for dataset in datasets if dataset.eval.judge is not None for model in dataset.eval.judge.models)


def _is_used(loaded: LoadedConfig, name: str) -> bool:
    """Return whether the code of a config uses a top-level variable, so that it is a helper and no misspelt key."""
    files = check_bases(loaded.path) if loaded.path else ()
    nodes = (node for file in files for node in ast.walk(read_syntax(file)))
    return any(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) for node in nodes)


def _parse_list(top: ConfigSection, key: str, parse: Callable[[ConfigSection], Spec | None]) -> tuple[Spec, ...]:
    """Parse ``models`` or ``datasets``; items with faults are left out."""
    items: Any = top.get(key, (list, tuple), f"a list of {key}")
    if items is not None and not items:
        top.fault(key, f"the config has no {key}: the list is empty", f"write {key} = [dict(...)]")
    sections = [ConfigSection.open(item, f"{key}[{index}]", top.faults) for index, item in enumerate(items or ())]
    specs = tuple(spec for section in sections if section and (spec := parse(section)))
    refuse_duplicates(key, [(spec.abbr, spec.where) for spec in specs], top.faults)
    return specs


def _parse_pairs(
    top: ConfigSection, models: Sequence[str], datasets: Sequence[str]
) -> frozenset[tuple[str, str]] | None:
    """Parse ``model_dataset_combinations``; None if every model runs on every dataset."""
    key = "model_dataset_combinations"
    items: Any = top.get(key, (list, tuple), "a list of dict(models=[...], datasets=[...])", ())
    pairs: set[tuple[str, str]] = set()
    for index, item in enumerate(items or ()):
        if (section := ConfigSection.open(item, f"{key}[{index}]", top.faults)) is not None:
            pairs.update(product(_parse_names(section, "models", models), _parse_names(section, "datasets", datasets)))
    return frozenset(pairs) if items else None


def _parse_names(section: ConfigSection, key: str, known: Sequence[str]) -> list[str]:
    """Parse a list of models or datasets of the config, each named by its ``abbr`` or repeated as a dict."""
    items: Any = section.get(key, (list, tuple), f"a list of {key}") or ()
    names = [one.get("abbr") if isinstance(one, Mapping) else one for one in items]
    for index, name in enumerate(names):
        if name not in known:
            what = f"{name!r} is not among the {key} of the config"
            section.fault(f"{key}[{index}]", what, f"write one of: {listed(known, 5)}")
    return [str(name) for name in names]


def _config_folder(top: ConfigSection, loaded: LoadedConfig) -> Path:
    """Return where relative paths are looked up: beside the config, or in the working directory for configs by name."""
    written = _name(top, "paths_relative_to", "a folder", "")
    if written:
        return expand(written).absolute()
    return loaded.path.resolve().parent if loaded.path else Path.cwd()


def _run_name(top: ConfigSection, default: str) -> str:
    name = _name(top, "run_name", "the name of a folder", default)
    if fault := name_fault(name):
        top.fault("run_name", f"the run_name {name!r} {fault}", "it names a folder below work_dir")
    return name


def _name(top: ConfigSection, key: str, expected: str, default: str) -> str:
    """Return a name that a file system accepts."""
    value: str = top.get(key, (str,), expected, default) or default
    if not value.isprintable():
        top.fault(key, f"{key} contains characters that cannot be printed: {value!r}", f"give {expected}")
    return value
