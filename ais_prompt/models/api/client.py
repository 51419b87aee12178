"""Send requests to one endpoint of a server, or of its replicas, and say what to change if the server refuses them.

`ApiClient` makes one attempt: a body on the wire, and the reply as a completion or a failure. The dispatcher
(`ais_prompt.models.asking`) decides where and how often. Failures name the address, and a hint follows where the
address or an option of the config seems to be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from msgspec.structs import replace

from ais_prompt.errors import ModelError, PartError
from ais_prompt.models.api.wire import StreamReader, WireFormat, read_reply
from ais_prompt.models.asking import Attempt, Dispatcher, read_retry_after
from ais_prompt.models.transport import Reply, Sink, Transport
from ais_prompt.models.transport.moments import Moments
from ais_prompt.models.transport.network import public_address
from ais_prompt.types import Completion, Failure
from ais_prompt.utils import SECRETS, SYSTEM_FIX, encode_plain, refuses_system

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
    """

    def __init__(
        self, endpoint: WireFormat, dispatcher: Dispatcher, *, stream: bool, fields: Mapping[str, Any]
    ) -> None:
        self.dispatcher = dispatcher
        self._endpoint = endpoint
        self._stream = stream
        self._fields = fields

    def generate(self, body: Mapping[str, Any], tokens: float = 0, conversation: str = "") -> Awaitable[Completion]:
        """Return the answer to a request body, retries included. Failures are returned, not raised.

        Args:
            body: from `WireFormat.body`.
            tokens: expected tokens of prompt and answer, for a limit of tokens.
            conversation: as for `Dispatcher.ask`.
        """
        once = self._once_streamed if self._stream else self._once
        return self.dispatcher.ask(lambda transport: once(transport, body), tokens, conversation)

    async def generate_once(self, body: Mapping[str, Any], moments: Moments) -> tuple[Completion, StreamReader | None]:
        """Make one attempt, past all limits and without retries, and note its moments.

        Returns:
            The answer or failure, and the reader that has the events of a streamed answer.
        """
        reader = self._endpoint.reader(lambda: moments.last_read) if self._stream else None
        moments.take = None if reader is None else reader.feed

        async def once(transport: Transport) -> Attempt:
            if reader is not None:
                return self._attempt(
                    await self.post(transport, {**body, **self._endpoint.stream_fields}, moments), reader
                )
            reply = await self.post(transport, body, moments)
            whole = replace(reply, body=reply.body or bytes(moments.body)) if isinstance(reply, Reply) else reply
            return self._attempt(whole, None)

        return await self.dispatcher.ask_once(once), reader

    async def close(self) -> None:
        """Close the connections to all replicas."""
        await self.dispatcher.close()

    async def post(self, transport: Transport, body: Mapping[str, Any], sink: Sink | None = None) -> Reply | Failure:
        """Post a body once. A reply that cannot be an answer, such as a redirect, is a failure too."""
        content = encode_plain({**body, **self._fields})
        try:
            reply = await transport.send("POST", self._endpoint.path, content, sink)
        except PartError as error:  # it may have lost its connection, so a retry makes sense
            return Failure("connection", error.what, where=error.where)
        except Exception as error:  # our own transports can raise what their libraries raise
            return Failure("connection", f"the transport raised {type(error).__name__}: {error}")
        if isinstance(reply, Reply) and 300 <= reply.status < 400:
            target = public_address(reply.location or "") or "another address"
            words = f"the server redirects to {target}; base_url must lead there"
            return Failure(f"http_{reply.status}", self._with_address(words, reply))
        if isinstance(reply, Reply) and reply.status < 200:
            words = "the server switches to another protocol"
            return Failure(f"http_{reply.status}", self._with_address(words, reply))
        return reply

    def shown(self, failure: Failure, reply: Reply | None = None) -> Failure:
        """Redact and cut the message of a failure, and add the address that replied."""
        # Redact first: half a key at the end of a shortened message would not be recognised.
        words = SECRETS.hide_in_message(failure.message)[:MESSAGE_LENGTH]
        hint = option_hint(words) if failure.kind in ("http_400", "http_422", "too_long") else ""
        return replace(failure, message=self._with_address(words, reply, hint) if reply else words)

    async def _once(self, transport: Transport, body: Mapping[str, Any]) -> Attempt:
        return self._attempt(await self.post(transport, body), None)

    async def _once_streamed(self, transport: Transport, body: Mapping[str, Any]) -> Attempt:
        reader = self._endpoint.reader()
        return self._attempt(await self.post(transport, {**body, **self._endpoint.stream_fields}, reader.feed), reader)

    def _attempt(self, reply: Reply | Failure, reader: StreamReader | None) -> Attempt:
        """Return the outcome of an attempt, with failures that may be shown."""
        if isinstance(reply, Failure):
            return Attempt(Completion(failure=self.shown(reply)))
        if reader is not None and 200 <= reply.status < 300:
            completion = reader.completion()
        else:
            completion = read_reply(self._endpoint, reply.status, reply.body)
        if completion.failure is not None:
            completion = replace(completion, failure=self.shown(completion.failure, reply))
        return Attempt(completion, read_retry_after(reply.retry_after, reply.date))

    def _with_address(self, words: str, reply: Reply, hint: str = "") -> str:
        """Add the address to a server's message, and a hint where it or an option seems to be wrong."""
        hint = address_hint(reply.url, self._endpoint) if reply.status in (404, 405) else hint
        return f"{words} ({public_address(reply.url)}{hint})" if reply.url else words


def opened(part: T | None) -> T:
    """Return a part that `open` of a model makes.

    Raises:
        ModelError: there is none yet.
    """
    if part is None:
        raise ModelError("the model was asked before it was opened", fix="call open() first")
    return part


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
