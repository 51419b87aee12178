"""Ask a server which models it serves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Final

from ais_prompt.catalog import Api
from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models.transport import Reply, Server, check_environment, read_client, request_headers
from ais_prompt.models.transport.address import check_address, public_address, without_login
from ais_prompt.models.transport.credentials import DEFAULT_VARIABLE, read_key
from ais_prompt.types import Failure
from ais_prompt.utils.text import listed

TIMEOUT_SECONDS: Final = 30.0
_NO_LIST: Final = "correct the address, which usually ends with /v1; or name the model: --model NAME"


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
    reply = asyncio.run(_get_models(base_url, api_key, headers or {}, api))
    if isinstance(reply, Failure):
        what, fix = f"the server does not answer: {reply.message}", "start the server, or correct its address"
        raise ModelError(what, where=where, fix=fix)
    try:
        names = [str(entry["id"]) for entry in json.loads(reply.body)["data"]] if reply.status == 200 else []
    except (ValueError, TypeError, LookupError):
        names = []
    if not names:
        raise ModelError(f"the server lists no models (HTTP {reply.status})", where=where, fix=_NO_LIST)
    return names


async def _get_models(base_url: str, api_key: str | None, headers: Mapping[str, str], api: Api) -> Reply | Failure:
    key = read_key(api_key, base_url)
    sent = request_headers(base_url, key, headers, api)
    server = Server(without_login(base_url), sent, key, "", TIMEOUT_SECONDS)
    transport = read_client("aiohttp").open(server)
    try:
        return await transport.send("GET", "models", None, None)
    finally:
        await transport.close()
