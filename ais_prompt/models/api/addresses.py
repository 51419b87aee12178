"""Where a model is served: one address, or those of replicas."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from ais_prompt.errors import ConfigError
from ais_prompt.models.api.providers import find_provider
from ais_prompt.models.transport import TransportSpec
from ais_prompt.models.transport.address import public_address


class Defaults(NamedTuple):
    """Where the address and the key come from if the config does not say.

    Attributes:
        provider: name of the provider whose address is taken if nothing else names one.
        url_variable: environment variable of the address.
        key_variable: environment variable of the key.
    """

    provider: str
    url_variable: str
    key_variable: str


def read_addresses(
    base_url: str | Sequence[str] | None, client: TransportSpec, model: str, defaults: Defaults
) -> tuple[str, ...]:
    """Return the addresses of the servers of a model.

    Args:
        base_url: of the config. None takes the address of the transport, or else that of ``defaults``.
        client: the transport, which may have an address of its own.
        model: name of the model, for errors.
        defaults: where the address comes from if nothing else names one.

    Raises:
        ConfigError: a list is empty, names a server twice, or is given beside the address of the transport.
    """
    if base_url is None or isinstance(base_url, str):
        return (
            base_url
            or client.address
            or os.environ.get(defaults.url_variable)
            or find_provider(defaults.provider).base_url,
        )
    shown = list(map(public_address, base_url))
    if not shown:
        raise ConfigError("base_url is an empty list", where=model, fix="name at least one server, or remove it")
    if twice := next((address for address in shown if shown.count(address) > 1), None):
        raise ConfigError(f"base_url names {twice} twice", where=model, fix="name each server once")
    if "azure_endpoint" in client.args:
        what = "azure_endpoint names one server, and base_url is a list"
        raise ConfigError(what, where=model, fix="remove azure_endpoint from `client`")
    return tuple(base_url)
