"""Parse a loaded config into a `RunSpec`, or report all of its faults at once.

The ``summarizer`` says which rows the summary has, and groups of them with their averages. ``gates`` are texts such
as ``'gsm8k*: accuracy >= 80%'``. The ``budget`` limits how much may be asked and, through the prices of models, what
answers may cost.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final, TypeVar

from ais_prompt.config.bases import check_bases, read_syntax
from ais_prompt.config.items import parse_dataset, parse_model, with_rivals
from ais_prompt.config.keys import (
    CONFIG,
    DEFAULT_WORK_DIR,
    SECTIONS,
    ConfigKeys,
    Entries,
    GroupKeys,
    PairKeys,
    SummarizerKeys,
)
from ais_prompt.config.literals import evaluate
from ais_prompt.config.load import LoadedConfig
from ais_prompt.config.locate import expand, resolve_data_path
from ais_prompt.config.section import ConfigSection, Faults, name_fault, parse_sections, refuse_duplicates, shown
from ais_prompt.errors import ConfigError
from ais_prompt.types import (
    Budget,
    DatasetSpec,
    Gate,
    GroupKind,
    ModelSpec,
    RunSpec,
    SummaryEntry,
    SummaryGroup,
    SummarySpec,
    parse_gate,
)
from ais_prompt.utils import advice, listed, near_miss

KEPT_KEYS = (
    *("custom_imports", "models", "datasets", "model_dataset_combinations"),
    *("summarizer", "gates", "budget", "runner", "partitioner", *SECTIONS),
)
"""What the resolved config has as it was written."""
BY_SIZE = "n"
"""In place of weights: the number of questions."""
_GROUP_KINDS: Final[Mapping[str, GroupKind]] = {
    "std": "standard_deviation",
    "sum": "sum",
    "harmonic_mean": "harmonic_mean",
}
"""Key of a group that is True → what is computed in place of the average."""

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
    keys = top.read(ConfigKeys, is_open=True) or ConfigKeys()
    name = keys.run_name or loaded.name
    if fault := name_fault(name):
        top.fault("run_name", f"the run_name {name!r} {fault}", "it names a folder below work_dir")
    beside = loaded.path.resolve().parent if loaded.path else None
    folder = expand(keys.paths_relative_to).absolute() if keys.paths_relative_to else beside or Path.cwd()
    find = partial(resolve_data_path, config_dir=folder, run_dir=beside)
    models = _parse_list(top, "models", keys.models, partial(parse_model, find=find))
    datasets = _parse_list(top, "datasets", keys.datasets, partial(parse_dataset, find=find))
    faults.raise_any()  # which datasets the summary may name is known only if all are
    abbrs = [dataset.abbr for dataset in datasets]
    pairs = _parse_pairs(keys.model_dataset_combinations, [model.abbr for model in models], abbrs, faults)
    names = [model.abbr for model in models]
    asked_by = {abbr: [name for name in names if pairs is None or (name, abbr) in pairs] for abbr in abbrs}
    summary = parse_summary(keys.summarizer, abbrs, faults)
    gates = _parse_gates(keys.gates, faults)
    sections = parse_sections(top)
    budget = keys.budget if budget is None else budget.over(keys.budget)
    judges = (scoring.judge for dataset in datasets for scoring in dataset.eval.by_evaluator)
    _check_cost(budget, [*models, *(model for judge in judges if judge for model in judge.models)], faults)
    faults.raise_any()
    where_to = work_dir or keys.work_dir or DEFAULT_WORK_DIR
    resolved = {"work_dir": where_to, "run_name": name, "paths_relative_to": str(folder)}
    resolved |= {"cache": keys.cache} if keys.cache else {}
    kept = {key: loaded.values[key] for key in KEPT_KEYS if key in loaded.values}
    return RunSpec(
        name=name,
        models=models,
        datasets=tuple(with_rivals(dataset, asked_by[dataset.abbr]) for dataset in datasets),
        work_dir=expand(where_to),
        config_file=loaded.path,
        resolved=resolved | kept,
        summary=summary,
        cache=expand(keys.cache) if keys.cache else None,
        gates=gates,
        budget=budget,
        runner=keys.runner,
        partitioner=keys.partitioner,
        trusted=loaded.trusted,
        pairs=pairs,
        sections=sections,
    )


def _parse_gates(texts: Sequence[Any], faults: Faults) -> tuple[Gate, ...]:
    gates = []
    for number, text in enumerate(texts):
        try:
            gates.append(parse_gate(text, f"gates[{number}]"))
        except ConfigError as error:
            faults.add(error.what, error.where, error.fix)
    return tuple(gates)


def _is_used(loaded: LoadedConfig, name: str) -> bool:
    """Return whether the code of a config uses a top-level variable, so that it is a helper and no misspelt key."""
    files = check_bases(loaded.path) if loaded.path else ()
    nodes = (node for file in files for node in ast.walk(read_syntax(file)))
    return any(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) for node in nodes)


def _parse_list(
    top: ConfigSection, key: str, items: Sequence[Any], parse: Callable[[ConfigSection], Spec | None]
) -> tuple[Spec, ...]:
    """Parse ``models`` or ``datasets``; items with faults are left out."""
    if top.values.get(key) in ([], ()):
        top.fault(key, f"the config has no {key}: the list is empty", f"write {key} = [dict(...)]")
    sections = [ConfigSection.open(item, f"{key}[{index}]", top.faults) for index, item in enumerate(items)]
    specs = tuple(spec for section in sections if section and (spec := parse(section)))
    refuse_duplicates(key, [(spec.abbr, spec.where) for spec in specs], top.faults)
    return specs


def _parse_pairs(
    items: Sequence[PairKeys], models: Sequence[str], datasets: Sequence[str], faults: Faults
) -> frozenset[tuple[str, str]] | None:
    """Return the pairs of ``model_dataset_combinations``; None if every model runs on every dataset."""
    pairs: set[tuple[str, str]] = set()
    for item in items:
        named = _names(models, item.models, f"{item.where}.models", faults)
        pairs.update(product(named, _names(datasets, item.datasets, f"{item.where}.datasets", faults)))
    return frozenset(pairs) if items else None


def _names(known: Sequence[str], written: Sequence[Any], where: str, faults: Faults) -> list[str]:
    """Return names of models or datasets of the config, each written as its ``abbr`` or repeated as a dict."""
    names = [one.get("abbr") if isinstance(one, Mapping) else one for one in written]
    for index, name in enumerate(names):
        if name not in known:
            kind = where.rpartition(".")[2]
            what = f"{name!r} is not among the {kind} of the config"
            faults.add(what, f"{where}[{index}]", f"write one of: {listed(known, 5)}")
    return [str(name) for name in names]


def _check_cost(budget: Budget, models: Sequence[ModelSpec], faults: Faults) -> None:
    """Note why the cost of a run cannot be known, if it is limited.

    Args:
        budget: of the run.
        models: all that are asked, judges too.
        faults: of the config.
    """
    currencies = {model.price.currency for model in models if model.price}
    if len(currencies) > 1:
        what = f"there are prices in {' and '.join(sorted(currencies))}, which cannot be added up"
        faults.add(what, "models", "give all prices in one currency")
    if budget.max_cost is None:
        return
    for model in models:
        if model.price is None:
            what = f"max_cost needs the price of every model, and {model.abbr} has none"
            faults.add(what, model.where, "add price=dict(input=..., output=...); 0 if it costs nothing")


def parse_summary(summarizer: SummarizerKeys, abbrs: Sequence[str], faults: Faults) -> SummarySpec:
    """Return the rows and averages of the summary; note faults.

    A group none of whose datasets is in the run is left out, as configs of OpenCompass list all groups that there are.

    Args:
        summarizer: its keys.
        abbrs: of the datasets.
        faults: of the config.
    """
    known = list(abbrs)
    shows = summarizer.missing == "show"
    groups = []
    for keys in summarizer.summary_groups:
        group = _group(keys, known, faults, shows_missing=shows)
        if group is not None:
            groups.append(group)
            known.append(group.name)
    entries = _entries(
        summarizer.dataset_abbrs, f"{summarizer.where}.dataset_abbrs", known, faults, shows_missing=shows
    )
    return SummarySpec(entries, tuple(groups), shows)


def _group(keys: GroupKeys, known: Sequence[str], faults: Faults, *, shows_missing: bool) -> SummaryGroup | None:
    """Return a group; None if no dataset of it is in this run."""
    names = [_name_in(item) for item in keys.subsets]
    foreign = [name for name in names if name not in known]
    if foreign == names and (shows_missing or not any(near_miss(name, known) for name in foreign)):
        return None
    entries = _entries(keys.subsets, f"{keys.where}.subsets", known, faults, shows_missing=shows_missing)
    weights = _weights(keys, entries, faults)
    # Groups for any run may give a dataset, or another group, one more metric.
    if keys.name in known and not shows_missing:
        what = f"two rows of the summary are called {keys.name!r}"
        faults.add(what, f"{keys.where}.name", "give the group a name of its own")
    kinds = [kind for key, kind in _GROUP_KINDS.items() if getattr(keys, key)]
    if len(kinds) > 1:
        faults.add(f"{keys.where} asks for {' and '.join(kinds)}", f"{keys.where}.name", "make a group for each")
    # The name of its score may say that too.
    kinds = kinds or [kind for kind in _GROUP_KINDS.values() if kind == keys.metric]
    kind: GroupKind = next(iter(kinds), "average")
    return SummaryGroup(keys.name, entries, weights, keys.where, kind, keys.metric, _transforms(keys, faults))


def _transforms(keys: GroupKeys, faults: Faults) -> Mapping[str, str]:
    """Return dataset → expression of ``x``."""
    transforms = keys.transforms or {}
    for name, expression in transforms.items():
        try:
            evaluate(expression if isinstance(expression, str) else "", 0.5)
        except ValueError as error:
            fix = "write numbers, x, + - * /, min, max and abs: '(2 - x) / 2 * 100'"
            faults.add(f"the transform of {name!r} cannot be used: {error}", f"{keys.where}.transforms", fix)
    return transforms


def _entries(
    items: Entries, where: str, known: Sequence[str], faults: Faults, *, shows_missing: bool
) -> tuple[SummaryEntry, ...]:
    """Return the entries of names. Lines such as ``'--- exams ---'``, titles in OpenCompass, are skipped."""
    entries = []
    for index, item in enumerate(items):
        name = _name_in(item)
        if name in known or (shows_missing and name and not name.startswith("--")):
            entries.append(SummaryEntry(name, None if isinstance(item, str) else item[1]))
        elif name and not name.startswith("--"):
            faults.add(f"there is no dataset or group {name!r}", f"{where}[{index}]", advice(name, known))
    return tuple(entries)


def _name_in(item: str | tuple[str, str]) -> str:
    return item if isinstance(item, str) else item[0]


def _weights(keys: GroupKeys, entries: Sequence[SummaryEntry], faults: Faults) -> Mapping[str, float] | str | None:
    """Return dataset → weight, `BY_SIZE`, or ``@METRIC``."""
    weights = keys.weights
    if weights is None or weights == BY_SIZE or (isinstance(weights, str) and re.fullmatch("@.+", weights)):
        return weights
    if isinstance(weights, str) or not _weighs_each(weights, entries):
        fix = f"give one number from 0 for each of {listed([entry.name for entry in entries])}; not all can be 0"
        faults.add(f"{keys.where}.weights is {shown(weights)}", f"{keys.where}.weights", fix)
        return None
    return {name: float(weight) for name, weight in weights.items()}


def _weighs_each(weights: Mapping[Any, Any], entries: Sequence[SummaryEntry]) -> bool:
    """Return whether every entry has a weight, by its name or key, nothing else has one, and not all are 0."""
    for weight in weights.values():
        if not isinstance(weight, int | float) or isinstance(weight, bool) or not weight >= 0:
            return False
    named = [{entry.name, entry.key} for entry in entries]
    has_all = all(not names.isdisjoint(weights) for names in named) and set(weights) <= set().union(*named)
    return has_all and any(weights.values())
