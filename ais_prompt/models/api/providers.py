"""The option ``provider`` of a model."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from ais_prompt.catalog import PROVIDERS, Provider
from ais_prompt.config.keys import advice
from ais_prompt.errors import ConfigError


def find_provider(name: str) -> Provider:
    """Return a provider.

    Raises:
        ConfigError: there is none of this name.
    """
    if name not in PROVIDERS:
        raise ConfigError(f"there is no provider named {name!r}", where="provider", fix=advice(name, PROVIDERS))
    return PROVIDERS[name]


def _check_provider(name: str | None) -> str | None:
    if name is not None:
        find_provider(name)
    return name


ProviderName: TypeAlias = Annotated[str | None, AfterValidator(_check_provider)]
"""The name of a provider, or None; checked with the config."""
