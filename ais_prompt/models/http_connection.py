"""One connection over HTTP/1.1, on which one exchange follows the other.

Parsing is done by httptools, the parser of Node.js. What a general client does besides (cookies, redirects, tracing,
compression) takes most of its time and is of no use here, see `tools.bench.engine`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

Sink: TypeAlias = Callable[[bytes], None]
"""Takes the body of a good reply (2xx) piece by piece, as it comes."""


class Reply(Struct, frozen=True):
    """What a server sent back, whatever its status.

    Attributes:
        status: HTTP status.
        body: its bytes; empty if they went into a `Sink`.
        retry_after: the ``Retry-After`` header as it came; None if there is none.
        location: the ``Location`` header of a redirect; None if there is none.
    """

    status: int
    body: bytes
    retry_after: str | None = None
    location: str | None = None


class StaleConnection(ConnectionError):
    """The server has closed a connection, used before, without a byte for the request: it did so while that was idle.

    Source: RFC 9112, section 9.3.1, which lets a client repeat such a request on a new connection.
    """


class Connection(asyncio.Protocol):
    """An open connection. Whoever is broken off in the middle of an exchange closes it."""

    def __init__(self) -> None:
        import httptools

        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[Reply] | None = None
        self._sink: Sink | None = None
        self._used = False  # for a whole exchange
        self._begin_reply()

    @property
    def is_open(self) -> bool:
        """Whether another exchange can be tried."""
        return self._transport is not None and not self._transport.is_closing()

    async def exchange(self, request: bytes, sink: Sink | None = None) -> Reply:
        """Send a request and read the reply to its end.

        Args:
            request: head and body.
            sink: takes the body of a good reply instead of the `Reply`; an error of its own breaks the exchange off.

        Raises:
            TimeoutError: it was ended by `time_out`.
            StaleConnection: it was closed before the server took notice of the request.
            ConnectionError: the connection broke, or what came is not HTTP.
        """
        if self._transport is None:
            raise self._closed_early(None)
        self._waiter = asyncio.get_running_loop().create_future()
        self._sink = sink
        try:
            self._transport.write(request)
            return await self._waiter
        except BaseException:
            self.close()
            raise
        finally:
            self._waiter = self._sink = None

    def time_out(self) -> None:
        """End the exchange that is under way with a `TimeoutError`."""
        self._fail(TimeoutError())

    def close(self) -> None:
        """Close it at once, whatever is under way. May be called more than once."""
        if self._transport is not None:
            self._transport.abort()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is open."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Parse what came; without a request there is nothing to come."""
        import httptools

        if self._waiter is None:
            self.close()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserCallbackError as error:
            self._fail(error.__context__ or error)
        except httptools.HttpParserError as error:
            self._fail(ConnectionError(f"the reply is not HTTP: {error}"))

    def connection_lost(self, exc: Exception | None) -> None:
        """A body without a length ends here; everything else breaks off."""
        self._transport = None
        if self._until_the_end and exc is None:
            self.on_message_complete()
        elif self._status:
            self._fail(ConnectionError(str(exc or "the server closed the connection in the middle of its reply")))
        else:
            self._fail(self._closed_early(exc))

    # What the parser calls.

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep the few headers that matter."""
        name = name.lower()
        if name in (b"retry-after", b"location"):
            self._headers[name] = value.decode("latin-1")
        elif name in (b"content-length", b"transfer-encoding"):
            self._has_length = True

    def on_headers_complete(self) -> None:
        """The body follows."""
        self._status = self._parser.get_status_code()
        self._until_the_end = not self._has_length and self._status >= 200

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body, or pass it on."""
        if self._sink is not None and 200 <= self._status < 300:
            self._sink(body)
        else:
            self._pieces.append(body)

    def on_message_complete(self) -> None:
        """The reply is whole; what has a status below 200 only goes before it."""
        status, headers = self._status, self._headers
        keeps = self._parser.should_keep_alive()
        reply = Reply(status, b"".join(self._pieces), headers.get(b"retry-after"), headers.get(b"location"))
        self._begin_reply()
        if status < 200:
            return
        self._used = True
        if self._waiter is None or self._waiter.done():
            self.close()  # nobody has asked for it
            return
        self._waiter.set_result(reply)
        if not keeps:
            self.close()

    def _begin_reply(self) -> None:
        self._status = 0
        self._headers: dict[bytes, str] = {}
        self._pieces: list[bytes] = []
        self._has_length = self._until_the_end = False

    def _closed_early(self, cause: Exception | None) -> ConnectionError:
        kind = StaleConnection if self._used else ConnectionError
        return kind(str(cause or "the server closed the connection before it answered"))

    def _fail(self, error: BaseException) -> None:
        self.close()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(error)
