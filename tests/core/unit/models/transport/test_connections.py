"""A reply belongs to its request, and has a largest size; both transports over real sockets."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ais_prompt.models import Reply, Server, read_client
from ais_prompt.types import Failure
from tests.support.waiting import WATCHDOG_SECONDS

pytestmark = pytest.mark.process

CLIENTS = ("aiohttp", "openai")
LIMIT = 2**16
STALL = 1.0
"""Seconds of a reply that comes after the timeout, which is half as long."""


def http(body: bytes, *headers: bytes, chunked: bool = False) -> bytes:
    if chunked:
        framed, length = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body), b"Transfer-Encoding: chunked"
    else:
        framed, length = body, b"Content-Length: %d" % len(body)
    return b"\r\n".join([b"HTTP/1.1 200 OK", length, *headers, b"", framed])


class Talkative:
    """Answers each request with its own body, then sends what was not requested.

    Args:
        extra: what follows each reply.
        cuts: where it is cut; the first part follows the reply at once, the others come while the client waits.
        chunked: the form of the replies.
    """

    def __init__(self, extra: bytes, cuts: Sequence[int] = (), *, chunked: bool = False) -> None:
        places = [0, *sorted(cut % (len(extra) + 1) for cut in cuts), len(extra)]
        self.parts = [extra[start:end] for start, end in pairwise(places)]
        self.chunked = chunked
        self.sent: asyncio.Queue[None] = asyncio.Queue()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                body = await body_of_request(reader)
                try:
                    writer.write(http(body, chunked=self.chunked) + self.parts[0])
                    for part in self.parts[1:]:
                        await asyncio.sleep(0.002)
                        writer.write(part)
                        await writer.drain()
                finally:
                    self.sent.put_nowait(None)
        writer.close()


async def body_of_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    return await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]))


def replies_of(client: str, server: Talkative, count: int) -> list[bytes | str]:
    """Return the bodies of the replies to requests with the bodies 0, 1, …; of a failure its kind."""

    async def main() -> list[bytes | str]:
        async with await asyncio.start_server(server, "127.0.0.1", 0) as listener:
            port = listener.sockets[0].getsockname()[1]
            transport = read_client(client).open(Server(f"http://127.0.0.1:{port}/v1", {}, None, "m", WATCHDOG_SECONDS))
            found: list[bytes | str] = []
            for number in range(count):
                outcome = await transport.send("POST", "x", str(number).encode(), None)
                found.append(outcome.body if isinstance(outcome, Reply) else outcome.kind)
                await server.sent.get()
            await transport.close()
            return found

    return asyncio.run(asyncio.wait_for(main(), WATCHDOG_SECONDS))


UNASKED = [
    http(b"STALE"),
    http(b"STALE", chunked=True),
    http(b"STALE") * 3,
    http(b"STALE")[:30],
    b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nSTALE",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"\r\n" + http(b"STALE"),
    b"STALE",
    b"\x00",
]


def test_what_nobody_asked_for_answers_no_request() -> None:
    for cuts in [[], [0], [20], [0, 20]]:
        for extra in UNASKED:
            for chunked in [False, True]:
                for client in CLIENTS:
                    found = replies_of(client, Talkative(extra, cuts, chunked=chunked), 4)
                    for number, reply in enumerate(found):
                        # Bytes that are not HTTP may be read together with the reply before them, and break it.
                        assert reply in (str(number).encode(), "connection")
                    if extra.startswith(b"HTTP"):
                        assert "connection" not in found


@settings(deadline=None)
@given(st.sampled_from(UNASKED), st.lists(st.integers(0, 60), max_size=3))
def test_no_reply_is_taken_for_another(extra: bytes, cuts: list[int]) -> None:
    for number, reply in enumerate(replies_of("aiohttp", Talkative(extra, cuts), 3)):
        assert reply in (str(number).encode(), "connection")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_reply_after_the_timeout_answers_no_other_request(client: str) -> None:
    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                body = await body_of_request(reader)
                await asyncio.sleep(STALL if body == b"0" else 0)
                writer.write(http(body))
        writer.close()

    async def main() -> list[Reply | Failure]:
        async with await asyncio.start_server(slow, "127.0.0.1", 0) as listener:
            port = listener.sockets[0].getsockname()[1]
            transport = read_client(client).open(Server(f"http://127.0.0.1:{port}/v1", {}, None, "m", STALL / 2))
            found = [await transport.send("POST", "x", b"0", None)]
            cancelled = asyncio.ensure_future(transport.send("POST", "x", b"0", None))
            await asyncio.sleep(STALL / 8)
            cancelled.cancel()
            for number in range(1, 9):
                found.append(await transport.send("POST", "x", str(number).encode(), None))
                await asyncio.sleep(STALL / 8)
            await transport.close()
            return found

    first, *others = asyncio.run(asyncio.wait_for(main(), WATCHDOG_SECONDS))
    assert isinstance(first, Failure)
    assert first.kind == "timeout"
    assert [other.body for other in others if isinstance(other, Reply)] == [str(n).encode() for n in range(1, 9)]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("place", ["header", "body", "stream", "nowhere"])
def test_a_reply_with_the_id_of_another_request_is_a_failure(client: str, place: str) -> None:
    ids: list[bytes] = []

    async def swapped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n")[0]))
                ids.append(head.partition(b"x-request-id:")[2].split(b"\r\n")[0].strip())
                returned = ids[0] if len(ids) == 3 else ids[-1]
                fields = [b"X-Request-Id: " + returned] if place == "header" else []
                writer.write(http(b'{"id": "cmpl-%b0"}' % returned if place in ("body", "stream") else b"{}", *fields))
        writer.close()

    async def main() -> list[Reply | Failure]:
        async with await asyncio.start_server(swapped, "127.0.0.1", 0) as listener:
            url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
            transport = read_client(client).open(Server(url, {}, None, "m", WATCHDOG_SECONDS))
            sink = (lambda _: None) if place == "stream" else None
            found = [await transport.send("POST", "x", b"1", sink) for _ in range(5)]
            await transport.close()
            return found

    outcomes = asyncio.run(asyncio.wait_for(main(), WATCHDOG_SECONDS))
    assert len({*ids}) == 5
    assert [isinstance(outcome, Failure) for outcome in outcomes] == [False, False, place != "nowhere", False, False]
    if place != "nowhere":
        failure = outcomes[2]
        assert isinstance(failure, Failure)
        assert (failure.kind, "another request" in failure.message) == ("connection", True)


@pytest.mark.parametrize("client", CLIENTS)
def test_an_id_of_the_config_is_sent_instead_of_ours(client: str) -> None:
    heads: list[bytes] = []

    async def server(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).lower())
        writer.write(http(b"{}"))
        writer.close()

    async def main() -> Reply | Failure:
        async with await asyncio.start_server(server, "127.0.0.1", 0) as listener:
            url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
            headers = {"x-request-id": "mine"}
            transport = read_client(client).open(Server(url, headers, None, "m", WATCHDOG_SECONDS))
            outcome = await transport.send("POST", "x", b"1", None)
            await transport.close()
            return outcome

    assert isinstance(asyncio.run(asyncio.wait_for(main(), WATCHDOG_SECONDS)), Reply)
    assert heads[0].count(b"x-request-id") == 1
    assert b"x-request-id: mine" in heads[0]


def bomb(compress: str) -> bytes:
    packed = gzip.compress(bytes(20 * LIMIT)) if compress == "gzip" else zlib.compress(bytes(20 * LIMIT))
    assert len(packed) < LIMIT
    return http(packed, b"Content-Encoding: " + compress.encode())


ENDLESS = {
    "length": (http(bytes(20 * LIMIT)), b""),
    "no length": (b"HTTP/1.1 200 OK\r\n\r\n", bytes(1000)),
    "chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"3e8\r\n%b\r\n" % bytes(1000)),
    "empty compressed": (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b""), gzip.compress(b"")),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X-A: %b\r\n" % (b"a" * 1000)),
    "one header": (b"HTTP/1.1 200 OK\r\nX-A: ", b"a" * 1000),
    "informational": (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "gzip": (bomb("gzip"), b""),
    "deflate": (bomb("deflate"), b""),
}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("with_sink", [False, True])
@pytest.mark.parametrize("kind", ENDLESS)
def test_a_reply_that_is_too_large_is_a_failure(client: str, with_sink: bool, kind: str) -> None:
    head, more = ENDLESS[kind]
    sent = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(head)
            while more and sent < 1000 * LIMIT:
                writer.write(more)
                sent += len(more)
                await writer.drain()
            await reader.read()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def main() -> Reply | Failure:
        async with await asyncio.start_server(endless, "127.0.0.1", 0) as listener:
            url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
            transport = read_client(client).open(Server(url, {}, None, "m", WATCHDOG_SECONDS, LIMIT))
            outcome = await transport.send("POST", "x", b"1", (lambda _: None) if with_sink else None)
            await transport.close()
            return outcome

    outcome = asyncio.run(asyncio.wait_for(main(), WATCHDOG_SECONDS))
    assert isinstance(outcome, Failure)
    if "header" in kind or kind == "empty compressed":  # aiohttp has limits of its own for headers
        assert outcome.kind in ("reply_too_large", "connection")
    else:
        assert outcome.kind == "reply_too_large"
        assert "max_reply_bytes" in outcome.message
    assert sent < 1000 * LIMIT
