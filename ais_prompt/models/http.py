"""One attempt over HTTP: JSON is posted to an address, and the reply is given back as it came."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from ais_prompt.models.http_connection import Connection, Reply, Sink, StaleConnection
from ais_prompt.models.http_deadlines import Deadlines
from ais_prompt.models.http_route import Route, route_to
from ais_prompt.types import Failure
from ais_prompt.utils.jsonl import encode_plain

CONNECT_SECONDS: Final = 10.0
"""A server that has not even taken the connection by then is not there."""


class Unreachable(ConnectionError):
    """No connection to the server can be made."""


class HttpPoster:
    """Keeps connections to one address open and posts to it. How many posts run side by side is up to the caller.

    Certificates are verified. Proxies of the environment are used, except for servers on this machine. Redirects are
    not followed: they would turn the post into something else, or carry a key to somebody else. It belongs to the
    event loop that runs when it is made.

    Args:
        address: the full address.
        headers: sent with every post.
        timeout: seconds that one attempt may take from the connection to the last byte.
    """

    def __init__(self, address: str, headers: Mapping[str, str], timeout: float) -> None:
        self._address = address
        self._headers = headers
        self._timeout = timeout
        self._way: tuple[Route, ssl.SSLContext | None, bytes] | None = None
        self._idle: list[Connection] = []
        self._clock = asyncio.get_running_loop().time
        self._deadlines = Deadlines()

    async def post(self, body: Mapping[str, Any], sink: Sink | None = None) -> Reply | Failure:
        """Post once. That there was no reply is a failure: ``unreachable``, ``connection`` or ``timeout``.

        Args:
            body: plain JSON values.
            sink: takes the body of a good reply as it comes.
        """
        try:
            reply = await self._exchange(body, sink)
        except TimeoutError as error:
            return Failure("timeout", str(error) or f"no answer within {self._timeout:g} s")
        except Unreachable as error:
            return Failure("unreachable", str(error))
        except OSError as error:
            return Failure("connection", str(error) or type(error).__name__)
        if 300 <= reply.status < 400:
            target = reply.location or "somewhere else"
            return Failure(f"http_{reply.status}", f"the server redirects to {target}; base_url must lead there")
        return reply

    async def close(self) -> None:
        """Close all connections; those that are in use close when their posts are cancelled. May be called twice."""
        self._deadlines.close()
        for connection in self._idle:
            connection.close()
        self._idle.clear()
        await asyncio.sleep(0)  # for the event loop to let go of them

    async def _exchange(self, body: Mapping[str, Any], sink: Sink | None) -> Reply:
        due = self._clock() + self._timeout
        content = encode_plain(body)
        route, context, head = self._way = self._way or self._find_way()
        request = b"%bContent-Length: %d\r\n\r\n%b" % (head, len(content), content)
        if connection := self._idle_connection():
            with suppress(StaleConnection):
                return await self._use(connection, request, sink, due)
        return await self._use(await self._connect(route, context), request, sink, due)

    async def _use(self, connection: Connection, request: bytes, sink: Sink | None, due: float) -> Reply:
        self._deadlines.set(connection, due)
        try:
            reply = await connection.exchange(request, sink)
        finally:
            self._deadlines.clear(connection)
        if connection.is_open:
            self._idle.append(connection)
        return reply

    def _find_way(self) -> tuple[Route, ssl.SSLContext | None, bytes]:
        """The route, what TLS needs, and the head of every post but its length."""
        try:
            route = route_to(self._address)
        except ValueError as error:  # a proxy or a host that cannot be one
            raise Unreachable(str(error)) from None
        headers = {**route.headers, **self._headers, "Content-Type": "application/json", "Accept-Encoding": "identity"}
        lines = [f"POST {route.target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), ""]
        if any(sign in line for line in lines for sign in "\r\n\0"):
            raise Unreachable("a header holds a line break")
        return route, ssl.create_default_context() if route.tls_host else None, "\r\n".join(lines).encode("latin-1")

    def _idle_connection(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open:
                return connection
        return None

    async def _connect(self, route: Route, context: ssl.SSLContext | None) -> Connection:
        seconds = min(CONNECT_SECONDS, self._timeout)
        where = f"{route.host}:{route.port}"
        try:
            async with asyncio.timeout(seconds):
                return await route.connect(context)
        except TimeoutError:
            raise Unreachable(f"{where} did not take the connection within {seconds:g} s") from None
        except (OSError, UnicodeError) as error:  # UnicodeError: a name that cannot be one
            raise Unreachable(_reason(error, where)) from None


def _reason(error: OSError | UnicodeError, where: str) -> str:
    """Why there is no connection. What the operating system says does not name the server."""
    if isinstance(error, OSError) and error.errno is not None and not isinstance(error, ssl.SSLError):
        words = os.strerror(error.errno) if isinstance(error, ConnectionRefusedError) else error.strerror
        return f"{where}: {words}"
    return str(error) or type(error).__name__
