"""A model that the command line describes: a server and a name, or a folder with weights."""

from __future__ import annotations

from typing import Any, Final, Literal

from ais_prompt.catalog import PROVIDERS
from ais_prompt.errors import ConfigError
from ais_prompt.models.openai.served import served_models
from ais_prompt.utils.text import listed

HfType = Literal["chat", "base"]
_HF_TYPES: Final = {"chat": "HuggingFaceChatModel", "base": "HuggingFaceBaseModel"}


def served_model(url: str, name: str | None) -> dict[str, Any]:
    """Return the config of a model behind an OpenAI-compatible server.

    Args:
        url: address of the server up to its version, or the name of a provider.
        name: the model, as the server knows it; None if the server serves only one.

    Raises:
        ModelError: the server has to be asked for its models, and does not list any.
        ConfigError: it serves several.
    """
    provider = PROVIDERS.get(url)
    if name is None:
        found = served_models(*provider[:2]) if provider else served_models(url)
        if len(found) > 1:
            raise ConfigError(
                f"the server has {len(found)} models", where="--url", fix=f"--model with: {listed(found)}"
            )
        name = found[0]
    return {"type": "OpenAIChatModel", "model": name, **({"provider": url} if provider else {"base_url": url})}


def local_model(path: str, hf_type: HfType) -> dict[str, Any]:
    """Return the config of a Hugging Face model: a folder, or a hub id."""
    return {"type": _HF_TYPES[hf_type], "path": path}
