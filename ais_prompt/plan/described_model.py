"""Models that a command line describes without a config: a server by its address, or weights by their path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ais_prompt.catalog import PROVIDERS
from ais_prompt.config import HfType, compose_config
from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models import completed_address, public_address, served_models
from ais_prompt.utils import advice, listed

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
