"""One attempt over HTTP: JSON is posted to an address, and the reply is given back as it came."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ais_prompt.models.address import is_loopback
from ais_prompt.types import Failure

CONNECT_SECONDS: Final = 10.0
"""A server that has not even taken the connection by then is not there."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server sent back, whatever its status.

    Attributes:
        status: HTTP status, redirects excepted.
        body: its bytes, decompressed.
        retry_after: the ``Retry-After`` header as it came; None if there is none.
    """

    status: int
    body: bytes
    retry_after: str | None


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
        import aiohttp

        self._address = address
        self._timeout = timeout
        self._proxy = _proxy_for(address)
        self._session = aiohttp.ClientSession(
            headers={**headers, "Content-Type": "application/json"},
            connector=aiohttp.TCPConnector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),  # answers must not depend on what was asked before
            timeout=aiohttp.ClientTimeout(total=timeout, sock_connect=min(CONNECT_SECONDS, timeout)),
        )

    async def post(self, body: Mapping[str, Any]) -> Reply | Failure:
        """Post once. That there was no reply is a failure of the kind ``connection`` or ``timeout``."""
        import aiohttp

        # ASCII escapes carry every character, lone surrogates included.
        content = json.dumps(body).encode("ascii")
        try:
            async with self._session.post(
                self._address, data=content, proxy=self._proxy, allow_redirects=False
            ) as response:
                if 300 <= response.status < 400:
                    target = response.headers.get("Location", "somewhere else")
                    return Failure(
                        f"http_{response.status}", f"the server redirects to {target}; base_url must lead there"
                    )
                return Reply(response.status, await response.read(), response.headers.get("Retry-After"))
        except TimeoutError as error:
            return Failure("timeout", str(error) or f"no answer within {self._timeout:g} s")
        except (aiohttp.ClientError, OSError, ValueError) as error:  # ValueError: a proxy or a host name that is none
            return Failure("connection", str(error) or type(error).__name__)

    async def close(self) -> None:
        """Close all connections. May be called more than once."""
        await self._session.close()


def _proxy_for(address: str) -> str | None:
    """The proxy that the environment names for an address; None to go there directly."""
    parts = urlsplit(address)
    if is_loopback(address) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return getproxies().get(parts.scheme)
