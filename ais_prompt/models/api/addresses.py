"""Where a model is served: its addresses, its provider, and the models that a server lists.

A model has one address, or those of replicas. They come from ``base_url``, or else from the transport, the environment
or the provider, in this order.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from ais_prompt.catalog import PROVIDERS, Api, Provider
from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models.api.server_words import ENDPOINTS, server_words
from ais_prompt.models.flat_options import checked_by
from ais_prompt.models.transport.base import Reply, Server, TransportSpec, read_client
from ais_prompt.models.transport.credentials import (
    DEFAULT_VARIABLE,
    read_key,
    request_headers,
    resolve_address,
    resolve_headers,
)
from ais_prompt.models.transport.network import check_address, check_environment, public_address, without_login
from ais_prompt.processes import run_coroutine
from ais_prompt.secrets import SECRETS
from ais_prompt.types import Failure
from ais_prompt.utils import advice, listed, parse_text

TIMEOUT_SECONDS: Final = 30.0
_ENDS: Final = tuple(f"/{path}" for path in (*ENDPOINTS, "models"))
"""Ends of the addresses of requests, which people copy together with the base."""
_NO_LIST: Final = "correct the address, which usually ends with /v1; or name the model: --model NAME"

_NOT_HERE: Final = (404, 405)
"""Statuses that say that the address is wrong; gateways without their database answer a missing key with 400 or 500."""


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


ProviderName: TypeAlias = Annotated[str | None, checked_by(find_provider)]
"""The name of a provider, or None; checked with the config."""


def completed_address(url: str) -> str:
    """Return the base of an address that a user typed.

    It begins with ``http://`` if it has no scheme, ends with ``/v1`` if it has no path, and has no endpoint at its end.

    Raises:
        ConfigError: it is not the address of a server.
    """
    whole = url if "://" in url else f"http://{url}"
    try:
        check_address(whole)
    except ModelError as error:
        raise ConfigError(
            "this is not the http(s) address of a server", where=public_address(url), fix=error.fix
        ) from error
    parts = urlsplit(whole)
    path = next((parts.path[: -len(end)] for end in _ENDS if parts.path.endswith(end)), parts.path)
    if path.strip("/") and path == parts.path:
        return whole
    return urlunsplit(parts._replace(path=path if path.strip("/") else "/v1"))


def only_model(base_url: str, api_key: str | None, headers: Mapping[str, str], api: Api) -> str:
    """Return the name of the only model that a server lists.

    Args:
        base_url, api_key, headers, api: as in `served_models`.

    Raises:
        ConfigError: it lists several.
        ModelError: as `served_models`.
    """
    found = served_models(base_url, api_key, headers, api)
    if len(found) > 1:
        what = f"the config names no model, and the server has {len(found)}"
        raise ConfigError(what, where=public_address(base_url), fix=f"set model to one of: {listed(found)}")
    return found[0]


def served_models(
    base_url: str,
    api_key: str | None = DEFAULT_VARIABLE,
    headers: Mapping[str, str] | None = None,
    api: Api = "openai",
) -> list[str]:
    """Return the names of the models that a server lists at ``GET models``.

    Source of the format: "List models" of the API references of OpenAI and Anthropic.

    Args:
        base_url: address of the server up to its version.
        api_key: the environment variable of its key; None to send none.
        headers: further headers, as they are sent.
        api: what the server speaks.

    Raises:
        ModelError: the address or key cannot be used, or the server lists no models.
    """
    check_address(base_url)
    check_environment(base_url)
    where = f"{public_address(base_url)}/models"
    reply, has_key = run_coroutine(_ask("GET", "models", base_url, api_key, headers or {}, api))
    if isinstance(reply, Failure):
        what, fix = f"the server does not answer: {reply.message}", "start the server, or correct its address"
        raise ModelError(what, where=where, fix=fix)
    try:
        names = [str(entry["id"]) for entry in parse_text(reply.body)["data"]] if reply.status == 200 else []
    except (ValueError, TypeError, LookupError):
        names = []
    if reply.status in (401, 403):
        what = f"the server refuses {f'the key of {api_key}' if has_key else 'requests without a key'}"
        fix = f"set the environment variable {api_key or DEFAULT_VARIABLE} to a key of this server"
        raise ModelError(f"{what} (HTTP {reply.status})", where=where, fix=fix)
    if not names:
        what, fix = f"the server lists no models (HTTP {reply.status})", _NO_LIST
        if reply.status >= 400 and reply.status not in _NOT_HERE:
            what = f"{what}: {SECRETS.hide_in_message(server_words(reply.body)):.200}".removesuffix(": ")
            variable = api_key or DEFAULT_VARIABLE
            fix = f"read the log of the server; if it wants {'another' if has_key else 'a'} key, set {variable}"
        raise ModelError(what, where=where, fix=fix)
    return names


def ask_root(
    base_url: str, method: str, path: str, api_key: str | None, headers: Mapping[str, str], api: Api
) -> Reply | Failure:
    """Ask a server for something beside its API, such as ``GET /metrics``; nothing is raised if it does not answer.

    Args:
        base_url: address of the server up to its version, which is left out.
        method, path: of the request, without a body.
        api_key, headers, api: as in `served_models`; headers may name environment variables.

    Raises:
        ModelError: the address or key cannot be used.
    """
    root = re.sub(r"/v\d+/?$", "", resolve_address(base_url))
    reply, _ = run_coroutine(_ask(method, path, root, api_key, resolve_headers(headers), api))
    return reply


async def _ask(
    method: str, path: str, base_url: str, api_key: str | None, headers: Mapping[str, str], api: Api
) -> tuple[Reply | Failure, bool]:
    """Return the reply to a request without a body, and whether a key was sent."""
    key = read_key(api_key, base_url)
    sent = request_headers(base_url, key, headers, api)
    server = Server(without_login(base_url), sent, key, "", TIMEOUT_SECONDS)
    transport = read_client("aiohttp").open(server)
    try:
        return await transport.send(method, path, None, None), key is not None
    finally:
        await transport.close()
