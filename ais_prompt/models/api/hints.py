"""Say what is wrong with an address for which a server has no page."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from ais_prompt.models.api.wire import WireFormat

ENDPOINTS: Final = {
    "chat/completions": "OpenAIChatModel",
    "completions": "OpenAICompletionModel",
    "responses": "OpenAIResponsesModel",
    "messages": "AnthropicModel",
}
"""Path of an endpoint → the model that speaks to it."""


def address_hint(url: str, endpoint: WireFormat) -> str:
    """Return a hint for an address that a server answered with 404 or 405; empty if the address looks right.

    Args:
        url: of the request, which ends with the path of the endpoint.
        endpoint: what was asked.
    """
    base = urlsplit(url).path.removesuffix(f"/{endpoint.path}")
    for path, model in ENDPOINTS.items():
        if base.endswith(f"/{path}"):
            use = "" if path == endpoint.path else f", and only {model} speaks to it"
            return f"; base_url must end before /{path}{use}"
    if not base:
        return "; base_url has no path, most servers want /v1 at its end"
    if endpoint.path in ("responses", "messages"):
        return f"; the server may not have {endpoint.title}, most have Chat Completions (OpenAIChatModel)"
    return ""
