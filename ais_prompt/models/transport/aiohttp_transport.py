"""The default transport, with aiohttp.

Each attempt sends an ``X-Request-Id`` of its own, to find a reply that belongs to another request. Gateways return it
as a header, and vLLM also as a part of the ``id`` in the body. Other servers ignore it.
"""

from __future__ import annotations

import asyncio
import errno
import io
import os
import re
import secrets
import ssl
from collections.abc import Coroutine, Mapping
from functools import lru_cache, partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from ais_prompt.models.transport.base import Moments, Reply, ReplyTooLarge, Server, Sink, StaleConnection
from ais_prompt.models.transport.network import CERTIFICATES, join_address, proxy_for, public_address, tls_context
from ais_prompt.registry import TRANSPORTS
from ais_prompt.types import Failure, ServerFailure

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession, TraceConfig

CONNECT_SECONDS: Final = 10.0
"""Timeout of a connection attempt in seconds."""
REQUEST_ID: Final = "X-Request-Id"
_LARGE: Final = 2**20
"""Size in bytes from which aiohttp wants a body as a file, to send it in pieces."""


@TRANSPORTS.register_module("aiohttp")
class AiohttpTransport:
    """Sends requests with one aiohttp session. The caller limits the concurrency.

    Certificates are verified and proxies of the environment are used. Redirects are not followed: they would turn a
    POST into a GET, or send a key to another server.

    Args:
        server: the server and its login.

    Raises:
        ModelError: a proxy or a certificate file of the environment cannot be used.
    """

    def __init__(self, server: Server) -> None:
        self._timeout = server.timeout
        self._max_bytes = server.max_reply_bytes
        self._connect_seconds = min(CONNECT_SECONDS, server.timeout)
        self._url = lru_cache(partial(join_address, server.base_url))
        self._headers = server.headers
        self._has_id = REQUEST_ID.lower() in map(str.lower, server.headers)
        self._tls = tls_context(server.base_url)
        self._ids = RequestIds()
        # By whether `Moments` are noted: to tell them takes aiohttp a fifth of the time of a request.
        self._sessions: dict[bool, ClientSession] = {}
        self._options: dict[str, Any] = {"allow_redirects": False, "proxy": proxy_for(server.base_url)}

    def send(
        self, method: str, path: str, body: bytes | None, sink: Sink | None
    ) -> Coroutine[Any, Any, Reply | Failure]:
        """As `Transport.send`."""
        return self.request(method, self._url(path), body, sink)

    async def request(
        self,
        method: str,
        url: str,
        body: bytes | None,
        sink: Sink | None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply | Failure:
        """Send a request to an address, with further headers, and an id if they hold none."""
        # An id that the config gives stays: a gateway may know requests by it.
        own, sent = self._ids.new(), dict(headers or {})
        if not self._has_id and REQUEST_ID.lower() not in map(str.lower, sent):
            sent[REQUEST_ID] = own
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._start(method, url, body, sent, sink)
                return await self._read(response, own, url, sink)
        except Exception as error:
            return self._failure_of(error, url)

    def _failure_of(self, error: Exception, url: str) -> Failure:
        """Return the failure of an exception; raise it if it is neither from aiohttp nor from the system."""
        import aiohttp
        from aiohttp.http_exceptions import ContentEncodingError

        match error:
            case aiohttp.ConnectionTimeoutError():
                return _not_connected(TimeoutError(f"no connection within {self._connect_seconds:g} s"), url)
            case TimeoutError():
                return timed_out(self._timeout, url)
            case aiohttp.ClientHttpProxyError():
                return _not_connected(ConnectionError(f"the proxy refuses: {error.status} {error.message}"), url)
            case aiohttp.ClientConnectorError() | aiohttp.InvalidURL():
                return _not_connected(error, url)
            case ReplyTooLarge():  # a retry would bring another one
                words = f"{error}; limits.max_reply_bytes allows more ({public_address(url)})"
                return Failure("reply_too_large", words)
            case aiohttp.ServerDisconnectedError():
                words = "the server closed the connection before it answered"
            case aiohttp.ClientPayloadError(__cause__=ContentEncodingError(message=cause)):
                words = f"the reply cannot be decompressed: {cause}"
            case aiohttp.ClientPayloadError():
                words = "the server closed the connection in the middle of its reply"
            case aiohttp.ClientResponseError():
                words = f"the reply is not HTTP: {error.message}"
            case OtherReply() | aiohttp.ClientError() | OSError():
                words = _words(_causes(error))
            case _:
                raise error
        return Failure("connection", f"{words} ({public_address(url)})")

    async def _read(self, response: ClientResponse, own: str, url: str, sink: Sink | None) -> Reply:
        """Read a reply to its end; the connection is then given back, and closed if the reply is not read to its end.

        Args:
            response: the head of the reply.
            own: the id of the request.
            url: its address.
            sink: takes the body of a good reply.

        Raises:
            OtherReply: the reply has the id of another request.
            ReplyTooLarge: the body has too many bytes, decompressed.
        """
        self._ids.check(own, response.headers.get(REQUEST_ID, "").encode())
        status, body = response.status, bytearray()
        take = sink if sink is not None and status < 300 else body.extend
        if status < 200:  # 101: another protocol follows, which never ends
            response.close()
        else:
            left = self._max_bytes
            # To its end: aiohttp gives the connection back only then, and closes it if this block is left before.
            async with response:
                async for piece in response.content.iter_any():
                    self._ids.check(own, piece)
                    left -= len(piece)
                    if left < 0:
                        raise ReplyTooLarge(self._max_bytes)
                    take(piece)
        headers = response.headers
        return Reply(status, bytes(body), headers.get("Retry-After"), headers.get("Location"), url, headers.get("Date"))

    async def close(self) -> None:
        """Close all connections. May be called more than once."""
        if not self._sessions:
            return
        for session in self._sessions.values():
            await session.close()
        await asyncio.sleep(0)  # the event loop closes the sockets in its next round

    def _open_session(self, *, noting: bool) -> ClientSession:
        import aiohttp

        from ais_prompt.models.transport.connections import Connector, TrackedRequest, detect_stale

        return aiohttp.ClientSession(
            connector=Connector(self._max_bytes, limit=0, ssl=self._tls or True),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(total=None, connect=self._connect_seconds),
            request_class=TrackedRequest,
            middlewares=(detect_stale,),
            trace_configs=[_noting()] if noting else None,
        )

    async def _start(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str] | None, sink: Sink | None
    ) -> ClientResponse:
        """Send a request and return the head of the reply.

        Retry after a stale keep-alive connection: a server may close an idle connection at the moment of its reuse. The
        request is then sent on another connection (RFC 9112, section 9.3.1). aiohttp does so for idempotent methods
        only.
        """
        noting = isinstance(sink, Moments)
        if (session := self._sessions.get(noting)) is None:
            session = self._sessions[noting] = self._open_session(noting=noting)
        while True:
            data = io.BytesIO(body) if body is not None and len(body) > _LARGE else body
            try:
                return await session.request(
                    method, url, data=data, headers=headers, trace_request_ctx=sink, **self._options
                )
            except StaleConnection:  # it leaves the pool, so this ends
                continue


def _noting() -> TraceConfig:
    """Return what notes the connection and the sending of a request whose sink is a `Moments`."""
    import aiohttp

    async def connected(_session: Any, context: Any, _event: Any) -> None:
        if isinstance(moments := context.trace_request_ctx, Moments):
            moments.connected = moments.clock()

    async def sent(_session: Any, context: Any, _event: Any) -> None:
        if isinstance(moments := context.trace_request_ctx, Moments):
            moments.sent = moments.clock()

    config = aiohttp.TraceConfig()
    config.on_connection_create_end.append(connected)
    config.on_connection_reuseconn.append(connected)
    config.on_request_headers_sent.append(sent)
    config.on_request_chunk_sent.append(sent)
    return config


class OtherReply(Exception):
    """A reply has the id of another request."""

    def __init__(self) -> None:
        super().__init__("the reply belongs to another request")


class RequestIds:
    """Makes ids, and checks those in replies."""

    def __init__(self) -> None:
        self._prefix = f"aisprompt-{secrets.token_hex(4)}-"
        self._numbers = count(1)
        # The dash at the end shows that an id is whole: a stream may be cut anywhere.
        self._pattern = re.compile(rb"%b\d+-" % self._prefix.encode())

    def new(self) -> str:
        """Return an id that no other request has."""
        return f"{self._prefix}{next(self._numbers)}-"

    def check(self, own: str, text: bytes) -> None:
        """Check a part of a reply to the request with the id ``own``.

        Raises:
            OtherReply: it has the id of another request.
        """
        if any(found != own.encode() for found in self._pattern.findall(text)):
            raise OtherReply


def timed_out(seconds: float, url: str) -> Failure:
    """Return the failure of an attempt that timed out."""
    return Failure("timeout", f"no answer within {seconds:g} s ({public_address(url)})")


def _not_connected(error: BaseException, url: str) -> Failure:
    """Return the failure of a connection that could not be made, with a fix if one is known."""
    causes = _causes(error)
    words, kind = _words(causes), "unreachable"
    untrusted = next(filter(None, (getattr(cause, "verify_message", "") for cause in causes)), "")
    if untrusted:
        kind = "certificate"
        words = f"the certificate is not trusted: {untrusted}; if you trust it, set {CERTIFICATES} to its PEM file"
    elif any(getattr(cause, "errno", None) in (errno.EMFILE, errno.ENFILE) for cause in causes):
        words += "; raise the limit of `ulimit -n`, or lower max_concurrency"
    return ServerFailure.of(kind, words, public_address(url), fatal=kind == "certificate")


def _causes(error: BaseException) -> list[BaseException]:
    """Return the error and its causes, the outermost first."""
    causes: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in causes:
        causes.append(current)
        current = current.__cause__ or current.__context__
    return causes


def _words(causes: list[BaseException]) -> str:
    """Return the message of the operating system, else that of the library."""
    for cause in causes:
        if isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError):
            if cause.errno is not None and cause.errno in errno.errorcode:
                return os.strerror(cause.errno)  # asyncio's own text repeats the address
            if cause.strerror:  # of a name that cannot be looked up
                return str(cause.strerror)
    return next((str(cause) for cause in causes if str(cause)), type(causes[0]).__name__)
