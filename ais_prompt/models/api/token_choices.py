"""Alternatives of generated tokens: how OpenAI-compatible servers are asked for them, and return them.

Chat completions take ``logprobs=true`` and ``top_logprobs=N``, and have a list ``content`` of objects in ``logprobs``
of a choice; completions take ``logprobs=N`` and have lists ``tokens``, ``token_logprobs`` and ``top_logprobs`` there.
Source: the API reference of OpenAI, "Chat Completions" and "Completions", as vLLM, SGLang and llama.cpp follow it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ais_prompt.models.api.wire import fields_of
from ais_prompt.types import GeneratedToken

TOP_LOGPROBS: Final = "top_logprobs"
"""Field of `Decoding.extra`: how many of the likeliest tokens are requested for each generated token."""


def chat_token_fields(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a body for chat completions."""
    return {**extra, "logprobs": True} if TOP_LOGPROBS in extra else dict(extra)


def completion_token_fields(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a body for completions."""
    found = dict(extra)
    number = found.pop(TOP_LOGPROBS, None)
    return found if number is None else {**found, "logprobs": number}


def tokens_of(logprobs: Any) -> tuple[GeneratedToken, ...]:
    """Return the tokens in ``logprobs`` of a choice; none if it is in neither form, or has no alternatives."""
    if not (found := fields_of(logprobs)):
        return ()
    content = found.get("content")
    tokens = tuple(_of_chat(content) if isinstance(content, list) else _of_completion(found))
    return tokens if any(token.alternatives for token in tokens) else ()


def _of_chat(content: list[Any]) -> Iterator[GeneratedToken]:
    for one in map(fields_of, content):
        if isinstance(one.get("token"), str) and _is_number(one.get("logprob")):
            top = one.get(TOP_LOGPROBS)
            others = [fields_of(other) for other in top] if isinstance(top, list) else []
            yield GeneratedToken(
                one["token"],
                float(one["logprob"]),
                {
                    other["token"]: float(other["logprob"])
                    for other in others
                    if isinstance(other.get("token"), str) and _is_number(other.get("logprob"))
                },
            )


def _of_completion(found: Mapping[str, Any]) -> Iterator[GeneratedToken]:
    lists = [found.get(name) for name in ("tokens", "token_logprobs", TOP_LOGPROBS)]
    tokens, values, tops = (one if isinstance(one, list) else [] for one in lists)
    for token, value, top in zip(tokens, values, tops, strict=False):
        if isinstance(token, str) and _is_number(value):
            others = {text: float(one) for text, one in fields_of(top).items() if _is_number(one)}
            yield GeneratedToken(token, float(value), others)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
