"""What the functions of the API take as a config, and the options that all of them share."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypedDict, Unpack

from ais_prompt.checks.source import Source
from ais_prompt.config import load
from ais_prompt.config.load import LoadedConfig
from ais_prompt.config.locate import find_config
from ais_prompt.config.overrides import apply_overrides
from ais_prompt.config.plain import plain_config, plain_value
from ais_prompt.config.redact import redacted_override, register_secrets
from ais_prompt.config.schema import CONFIG
from ais_prompt.errors import ConfigError
from ais_prompt.utils.text import listed

Config: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | LoadedConfig
"""A config: a path, the name of a shipped config, a dict with ``models`` and ``datasets``, or a loaded config."""

UNNAMED: Final = "python"
"""Names the run folder of a config that is a dict without ``run_name``."""


class ConfigOptions(TypedDict, total=False):
    """Options of `check`, `run`, `render_prompts`, `lock` and `check_lock`, each with the meaning of a CLI option.

    Attributes:
        models: names or patterns of model configs, in place of a config (``--models``).
        datasets: names or patterns of dataset configs (``--datasets``).
        url: address of a server, in place of a model config; several addresses are replicas (``--url``).
        model: the model of that server; it may be left out if the server has only one (``--model``).
        hf_path: folder or hub id of a local model, in place of a model config (``--hf-path``).
        hf_type: whether that model is a chat model or a base model (``--hf-type``).
        overrides: changes of single values, ``{'models.0.max_out_len': 64}``, or texts as for ``--set``.
        num_prompts: only the first so many questions of each dataset (``--num-prompts``).
        work_dir: where run folders are made (``-w``).
        cache: folder of answers that runs share (``--cache``).
        allow_code_execution: let evaluators run programs that a model wrote; ``'unsafe'`` also without a sandbox
            (``--allow-code-execution``).
    """

    models: Sequence[str]
    datasets: Sequence[str]
    url: str | Sequence[str]
    model: str
    hf_path: str | os.PathLike[str]
    hf_type: Literal["chat", "base"]
    overrides: Mapping[str, Any] | Sequence[str]
    num_prompts: int
    work_dir: str | os.PathLike[str]
    cache: str | os.PathLike[str]
    allow_code_execution: bool | Literal["unsafe"]


def load_config(config: Config, overrides: Mapping[str, Any] | Sequence[str] = ()) -> LoadedConfig:
    """Read a config into plain values.

    Args:
        config: a path, the name of a shipped config (``'eval'``), a dict, or a loaded config.
        overrides: changes of single values, ``{'models.0.max_out_len': 64}``, or texts as for ``--set``.

    Returns:
        The config. ``values`` are its variables; faults still have the lines of its file.

    Raises:
        ConfigError: it cannot be read, or an override leads nowhere.
    """
    texts = _override_texts(overrides)
    if isinstance(config, LoadedConfig):
        return LoadedConfig(
            apply_overrides(config.values, texts), config.name, config.path, config.origins, config.notes
        )
    if isinstance(config, str | os.PathLike):
        return load.load_config(find_config(Path(config)), texts)
    if not isinstance(config, Mapping):
        raise ConfigError(
            f"this is not a config: {config!r:.60}",
            fix="give a path, the name of a shipped config, or a dict with 'models' and 'datasets'",
        )
    values = apply_overrides(plain_config(dict(config)), texts)
    register_secrets({key: values[key] for key in CONFIG.names if key in values})
    return LoadedConfig(values, UNNAMED)


def source_of(config: Config | None, options: ConfigOptions) -> Source:
    """Return the source that a config and options name.

    Raises:
        ConfigError: there is no such option, or the config cannot be read.
    """
    known = ConfigOptions.__annotations__
    if unknown := options.keys() - known:
        raise ConfigError(f"there is no option {listed(sorted(unknown))}", fix=f"options: {listed(known)}")
    url = options.get("url", ())
    overrides = options.get("overrides", ())
    models, datasets = _names(options.get("models", ()), "models"), _names(options.get("datasets", ()), "datasets")
    loaded = None if config is None else load_config(config, overrides)
    others = [models, datasets, url, options.get("hf_path", "")]
    if loaded is not None and any(others):
        raise ConfigError(
            "give either a config, or datasets and models by name, not both", fix="change values with overrides"
        )
    return Source(
        models=models,
        datasets=datasets,
        loaded=loaded,
        overrides=() if loaded else _override_texts(overrides),
        urls=(url,) if isinstance(url, str) else tuple(url),
        model=options.get("model"),
        hf_path=_text(options.get("hf_path")),
        hf_type=options.get("hf_type", "chat"),
        work_dir=_text(options.get("work_dir")),
        num_prompts=options.get("num_prompts"),
        cache=_text(options.get("cache")),
        allow_code_execution=options.get("allow_code_execution", False),
    )


def call_text(config: Config | None, **options: Unpack[ConfigOptions]) -> str:
    """Return a call of `ais_prompt.run` for the record of a run, without secrets."""
    named = [] if not isinstance(config, str | os.PathLike) else [repr(os.fspath(config))]
    hidden = {"overrides": [redacted_override(one) for one in _override_texts(options.get("overrides", ()))]}
    shown = {**options, **(hidden if hidden["overrides"] else {})}
    return f"ais_prompt.run({', '.join([*named, *(f'{name}={value!r}' for name, value in shown.items())])})"


def _override_texts(overrides: Mapping[str, Any] | Sequence[str]) -> list[str]:
    if isinstance(overrides, Mapping):
        return [f"{path}={plain_value(value, path)!r}" for path, value in overrides.items()]
    return [overrides] if isinstance(overrides, str) else list(overrides)


def _names(value: Sequence[str], key: str) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else tuple(value)
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise ConfigError(
            f"{key} takes the names of configs, and this is none: {wrong[0]!r:.60}",
            fix=f"give the config as a dict: dict({key}=[...], ...)",
        )
    return names


def _text(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)
