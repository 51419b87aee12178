"""Say what to change in the config: the address for which a server has no page, an option that it refuses."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from ais_prompt.models.api.wire_format import WireFormat
from ais_prompt.utils.roles import SYSTEM_FIX, refuses_system

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


_LIMIT: Final = re.compile(r"\bmax_(completion_|new_|output_)?tokens\b")
_UNKNOWN: Final = re.compile(
    r"unsupported|not supported|unrecognized|unknown|unexpected|not permitted|not allowed|forbidden|deprecated",
    re.IGNORECASE,
)
_REFUSED: Final = re.compile(
    rf"{_UNKNOWN.pattern}|does not support|invalid|must|should|cannot|only|range|may not|at (least|most)|reached",
    re.IGNORECASE,
)
_OPTIONS: Final = {
    "temperature": "generation_kwargs=dict(temperature=None) sends none and leaves the default of the server",
    "top_p": "generation_kwargs=dict(top_p=None) sends none and leaves the default of the server",
    "top_k": "remove top_k from generation_kwargs",
    "seed": "generation_kwargs=dict(seed=None) sends none",
    "stop": "remove stop_words of the model and stopping_criteria of the dataset",
    "stop_sequences": "remove stop_words of the model and stopping_criteria of the dataset",
    "chat_template_kwargs": "remove chat_template_kwargs",
    "stream_options": "write stream=False",
}
"""Field of a body → what to write in the config if a server refuses it."""


def option_hint(error: str) -> str:
    """Return which option to change if a server refuses a request because of it; empty for other errors.

    Args:
        error: the message of the server.
    """
    if refuses_system(error):
        return f"; {SYSTEM_FIX}"
    if not _REFUSED.search(error):
        return ""
    if limit := _LIMIT.search(error):
        if not _UNKNOWN.search(error):
            return "; set another max_out_len"
        other = "max_completion_tokens" if limit[0] == "max_tokens" else "max_tokens"
        return f"; set max_tokens_field={other!r}"
    found = (advice for field, advice in _OPTIONS.items() if re.search(_named(field), error))
    return f"; {advice}" if (advice := next(found, "")) else ""


def _named(field: str) -> str:
    """Return the pattern of a field in quotes, in a path, or as the subject of a sentence; "stop" is a word as well."""
    return rf"""['"`.]{field}\b|\b{field}['"`: ]+(is|must|should|may|can|cannot|does|and)\b"""
