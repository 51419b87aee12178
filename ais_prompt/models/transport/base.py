"""Transports: bytes to one server and back, no retries, no parsing. Nothing above knows which library is used.

Their protocol, and the option ``client`` of a model, which names one with its arguments.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Final, Protocol, TypeAlias

from msgspec import Struct

from ais_prompt.errors import AisPromptError, ConfigError, ModelError
from ais_prompt.models.flat_options import checked_by
from ais_prompt.models.model_options import MAX_REPLY_BYTES
from ais_prompt.models.transport.credentials import DEFAULT_VARIABLE
from ais_prompt.models.transport.network import public_address
from ais_prompt.parts import GuardedPart
from ais_prompt.registry import TRANSPORTS, ChecksArguments, is_shipped
from ais_prompt.secrets import SECRETS
from ais_prompt.types import Failure

Sink: TypeAlias = Callable[[bytes], None]
"""Takes the body of a good reply (2xx) piece by piece."""

_OPENAI: Final = "openai."
_AZURE_VARIABLE: Final = "AZURE_OPENAI_API_KEY"
_AZURE_TOKEN: Final = "AZURE_OPENAI_AD_TOKEN"


class Reply(Struct, frozen=True):
    """The reply of a server, with any status.

    Attributes:
        status: HTTP status.
        body: the body, decompressed; empty if a `Sink` took it.
        retry_after: the ``Retry-After`` header; None without one.
        location: the ``Location`` header of a redirect; None without one.
        date: the ``Date`` header: the server's clock; None without one.
        url: the address of the request; empty if the transport does not return it.
    """

    status: int
    body: bytes
    retry_after: str | None = None
    location: str | None = None
    url: str = ""
    date: str | None = None


class Server(Struct, frozen=True):
    """The server that a transport talks to.

    Attributes:
        base_url: address below which requests are sent, without user and password.
        headers: headers of every request, with the login.
        key: the key, for a transport with a login of its own; None without one.
        model: name of the model, which is part of the path on some servers.
        timeout: seconds that one attempt may take, from the connection to the last byte.
        max_reply_bytes: largest reply, as it is sent and decompressed.
    """

    base_url: str
    headers: Mapping[str, str]
    key: str | None
    model: str
    timeout: float
    max_reply_bytes: int = MAX_REPLY_BYTES


class Transport(Protocol):
    """Sends requests to one server. It belongs to the event loop in which it is made.

    A class of your own is named in a config by its dotted path (``client='my_package.MyTransport'``) and is called with
    a `Server` and the other arguments of ``client``.
    """

    async def send(self, method: str, path: str, body: bytes | None, sink: Sink | None) -> Reply | Failure:
        """Send one request and read the whole reply. Make one attempt; the caller retries.

        Args:
            method: ``GET`` or ``POST``.
            path: below the base URL, such as ``chat/completions``.
            body: JSON; None for a request without a body.
            sink: takes the body of a good reply instead of the `Reply`. Of a `Moments`, ``connected`` and ``sent`` may
                be set.

        Returns:
            The reply, or a failure of the kind ``unreachable`` (no connection), ``connection`` (it broke, or the reply
            is not HTTP), ``timeout``, ``reply_too_large``, or ``certificate`` (not trusted; no other request can
            succeed).
        """

    async def close(self) -> None:
        """Close all connections. May be called more than once."""


class Moments:
    """A `Sink` that notes when the steps of one attempt happen, in seconds of one clock. What did not happen is None.

    The clock is read once for each piece of the body, before the piece is parsed.

    Args:
        clock: returns the time in seconds.

    Attributes:
        connected: when there was a connection, new or reused.
        sent: when the last byte of the request was handed to the system.
        first_byte: when the first piece of the body came.
        last_read: when the last piece came; before the first one, when this was made.
        take: takes the pieces of a streamed answer; None collects them in ``body``.
        body: the body of an answer that is not streamed.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.connected: float | None = None
        self.sent: float | None = None
        self.first_byte: float | None = None
        self.last_read = clock()
        self.take: Sink | None = None
        self.body = bytearray()

    def __call__(self, piece: bytes) -> None:
        """Take a piece of the body."""
        self.last_read = self.clock()
        if self.first_byte is None:
            self.first_byte = self.last_read
        if self.take is None:
            self.body += piece
        else:
            self.take(piece)


class WatchedTransport:
    """Sends requests to a server that this program, or another one, starts.

    Args:
        transport: sends the requests.
        watched: returns the failure of a request, given as the transport has it: it knows more about the server.
    """

    def __init__(self, transport: Transport, watched: Callable[[Failure], Awaitable[Failure]]) -> None:
        self._transport = transport
        self._watched = watched

    async def send(self, method: str, path: str, body: bytes | None, sink: Sink | None) -> Reply | Failure:
        """As `Transport.send`."""
        reply = await self._transport.send(method, path, body, sink)
        return await self._watched(reply) if isinstance(reply, Failure) else reply

    async def close(self) -> None:
        """As `Transport.close`."""
        await self._transport.close()


class TransportSpec(Struct, frozen=True):
    """A transport that is not open yet.

    Attributes:
        type: a registered name or a dotted path.
        args: its arguments besides the `Server`.
    """

    type: str
    args: Mapping[str, Any]

    @property
    def address(self) -> str | None:
        """The address in the arguments or the environment; None if that of the model counts."""
        return self.args.get("azure_endpoint") or (os.environ.get("AZURE_OPENAI_ENDPOINT") if self._is_azure else None)

    def key_variable(self, variable: str | None) -> str | None:
        """Return the variable that holds the key, given the one of the model; None if the transport needs no key."""
        if any(name.endswith("token_provider") for name in self.args):
            return None
        if not self._is_azure or variable != DEFAULT_VARIABLE:
            return variable
        return None if os.environ.get(_AZURE_TOKEN) else _AZURE_VARIABLE

    def check(self) -> None:
        """Check the arguments without making the transport.

        Raises:
            ConfigError: the transport does not accept them.
        """
        part = TRANSPORTS.get(self.type)
        try:
            inspect.signature(part).bind(None, **self.args)
        except TypeError as error:
            what = f"the transport {self.type!r} does not accept these arguments: {error}"
            raise ConfigError(what, fix="check the dict of `client`") from None
        if isinstance(part, ChecksArguments):
            part.check_arguments(**self.args)

    def open(self, server: Server) -> Transport:
        """Make the transport in the running event loop.

        Raises:
            ConfigError: there is no such transport, or it has no such argument.
            ModelError: the transport cannot be used.
        """
        part = TRANSPORTS.get(self.type)
        if self._is_azure and (token := os.environ.get(_AZURE_TOKEN)):
            SECRETS.add(token)
        try:
            transport: Any = part(server, **self.args)
        except AisPromptError:
            raise
        except Exception as error:  # a transport of the user can raise anything
            raise ModelError(
                f"the transport {self.type} cannot be used: {type(error).__name__}: {error}",
                where=public_address(server.base_url),
                fix="check the arguments of `client`",
            ) from error
        if not is_shipped(type(transport)):
            transport = GuardedPart(transport, TRANSPORTS.protocols(), self.type)
        return transport  # type: ignore[no-any-return]

    @property
    def _is_azure(self) -> bool:
        return "Azure" in str(self.args.get("client", ""))


def read_client(value: str | Mapping[str, Any]) -> TransportSpec:
    """Read ``client`` of a model: a name, a dotted path, or a dict with ``type`` and further arguments.

    Raises:
        ConfigError: it names no transport.
    """
    args = {"type": value} if isinstance(value, str) else dict(value)
    kind = args.pop("type", None)
    if not isinstance(kind, str) or not kind:
        raise ConfigError(f"client needs a type, such as 'aiohttp' or 'openai', not {kind!r}", fix="add type=...")
    if kind.startswith(_OPENAI):
        return TransportSpec("openai", {"client": kind, **args})
    TRANSPORTS.get(kind)
    return TransportSpec(kind, args)


ClientOption: TypeAlias = Annotated[str | Mapping[str, Any], checked_by(read_client)]
"""The option ``client`` of a config, checked with the config."""


class StaleConnection(Exception):
    """The server closed an idle connection at the moment of its reuse."""


class ReplyTooLarge(Exception):
    """A reply has more bytes than may be."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the reply has more than {limit / 2**20:g} MiB")
