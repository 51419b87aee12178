"""The option ``provider`` of a model."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from ais_prompt.catalog import PROVIDERS, Api, Provider
from ais_prompt.config.keys import advice
from ais_prompt.errors import ConfigError


def find_provider(name: str, api: Api = "openai") -> Provider:
    """Return a provider.

    Args:
        name: of the provider.
        api: what the model speaks. Every provider has an OpenAI-compatible API.

    Raises:
        ConfigError: there is none of this name, or no address of its Messages API is known.
    """
    if name not in PROVIDERS:
        raise ConfigError(f"there is no provider named {name!r}", where="provider", fix=advice(name, PROVIDERS))
    known = PROVIDERS[name]
    if api == "anthropic" != known.api:
        what = f"no address of the Messages API is known for the provider {name!r}"
        raise ConfigError(what, where="provider", fix="write base_url and api_key, or use OpenAIChatModel")
    return known


def _check_provider(name: str | None) -> str | None:
    if name is not None:
        find_provider(name)
    return name


ProviderName: TypeAlias = Annotated[str | None, AfterValidator(_check_provider)]
"""The name of a provider, or None; checked with the config."""
