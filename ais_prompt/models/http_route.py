"""The way to a server: straight, or through the proxy that the environment names."""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from msgspec import Struct

from ais_prompt.models.address import is_loopback
from ais_prompt.models.http_connection import Connection

_PORTS: Final = {"http": 80, "https": 443}
_KEPT: Final = "/%:@!$&'()*+,;=~?-._"
"""Signs of a path or query that are sent as they stand."""
_EAGERNESS: Final = 0.25
"""Seconds after which a server's next address is tried too (RFC 8305)."""
_PROXY_SECONDS: Final = 10.0


class Route(Struct, frozen=True):
    """How requests reach an address.

    Attributes:
        host, port: where the connection goes, the server's or the proxy's.
        server: host and port of the server, as a proxy is told.
        tls_host: the host whose certificate is verified; None for plain HTTP.
        tunnel: what a proxy is told before TLS begins; None without one.
        target: what stands in the first line of a request.
        headers: those that the address itself asks for.
    """

    host: str
    port: int
    server: str
    tls_host: str | None
    tunnel: bytes | None
    target: str
    headers: Mapping[str, str]

    async def connect(self, context: ssl.SSLContext | None) -> Connection:
        """Open a connection.

        Args:
            context: decides which certificates are trusted; None for plain HTTP.

        Raises:
            OSError: there is no such host, it refuses, or its certificate is not trusted.
        """
        options: dict[str, Any] = {"ssl": context, "server_hostname": self.tls_host} if context else {}
        if self.tunnel is None:
            options |= {"host": self.host, "port": self.port, "happy_eyeballs_delay": _EAGERNESS}
        else:
            options["sock"] = await self._open_tunnel(self.tunnel)
        _, connection = await asyncio.get_running_loop().create_connection(Connection, **options)
        return connection

    async def _open_tunnel(self, tunnel: bytes) -> socket.socket:
        """A socket to the proxy, behind which the server itself answers."""
        loop = asyncio.get_running_loop()
        plain = await asyncio.to_thread(socket.create_connection, (self.host, self.port), _PROXY_SECONDS)
        try:
            plain.setblocking(False)
            await loop.sock_sendall(plain, tunnel)
            answer = b""
            while b"\r\n\r\n" not in answer:
                if not (piece := await loop.sock_recv(plain, 1)):  # not a byte more: what follows is TLS
                    raise ConnectionError("the proxy closed the connection before it answered")
                answer += piece
            status = answer.partition(b"\r\n")[0].decode("latin-1")
            if status.split(" ")[1:2] != ["200"]:
                raise ConnectionError(f"the proxy refuses: {status}")
        except BaseException:
            plain.close()
            raise
        return plain


def route_to(address: str) -> Route:
    """The route to an address with ``http`` or ``https``; a user in it logs in with Basic authentication.

    Raises:
        ValueError: the host or the proxy cannot be one.
    """
    parts = urlsplit(address)
    host, port = _place(parts)
    secure = parts.scheme == "https"
    server = f"{_bracketed(host)}:{port}"
    path = quote(parts.path or "/", safe=_KEPT) + ("?" + quote(parts.query, safe=_KEPT) if parts.query else "")
    named = _bracketed(host) if port == _PORTS[parts.scheme] else server
    headers = {"Host": named, **_login("Authorization", parts)}
    tls_host = host if secure else None
    proxy = _proxy_for(address)
    if proxy is None:
        return Route(host, port, server, tls_host, None, path, headers)
    through = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if through.scheme != "http":
        raise ValueError(f"proxies with {through.scheme}:// cannot be used")
    login = _login("Proxy-Authorization", through)
    if not secure:
        return Route(*_place(through), server, None, None, f"http://{named}{path}", {**headers, **login})
    lines = [f"CONNECT {server} HTTP/1.1", f"Host: {server}", *(f"{name}: {value}" for name, value in login.items())]
    return Route(*_place(through), server, host, "\r\n".join([*lines, "", ""]).encode("ascii"), path, headers)


def _place(parts: SplitResult) -> tuple[str, int]:
    """Host, as the network knows it, and port."""
    host = parts.hostname or ""
    if not host.isascii():
        host = host.encode("idna").decode("ascii")
    return host, parts.port or _PORTS[parts.scheme]


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _login(header: str, parts: SplitResult) -> dict[str, str]:
    if parts.username is None:
        return {}
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {header: "Basic " + base64.b64encode(login.encode()).decode("ascii")}


def _proxy_for(address: str) -> str | None:
    """The proxy that the environment names for an address; None to go there directly."""
    parts = urlsplit(address)
    if is_loopback(address) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return getproxies().get(parts.scheme)
