"""Wire formats: the body of a request to an endpoint, its reply, and its streamed reply. Nothing is sent here.

`WireFormat` is the protocol of an endpoint; the formats are in `ais_prompt.models.wires`. `StreamReader` is the base of
their readers of server-sent events (source: the HTML standard, "Server-sent events"). The functions below read the
parts that all servers have: errors, JSON, token counts; and put local files into prompts.
"""

from __future__ import annotations

import codecs
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Final, Literal, Protocol, TypeAlias

import msgspec
from msgspec.structs import replace

from ais_prompt.models.api.reasons import QUOTA, TOO_LONG, cause_of
from ais_prompt.models.model_options import Wire, first_stop
from ais_prompt.types import ChatMessage, Completion, Failure, Prompt, Request
from ais_prompt.utils import FILE_NOTE, KINDS, MediaFile, checked_levels, local_file


class BadBody(ValueError):
    """A reply is not in the form of an answer."""


class WireFormat(Protocol):
    """One endpoint of a kind of server.

    Attributes:
        path: path below the base URL, such as ``chat/completions``.
        title: the name of the API, for messages.
        stream_fields: further fields of the body of a request whose answer is streamed.
    """

    @property
    def path(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def stream_fields(self) -> Mapping[str, Any]: ...

    @property
    def prompt_value(self) -> Callable[[Prompt], str | list[dict[str, Any]]]:
        """Prompt → the text or the messages that a tokenizer can count; raises `PromptError`."""

    def body(self, model: str, request: Request, wire: Wire) -> dict[str, Any]:
        """Return the body of a request as plain JSON values. Options that are None are left out, local files put in.

        Raises:
            PromptError: the endpoint does not take such a prompt.
            DataError: a local file in the prompt cannot be read.
        """

    def answer(self, reply: Any) -> Completion:
        """Read the parsed body of a good reply.

        Raises:
            BadBody: it is not in the form of an answer.
        """

    def reader(self, clock: Callable[[], float] = perf_counter) -> StreamReader:
        """Return a reader of one streamed answer; ``clock`` as for `StreamReader`."""


def read_reply(endpoint: WireFormat, status: int, body: bytes) -> Completion:
    """Read the answer or the failure of a reply. Messages are in full length and not yet redacted."""
    if not 200 <= status < 300:
        return Completion(failure=http_failure(status, body))
    try:
        reply = read_json(body)
        if failure := reported_failure(reply):
            return Completion(failure=failure)
        try:
            return endpoint.answer(reply)
        except BadBody as error:
            raise BadBody(f"{error}{_other_api(endpoint, reply)}") from None
    except BadBody as error:
        words = server_words(body)
        return Completion(failure=Failure("bad_body", f"{error}: {words}" if words else str(error)))


def _other_api(endpoint: WireFormat, reply: Any) -> str:
    """Return which model class understands a reply, if the reply is that of another API; else nothing."""
    if not isinstance(reply, dict):
        return ""
    found = {
        "OpenAIChatModel": isinstance(reply.get("choices"), list),
        "OpenAIResponsesModel": reply.get("object") == "response",
        "AnthropicModel": reply.get("type") == "message",
    }
    names = [name for name, matches in found.items() if matches and name not in endpoint.title]
    return f" of {endpoint.title}, but one that {names[0]} reads" if names else ""


PieceKind: TypeAlias = Literal["a", "r", "t", "o"]
"""What an event of a stream brings: a piece of the answer, of the reasoning or of a tool call; or something other.

Others are the role at the beginning, empty pieces, the finish reason, and token counts.
"""
OTHER: Final = "o"
_LAST: Final = b"[DONE]"
"""The last event of OpenAI's older endpoints."""
MAX_EVENTS: Final = 1_000_000
"""Most events of a stream; an answer has about one for each token."""


class StreamReader(ABC):
    """Assembles one streamed answer. Each attempt has its own reader, so nothing of a broken one gets into the next.

    Args:
        clock: returns the time in seconds; the request starts now.

    Attributes:
        times: when each event came, on the clock.
        kinds: what each event brought.
        served: the name of the model that answers, and its ``system_fingerprint``, as far as the server says them.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._start = clock()
        self._rest = bytearray()
        self._events = 0
        self._begun = False
        self._data: list[bytes] = []
        self.times: list[float] = []
        self.kinds: list[PieceKind] = []
        self.served = ""
        self._done = False
        self._fault: Failure | None = None

    @abstractmethod
    def _take(self, event: dict[str, Any]) -> PieceKind:
        """Take the data of one event; return what it brings.

        Raises:
            BadBody: it is an error, or not in the form of this server.
        """

    @abstractmethod
    def _assemble(self) -> Completion:
        """Return the answer of all events.

        Raises:
            BadBody: they are no answer.
        """

    @property
    @abstractmethod
    def _ended(self) -> bool:
        """Whether the server has said that the answer is complete."""

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the body, cut anywhere."""
        self._rest += piece
        if b"\n" not in piece and b"\r" not in piece:  # a line of many pieces is not split again for each of them
            return
        # The standard splits lines at LF, CR and CR LF. After a CR an LF may still come.
        lines = bytes(self._rest).splitlines(keepends=True)
        self._rest = bytearray(lines.pop() if lines and not lines[-1].endswith(b"\n") else b"")
        for line in lines:
            self._line(line.rstrip(b"\r\n"))

    def completion(self) -> Completion:
        """Return the answer at the end of the stream; a stream that broke off is a failure that may be retried."""
        self.feed(b"\n\n")  # ends a line that a CR ended; some servers leave out the empty line after the last event
        if self._fault:
            return Completion(failure=self._fault)
        if not self._done and not self._ended:
            return Completion(failure=Failure("broken_stream", "the stream ended before the answer did"))
        try:
            completion = self._assemble()
        except BadBody as error:
            return Completion(failure=Failure("broken_stream", str(error)))
        if completion.failure is not None:
            return completion
        # A piece counts as a token if the server sends no counts.
        times = [time for time, kind in zip(self.times, self.kinds, strict=True) if kind != OTHER]
        tokens = completion.usage.completion_tokens or len(times)
        several = len(times) > 1 and tokens > 1
        return replace(
            completion,
            first_token_seconds=times[0] - self._start if times else None,
            token_seconds=(times[-1] - times[0]) / (tokens - 1) if several else None,
        )

    def _line(self, line: bytes) -> None:
        if not self._begun:
            self._begun, line = True, line.removeprefix(codecs.BOM_UTF8)
        name, _, value = line.partition(b":")
        if line and name == b"data":
            self._data.append(value.removeprefix(b" "))
        elif not line and self._data:
            event, self._data = b"\n".join(self._data), []
            self._events += 1
            if self._events > MAX_EVENTS:
                self._fault = Failure("reply_too_large", f"the stream has more than {MAX_EVENTS} events")
            if not self._fault:
                self._event(event)

    def _event(self, data: bytes) -> None:
        if data.strip() == _LAST:
            self._done = True
            return
        try:
            event = read_json(data)
            self._fault = reported_failure(event)
            if self._fault:
                return
            if not isinstance(event, dict) or event.get("error"):
                raise BadBody("the stream holds an error")
            kind = self._take(event)
            self.served = self.served or served_by(event)
            self.kinds.append(kind)
            self.times.append(self._clock())
        except BadBody as error:
            self._fault = Failure("broken_stream", f"{error}: {server_words(data)}")


def served_by(reply: Mapping[str, Any]) -> str:
    """Return the name of the model in a reply or event, and its ``system_fingerprint``; empty without a name."""
    words = (reply.get("model"), reply.get("system_fingerprint"))
    return " ".join(word for word in words if isinstance(word, str) and word)


_PAYMENT_REQUIRED: Final = 402
_TOO_LARGE: Final = 413
_FATAL_STATUS: Final = {401, 403, 404}
"""A wrong key, a forbidden or an unknown model: the same for every request."""
_TOO_LONG_STATUS: Final = {400, 413, 422, 500}
"""Limits on all requests together have other statuses; their messages speak of tokens and lengths as well."""
_ERROR_STATUS: Final = re.compile("[45][0-9]{2}")
_MOST_TOKENS: Final = 2**53
"""A larger number is not a count of tokens."""


def http_failure(status: int, body: bytes) -> Failure:
    """Return the failure of an HTTP error, with the server's message in full length."""
    words = server_words(body) or f"status {status} without a message"
    cause = {_PAYMENT_REQUIRED: QUOTA, _TOO_LARGE: TOO_LONG}.get(status) or cause_of(_decoded(body))
    if cause and (cause != TOO_LONG or status in _TOO_LONG_STATUS):
        return Failure(cause, words)
    return Failure(f"http_{status}", words, fatal=status in _FATAL_STATUS)


def reported_failure(reply: Any) -> Failure | None:
    """Return the failure that a reply with a good status, or an event of a stream, reports instead of an answer.

    Gateways put the error of the server behind them there, with its HTTP status as ``code``. None if there is no error,
    or one without a known cause.
    """
    fields = fields_of(reply)
    error = fields.get("error") or (fields if "error" in (fields.get("object"), fields.get("type")) else None)
    if not error:
        return None
    body = json.dumps({"error": error}).encode()
    codes = [str(fields_of(error).get(name)) for name in ("code", "status", "status_code")]
    if code := next(filter(_ERROR_STATUS.fullmatch, codes), None):
        return http_failure(int(code), body)
    cause = cause_of(_decoded(body))
    return Failure(cause, server_words(body)) if cause else None


def server_words(body: bytes) -> str:
    """Return the error message in a body: ``error.message`` as in OpenAI, ``message``, ``detail``; else all of it.

    FastAPI lists the faults of a request there; each has a place and a message.
    """
    try:
        value = read_json(body)
    except BadBody:
        value = None
    while isinstance(value, dict):
        value = next((value[name] for name in ("error", "message", "detail") if value.get(name)), None)
    if isinstance(value, list) and all(text_of(fields_of(fault).get("msg")) for fault in value):
        value = "; ".join(f"{'.'.join(map(str, fault.get('loc') or ()))}: {fault['msg']}" for fault in value)
    words = value if isinstance(value, str) else body.decode("utf-8", "replace")
    return words.strip()


def _decoded(body: bytes) -> str:
    """Return a body as text, with the characters that JSON may write as escapes."""
    try:
        return json.dumps(read_json(body), ensure_ascii=False)
    except BadBody:
        return body.decode("utf-8", "replace")


def read_json(body: bytes) -> Any:
    """Parse a body.

    Raises:
        BadBody: it is not JSON, or is nested too deep.
    """
    try:
        try:
            value = msgspec.json.decode(body)  # four times as fast, but refuses lone surrogates, NaN and UTF-16
        except (ValueError, RecursionError):
            value = json.loads(body)
        return checked_levels(value, body)
    except (ValueError, RecursionError):
        raise BadBody("the reply is not JSON") from None


def token_count(value: Any) -> int | None:
    """Return a number of tokens in a reply; None if the value is not one."""
    return value if type(value) is int and 0 <= value < _MOST_TOKENS else None


def fields_of(value: Any) -> dict[str, Any]:
    """Return a part of a reply that should be an object; empty if it is something else."""
    return value if isinstance(value, dict) else {}


def text_of(value: Any) -> str:
    """Return a part of a reply that should be a text; empty if it is something else."""
    return value if isinstance(value, str) else ""


def cut_at_stop(completion: Completion, stops: tuple[str, ...]) -> Completion:
    """End a text before its first stop text.

    Some APIs have no stop texts or only a few, and some servers keep the stop text that ended an answer.
    """
    end = first_stop(completion.text, stops)
    return completion if end is None else replace(completion, text=completion.text[:end], finish_reason="stop")


def embed_files(prompt: Prompt) -> Prompt:
    """Put every local file into the prompt, as a ``data:`` URL or the base64 of an ``input_audio`` part.

    Raises:
        DataError: a file can no longer be read.
    """
    return prompt if isinstance(prompt, str) else tuple(map(_message, prompt))


def _message(message: ChatMessage) -> ChatMessage:
    if isinstance(message.content, str):
        return message
    return replace(message, content=tuple(map(_part, message.content)))


def _part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = str(part.get("type"))
    if kind not in KINDS:
        return part
    body = part[kind]
    # Servers want the URL in a mapping; templates may also have it as a text.
    fields = dict(body) if isinstance(body, Mapping) else {"url": body}
    file = local_file(part)
    if file is not None:
        fields |= _embedded(file, kind)
    return {**{key: value for key, value in part.items() if key != FILE_NOTE}, kind: fields}


def _embedded(file: MediaFile, kind: str) -> dict[str, str]:
    if kind == "input_audio":
        return {"data": file.base64(), "format": file.extension}
    return {"url": f"data:{file.mime};base64,{file.base64()}"}
