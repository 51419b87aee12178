"""A request to a model, with its prompt as the model sees it, and the completion that answers it.

A failure is a value (`Failure`), never an empty text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct, convert, field
from msgspec.structs import asdict

Content: TypeAlias = str | tuple[Mapping[str, Any], ...]
"""The content of a message: text, or parts in OpenAI form (text, image_url, ...)."""


def plain(value: Struct, *optional: str) -> dict[str, Any]:
    """Return the fields of a value by name; the optional ones only if they are neither None nor empty."""
    fields = asdict(value)
    return {name: held for name, held in fields.items() if name not in optional or held not in (None, "", {})}


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
        content = ""
    parts: Content = tuple(map(dict, content)) if isinstance(content, list | tuple) else str(content)
    return ChatMessage(str(value["role"]), parts, extra)


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
        opens_answer: True if the tokens that open an answer follow messages; they are measured too, as those in a text
            that a chat template made for an answer. None leaves them out.
    """

    continuation: str | None = None
    choices: tuple[str, ...] = ()
    opens_answer: Literal[True] | None = None


class Execution(Struct, frozen=True):
    """Let the inferencer run the prompt, a program, in a sandbox instead of asking the model.

    Attributes:
        expression: what is computed after the program ran: ``solution()``.
        timeout: most seconds for the program.
        memory: most memory of the program, in MiB.
        sandbox: ``bubblewrap``, ``landlock``, or a command before that of the interpreter; None takes the strongest.
        unsafe: whether the program may run without a sandbox if none works.
    """

    expression: str
    timeout: float
    memory: int
    sandbox: str | None = None
    unsafe: bool = False


class ToolRun(Struct, frozen=True):
    """Call a tool of the inferencer instead of asking the model. The prompt is the JSON of the arguments.

    Attributes:
        tool: its name.
        has_effects: whether calling it twice may differ from calling it once. The journal then has a line before the
            call, so that a resumed run does not repeat a call that was cut off.
    """

    tool: str
    has_effects: bool = True


def decoding_to_json(decoding: Decoding | LikelihoodQuery | Execution | ToolRun) -> dict[str, Any]:
    """Return what is asked as plain values, as keys have it; those before ``opens_answer`` have no such value."""
    values = asdict(decoding)
    if values.get("opens_answer", True) is None:
        del values["opens_answer"]
    values.pop("has_effects", None)
    return values


class Request(Struct, frozen=True):
    """One request to a model, or to the sandbox or a tool in a conversation with it.

    Attributes:
        sample_id: the sample that the request belongs to; not part of `content`.
        prompt: exactly as it is sent.
        decoding: how to generate the answer, which log-likelihood to compute, or how to run the program.
        turn: number of the turn in a dialogue, from 0.
        repeat: number of the repetition of the same prompt, from 0.
        duplicate: number of the sample among the samples with the same prompt, from 0 in the order of the rows. Set by
            the engine, not by inferencers.
        retries: key of the truncated answer that this request repeats with a larger ``max_out_len``; not part of
            `content`. Empty for all others.
        step: number of the request in the course of one sample of an agent, from 0; None for all others. It is not
            part of `content`, because an agent may ask side by side; the sample is. ``turn`` then counts the earlier
            equal requests of the sample.
        brought: digest of what the row brings to an agent beside the prompt; empty if it brings nothing. Set by the
            engine, not by inferencers.
    """

    sample_id: str
    prompt: Prompt
    decoding: Decoding | LikelihoodQuery | Execution | ToolRun
    turn: int = 0
    repeat: int = 0
    duplicate: int = 0
    retries: str = ""
    step: int | None = None
    brought: str = ""

    def content(self) -> dict[str, Any]:
        """Return everything that determines the answer of a model, as plain JSON values."""
        return {
            "prompt": prompt_to_json(self.prompt),
            "decoding": decoding_to_json(self.decoding),
            "turn": self.turn,
            "repeat": self.repeat,
            "duplicate": self.duplicate,
            **({} if self.step is None else {"sample": self.sample_id}),
            **({"brought": self.brought} if self.brought else {}),
        }


FinishReason: TypeAlias = Literal["stop", "length", "tool_calls", "unknown"]
_OPTIONAL = (
    "reasoning",
    "unclosed",
    "first_token_seconds",
    "token_seconds",
    "waited_seconds",
    "redacted",
    "refused",
    "replica",
    "retried_with",
)
BATCH_TIER: Final = "batch"
"""`Usage.tier` of an answer of a batch."""


class Usage(Struct, frozen=True):
    """Token counts of the tokenizer or the server; None where they are not known.

    Attributes:
        prompt_tokens: of the prompt, those from a cache of the server included.
        completion_tokens: of the answer, its reasoning included.
        reasoning_tokens: of ``completion_tokens``, those of the reasoning.
        cached_tokens: of ``prompt_tokens``, those that the server had in its cache.
        cache_write_tokens: of ``prompt_tokens``, those that the server put into its cache.
        tier: how the request was served, if that has a price of its own: ``batch``.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    tier: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; details that are not known are left out."""
        return plain(self, "reasoning_tokens", "cached_tokens", "cache_write_tokens", "tier")


class ToolCall(Struct, frozen=True):
    """A call of a tool that a model asks for. It is stored and not carried out.

    Attributes:
        name: of the tool.
        arguments: a JSON text, as the model wrote it.
    """

    name: str
    arguments: str


class Likelihood(Struct, frozen=True):
    """The log-likelihood of a text: the answer to a `LikelihoodQuery`.

    Attributes:
        nll: negative log-likelihood, summed over the measured tokens, in nats.
        tokens: number of measured tokens.
        all_tokens: number of tokens of the text. One more than ``tokens`` for a whole prompt, whose first token has no
            likelihood.
        bytes: length of the measured text in UTF-8, without the first token of a whole prompt where its text is known.
        choices: log-probabilities of single-token choices, in nats, in order; nothing else is measured then.
        merged: True if the continuation changes the last tokens of the prompt ("a " and "b" become " b"). The changed
            tokens are then measured with the continuation.
    """

    nll: float
    tokens: int
    all_tokens: int
    bytes: int
    choices: tuple[float, ...] = ()
    merged: bool = False


class Failure(Struct, frozen=True):
    """Why there is no answer.

    Attributes:
        kind: a short word for counting: ``timeout``, ``connection``, ``http_500``, ``too_long``, ...
        message: the cause in the words of the server or library, a few lines at most.
        fatal: True if every other request would fail in the same way (no such model, wrong key).
        where: ``file:line`` in the user's own part that failed; empty for other failures.
    """

    kind: str
    message: str
    fatal: bool = False
    where: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; an empty ``where`` is left out."""
        values: dict[str, Any] = {"kind": self.kind, "message": self.message, "fatal": self.fatal}
        return {**values, "where": self.where} if self.where else values


class ServerFailure(Failure, frozen=True):
    """A failure in the words of a server, or of reaching it, with the parts of its message. It is stored without them.

    Attributes:
        words: what the server says, or the system.
        address: of the server, without secrets; the message may have more of it.
        hint: what may be wrong in the config, or which key was sent; empty if nothing is known.
    """

    words: str = ""
    address: str = ""
    hint: str = ""

    @classmethod
    def of(cls, kind: str, words: str, address: str, hint: str = "", *, fatal: bool = False) -> ServerFailure:
        """Return the failure whose message has these parts."""
        message = f"{words} ({address}{'; ' if hint else ''}{hint})"
        return cls(kind, message, fatal, words=words, address=address, hint=hint)


class GeneratedToken(Struct, frozen=True):
    """A token of a generated answer.

    Attributes:
        text: of the token; tokens that share a character may have others than the answer.
        log_prob: its log-probability in nats.
        alternatives: text of each of the likeliest tokens in its place → log-probability; it may be one of them.
    """

    text: str
    log_prob: float
    alternatives: Mapping[str, float] = {}


class Completion(Struct, frozen=True):
    """The answer to one request, or its failure.

    Attributes:
        text: the generated text. Empty after a failure, when it must not be read as an answer.
        finish_reason: ``length`` if the text was cut at ``max_out_len``, ``tool_calls`` if the model waits for results
            of tools; None after a failure.
        usage: tokens in and out.
        seconds: wall time of the last attempt; for a batch, of the whole batch.
        attempts: number of requests sent, the successful one included.
        failure: why there is no answer; None if there is one.
        likelihood: the answer to a `LikelihoodQuery`; None for generated text.
        reasoning: the model's reasoning before its answer; empty if there is none, or the server does not return it.
        unclosed: True if the reasoning did not end. There is no answer then, and ``text`` is empty.
        first_token_seconds: seconds from sending the request to the first token of a streamed answer; else None.
        token_seconds: mean seconds between the tokens of a streamed answer; else None.
        waited_seconds: seconds that the request waited for a place at a server before its first attempt: for a slot of
            ``max_concurrency``, for its turn at a rate, and while the server was away.
        redacted: number of secrets in text and reasoning that were replaced by ``***``.
        refused: True if the server reports that the model refused to answer; ``text`` then holds the refusal.
        replica: address of the server that answered, if the model has several; else empty.
        tool_calls: the calls of tools that the model asks for, in order.
        retried_with: ``max_out_len`` of an answer that was asked again because the first answer was truncated; 0 for
            all others.
        trajectory: of an agent, its requests to a model on the way to the answer, in the order of asking.
        files: of an agent, the files that it left.
        tokens: those of the generated text, reasoning included, if the request asked for their alternatives and the
            server gives them.
    """

    text: str = ""
    finish_reason: FinishReason | None = None
    usage: Usage = Usage()
    seconds: float = 0.0
    attempts: int = 1
    failure: Failure | None = None
    likelihood: Likelihood | None = None
    reasoning: str = ""
    unclosed: bool = False
    first_token_seconds: float | None = None
    token_seconds: float | None = None
    waited_seconds: float = 0.0
    redacted: int = 0
    refused: bool = False
    replica: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    retried_with: int = 0
    trajectory: tuple[ModelCall, ...] = ()
    files: tuple[LeftFile, ...] = ()
    tokens: tuple[GeneratedToken, ...] = ()

    @property
    def truncated(self) -> bool:
        """Whether the answer was cut at ``max_out_len``."""
        return self.finish_reason == "length"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values. Optional fields are left out where they are empty."""
        values: dict[str, Any] = {
            "text": self.text,
            "finish_reason": self.finish_reason,
            "usage": self.usage.to_json(),
            "seconds": self.seconds,
            "attempts": self.attempts,
        }
        if self.failure is not None:
            values["failure"] = self.failure.to_json()
        if self.likelihood is not None:
            values["likelihood"] = asdict(self.likelihood)
        for name in _OPTIONAL:
            if value := getattr(self, name):
                values[name] = value
        for name in ("tool_calls", "trajectory", "files", "tokens"):
            if items := getattr(self, name):
                values[name] = [item.to_json() if isinstance(item, ModelCall) else asdict(item) for item in items]
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Completion:
        """Read back the values of `to_json`.

        Raises:
            KeyError, TypeError, ValueError: the values are not those of a completion.
        """
        if values["finish_reason"] == "content_filter":  # earlier versions stored it as an answer
            return cls(failure=Failure("content_filter", "the server's content filter withheld the answer"))
        if "text" not in values:  # the default "" must not pass for an answer
            raise KeyError("text")
        return convert(values, cls)


class LeftFile(Struct, frozen=True):
    """A file that an agent left in its folder.

    Attributes:
        name: its path in the folder.
        size: in bytes.
        text: its content, if it is a text and was kept.
        base64: its content in base64, if it is no text and was kept. Neither is there for a file beyond the limit.
    """

    name: str
    size: int
    text: str | None = None
    base64: str | None = None


class ModelCall(Struct, frozen=True):
    """One request of an agent to a model, with its answer.

    Most requests repeat the messages of the one before. They are not stored again; `requests_of` puts them together.

    Attributes:
        shared: number of first messages that are those of the request before.
        messages: the messages after them, in the form of `message_to_json`.
        fields: options of the request and the tools that it offers; None if they are those of the request before.
        completion: the answer or the failure.
        began: seconds from the start of the sample to the request.
        api: name of the API that the agent spoke, such as ``chat``.
        named: name of the model that the agent asked for.
        cost: of the request; None without a price.
    """

    shared: int
    messages: tuple[Mapping[str, Any], ...]
    fields: Mapping[str, Any] | None
    completion: Completion
    began: float = 0.0
    api: str = ""
    named: str = ""
    cost: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "completion": self.completion.to_json()}


def requests_of(trajectory: Sequence[ModelCall]) -> list[tuple[list[Mapping[str, Any]], Mapping[str, Any]]]:
    """Return the messages and the fields of each request of an agent, whole."""
    found: list[tuple[list[Mapping[str, Any]], Mapping[str, Any]]] = []
    messages: list[Mapping[str, Any]] = []
    fields: Mapping[str, Any] = {}
    for call in trajectory:
        messages = [*messages[: call.shared], *call.messages]
        fields = fields if call.fields is None else call.fields
        found.append((messages, fields))
    return found


def total_usage(trajectory: Iterable[ModelCall]) -> Usage:
    """Return the tokens of all requests; None for a count that no answer has."""
    usages = [call.completion.usage for call in trajectory]

    def added(name: str) -> int | None:
        counts = [count for usage in usages if (count := getattr(usage, name)) is not None]
        return sum(counts) if counts else None

    return Usage(
        added("prompt_tokens"),
        added("completion_tokens"),
        added("reasoning_tokens"),
        added("cached_tokens"),
        added("cache_write_tokens"),
    )
