"""Make one attempt at a request: a body on the wire, and the reply as a completion or a failure.

`WireFormat` is what an attempt needs of a wire format: the body of a request, and how its reply is read. The dispatcher
(`ais_prompt.models.api.asking`) decides where and how often an attempt is made. Failures name the address, and a hint
follows where the address or an option of the config seems to be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Final, Protocol, TypeVar

from msgspec.structs import replace

from ais_prompt.errors import ModelError, PartError
from ais_prompt.models.api.asking import Attempt, Dispatcher
from ais_prompt.models.api.server_words import (
    address_hint,
    http_failure,
    option_hint,
    read_retry_after,
    reported_failure,
    server_words,
)
from ais_prompt.models.api.stream import StreamReader
from ais_prompt.models.api.wire import BadBody, read_json
from ais_prompt.models.model_options import Wire
from ais_prompt.models.transport.base import Moments, Reply, Sink, Transport
from ais_prompt.models.transport.network import public_address
from ais_prompt.secrets import SECRETS
from ais_prompt.types import Completion, Failure, Prompt, Request, ServerFailure
from ais_prompt.utils import encode_plain

T = TypeVar("T")

MESSAGE_LENGTH: Final = 500
"""Characters of a server's error message that are kept."""


class ApiClient:
    """Posts request bodies and reads the replies. It belongs to the event loop in which it is made.

    Args:
        endpoint: the endpoint of the server, and its wire format.
        dispatcher: chooses the replica, keeps to its limits, and retries.
        stream: let answers come piece by piece.
        fields: added to every body; they do not count for an answer.
        login: which key is sent, in words, for a server that refuses it.
    """

    def __init__(
        self, endpoint: WireFormat, dispatcher: Dispatcher, *, stream: bool, fields: Mapping[str, Any], login: str = ""
    ) -> None:
        self.dispatcher = dispatcher
        self._endpoint = endpoint
        self._stream = stream
        self._fields = fields
        self._login = login

    async def once(self, body: Mapping[str, Any], transport: Transport) -> Attempt:
        """Make one attempt at a request body from `WireFormat.body`. Failures are returned, not raised."""
        # Each attempt has its own reader, so nothing of a broken stream gets into the next.
        reader = self._endpoint.reader() if self._stream else None
        return await self._attempt(transport, body, reader, None if reader is None else reader.feed)

    async def generate_once(self, body: Mapping[str, Any], moments: Moments) -> tuple[Completion, StreamReader | None]:
        """Make one attempt, past all limits and without retries, and note its moments.

        Returns:
            The answer or failure, and the reader that has the events of a streamed answer.
        """
        reader = self._endpoint.reader(lambda: moments.last_read) if self._stream else None
        moments.take = None if reader is None else reader.feed
        completion = await self.dispatcher.ask_once(lambda transport: self._attempt(transport, body, reader, moments))
        return completion, reader

    async def post(self, transport: Transport, body: Mapping[str, Any], sink: Sink | None = None) -> Reply | Failure:
        """Post a body once. A reply that cannot be an answer, such as a redirect, is a failure too."""
        content = encode_plain({**body, **self._fields})
        # A transport may be of the user: whatever it raises is a failure of this attempt, and no end of the run.
        try:
            reply = await transport.send("POST", self._endpoint.path, content, sink)
        except PartError as error:  # it may have lost its connection, so a retry makes sense
            return Failure("connection", error.what, where=error.where)
        except Exception as error:  # our own transports can raise what their libraries raise
            return Failure("connection", f"the transport raised {type(error).__name__}: {error}")
        if isinstance(reply, Failure) or 200 <= reply.status < 300 or reply.status >= 400:
            return reply
        words = "the server switches to another protocol"
        if reply.status >= 300:
            target = public_address(reply.location or "") or "another address"
            words = f"the server redirects to {target}; base_url must lead there"
        return _of_reply(Failure(f"http_{reply.status}", words), reply)

    def shown(self, failure: Failure, reply: Reply | None = None) -> Failure:
        """Redact and cut the message of a failure, and add the address that replied, with a hint."""
        # Redact first: half a key at the end of a shortened message would not be recognised.
        words = SECRETS.hide_in_message(failure.message)[:MESSAGE_LENGTH]
        found = replace(failure, message=words)
        if reply is not None:
            hint = ""
            if reply.status in (404, 405):
                hint = address_hint(reply.url, self._endpoint.path, self._endpoint.title)
            elif reply.status in (401, 403) and self._login:
                hint = self._login
            elif failure.kind in ("http_400", "http_422", "too_long"):
                hint = option_hint(words)
            found = _of_reply(found, reply, hint)
        elif isinstance(failure, ServerFailure):  # of a connection: the transport has added the address
            found = replace(found, words=SECRETS.hide_in_message(failure.words))
        if isinstance(found, ServerFailure):
            return replace(found, address=found.address.removesuffix(f"/{self._endpoint.path}"))
        return found

    async def _attempt(
        self, transport: Transport, body: Mapping[str, Any], reader: StreamReader | None, sink: Sink | None
    ) -> Attempt:
        """Make one attempt, and return its outcome, with failures that may be shown."""
        fields = {} if reader is None else self._endpoint.stream_fields
        reply = await self.post(transport, {**body, **fields}, sink)
        # No reply: the connection failed, which names the address already.
        if isinstance(reply, Failure):
            return Attempt(Completion(failure=self.shown(reply)))
        # A stream was read while it came. The body of an error is no stream, whatever was asked for.
        if reader is not None and 200 <= reply.status < 300:
            completion = reader.completion()
        else:
            collected = bytes(sink.body) if isinstance(sink, Moments) else b""
            completion = read_reply(self._endpoint, reply.status, reply.body or collected)
        if completion.failure is not None:
            completion = replace(completion, failure=self.shown(completion.failure, reply))
        return Attempt(completion, read_retry_after(reply.retry_after, reply.date))


def _of_reply(failure: Failure, reply: Reply, hint: str = "") -> Failure:
    """Add to a failure the address that replied, if the transport knows it, and a hint."""
    if not reply.url:
        return failure
    return ServerFailure.of(failure.kind, failure.message, public_address(reply.url), hint, fatal=failure.fatal)


def opened(part: T | None) -> T:
    """Return a part that `open` of a model makes.

    Raises:
        ModelError: there is none yet.
    """
    if part is None:
        raise ModelError("the model was asked before it was opened", fix="call open() first")
    return part


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
