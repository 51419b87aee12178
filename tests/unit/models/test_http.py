"""Posting over real sockets: what servers may do to a connection."""

from __future__ import annotations

import asyncio
import json
import ssl
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from ais_prompt.models.http import HttpPoster
from ais_prompt.models.http_connection import Reply
from ais_prompt.models.http_route import route_to
from ais_prompt.types import Failure

T = TypeVar("T")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


class Server:
    """Sends scripted bytes, one script for each request, and remembers what it read."""

    def __init__(self, replies: Sequence[bytes], *, close_after: bool = False) -> None:
        self.replies = list(replies)
        self.close_after = close_after
        self.requests: list[bytes] = []
        self.connections = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while self.replies:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
                self.requests.append(head + await reader.readexactly(length))
                writer.write(self.replies.pop(0))
                await writer.drain()
                if self.close_after:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def against(server: Server, work: Callable[[str], Awaitable[T]], tls: ssl.SSLContext | None = None) -> T:
    """What ``work`` returns, given the address of the running server."""

    async def main() -> T:
        listener = await asyncio.start_server(server, "127.0.0.1", 0, ssl=tls)
        async with listener:
            return await work(f"127.0.0.1:{listener.sockets[0].getsockname()[1]}")

    return asyncio.run(asyncio.wait_for(main(), 30))


def posted(server: Server, times: int = 1, timeout: float = 5.0) -> list[Reply | Failure]:
    """What comes of posting so often, one after the other."""

    async def work(place: str) -> list[Reply | Failure]:
        poster = HttpPoster(f"http://{place}/v1/x", {}, timeout)
        try:
            return [await poster.post({"a": "ä\ud800"}) for _ in range(times)]
        finally:
            await poster.close()

    return against(server, work)


def test_a_connection_is_used_again() -> None:
    server = Server([OK, OK, OK])
    assert [reply.body for reply in posted(server, 3) if isinstance(reply, Reply)] == [b"hi"] * 3
    assert server.connections == 1
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1:")
    assert head.endswith(b"Content-Length: %d" % len(body))
    assert json.loads(body) == {"a": "ä\ud800"}


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nhi",  # to the end of the connection
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK,
        OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"),
        OK.replace(b"HTTP/1.1", b"HTTP/1.0"),
    ],
)
def test_every_way_to_end_a_body(reply: bytes) -> None:
    server = Server([reply, reply], close_after=True)
    assert posted(server, 2) == [Reply(200, b"hi"), Reply(200, b"hi")]
    assert server.connections == 2


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (b"", "before it answered"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", "in the middle of its reply"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhi", "in the middle of its reply"),
        (b"\x16\x03\x01 what is this?\r\n\r\n", "not HTTP"),
    ],
)
def test_what_breaks_off_is_no_reply(reply: bytes, words: str) -> None:
    [failure] = posted(Server([reply], close_after=True))
    assert isinstance(failure, Failure)
    assert failure.kind == "connection"
    assert words in failure.message


def test_a_reply_that_nobody_asked_for_is_not_the_next_answer() -> None:
    server = Server([OK + OK.replace(b"hi", b"no"), OK])
    assert posted(server, 2) == [Reply(200, b"hi"), Reply(200, b"hi")]
    assert server.connections == 2


def test_a_body_of_ten_megabytes() -> None:
    body = b"x" * 10_000_000
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    assert posted(Server([reply])) == [Reply(200, body)]


def test_a_stalled_reply_is_a_timeout_and_its_connection_is_not_used_again() -> None:
    server = Server([b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", OK])
    failure, reply = posted(server, 2, timeout=0.2)
    assert isinstance(failure, Failure)
    assert (failure.kind, reply) == ("timeout", Reply(200, b"hi"))
    assert server.connections == 2


def test_each_post_has_a_deadline_of_its_own() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def main() -> list[tuple[float, Reply | Failure]]:
        async with await asyncio.start_server(silent, "127.0.0.1", 0) as listener:
            poster = HttpPoster(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1", {}, 0.4)
            clock = asyncio.get_running_loop().time

            async def ask(wait: float) -> tuple[float, Reply | Failure]:
                await asyncio.sleep(wait)
                started = clock()
                outcome = await poster.post({})
                return clock() - started, outcome

            try:
                return await asyncio.gather(*(ask(wait) for wait in (0.0, 0.2, 0.7)))
            finally:
                await poster.close()

    for seconds, outcome in asyncio.run(asyncio.wait_for(main(), 30)):
        assert outcome == Failure("timeout", "no answer within 0.4 s")
        assert seconds >= 0.39


def test_headers_that_matter_are_read() -> None:
    [reply] = posted(Server([b"HTTP/1.1 429 Slow Down\r\nRETRY-AFTER: 7\r\nContent-Length: 0\r\n\r\n"]))
    assert reply == Reply(429, b"", retry_after="7")


def test_a_header_cannot_hold_another_one() -> None:
    async def work() -> Reply | Failure:
        return await HttpPoster("http://127.0.0.1:1/v1", {"X-One": "1\r\nX-Two: 2"}, 1.0).post({})

    failure = asyncio.run(work())
    assert isinstance(failure, Failure)
    assert "line break" in failure.message


def test_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    route = route_to("https://me:pass%20word@[::2]/v1/ä b?x=1 2&y=%20")
    assert (route.host, route.port, route.tls_host) == ("::2", 443, "::2")
    assert route.target == "/v1/%C3%A4%20b?x=1%202&y=%20"
    assert route.headers == {"Host": "[::2]", "Authorization": "Basic bWU6cGFzcyB3b3Jk"}
    assert route_to("http://bücher.example:8000/v1").headers["Host"] == "xn--bcher-kva.example:8000"
    monkeypatch.setenv("https_proxy", "http://user:pw@proxy.test:3128")
    tunnelled = route_to("https://far.test/v1")
    assert (tunnelled.host, tunnelled.port, tunnelled.tls_host) == ("proxy.test", 3128, "far.test")
    assert tunnelled.tunnel
    assert tunnelled.tunnel.startswith(b"CONNECT far.test:443 HTTP/1.1\r\nHost: far.test:443\r\nProxy-Authorization: ")
    monkeypatch.setenv("https_proxy", "socks5://proxy.test")
    with pytest.raises(ValueError, match="socks5"):
        route_to("https://far.test/v1")


def test_a_proxy_that_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(place: str) -> Reply | Failure:
        monkeypatch.setenv("https_proxy", f"http://{place}")
        poster = HttpPoster("https://far.test/v1", {}, 5.0)
        return await poster.post({})

    failure = against(Server([b"HTTP/1.1 407 Who are you\r\n\r\n"]), work)
    assert failure == Failure("unreachable", "the proxy refuses: HTTP/1.1 407 Who are you")


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=test"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=30)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    return certificate, key


def test_certificates_are_verified_and_a_tunnel_holds_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, key = make_certificate(tmp_path)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, key)
    server = Server([OK, OK])

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        host, port = head.split(b" ")[1].decode().split(":")
        far_reader, far_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))

    async def work(place: str) -> list[Reply | Failure]:
        replies = [await HttpPoster(f"https://{place}/v1", {}, 5.0).post({})]
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        replies.append(await HttpPoster(f"https://{place}/v1", {}, 5.0).post({}))
        async with await asyncio.start_server(proxy, "127.0.0.1", 0) as listener:
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}")
            monkeypatch.setattr("ais_prompt.models.http_route.is_loopback", lambda _: False)
            poster = HttpPoster(f"https://{place}/v1", {}, 5.0)
            replies.append(await poster.post({}))
            await poster.close()
        return replies

    distrusted, trusted, tunnelled = against(server, work, tls)
    assert isinstance(distrusted, Failure)
    assert "certificate" in distrusted.message.lower()
    assert (trusted, tunnelled) == (Reply(200, b"hi"), Reply(200, b"hi"))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
    finally:
        writer.close()
