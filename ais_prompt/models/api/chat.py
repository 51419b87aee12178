"""The wire format of OpenAI-compatible servers: requests to JSON bodies, replies and streams to completions.

Nothing is sent here. The older endpoints, `CHAT` and `COMPLETIONS`, differ in three functions only; that of Responses
is in `responses`. A streamed answer is assembled into the same parts as a whole reply, and read by the same functions.
Source: the API reference of OpenAI, "Chat Completions", "Completions" and "Streaming", as other servers follow it.

Alternatives of generated tokens: chat completions take ``logprobs=true`` and ``top_logprobs=N``, and have a list
``content`` of objects in ``logprobs`` of a choice; completions take ``logprobs=N`` and have lists ``tokens``,
``token_logprobs`` and ``top_logprobs`` there. vLLM, SGLang and llama.cpp follow both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import PromptError
from ais_prompt.models.api.server_words import ended
from ais_prompt.models.api.stream import PieceKind, StreamReader
from ais_prompt.models.api.wire import (
    EFFORT,
    BadBody,
    as_messages,
    embed_files,
    fields_of,
    is_effort_number,
    text_of,
    token_count,
)
from ais_prompt.models.model_options import TEMPLATE_VARIABLES, Wire
from ais_prompt.types import (
    Completion,
    Decoding,
    Failure,
    GeneratedToken,
    Prompt,
    Request,
    ToolCall,
    Usage,
)
from ais_prompt.utils import openai_json

STREAMED: Final[Mapping[str, Any]] = MappingProxyType({"stream": True, "stream_options": {"include_usage": True}})
"""Further fields of a request whose answer is streamed with its token counts."""

MOST_STOPS: Final = 4
"""Stop texts that a request may have. Source: the API reference of OpenAI, ``stop``."""

TOP_LOGPROBS: Final = "top_logprobs"
"""Field of `Decoding.extra`: how many of the likeliest tokens are requested for each generated token."""


class OpenAIEndpoint(Struct, frozen=True):
    """One of the two older endpoints of a server.

    Attributes:
        path: path below the base URL.
        title: the name of the API and the model that speaks it, for messages.
        prompt_name: the field of the body that holds the prompt.
        prompt_value: prompt → value of that field; raises `PromptError` if the endpoint cannot take the prompt.
        choice_text: a choice of the reply → its text, and reasoning within it; raises `BadBody` if there is none.
        token_fields: `Decoding.extra` → the fields of the body, with those that ask for alternatives of tokens.
        stream_fields: further fields of a request whose answer is streamed.
    """

    path: str
    title: str
    prompt_name: str
    prompt_value: Callable[[Prompt], str | list[dict[str, Any]]]
    choice_text: Callable[[Mapping[str, Any]], tuple[str, str]]
    token_fields: Callable[[Mapping[str, Any]], dict[str, Any]]
    stream_fields: Mapping[str, Any] = STREAMED

    def body(self, model: str, request: Request, wire: Wire) -> dict[str, Any]:
        """As `WireFormat.body`.

        Raises:
            PromptError: messages for an endpoint that takes a text.
            DataError: a local file in the prompt cannot be read.
        """
        decoding = request.decoding
        assert isinstance(decoding, Decoding)
        options = {
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            # Repeats of a prompt must draw different answers, so each has its own seed.
            "seed": None if decoding.seed is None else decoding.seed + request.repeat,
            "stop": list(decoding.stop[:MOST_STOPS]) or None,
            "stop_token_ids": list(decoding.stop_tokens) or None,  # a field of vLLM and SGLang
        }
        return {
            "model": model,
            self.prompt_name: self.prompt_value(embed_files(request.prompt)),
            wire.max_tokens_field: decoding.max_out_len,
            **{name: value for name, value in options.items() if value is not None},
            **(chat_effort(self.token_fields(decoding.extra)) if decoding.extra else {}),
        }

    def answer(self, reply: Any) -> Completion:
        """As `WireFormat.answer`."""
        if not isinstance(reply, dict) or not isinstance(reply.get("choices"), list):
            raise BadBody("the reply has no choices")
        if not reply["choices"]:
            return Completion(failure=Failure("empty_choices", "the server sent no choice at all"))
        choice = first_choice(reply["choices"])
        if not isinstance(choice, dict):
            raise BadBody("the choice is no object")
        (text, thought), message = self.choice_text(choice), fields_of(choice.get("message"))
        refusal = text_of(message.get("refusal"))  # the answer, if there is no other
        calls, logprobs = message.get("tool_calls"), choice.get("logprobs")
        said = Completion(
            text or refusal,
            usage=usage_of(reply.get("usage")),
            reasoning=reasoning_of(message) or thought,
            refused=bool(refusal),
            tool_calls=_tool_calls(calls) if isinstance(calls, list) else (),
        )
        completion = ended(said, choice.get("finish_reason"))
        return replace(completion, tokens=tokens_of(logprobs)) if logprobs else completion

    def reader(self, clock: Callable[[], float] = perf_counter) -> ChatStream:
        """As `WireFormat.reader`."""
        return ChatStream(clock)


def chat_messages(prompt: Prompt) -> str | list[dict[str, Any]]:
    """Return a prompt as messages in OpenAI form; a text becomes a message of the user."""
    return list(map(openai_json, as_messages(prompt)))


def _chat_text(choice: Mapping[str, Any]) -> tuple[str, str]:
    message = choice.get("message")
    if not isinstance(message, dict):
        raise BadBody("the choice has no message")
    return content_of(message.get("content"))


def chat_token_fields(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a body for chat completions."""
    return {**extra, "logprobs": True} if TOP_LOGPROBS in extra else dict(extra)


CHAT: Final = OpenAIEndpoint(
    "chat/completions",
    "Chat Completions (OpenAIChatModel)",
    "messages",
    chat_messages,
    _chat_text,
    chat_token_fields,
)


def _only_text(prompt: Prompt) -> str:
    if not isinstance(prompt, str):
        raise PromptError("OpenAICompletionModel takes text, not messages", fix="use OpenAIChatModel for messages")
    return prompt


def _plain_text(choice: Mapping[str, Any]) -> tuple[str, str]:
    if not isinstance(choice.get("text"), str):
        raise BadBody("the choice has no text")
    return choice["text"], ""


def completion_token_fields(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a body for completions."""
    found = dict(extra)
    number = found.pop(TOP_LOGPROBS, None)
    return found if number is None else {**found, "logprobs": number}


COMPLETIONS: Final = OpenAIEndpoint(
    "completions",
    "Completions (OpenAICompletionModel)",
    "prompt",
    _only_text,
    _plain_text,
    completion_token_fields,
)


def chat_effort(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a body for chat completions.

    A level is sent as it is. Source: the API reference of OpenAI, "Chat Completions", ``reasoning_effort``, which vLLM
    and SGLang have too (https://docs.vllm.ai, "OpenAI-Compatible Server"; https://docs.sglang.ai, "OpenAI APIs").

    A number of tokens goes to the chat template of a server such as vLLM or SGLang: ``enable_thinking`` of Qwen3
    (https://qwen.readthedocs.io, "vLLM", "Thinking & Non-Thinking Modes") and ``thinking_budget`` of Seed-OSS
    (https://huggingface.co/ByteDance-Seed/Seed-OSS-36B-Instruct, "Thinking Budget"). A template that knows neither
    ignores them; OpenAI itself refuses the field.
    """
    found = dict(extra)
    if not is_effort_number(found.get(EFFORT)):
        return found
    tokens = found.pop(EFFORT)
    variables = {"enable_thinking": tokens > 0, **({"thinking_budget": tokens} if tokens > 0 else {})}
    return {**found, TEMPLATE_VARIABLES: {**variables, **(found.get(TEMPLATE_VARIABLES) or {})}}


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


def reasoning_of(message: Any) -> str:
    """Return the reasoning of a message, in the field of DeepSeek and vLLM, or that of OpenRouter."""
    fields = fields_of(message)
    return text_of(fields.get("reasoning_content") or fields.get("reasoning"))


def _tool_calls(calls: list[Any]) -> tuple[ToolCall, ...]:
    """Return the calls in ``tool_calls`` of a message; entries in another form are left out."""
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


def tokens_of(logprobs: Any) -> tuple[GeneratedToken, ...]:
    """Return the tokens in ``logprobs`` of a choice; none if it is in neither form, or has no alternatives."""
    if not (found := fields_of(logprobs)):
        return ()
    content = found.get("content")
    tokens = tuple(_of_chat(content) if isinstance(content, list) else _of_completion(found))
    return tokens if any(token.alternatives for token in tokens) else ()


def _of_chat(content: list[Any]) -> Iterator[GeneratedToken]:
    for one in map(fields_of, content):
        if isinstance(one.get("token"), str) and _is_log_prob(one.get("logprob")):
            top = one.get(TOP_LOGPROBS)
            others = [fields_of(other) for other in top] if isinstance(top, list) else []
            yield GeneratedToken(
                one["token"],
                float(one["logprob"]),
                {
                    other["token"]: float(other["logprob"])
                    for other in others
                    if isinstance(other.get("token"), str) and _is_log_prob(other.get("logprob"))
                },
            )


def _of_completion(found: Mapping[str, Any]) -> Iterator[GeneratedToken]:
    lists = [found.get(name) for name in ("tokens", "token_logprobs", TOP_LOGPROBS)]
    tokens, values, tops = (one if isinstance(one, list) else [] for one in lists)
    for token, value, top in zip(tokens, values, tops, strict=False):
        if isinstance(token, str) and _is_log_prob(value):
            others = {text: float(one) for text, one in fields_of(top).items() if _is_log_prob(one)}
            yield GeneratedToken(token, float(value), others)


def _is_log_prob(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class ChatStream(StreamReader):
    """Assembles the chunks of a chat completion or a text completion.

    Args:
        clock: as for `StreamReader`.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        super().__init__(clock)
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._tokens: list[GeneratedToken] = []
        self._usage: Any = None
        self._finish_reason: Any = None
        self._has_choice = False

    def _assemble(self) -> Completion:
        message = {
            "content": "".join(self._text),
            "reasoning_content": "".join(self._reasoning),
            "refusal": "".join(self._refusal),
            "tool_calls": [*self._calls.values()],
        }
        choices = [{"message": message, "finish_reason": self._finish_reason}] if self._has_choice else []
        return replace(CHAT.answer({"choices": choices, "usage": self._usage}), tokens=tuple(self._tokens))

    def _take(self, event: dict[str, Any]) -> PieceKind:
        self._usage = event.get("usage") or self._usage
        choices = event.get("choices")
        if not choices:  # the last piece has only the usage
            return "o"
        choice = first_choice(choices) if isinstance(choices, list) else None
        if not isinstance(choice, dict):
            raise BadBody("the stream holds no choice")
        if choice.get("index") not in (0, None):  # others are not requested, but some servers send them
            return "o"
        self._has_choice = True
        delta = choice.get("delta")
        text, thought = content_of(delta.get("content") if isinstance(delta, dict) else choice.get("text"))
        reasoning, refusal = reasoning_of(delta) or thought, text_of(fields_of(delta).get("refusal"))
        self._text.append(text)
        self._reasoning.append(reasoning)
        self._refusal.append(refusal)
        self._tokens += tokens_of(choice.get("logprobs"))
        called = self._call(delta)
        if reason := choice.get("finish_reason"):
            self._finish_reason, self._done = reason, True
        return "a" if text or refusal else "t" if called else "r" if reasoning else "o"

    def _call(self, delta: Any) -> bool:
        """Take the pieces of tool calls: the first has the name, all have a part of the arguments."""
        pieces = delta.get("tool_calls") if isinstance(delta, dict) else None
        found = [piece for piece in pieces if isinstance(piece, dict)] if isinstance(pieces, list) else []
        for piece in found:
            index, function = piece.get("index", 0), piece.get("function")
            if type(index) is not int or not isinstance(function, dict):
                continue
            call = self._calls.setdefault(index, {"function": {"name": "", "arguments": ""}})["function"]
            for name in call:
                call[name] += function[name] if isinstance(function.get(name), str) else ""
        return bool(found)
