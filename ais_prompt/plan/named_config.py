"""Read the config that a command line names: by file, by names, or by a model and data without a config.

A model without a config is a server, named by its address, or weights, named by their path.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.catalog import PROVIDERS
from ais_prompt.config import (
    HfType,
    LoadedConfig,
    Note,
    Options,
    compose_config,
    expand,
    find_config,
    load_config,
    parse_run,
    with_summarizer,
)
from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models import completed_address, public_address, served_models
from ais_prompt.parts import place
from ais_prompt.plan.bind import accepts
from ais_prompt.plan.data_file import NONE, DataFile, describe_file
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.steps import steps
from ais_prompt.types import RunSpec, SummarySpec
from ais_prompt.utils import advice, listed

ADDED: Final = "+"
"""Begins the name of an evaluator that is used beside the others: ``--evaluator +NAME``."""


class ReadConfig(Struct, frozen=True):
    """A config that was loaded, translated and parsed.

    Attributes:
        loaded: its values, in terms of this program.
        spec: what it says.
        notes: of the loaded config, and what was dropped or means something else in one of another program.
    """

    loaded: LoadedConfig
    spec: RunSpec
    notes: tuple[Note, ...]


def read_spec(options: Options) -> ReadConfig:
    """Load, translate and parse a config.

    Raises:
        ConfigError: it cannot be read, or has the wrong shape (`ConfigFaults`, all at once).
    """
    loaded = _with_named_values(_load(options), options)
    if is_varied := bool(options.sweep) or _has_prompts(loaded.values):
        from ais_prompt.config import keep_variants, with_variants  # most runs have none

        loaded = with_variants(loaded, options.sweep, zipped=options.sweep_zip)
    values, notes = loaded.values, loaded.notes
    folder = loaded.path.resolve().parent if loaded.path else None
    for translate in steps("translate"):
        values, translated = translate(
            values, options.options, foreign_summary=options.summarizer is not None, folder=folder, place=loaded.place
        )
        notes = (*notes, *translated)
    if is_varied:
        values = keep_variants(values, loaded.values)
    if options.control is not None:
        from ais_prompt.plan.question_options import with_control

        values = with_control(values, options.control, loaded.name)
    if options.sample is not None:
        whole = parse_run(replace(loaded, values=values), work_dir=options.work_dir, budget=options.budget)
        from ais_prompt.plan.question_options import with_sample

        values = with_sample(values, whole, options)
    loaded = replace(loaded, values=values)
    spec = parse_run(loaded, work_dir=options.work_dir, budget=options.budget)
    return ReadConfig(loaded, _with_named_options(spec, options), notes)


def _has_prompts(values: dict[str, Any]) -> bool:
    """Return whether a dataset has several prompts."""
    datasets = values.get("datasets")
    return isinstance(datasets, list | tuple) and any(isinstance(one, dict) and one.get("prompts") for one in datasets)


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


def _with_named_values(loaded: LoadedConfig, options: Options) -> LoadedConfig:
    """Return the config with the values that the command line names, before it is translated and parsed."""
    values, times = loaded.values, options.dataset_num_runs
    if options.answered_by is not None:
        values = {**values, "models": [{"type": "elsewhere", "abbr": options.answered_by}]}
    if times is not None and isinstance(datasets := values.get("datasets"), list | tuple):
        often = [{**one, "n": times} if isinstance(one, dict) else one for one in datasets]
        values = {**values, "datasets": often}
    if options.data is None and (options.postprocessor or options.evaluator):
        values = _read_otherwise(values, options)
    return replace(loaded, values=values)


def _read_otherwise(values: dict[str, Any], options: Options) -> dict[str, Any]:
    """Return the config with other parts that read and compare the answers; they keep the arguments that they take."""

    def scored(scoring: dict[str, Any]) -> dict[str, Any]:
        changed = dict(scoring)
        if options.postprocessor == NONE:
            changed.pop("pred_postprocessor", None)
        elif options.postprocessor is not None:
            part, name = scoring.get("pred_postprocessor"), options.postprocessor
            args = part if isinstance(part, dict) else {}
            kept = {key: arg for key, arg in args.items() if accepts(POSTPROCESSORS.get(name), key)}
            changed["pred_postprocessor"] = {**kept, "type": name}
        if options.evaluator is not None:
            part = {"type": options.evaluator.removeprefix(ADDED)}
            adds = options.evaluator.startswith(ADDED) and "evaluator" in scoring
            changed["evaluator"] = _with_evaluator(scoring["evaluator"], part) if adds else part
        return changed

    return {**values, "datasets": [{**one, "eval_cfg": scored(one.get("eval_cfg", {}))} for one in values["datasets"]]}


def _with_evaluator(given: Any, part: dict[str, Any]) -> Any:
    """Return one or several evaluators as a config has them, with a further one."""
    if isinstance(given, Mapping) and "type" not in given:
        return {**given, part["type"].rpartition(".")[2]: part}
    return [*(given if isinstance(given, list | tuple) else [given]), part]


def _with_named_options(spec: RunSpec, options: Options) -> RunSpec:
    """Return the parsed config with the options of the command line."""
    if options.answered_by is not None:
        spec = _with_one_dataset(spec, options.answered)
    if options.num_prompts is not None:
        limited = (replace(one, reader=replace(one.reader, limit=options.num_prompts)) for one in spec.datasets)
        spec = replace(spec, datasets=tuple(limited))
    if options.allow_code_execution:
        allowed = options.allow_code_execution
        scorings = (one.eval.for_each(lambda it: replace(it, allow_code_execution=allowed)) for one in spec.datasets)
        allowing = (replace(one, eval=scoring) for one, scoring in zip(spec.datasets, scorings, strict=True))
        spec = replace(spec, datasets=tuple(allowing))
    if options.ignores_runner:
        spec = replace(spec, runner=None)
    if options.cache is not None:
        spec = replace(spec, cache=expand(options.cache))
    return spec


def _load(options: Options) -> LoadedConfig:
    """Load the config that the command line names, or compose one of what it names.

    Raises:
        ConfigError: it names nothing, or two things that exclude each other.
    """
    options = _with_named_lists(options)
    _refuse_contradictions(options)
    options, notes = _with_whole_urls(options)
    if options.loaded is not None:
        return options.loaded
    if options.config is not None:
        loaded = load_config(find_config(options.config), options.overrides)
        refuse_lists_only(loaded, options.config)
        return loaded if options.summarizer is None else with_summarizer(loaded, options.summarizer)
    if options.names_dataset and (options.models or options.names_model or options.stand_in):
        dataset = options.dataset
        if (file := DataFile.named(options)) is not None:
            found = describe_file(file)
            dataset, notes = found.dataset, (*notes, *found.notes)
        loaded = compose_config(
            options.models,
            options.datasets,
            options.overrides,
            summarizer=options.summarizer,
            model=_described(options) or (None if options.models else options.stand_in),
            dataset=dataset,
        )
        return replace(loaded, notes=(*loaded.notes, *notes))
    raise _nothing_to_run(options)


def _with_whole_urls(options: Options) -> tuple[Options, tuple[Note, ...]]:
    """Return the options with whole addresses, and sentences about the address and the model that are used."""
    urls = completed_urls(options.url)
    notes = [
        f"--url {public_address(url)} means {whole}"
        for url, whole in zip(options.url, urls, strict=True)
        if url != whole
    ]
    if urls and options.model and options.stand_in is None:
        notes += filter(None, [listed_otherwise(urls, options.model)])
    return dataclasses.replace(options, url=urls), tuple(map(Note, notes))


def _nothing_to_run(options: Options) -> ConfigError:
    """Return the error for a command line that names no config, or only one half of a run."""
    if options.names_dataset:
        models = "--models NAME (`aisprompt list models`), --url http://…/v1 or --hf-path PATH"
        return ConfigError("there is nothing to run: datasets are named, and no model", fix=f"add {models}")
    if options.models or options.names_model:
        datasets = "--data FILE with your questions, or --datasets NAME (`aisprompt list datasets`)"
        return ConfigError("there is nothing to run: a model is named, and no dataset", fix=f"add {datasets}")
    return ConfigError(
        "there is nothing to run",
        fix="name a config: a path such as my_eval.py, or a shipped one such as eval; "
        "or --url http://…/v1 --data questions.csv; or --models NAME --datasets NAME, see `aisprompt list`",
    )


def _refuse_contradictions(options: Options) -> None:
    if options.config is not None and (options.models or options.names_dataset or options.names_model):
        raise ConfigError(
            "give either a config, or datasets and models on the command line, not both",
            fix="change values of a config with --set",
        )
    if options.url and options.hf_path is not None:
        raise ConfigError("--url is for a server and --hf-path for a local model", fix="give one of them")


def _dataset_lists(loaded: LoadedConfig) -> list[str]:
    """Return the names of the lists in a file that holds only datasets for other configs; empty for any other file."""
    if {"models", "datasets"} & loaded.values.keys():
        return []
    return [name for name, value in loaded.values.items() if name.endswith("_datasets") and isinstance(value, list)]


def _with_named_lists(options: Options) -> Options:
    """Return the options with a config that holds datasets only, if a model is named, among the named datasets."""
    if (
        options.config is None
        or options.names_dataset
        or not (options.models or options.names_model or options.stand_in)
    ):
        return options
    path = find_config(options.config)
    loaded = load_config(path)
    if _dataset_lists(loaded) or {"models", "datasets"} & loaded.values.keys() == {"datasets"}:
        return dataclasses.replace(options, config=None, datasets=(str(path),))
    return options


def _described(options: Options) -> dict[str, Any] | None:
    """Return the config of the model that the command line describes; None if there is none."""
    if options.url:
        try:
            return served_model(options.url, options.model)
        except ModelError:
            if options.stand_in is None:
                raise
            return dict(options.stand_in)  # its prompts are those of any chat model
    if options.hf_path is None:
        return None
    return local_model(options.hf_path, options.hf_type, options.hf_num_gpus)


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
    gates = tuple(
        gate
        for gate in spec.gates
        if any(gate.concerns(model.abbr, abbr, model.base, spec.datasets[index].base) for model in spec.models)
    )
    resolved["gates"] = [gate.text for gate in gates]
    resolved["datasets"] = [spec.resolved["datasets"][index]]
    return replace(spec, datasets=(spec.datasets[index],), resolved=resolved, summary=SummarySpec(), gates=gates)


STAND_IN: Final = {"type": "ScriptedModel", "abbr": "any-chat-model"}
"""The model of datasets that are named without one. It gets the messages of a chat model without a meta template."""
_HF_TYPES: Final = {"chat": "HuggingFaceChatModel", "base": "HuggingFaceBaseModel"}


def completed_urls(urls: Sequence[str]) -> tuple[str, ...]:
    """Return addresses with what ``--url`` may leave out: ``http://`` and, without a path, ``/v1``.

    Raises:
        ConfigError: a word is neither an address nor a provider.
    """
    _refuse_unknown_providers(urls)
    return tuple(url if url in PROVIDERS else completed_address(url) for url in urls)


def listed_otherwise(urls: Sequence[str], name: str) -> str:
    """Return a sentence about a server that lists models, and not this one; empty if it lists it or lists none.

    A list need not be complete: a gateway may know further names.
    """
    for url in urls:
        try:
            names = [] if url in PROVIDERS else served_models(url)
        except ModelError:  # the first request says what is wrong
            continue
        if names and name not in {*names, *(one.partition(":")[0] for one in names)}:
            return f"{public_address(url)} does not list {name!r}; it lists {listed(names)}: --model NAME"
    return ""


def served_model(urls: Sequence[str], name: str | None) -> dict[str, Any]:
    """Return the config of a model behind a server, or behind several.

    Args:
        urls: addresses of the servers up to their version, or names of providers; as `completed_urls` returns them.
        name: the model, as the servers know it; None if they serve only one in common.

    Raises:
        ModelError: a server has to be asked for its models, and does not list any.
        ConfigError: they have no model in common, or several; or a word is neither an address nor a provider.
    """
    _refuse_unknown_providers(urls)
    provider = PROVIDERS.get(urls[0]) if len(urls) == 1 else None
    if provider is None:
        model = _common_model([served_models(url) for url in urls]) if name is None else name
        return {"type": "OpenAIChatModel", "model": model, "base_url": urls[0] if len(urls) == 1 else list(urls)}
    if name is None:
        name = _common_model([served_models(provider.base_url, provider.key, api=provider.api)])
    kind = "AnthropicModel" if provider.api == "anthropic" else "OpenAIChatModel"
    return {"type": kind, "model": name, "provider": urls[0]}


def named_model(text: str) -> dict[str, Any]:
    """Return the config of a model that one word of the command line names.

    Args:
        text: an address (``http://127.0.0.1:8000/v1``, with ``#model`` if the server has several), a model config, or a
            folder or GGUF file with weights.

    Raises:
        ConfigError: it is none of them, or the config has several models.
        ModelError: the server does not list its models.
    """
    name, _, chosen = text.partition("#")
    if name.startswith(("http://", "https://")):
        (name,) = completed_urls((name,))
        return served_model((name,), chosen or None)
    if Path(name).is_dir() or name.endswith(".gguf"):
        return local_model(name, "chat")
    known = compose_config([name], []).values["models"]
    models = [one for one in known if chosen in ("", one.get("abbr"))]
    if len(models) != 1:
        abbrs = listed(str(one.get("abbr")) for one in known)
        what = f"{name} has {len(models)} models" + (f" {chosen!r}" if chosen else "")
        raise ConfigError(what, where=text, fix=f"write {name}#ABBR with one of: {abbrs}")
    return dict(models[0])


def local_model(path: str, hf_type: HfType, gpus: int | None = None) -> dict[str, Any]:
    """Return the config of a Hugging Face model: a folder, or a hub id.

    Args:
        path: the folder or id.
        hf_type: whether it is a chat model or a base model.
        gpus: over how many GPUs its layers are spread; None or 1 leaves it on one device, 0 on the processor.
    """
    spread = {None: None, 0: "cpu", 1: None}.get(gpus, "auto")
    return {
        "type": _HF_TYPES[hf_type],
        "path": path,
        **({"model_kwargs": {"device_map": spread}} if spread else {}),
        **({"run_cfg": {"num_gpus": gpus}} if gpus else {}),
    }


def _refuse_unknown_providers(urls: Sequence[str]) -> None:
    unknown = next((url for url in urls if url.isalpha() and url not in PROVIDERS), None)
    if unknown is not None:
        fix = f"write an address such as http://127.0.0.1:8000/v1, or a provider: {advice(unknown, PROVIDERS)}"
        raise ConfigError(f"there is no provider {unknown!r}", where="--url", fix=fix)


def _common_model(lists: Sequence[Sequence[str]]) -> str:
    """Return the only model that is in all lists, one of each server."""
    found = [model for model in lists[0] if all(model in names for names in lists)]
    if not found:
        raise ConfigError("the servers have no model in common", where="--url", fix="leave out the other servers")
    if len(found) > 1:
        has = "the server has" if len(lists) == 1 else "the servers have"
        raise ConfigError(f"{has} {len(found)} models", where="--url", fix=f"--model with: {listed(found)}")
    return found[0]
