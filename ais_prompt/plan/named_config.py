"""Read the config that a command line names: by file, by names, or by a model and data without a config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.config import (
    LoadedConfig,
    Note,
    compose_config,
    expand,
    find_config,
    load_config,
    parse_run,
    with_control,
    with_summarizer,
)
from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.plan.data_file import DataFile, describe_file
from ais_prompt.plan.described_model import HfType, local_model, served_model
from ais_prompt.plan.sample_option import SampleOption, with_sample
from ais_prompt.steps import steps
from ais_prompt.types import Budget, RunSpec, SummarySpec
from ais_prompt.utils import listed, place


class Source(Struct, frozen=True):
    """Where the config comes from, as the command line names it.

    Attributes:
        config: path or shipped name of a config; None if models and datasets are named.
        models, datasets: shipped names or patterns.
        overrides: ``path=value``, as given to ``--set``.
        work_dir: replaces the config's ``work_dir``.
        num_prompts: only the first so many questions of each dataset.
        allow_code_execution: whether evaluators may run programs that a model wrote; ``unsafe`` also where
            nothing keeps them apart from the machine.
        answered_by: who answered elsewhere; takes the place of the config's models, which are not needed then.
            They answered one dataset, so only one is left.
        answered: ``abbr`` of the dataset that was answered elsewhere; None if the config has only one.
        cache: folder of answers that runs share.
        urls: address of a server, or of several with the same model, for a model without a config.
        model: the model of that server; None if it serves only one.
        hf_path: folder or hub id of a local model without a config.
        hf_type: whether that model is a chat model or a base model.
        loaded: a config that is loaded already, in place of all others.
        budget: limits that replace those of the config.
        summarizer: name of a config with a summarizer, in place of that of the config.
        data: a file with questions, as a dataset without a config.
        dataset: the config of a dataset that an extension makes of its options.
        dataset_num_runs: how often every question is asked, in place of the ``n`` of the datasets.
        hf_num_gpus: with ``hf_path``: over how many GPUs the model is spread.
        stand_in: the model of a source that names none, or whose server does not answer, for verbs that ask no model;
            None refuses such a source.
        ignores_runner: leave out the runner of the config, which a shard does not use.
        control: spoil the questions, as `with_control` says.
        sample: draw questions at random, as `with_sample` says.
        options: the options of extensions that are given, by the name of their parameter.
    """

    config: str | None = None
    models: Sequence[str] = ()
    datasets: Sequence[str] = ()
    overrides: Sequence[str] = ()
    work_dir: str | None = None
    num_prompts: int | None = None
    allow_code_execution: bool | Literal["unsafe"] = False
    answered_by: str | None = None
    answered: str | None = None
    cache: str | None = None
    urls: tuple[str, ...] = ()
    model: str | None = None
    hf_path: str | None = None
    hf_type: HfType = "chat"
    loaded: LoadedConfig | None = None
    budget: Budget = Budget()
    summarizer: str | None = None
    data: DataFile | None = None
    dataset: Mapping[str, Any] | None = None
    dataset_num_runs: int | None = None
    hf_num_gpus: int | None = None
    stand_in: Mapping[str, Any] | None = None
    ignores_runner: bool = False
    control: str | None = None
    sample: SampleOption | None = None
    options: Mapping[str, Any] = {}

    @property
    def names_model(self) -> bool:
        """Whether a model without a config is described."""
        return bool(self.urls) or self.hf_path is not None

    @property
    def names_dataset(self) -> bool:
        """Whether any dataset is named."""
        return bool(self.datasets) or self.data is not None or self.dataset is not None


class ReadConfig(Struct, frozen=True):
    """A config that was loaded, translated and parsed.

    Attributes:
        loaded: its values, in terms of this program.
        spec: what it says.
        notes: what was dropped or means something else, in a config of another program.
    """

    loaded: LoadedConfig
    spec: RunSpec
    notes: tuple[Note, ...]


def read_spec(source: Source) -> ReadConfig:
    """Load, translate and parse a config.

    Raises:
        ConfigError: it cannot be read, or has the wrong shape (`ConfigFaults`, all at once).
    """
    loaded = _with_named_values(_load(source), source)
    values, notes = loaded.values, tuple(Note(text, "") for text in loaded.notes)
    folder = loaded.path.resolve().parent if loaded.path else None
    for translate in steps("translate"):
        values, translated = translate(
            values, source.options, foreign_summary=source.summarizer is not None, folder=folder, place=loaded.place
        )
        notes = (*notes, *translated)
    if source.control is not None:
        values = with_control(values, source.control, loaded.name)
    if source.sample is not None:
        whole = parse_run(replace(loaded, values=values), work_dir=source.work_dir, budget=source.budget)
        values = with_sample(values, whole, source.sample, source.num_prompts)
    loaded = replace(loaded, values=values)
    spec = parse_run(loaded, work_dir=source.work_dir, budget=source.budget)
    return ReadConfig(loaded, _with_named_options(spec, source), notes)


def refuse_lists_only(loaded: LoadedConfig, path: str) -> None:
    """Refuse a file of a config tree, which holds datasets or a summarizer for other configs to read.

    Raises:
        ConfigError: it has no ``models``; the fix is the command that runs it.
    """
    if "models" in loaded.values:
        return
    if lists := _dataset_lists(loaded):
        raise ConfigError(
            f"this file holds datasets and no models: {listed(lists)}",
            where=place(loaded.path or Path(path)),
            fix=f"aisprompt run --datasets {path} --models NAME (or --url, --hf-path)",
        )
    if "summarizer" in loaded.values and "datasets" not in loaded.values:
        raise ConfigError(
            "this file holds a summarizer, no models and no datasets",
            where=place(loaded.path or Path(path)),
            fix=f"aisprompt run … --summarizer {path}",
        )


def _with_named_values(loaded: LoadedConfig, source: Source) -> LoadedConfig:
    """Return the config with the values that the command line names, before it is translated and parsed."""
    if source.answered_by is not None:
        models = [{"type": "elsewhere", "abbr": source.answered_by}]
        loaded = replace(loaded, values={**loaded.values, "models": models})
    if source.dataset_num_runs is not None:
        loaded = replace(loaded, values=_asked_often(loaded.values, source.dataset_num_runs))
    return loaded


def _with_named_options(spec: RunSpec, source: Source) -> RunSpec:
    """Return the parsed config with the options of the command line."""
    if source.answered_by is not None:
        spec = _with_one_dataset(spec, source.answered)
    if source.num_prompts is not None:
        limited = (replace(one, reader=replace(one.reader, limit=source.num_prompts)) for one in spec.datasets)
        spec = replace(spec, datasets=tuple(limited))
    if source.allow_code_execution:
        allowed = source.allow_code_execution
        allowing = (replace(one, eval=replace(one.eval, allow_code_execution=allowed)) for one in spec.datasets)
        spec = replace(spec, datasets=tuple(allowing))
    if source.ignores_runner:
        spec = replace(spec, runner=None)
    if source.cache is not None:
        spec = replace(spec, cache=expand(source.cache))
    return spec


def _load(source: Source) -> LoadedConfig:
    """Load the config that the command line names, or compose one of what it names.

    Raises:
        ConfigError: it names nothing, or two things that exclude each other.
    """
    source = _with_named_lists(source)
    _refuse_contradictions(source)
    if source.loaded is not None:
        return source.loaded
    if source.config is not None:
        loaded = load_config(find_config(source.config), source.overrides)
        refuse_lists_only(loaded, source.config)
        return loaded if source.summarizer is None else with_summarizer(loaded, source.summarizer)
    if source.names_dataset and (source.models or source.names_model or source.stand_in):
        dataset, guessed = source.dataset, ""
        if source.data is not None:
            dataset, guessed, _ = describe_file(source.data)
        loaded = compose_config(
            source.models,
            source.datasets,
            source.overrides,
            summarizer=source.summarizer,
            model=_described(source) or (None if source.models else source.stand_in),
            dataset=dataset,
        )
        return replace(loaded, notes=(*loaded.notes, guessed)) if guessed else loaded
    raise _nothing_to_run(source)


def _nothing_to_run(source: Source) -> ConfigError:
    """Return the error for a command line that names no config, or only one half of a run."""
    if source.names_dataset:
        models = "--models NAME (`aisprompt list models`), --url http://…/v1 or --hf-path PATH"
        return ConfigError("there is nothing to run: datasets are named, and no model", fix=f"add {models}")
    if source.models or source.names_model:
        datasets = "--data FILE with your questions, or --datasets NAME (`aisprompt list datasets`)"
        return ConfigError("there is nothing to run: a model is named, and no dataset", fix=f"add {datasets}")
    return ConfigError(
        "there is nothing to run",
        fix="name a config: a path such as my_eval.py, or a shipped one such as eval; "
        "or --url http://…/v1 --data questions.csv; or --models NAME --datasets NAME, see `aisprompt list`",
    )


def _refuse_contradictions(source: Source) -> None:
    if source.config is not None and (source.models or source.names_dataset or source.names_model):
        raise ConfigError(
            "give either a config, or datasets and models on the command line, not both",
            fix="change values of a config with --set",
        )
    if source.urls and source.hf_path is not None:
        raise ConfigError("--url is for a server and --hf-path for a local model", fix="give one of them")
    if source.model is not None and not source.urls:
        raise ConfigError("--model is the model of a server", fix="add --url http://…/v1, or a provider: --url openai")


def _dataset_lists(loaded: LoadedConfig) -> list[str]:
    """Return the names of the lists in a file that holds only datasets for other configs; empty for any other file."""
    if {"models", "datasets"} & loaded.values.keys():
        return []
    return [name for name, value in loaded.values.items() if name.endswith("_datasets") and isinstance(value, list)]


def _with_named_lists(source: Source) -> Source:
    """Return a source whose config, if it holds datasets only and a model is named, is among the named datasets."""
    if source.config is None or source.names_dataset or not (source.models or source.names_model or source.stand_in):
        return source
    path = find_config(source.config)
    loaded = load_config(path)
    if _dataset_lists(loaded) or {"models", "datasets"} & loaded.values.keys() == {"datasets"}:
        return replace(source, config=None, datasets=(str(path),))
    return source


def _asked_often(values: dict[str, Any], times: int) -> dict[str, Any]:
    """Return the config with ``n`` of every dataset set."""
    datasets = values.get("datasets")
    if not isinstance(datasets, list | tuple):
        return values
    return {**values, "datasets": [{**one, "n": times} if isinstance(one, dict) else one for one in datasets]}


def _described(source: Source) -> dict[str, Any] | None:
    """Return the config of the model that the command line describes; None if there is none."""
    if source.urls:
        try:
            return served_model(source.urls, source.model)
        except ModelError:
            if source.stand_in is None:
                raise
            return dict(source.stand_in)  # its prompts are those of any chat model
    if source.hf_path is None:
        return None
    return local_model(source.hf_path, source.hf_type, source.hf_num_gpus)


def _with_one_dataset(spec: RunSpec, abbr: str | None) -> RunSpec:
    """Return the config with only one of its datasets."""
    abbrs = [dataset.abbr for dataset in spec.datasets]
    if abbr is None and len(abbrs) == 1:
        abbr = abbrs[0]
    if abbr not in abbrs:
        what = f"the config has no dataset {abbr!r}" if abbr else f"the config has {len(abbrs)} datasets"
        raise ConfigError(what, where="--dataset", fix=f"give --dataset with one of: {listed(abbrs)}")
    index = abbrs.index(abbr)
    resolved = {key: value for key, value in spec.resolved.items() if key != "summarizer"}
    # Those of other datasets have nothing to decide here.
    gates = tuple(gate for gate in spec.gates if any(gate.concerns(model.abbr, abbr) for model in spec.models))
    resolved["gates"] = [gate.text for gate in gates]
    resolved["datasets"] = [spec.resolved["datasets"][index]]
    return replace(spec, datasets=(spec.datasets[index],), resolved=resolved, summary=SummarySpec(), gates=gates)
