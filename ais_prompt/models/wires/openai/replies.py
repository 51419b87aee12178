"""Read the parts of a reply in OpenAI's form."""

from __future__ import annotations

from typing import Any

from ais_prompt.models.api.finish import ended
from ais_prompt.models.api.wire import BadBody, fields_of, text_of, token_count
from ais_prompt.types import Completion, ToolCall, Usage


def completion_of(
    text: str, refusal: str, finish_reason: Any, usage: Any, reasoning: str, tool_calls: tuple[ToolCall, ...] = ()
) -> Completion:
    """Make the completion of a reply, streamed or not.

    Args:
        text: the answer.
        refusal: the text with which the model refuses to answer; it is the answer if there is no other.
        finish_reason, usage: as in the reply.
        reasoning: the reasoning before the answer.
        tool_calls: what the model calls in place of an answer, or after it.
    """
    said = Completion(
        text or refusal,
        usage=usage_of(usage),
        reasoning=reasoning,
        refused=bool(refusal),
        tool_calls=tool_calls,
    )
    return ended(said, finish_reason)


def first_choice(choices: list[Any]) -> Any:
    """Return the choice with the index 0; the first choice if none has it."""
    for choice in choices:
        if isinstance(choice, dict) and choice.get("index") == 0:
            return choice
    return choices[0]


def content_of(content: Any) -> tuple[str, str]:
    """Return the text and the reasoning in the content of a message, or of a piece of it.

    The content is a text, None (a tool call, or the tokens ran out while the model was still reasoning), or a list of
    parts. Source: the API reference of Mistral, "Reasoning"; its parts of the type ``thinking`` hold a list again.

    Raises:
        BadBody: it is something else.
    """
    if content is None or isinstance(content, str):
        return content or "", ""
    if not isinstance(content, list):
        raise BadBody("the choice has no text")
    text, reasoning = "", ""
    for part in content:
        fields = {"text": part} if isinstance(part, str) else fields_of(part)
        thought = fields.get("thinking") or fields.get("reasoning")
        reasoning += "".join(content_of(thought))
        piece = fields.get("text", "")
        if not isinstance(piece, str):
            raise BadBody("the choice has no text")
        text += piece
    return text, reasoning


def refusal_of(message: Any) -> str:
    """Return OpenAI's field ``refusal`` of a message; empty without one."""
    return text_of(fields_of(message).get("refusal"))


def reasoning_of(message: Any) -> str:
    """Return the reasoning of a message, in the field of DeepSeek and vLLM, or that of OpenRouter."""
    fields = fields_of(message)
    return text_of(fields.get("reasoning_content") or fields.get("reasoning"))


def tool_calls_of(message: Any) -> tuple[ToolCall, ...]:
    """Return the calls in ``tool_calls`` of a message; entries in another form are left out."""
    calls = fields_of(message).get("tool_calls")
    if not isinstance(calls, list):
        return ()
    functions = [fields_of(fields_of(call).get("function")) for call in calls]
    return tuple(
        ToolCall(text_of(function.get("name")), text_of(function.get("arguments")))
        for function in functions
        if text_of(function.get("name"))
    )


def usage_of(usage: Any, asked: str = "prompt", answered: str = "completion") -> Usage:
    """Return the token counts of a reply.

    Args:
        usage: the field of the reply.
        asked, answered: how the API calls the two sides: ``prompt_tokens``, or ``input_tokens``.
    """
    counts = fields_of(usage)
    sent, received = token_count(counts.get(f"{asked}_tokens")), token_count(counts.get(f"{answered}_tokens"))
    prompt, answer = counts.get(f"{asked}_tokens_details"), counts.get(f"{answered}_tokens_details")
    if not (prompt or answer):
        return Usage(sent, received)
    prompt, answer = fields_of(prompt), fields_of(answer)
    return Usage(
        sent,
        received,
        reasoning_tokens=token_count(answer.get("reasoning_tokens")),
        cached_tokens=token_count(prompt.get("cached_tokens")),
        cache_write_tokens=token_count(prompt.get("cache_write_tokens")),
    )
