"""Connections on which a reply belongs to its request: whatever arrives at another time closes them.

HTTP/1.1 has no number that joins a reply to its request, only their order. So a connection is reused only if nothing
was received since the end of the last reply. Importing this loads aiohttp.
"""

from __future__ import annotations

import select
from asyncio import AbstractEventLoop, get_running_loop
from functools import partial
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler

from ais_prompt.models.transport.base import ReplyTooLarge, StaleConnection


class TrackedRequest(aiohttp.ClientRequest):
    """A request that knows whether a connection was made for it.

    Attributes:
        connects: whether a new connection was made for it, rather than an idle one reused.
    """

    connects = False


async def detect_stale(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Send a request, as a client middleware of aiohttp.

    Raises:
        StaleConnection: the connection broke before the head of the reply, and was idle before.
    """
    try:
        return await send(request)
    except (aiohttp.ServerDisconnectedError, OSError) as error:
        if isinstance(error, TimeoutError) or (isinstance(request, TrackedRequest) and request.connects):
            raise
        raise StaleConnection from error


class Connector(aiohttp.TCPConnector):
    """Makes connections that take no more than ``max_reply_bytes`` for one reply, and notes the `TrackedRequest`."""

    def __init__(self, max_reply_bytes: int, **options: Any) -> None:
        super().__init__(**options)
        # partial is invariant in its result
        self._factory = partial(Connection, get_running_loop(), max_reply_bytes)  # type: ignore[assignment]

    async def _create_connection(self, req: aiohttp.ClientRequest, *args: Any) -> Any:
        if isinstance(req, TrackedRequest):
            req.connects = True
        return await super()._create_connection(req, *args)

    def _release(self, key: Any, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        if isinstance(protocol, Connection):
            protocol.rest()
        super()._release(key, protocol, should_close=should_close)


class Connection(ResponseHandler):
    """One connection. It rests until a request is sent, and again after the last byte of the reply.

    Args:
        loop: the event loop.
        max_reply_bytes: most bytes of a reply, as they are sent: with its headers, compressed if the server does so.
    """

    def __init__(self, loop: AbstractEventLoop, max_reply_bytes: int) -> None:
        super().__init__(loop)
        self._max_reply_bytes = max_reply_bytes
        self._received = 0
        self._rests = True
        self._is_parsing = False
        self._poll: select.poll | None = None  # asks for the one socket of the connection

    def set_response_params(self, **options: Any) -> None:
        """Expect a reply; aiohttp calls this before it sends a request."""
        self._rests, self._received = False, 0
        super().set_response_params(**options)

    def data_received(self, data: bytes) -> None:
        """Take bytes of a reply, or close the connection if none is expected."""
        if self._rests:
            if data:
                self.close()
            return
        self._received += len(data)
        if self._received > self._max_reply_bytes:
            error = ReplyTooLarge(self._max_reply_bytes)
            self.set_exception(error)
            if self._payload is not None:
                self._payload.set_exception(error)
            self.abort()
            return
        self._is_parsing = True
        try:
            super().data_received(data)
        finally:
            self._is_parsing = False
        if self._rests:  # the reply ended in these bytes, and was given to its reader at once
            self._close_after_more()

    def rest(self) -> None:
        """Expect nothing more: the reply was read, or given up."""
        self._rests = True
        if not self._is_parsing:
            self._close_after_more()

    def is_connected(self) -> bool:
        """Return whether the connection can be used; one that rests cannot if there is something to read."""
        return super().is_connected() and not (self._rests and self._is_readable())

    def _close_after_more(self) -> None:
        """Close the connection if there was more than the reply: another one, or the beginning of another one."""
        parser, self._parser = self._parser, None  # each request has a parser of its own
        try:
            more = parser is not None and parser.feed_eof() is not None
        except aiohttp.http.HttpProcessingError:
            more = True
        if more or self._buffer:
            self.force_close()
            self.close()

    def _is_readable(self) -> bool:
        """Return whether there are bytes, or the end of the connection, that the event loop has not read yet."""
        if self._poll is None:
            socket = self.transport.get_extra_info("socket") if self.transport is not None else None
            if socket is None or not hasattr(select, "poll"):
                return False
            self._poll = select.poll()
            self._poll.register(socket.fileno(), select.POLLIN)
        return bool(self._poll.poll(0))
