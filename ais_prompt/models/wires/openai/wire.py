"""The wire format of OpenAI-compatible servers: requests to JSON bodies, replies to completions. Nothing is sent.

Source: the API reference of OpenAI, "Chat Completions" and "Completions", as other servers follow it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from ais_prompt.errors import PromptError
from ais_prompt.models.api.wire import BadBody, embed_files
from ais_prompt.models.options import MaxTokensField, Wire
from ais_prompt.models.wires.openai.replies import (
    completion_of,
    content_of,
    first_choice,
    reasoning_of,
    refusal_of,
    tool_calls_of,
)
from ais_prompt.models.wires.openai.stream import ChatStream
from ais_prompt.types import ChatMessage, Completion, Decoding, Failure, Prompt, Request
from ais_prompt.utils.tool_messages import openai_json

STREAMED: Final[Mapping[str, Any]] = MappingProxyType({"stream": True, "stream_options": {"include_usage": True}})
"""Further fields of a request whose answer is streamed with its token counts."""


class Endpoint(Struct, frozen=True):
    """One of the two older endpoints of a server.

    Attributes:
        path: path below the base URL.
        title: the name of the API and the model that speaks it, for messages.
        prompt_name: the field of the body that holds the prompt.
        prompt_value: prompt → value of that field; raises `PromptError` if the endpoint cannot take the prompt.
        choice_text: a choice of the reply → its text, and reasoning within it; raises `BadBody` if there is none.
        stream_fields: further fields of a request whose answer is streamed.
    """

    path: str
    title: str
    prompt_name: str
    prompt_value: Callable[[Prompt], str | list[dict[str, Any]]]
    choice_text: Callable[[Mapping[str, Any]], tuple[str, str]]
    stream_fields: Mapping[str, Any] = STREAMED

    def body(self, model: str, request: Request, wire: Wire) -> dict[str, Any]:
        """As `WireFormat.body`."""
        return request_body(self, model, request, wire.max_tokens_field)

    def answer(self, reply: Any) -> Completion:
        """As `WireFormat.answer`."""
        if not isinstance(reply, dict) or not isinstance(reply.get("choices"), list):
            raise BadBody("the reply has no choices")
        if not reply["choices"]:
            return Completion(failure=Failure("empty_choices", "the server sent no choice at all"))
        choice = first_choice(reply["choices"])
        if not isinstance(choice, dict):
            raise BadBody("the choice is no object")
        (text, thought), message = self.choice_text(choice), choice.get("message")
        reason, usage = choice.get("finish_reason"), reply.get("usage")
        reasoning, calls = reasoning_of(message) or thought, tool_calls_of(message)
        return completion_of(text, refusal_of(message), reason, usage, reasoning, calls)

    def local_stops(self, stop: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG002
        """As `WireFormat.local_stops`: none."""
        return ()

    def reader(self) -> ChatStream:
        """As `WireFormat.reader`."""
        return ChatStream()


def request_body(endpoint: Endpoint, model: str, request: Request, max_tokens_field: MaxTokensField) -> dict[str, Any]:
    """Return the body of a request as plain JSON values. Options that are None are left out, local files put in.

    Raises:
        PromptError: messages for an endpoint that takes a text.
        DataError: a local file in the prompt cannot be read.
    """
    decoding = request.decoding
    assert isinstance(decoding, Decoding)
    # Repeats of a prompt must draw different answers, so each has its own seed.
    seed = None if decoding.seed is None else decoding.seed + request.repeat
    options = {
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "seed": seed,
        "stop": list(decoding.stop) or None,
        "stop_token_ids": list(decoding.stop_tokens) or None,  # a field of vLLM and SGLang
    }
    return {
        "model": model,
        endpoint.prompt_name: endpoint.prompt_value(embed_files(request.prompt)),
        max_tokens_field: decoding.max_out_len,
        **{name: value for name, value in options.items() if value is not None},
        **decoding.extra,
    }


def chat_messages(prompt: Prompt) -> str | list[dict[str, Any]]:
    """Return a prompt as messages in OpenAI form; a text is what the user says."""
    return list(map(openai_json, (ChatMessage("user", prompt),) if isinstance(prompt, str) else prompt))


def _chat_text(choice: Mapping[str, Any]) -> tuple[str, str]:
    message = choice.get("message")
    if not isinstance(message, dict):
        raise BadBody("the choice has no message")
    return content_of(message.get("content"))


def _only_text(prompt: Prompt) -> str:
    if not isinstance(prompt, str):
        raise PromptError("OpenAICompletionModel takes text, not messages", fix="use OpenAIChatModel for messages")
    return prompt


def _plain_text(choice: Mapping[str, Any]) -> tuple[str, str]:
    if not isinstance(choice.get("text"), str):
        raise BadBody("the choice has no text")
    return choice["text"], ""


CHAT: Final = Endpoint("chat/completions", "Chat Completions (OpenAIChatModel)", "messages", chat_messages, _chat_text)
COMPLETIONS: Final = Endpoint(
    "completions",
    "Completions (OpenAICompletionModel)",
    "prompt",
    _only_text,
    _plain_text,
)
