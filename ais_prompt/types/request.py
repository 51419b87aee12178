"""A request to a model: the prompt as the model sees it, and how to generate or measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field
from msgspec.structs import asdict

Content: TypeAlias = str | tuple[Mapping[str, Any], ...]
"""The content of a message: text, or parts in OpenAI form (text, image_url, ...)."""


class ChatMessage(Struct, frozen=True, repr_omit_defaults=True):
    """One message in OpenAI form.

    Attributes:
        role: ``system``, ``user``, ``assistant``, ``tool``, or another role that the meta template names.
        content: the text, or parts in OpenAI form.
        extra: all other keys, sent as they are: ``name``, ``tool_calls``, ``tool_call_id``, ``reasoning``. It has
            ``content`` only where the content is null, beside calls of tools.
    """

    role: str
    content: Content
    extra: Mapping[str, Any] = {}


Prompt: TypeAlias = str | tuple[ChatMessage, ...]
"""A prompt as it is sent: one text, or messages."""
Prompts: TypeAlias = Prompt | tuple[Prompt, ...]
"""One prompt, or the prompts of a dialogue in the order in which they are sent."""


def prompt_to_json(prompt: Prompt) -> str | list[dict[str, Any]]:
    """Return a prompt as plain JSON values: a string, or a list of ``{role, content}``."""
    if isinstance(prompt, str):
        return prompt
    return [message_to_json(message) for message in prompt]


def prompt_from_json(value: str | Sequence[Mapping[str, Any]]) -> Prompt:
    """Read back the value of `prompt_to_json`."""
    if isinstance(value, str):
        return value
    return tuple(message_from_json(item) for item in value)


def prompts_to_json(prompts: Prompts) -> str | list[Any]:
    """Return one prompt as `prompt_to_json` does, several as a list of them."""
    if isinstance(prompts, str):
        return prompts
    return [message_to_json(item) if isinstance(item, ChatMessage) else prompt_to_json(item) for item in prompts]


def prompts_from_json(value: str | Sequence[Any]) -> Prompts:
    """Read back the value of `prompts_to_json`."""
    if isinstance(value, str):
        return value
    if not value or isinstance(value[0], dict):
        return prompt_from_json(value)
    return tuple(prompt_from_json(item) for item in value)


def message_to_json(message: ChatMessage) -> dict[str, Any]:
    """Return a message as plain JSON values: ``{role, content}``, and its other keys."""
    content = message.content if isinstance(message.content, str) else [dict(part) for part in message.content]
    return {"role": message.role, "content": content, **message.extra}


def message_from_json(value: Mapping[str, Any]) -> ChatMessage:
    """Return the message of plain JSON values, with all of its keys."""
    content = value.get("content")
    extra = {key: part for key, part in value.items() if key not in ("role", "content")}
    if content is None:
        extra["content"] = None
    return ChatMessage(str(value["role"]), "" if content is None else _content_from_json(content), extra)


def _content_from_json(content: str | Sequence[Mapping[str, Any]]) -> Content:
    return tuple(map(dict, content)) if isinstance(content, list | tuple) else str(content)


class Decoding(Struct, frozen=True):
    """How to generate an answer.

    Attributes:
        max_out_len: maximum number of tokens to generate.
        temperature: 0 is greedy; None uses the default of the model or server.
        top_p: nucleus sampling, 0 < top_p <= 1; None uses the default.
        stop: texts that end the answer and are not part of it.
        stop_tokens: ids of tokens that end the answer, in addition to the model's own.
        seed: seed of the sampling; None sets no seed.
        extra: further options of the model, passed on unchanged.
    """

    max_out_len: int
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    stop_tokens: tuple[int, ...] = ()
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


class LikelihoodQuery(Struct, frozen=True):
    """Ask for a log-likelihood instead of a generated answer.

    Attributes:
        continuation: None measures all tokens of the prompt except the first, which has no context. A text measures
            the tokens that it adds to the prompt: both are tokenised together, and the tokens of the prompt are masked.
        choices: single-token choices after the prompt, to be measured instead of a continuation.
    """

    continuation: str | None = None
    choices: tuple[str, ...] = ()


class Request(Struct, frozen=True):
    """One request to a model.

    Attributes:
        sample_id: the sample that the request belongs to; not part of `content`.
        prompt: exactly as it is sent.
        decoding: how to generate the answer, or which log-likelihood to compute.
        turn: number of the turn in a dialogue, from 0.
        repeat: number of the repetition of the same prompt, from 0.
        duplicate: number of the sample among the samples with the same prompt, from 0 in the order of the rows. Set by
            the engine, not by inferencers.
    """

    sample_id: str
    prompt: Prompt
    decoding: Decoding | LikelihoodQuery
    turn: int = 0
    repeat: int = 0
    duplicate: int = 0

    def content(self) -> dict[str, Any]:
        """Return everything that determines the answer of a model, as plain JSON values."""
        return {
            "prompt": prompt_to_json(self.prompt),
            "decoding": asdict(self.decoding),
            "turn": self.turn,
            "repeat": self.repeat,
            "duplicate": self.duplicate,
        }
