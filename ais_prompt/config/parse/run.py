"""Parse a loaded config into a `RunSpec`, or report all of its faults at once.

``gates`` are texts such as ``'gsm8k*: accuracy >= 80%'``. ``summarizer`` names the datasets that the summary shows, and
groups with their averages.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final, TypeVar

from ais_prompt.config.bases import check_bases, read_syntax
from ais_prompt.config.load import LoadedConfig
from ais_prompt.config.parse.dataset import parse_dataset
from ais_prompt.config.parse.model import check_cost, parse_budget, parse_model
from ais_prompt.config.parse.section import ConfigSection, Faults, name_fault, refuse_duplicates, shown
from ais_prompt.config.paths import expand, resolve_data_path
from ais_prompt.config.schema import CONFIG, GROUP, SECTIONS, SUMMARIZER
from ais_prompt.config.sections import parse_sections
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
from ais_prompt.utils import advice, evaluate, listed, near_miss

DEFAULT_WORK_DIR = "outputs"
KEPT_KEYS = (
    *("custom_imports", "models", "datasets", "model_dataset_combinations"),
    *("summarizer", "gates", "budget", "runner", "partitioner", *SECTIONS),
)
"""What the resolved config has as it was written."""

Spec = TypeVar("Spec", ModelSpec, DatasetSpec)


BY_SIZE = "n"
"""In place of weights: the number of questions."""

KINDS: Final[Mapping[str, GroupKind]] = {"std": "standard_deviation", "sum": "sum", "harmonic_mean": "harmonic_mean"}
"""Key of a group that is True → what is computed in place of the average."""


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
    beside = loaded.path.resolve().parent if loaded.path else None
    find = partial(resolve_data_path, config_dir=folder, run_dir=beside)
    models = _parse_list(top, "models", partial(parse_model, find=find))
    datasets = _parse_list(top, "datasets", partial(parse_dataset, find=find))
    where_to = work_dir or _name(top, "work_dir", "a folder", DEFAULT_WORK_DIR)
    name = _run_name(top, loaded.name)
    cache = _name(top, "cache", "a folder", "")
    faults.raise_any()  # which datasets the summary may name is known only if all are
    pairs = _parse_pairs(top, [model.abbr for model in models], [dataset.abbr for dataset in datasets])
    summary = parse_summary(top, [dataset.abbr for dataset in datasets])
    gates = parse_gates(top)
    sections = parse_sections(top)
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
        sections=sections,
    )


def parse_gates(top: ConfigSection) -> tuple[Gate, ...]:
    """Parse the ``gates`` of a config, which may be missing; note faults."""
    texts: Any = top.get("gates", (list, tuple), "a list of conditions", ())
    gates = []
    for number, text in enumerate(texts or ()):
        where = f"gates[{number}]"
        try:
            gates.append(parse_gate(text, where))
        except ConfigError as error:
            top.fault("gates", f"{where}: {error.what}", error.fix)
    return tuple(gates)


def parse_summary(top: ConfigSection, abbrs: Sequence[str]) -> SummarySpec:
    """Parse the ``summarizer`` of a config, which may be missing; note faults.

    A group none of whose datasets is in the run is left out, as configs of OpenCompass list all groups that there are.

    Args:
        top: the whole config.
        abbrs: of the datasets.
    """
    if top.values.get("summarizer") is None:
        return SummarySpec()
    section = top.section("summarizer")
    if section is None:
        return SummarySpec()
    section.refuse_unknown(SUMMARIZER)
    known = list(abbrs)
    missing = section.get("missing", (str,), "'fault' or 'show'", "fault")
    if missing not in ("fault", "show"):
        section.fault("missing", f"{section.at('missing')} is {shown(missing)}", "write 'fault' or 'show'")
    shows = missing == "show"
    groups = []
    for index, item in enumerate(_items(section, "summary_groups")):
        opened = ConfigSection.open(item, f"{section.at('summary_groups')}[{index}]", section.faults)
        group = _parse_group(opened, known, shows_missing=shows) if opened else None
        if group is not None:
            groups.append(group)
            known.append(group.name)
    entries = _parse_entries(section, "dataset_abbrs", known, shows_missing=shows)
    return SummarySpec(tuple(entries), tuple(groups), shows)


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


def _parse_group(section: ConfigSection, known: Sequence[str], *, shows_missing: bool) -> SummaryGroup | None:
    """Parse a group; None if no dataset of it is in this run, or after a fault."""
    section.refuse_unknown(GROUP)
    name = section.get("name", (str,), "the name of the group")
    names = [_item_name(item) for item in _items(section, "subsets")]
    foreign = [one for one in names if one not in known]
    if foreign == names and (shows_missing or not any(near_miss(str(one), known) for one in foreign)):
        return None
    entries = _parse_entries(section, "subsets", known, shows_missing=shows_missing)
    weights = _parse_weights(section, entries)
    # Groups for any run may give a dataset, or another group, one more metric.
    if name in known and not shows_missing:
        section.fault("name", f"two rows of the summary are called {name!r}", "give the group a name of its own")
    kind, metric = _parse_kind(section)
    transforms = _parse_transforms(section)
    if not name:
        return None
    return SummaryGroup(name, tuple(entries), weights, section.where, kind, metric, transforms)


def _parse_kind(section: ConfigSection) -> tuple[GroupKind, str | None]:
    """Parse what is computed of a group, and the name of its score, which may say that too."""
    kinds = [kind for key, kind in KINDS.items() if section.get(key, (bool,), "True or False", False)]
    if len(kinds) > 1:
        section.fault("name", f"{section.where} asks for {' and '.join(kinds)}", "make a group for each")
    metric = section.get("metric", (str, type(None)), "the name of its score", None)
    if not kinds and metric in KINDS.values():
        kinds = [metric]
    return next(iter(kinds), "average"), metric


def _parse_transforms(section: ConfigSection) -> Mapping[str, str]:
    """Parse dataset → expression of ``x``."""
    transforms: Any = section.get("transforms", (Mapping,), "a dict of name → expression of x", {}) or {}
    for name, expression in transforms.items():
        try:
            evaluate(expression if isinstance(expression, str) else "", 0.5)
        except ValueError as error:
            fix = "write numbers, x, + - * /, min, max and abs: '(2 - x) / 2 * 100'"
            section.fault("transforms", f"the transform of {name!r} cannot be used: {error}", fix)
            return {}
    return dict(transforms)


def _parse_entries(
    section: ConfigSection, key: str, known: Sequence[str], *, shows_missing: bool
) -> list[SummaryEntry]:
    """Parse names or (name, metric) pairs. Lines such as ``'--- exams ---'``, titles in OpenCompass, are skipped."""
    entries = []
    for index, item in enumerate(_items(section, key)):
        name = _item_name(item)
        where = f"{section.at(key)}[{index}]"
        if name is None:
            section.faults.add(f"{where} is {shown(item)}", where, "give an abbr, or a list of abbr and metric")
        elif name in known or (shows_missing and name and not name.startswith("--")):
            entries.append(SummaryEntry(name, None if isinstance(item, str) else item[1]))
        elif name and not name.startswith("--"):
            section.faults.add(f"there is no dataset or group {name!r}", where, advice(name, known))
    return entries


def _item_name(item: Any) -> str | None:
    """Return the name in an entry; None if it has none."""
    if isinstance(item, str):
        return item
    is_pair = isinstance(item, list | tuple) and len(item) == 2 and all(isinstance(part, str) for part in item)
    return item[0] if is_pair else None


def _parse_weights(section: ConfigSection, entries: Sequence[SummaryEntry]) -> Mapping[str, float] | str | None:
    """Parse dataset → weight, or `BY_SIZE`."""
    weights: Any = section.get("weights", (Mapping, str, type(None)), "a dict of abbr → number, or 'n'", None)
    if weights is None or weights == BY_SIZE:
        return weights  # type: ignore[no-any-return]
    if not _weighs_each(weights, entries):
        fix = f"give one number from 0 for each of {listed([entry.name for entry in entries])}; not all can be 0"
        section.fault("weights", f"{section.at('weights')} is {shown(weights)}", fix)
        return None
    return {name: float(weight) for name, weight in weights.items()}


def _weighs_each(weights: Any, entries: Sequence[SummaryEntry]) -> bool:
    """Return whether every entry has a weight, by its name or key, nothing else has one, and not all are 0."""
    if not isinstance(weights, Mapping) or not all(map(_is_weight, weights.values())) or not any(weights.values()):
        return False
    named = [{entry.name, entry.key} for entry in entries]
    return all(not names.isdisjoint(weights) for names in named) and set(weights) <= set().union(*named)


def _is_weight(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _items(section: ConfigSection, key: str) -> list[Any]:
    return list(section.get(key, (list, tuple), "a list", ()) or ())
