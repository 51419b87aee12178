"""Both transports over real sockets: what servers, proxies and the environment may do to a connection."""

from __future__ import annotations

import asyncio
import gzip
import os
import ssl
import subprocess
import sys
import zlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ais_prompt import __version__
from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models import (
    Reply,
    Server,
    Transport,
    allow_connections,
    check_environment,
    forget_connections,
    proxy_for,
    read_client,
    request_headers,
    without_login,
)
from ais_prompt.types import Failure, ServerFailure
from tests.support.waiting import WATCHDOG_SECONDS

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

T = TypeVar("T")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


@pytest.fixture(params=["aiohttp", "openai"])
def client(request: pytest.FixtureRequest) -> str:
    """The name of a transport that ships."""
    return str(request.param)


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.lower().endswith("_proxy") or name.startswith(("SSL_CERT", "OPENAI_", "AZURE_OPENAI_")):
            monkeypatch.delenv(name)


class FakeServer:
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


def opened(client: str | dict[str, Any], base_url: str, timeout: float = 5.0, **headers: str) -> Transport:
    server = Server(without_login(base_url), request_headers(base_url, None, headers), None, "m", timeout)
    return read_client(client).open(server)


def against(server: Callable[..., Awaitable[None]], work: Callable[[str], Awaitable[T]], **options: Any) -> T:
    """What ``work`` returns, given host and port of the running server."""

    async def main() -> T:
        listener = await asyncio.start_server(server, "127.0.0.1", 0, **options)
        async with listener:
            return await work(f"127.0.0.1:{listener.sockets[0].getsockname()[1]}")

    return asyncio.run(asyncio.wait_for(main(), WATCHDOG_SECONDS))


def posted(
    client: str, server: Callable[..., Awaitable[None]], times: int = 1, timeout: float = 5.0
) -> list[Reply | Failure]:
    """What comes of posting so often, one after the other, without the addresses, which differ from run to run."""

    async def work(place: str) -> list[Reply | Failure]:
        transport = opened(client, f"http://{place}/v1", timeout)
        try:
            outcomes = [await transport.send("POST", "x", b'{"a": 1}', None) for _ in range(times)]
        finally:
            await transport.close()
        url = f"http://{place}/v1/x"
        for outcome in outcomes:
            assert url in (outcome.message if isinstance(outcome, Failure) else outcome.url)
        return [without_url(outcome, url) for outcome in outcomes]

    return against(server, work)


def without_url(outcome: Reply | Failure, url: str) -> Reply | Failure:
    if isinstance(outcome, Failure):
        return Failure(outcome.kind, outcome.message.removesuffix(f" ({url})"), outcome.fatal)
    return Reply(outcome.status, outcome.body, outcome.retry_after, outcome.location, date=outcome.date)


@pytest.mark.thorough
def test_a_connection_is_used_again(client: str) -> None:
    server = FakeServer([OK, OK, OK])
    assert posted(client, server, 3) == [Reply(200, b"hi")] * 3
    assert server.connections == 1
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/x HTTP/1.1\r\n")
    lines = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    assert lines[b"host"].startswith(b"127.0.0.1:")
    assert lines[b"user-agent"] == b"ais_prompt/" + __version__.encode()
    assert lines[b"content-type"] == b"application/json"
    assert lines[b"accept-encoding"] == b"gzip, deflate, zstd"
    assert b"authorization" not in lines
    assert body == b'{"a": 1}'


@pytest.mark.thorough
def test_get_requests_work_too(client: str) -> None:
    server = FakeServer([OK])

    async def work(place: str) -> Reply | Failure:
        transport = opened(client, f"http://{place}/v1")
        try:
            return await transport.send("GET", "models", None, None)
        finally:
            await transport.close()

    reply = against(server, work)
    assert isinstance(reply, Reply)
    assert reply.body == b"hi"
    assert server.requests[0].startswith(b"GET /v1/models HTTP/1.1")


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
def test_every_way_to_end_a_body(client: str, reply: bytes) -> None:
    server = FakeServer([reply, reply], close_after=True)
    assert posted(client, server, 2) == [Reply(200, b"hi"), Reply(200, b"hi")]
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
def test_a_reply_that_breaks_off_is_a_failure(client: str, reply: bytes, words: str) -> None:
    server = FakeServer([reply], close_after=True)
    [failure] = posted(client, server)
    assert isinstance(failure, Failure)
    assert failure.kind == "connection"
    assert words in failure.message
    assert server.connections == 1, "what fails on a new connection is the caller's to repeat"


def test_an_idle_connection_that_the_server_closed_is_replaced(client: str) -> None:
    """The server answers the first request of each connection and closes it when the second one arrives."""
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answers in (True, False):
            head = await reader.readuntil(b"\r\n\r\n")
            seen.append(head + await reader.readexactly(8))
            if answers:
                writer.write(OK)
        writer.close()

    assert posted(client, serve, 3) == [Reply(200, b"hi")] * 3
    assert len(seen) == 5


def test_an_unrequested_reply_is_not_the_next_answer(client: str) -> None:
    server = FakeServer([OK + OK.replace(b"hi", b"no"), OK])
    assert posted(client, server, 2) == [Reply(200, b"hi"), Reply(200, b"hi")]
    assert server.connections == 2


@pytest.mark.thorough
def test_a_body_of_ten_megabytes_in_both_directions(client: str) -> None:
    body = b"x" * 10_000_000
    server = FakeServer([b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)])

    async def work(place: str) -> Reply | Failure:
        transport = opened(client, f"http://{place}/v1")
        try:
            return await transport.send("POST", "x", body, None)
        finally:
            await transport.close()

    reply = against(server, work, limit=2**24)
    assert isinstance(reply, Reply)
    assert reply.body == body
    assert server.requests[0].endswith(b"\r\n\r\n" + body)


@pytest.mark.parametrize(
    ("name", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", zstd.compress)]
)
def test_a_compressed_reply_is_read(client: str, name: str, compress: Callable[[bytes], bytes]) -> None:
    body = compress(b"hi" * 1000)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {name}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    assert posted(client, FakeServer([head + body])) == [Reply(200, b"hi" * 1000)]
    [failure] = posted(client, FakeServer([head + b"?" * len(body)], close_after=True))
    assert isinstance(failure, Failure)
    assert failure.kind == "connection"
    assert "decompress" in failure.message


def test_a_good_reply_goes_into_the_sink_as_it_comes(client: str) -> None:
    pieces: list[bytes] = []

    async def work(place: str) -> list[Reply | Failure]:
        transport = opened(client, f"http://{place}/v1")
        try:
            return [await transport.send("POST", "x", b'{"a": 1}', pieces.append) for _ in range(2)]
        finally:
            await transport.close()

    refused = b"HTTP/1.1 400 No\r\nContent-Length: 2\r\n\r\nno"
    good, bad = against(FakeServer([OK, refused]), work)
    assert isinstance(good, Reply)
    assert isinstance(bad, Reply)
    assert (good.body, bad.body, b"".join(pieces)) == (b"", b"no", b"hi")


def test_pieces_reach_the_sink_before_the_reply_is_whole(client: str) -> None:
    seen = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n")
        await seen.wait()
        writer.write(b"0\r\n\r\n")
        writer.close()

    async def work(place: str) -> Reply | Failure:
        transport = opened(client, f"http://{place}/v1")
        try:
            return await transport.send("POST", "x", b"{}", lambda _: seen.set())
        finally:
            await transport.close()

    assert isinstance(against(serve, work), Reply)


@pytest.mark.thorough
def test_a_stalled_reply_is_a_timeout_and_its_connection_is_not_used_again(client: str) -> None:
    server = FakeServer([b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", OK])
    failure, reply = posted(client, server, 2, timeout=1.0)
    assert failure == Failure("timeout", "no answer within 1 s")
    assert reply == Reply(200, b"hi")
    assert server.connections == 2


@pytest.mark.thorough
def test_each_request_has_a_timeout_of_its_own(client: str) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def work(place: str) -> list[tuple[float, Reply | Failure]]:
        transport = opened(client, f"http://{place}/v1", 0.4)
        clock = asyncio.get_running_loop().time

        async def ask(wait: float) -> tuple[float, Reply | Failure]:
            await asyncio.sleep(wait)
            started = clock()
            outcome = await transport.send("POST", "x", b"{}", None)
            return clock() - started, outcome

        try:
            return await asyncio.gather(*(ask(wait) for wait in (0.0, 0.2, 0.7)))
        finally:
            await transport.close()

    for seconds, outcome in against(silent, work):
        assert isinstance(outcome, Failure)
        assert outcome.kind == "timeout"
        assert seconds >= 0.39


def test_a_switch_of_protocols_does_not_hang(client: str) -> None:
    upgrade = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    server = FakeServer([upgrade, OK])
    assert posted(client, server, 2) == [Reply(101, b""), Reply(200, b"hi")]


def test_headers_that_matter_are_read_and_redirects_are_not_followed(client: str) -> None:
    slow = b"HTTP/1.1 429 Slow Down\r\nRETRY-AFTER: 7\r\ndate: today\r\nContent-Length: 0\r\n\r\n"
    moved = b"HTTP/1.1 307 Over There\r\nLocation: http://far.test/v1\r\nContent-Length: 0\r\n\r\n"
    replies = posted(client, FakeServer([slow, moved]), 2)
    assert replies == [Reply(429, b"", "7", date="today"), Reply(307, b"", location="http://far.test/v1")]


def test_an_unreachable_server_is_named(client: str) -> None:
    async def work(place: str) -> Reply | Failure:
        transport = opened(client, "http://me:pass-word@127.0.0.1:1/v1?sig=geheim")
        try:
            return await transport.send("POST", "x", b"{}", None)
        finally:
            await transport.close()

    failure = against(FakeServer([]), work)
    assert failure == ServerFailure.of("unreachable", "Connection refused", "http://127.0.0.1:1/v1/x")
    assert failure.message == "Connection refused (http://127.0.0.1:1/v1/x)"


def test_a_query_and_unicode_characters_reach_the_server(client: str) -> None:
    server = FakeServer([OK])

    async def work(place: str) -> Reply | Failure:
        transport = opened(client, f"http://{place}/ä b/v1?x=1&y=%20")
        try:
            return await transport.send("POST", "x", b"{}", None)
        finally:
            await transport.close()

    assert isinstance(against(server, work), Reply)
    assert server.requests[0].partition(b" HTTP")[0] in (
        b"POST /%C3%A4%20b/v1/x?x=1&y=%20",
        b"POST /%C3%A4%20b/v1/x?x=1&y=+",
    )


@pytest.mark.parametrize("headers", [{"X-One": "1\r\nX-Two: 2"}, {"X One": "1"}, {"X-One": "\u4f60"}, {"X-One": 1}])
def test_a_header_that_cannot_be_sent_is_an_error_before_any_work(headers: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="header"):
        request_headers("http://127.0.0.1:1/v1", None, headers)


def test_headers_of_the_config_win_whatever_their_case() -> None:
    headers = request_headers("http://me:pass%20word@h/v1", None, {"user-agent": "mine"})
    assert headers["Authorization"] == "Basic bWU6cGFzcyB3b3Jk"
    assert [value for name, value in headers.items() if name.lower() == "user-agent"] == ["mine"]
    assert request_headers("http://h/v1", "key", {})["Authorization"] == "Bearer key"


class TestProxies:
    """Proxies of the environment."""

    def test_a_proxy_is_asked_for_other_machines(self, client: str, monkeypatch: pytest.MonkeyPatch) -> None:
        server = FakeServer([OK])

        async def work(place: str) -> Reply | Failure:
            monkeypatch.setenv("ALL_PROXY", f"me:pass@{place}")
            transport = opened(client, "http://far.test/v1")
            try:
                return await transport.send("POST", "x", b"{}", None)
            finally:
                await transport.close()

        reply = against(server, work)
        assert isinstance(reply, Reply)
        head = server.requests[0].lower()
        assert head.startswith(b"post http://far.test/v1/x ")
        assert b"proxy-authorization: basic bwu6cgfzcw==" in head

    def test_a_proxy_that_refuses_is_named(self, client: str, monkeypatch: pytest.MonkeyPatch) -> None:
        async def work(place: str) -> Reply | Failure:
            monkeypatch.setenv("https_proxy", f"http://{place}")
            transport = opened(client, "https://far.test/v1")
            try:
                return await transport.send("POST", "x", b"{}", None)
            finally:
                await transport.close()

        failure = against(FakeServer([b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n"]), work)
        words = "the proxy refuses: 407 Who are you"
        assert failure == ServerFailure.of("unreachable", words, "https://far.test/v1/x")

    def test_which_proxy_is_meant(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ALL_PROXY", "http://all.test:1")
        monkeypatch.setenv("HTTPS_PROXY", "secure.test:2")
        monkeypatch.setenv("NO_PROXY", "near.test")
        assert proxy_for("https://far.test/v1") == "http://secure.test:2"
        assert proxy_for("http://far.test/v1") == "http://all.test:1"
        assert proxy_for("http://sub.near.test:8000/v1") is None
        assert proxy_for("http://127.0.0.1:8000/v1") is None

    @pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
    @pytest.mark.parametrize("value", ["socks5://me:geheimnis@proxy.test:1", "http://:1", "http://h:99999", "ftp://h"])
    def test_a_proxy_that_cannot_be_used_is_an_error(
        self, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
    ) -> None:
        monkeypatch.setenv(variable, value)
        with pytest.raises(ModelError, match=variable) as caught:
            check_environment("https://far.test/v1")
        assert variable in caught.value.fix
        assert "geheimnis" not in str(caught.value)


class TestCertificates:
    """TLS and the variables that name certificates."""

    @pytest.mark.process
    def test_certificates_are_verified(self, client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        certificate, key = make_certificate(tmp_path)
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(certificate, key)

        async def work(place: str) -> list[Reply | Failure]:
            outcomes = []
            for trusted in (False, True):
                if trusted:
                    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
                transport = opened(client, f"https://{place}/v1")
                outcomes.append(await transport.send("POST", "x", b"{}", None))
                await transport.close()
            return outcomes

        distrusted, trusted = against(FakeServer([OK, OK]), work, ssl=tls)
        assert isinstance(distrusted, Failure)
        assert (distrusted.kind, distrusted.fatal) == ("certificate", True)
        assert "self-signed" in distrusted.message
        assert "SSL_CERT_FILE" in distrusted.message
        assert isinstance(trusted, Reply)

    @pytest.mark.process
    def test_a_tunnel_through_a_proxy_holds_tls(
        self, client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        certificate, key = make_certificate(tmp_path, "DNS:far.test")
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(certificate, key)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        asked: list[bytes] = []

        async def work(place: str) -> Reply | Failure:
            async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                asked.append(await reader.readuntil(b"\r\n\r\n"))
                far_reader, far_writer = await asyncio.open_connection(*place.split(":"))
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))

            async with await asyncio.start_server(proxy, "127.0.0.1", 0) as listener:
                monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}")
                transport = opened(client, "https://far.test/v1")
                try:
                    return await transport.send("POST", "x", b"{}", None)
                finally:
                    await transport.close()

        reply = against(FakeServer([OK]), work, ssl=tls)
        assert isinstance(reply, Reply), reply
        assert asked[0].startswith(b"CONNECT far.test:443 HTTP/1.1\r\n")

    @pytest.mark.parametrize(("variable", "name"), [("SSL_CERT_FILE", "no.pem"), ("SSL_CERT_DIR", "no")])
    def test_missing_certificates_are_an_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, name: str
    ) -> None:
        monkeypatch.setenv(variable, str(tmp_path / name))
        with pytest.raises(ModelError, match=variable) as caught:
            check_environment("https://far.test/v1")
        assert caught.value.where == str(tmp_path / name)
        check_environment("http://far.test/v1")

    def test_a_file_without_certificates_is_an_error(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "text.pem").write_text("no certificate")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "text.pem"))
        with pytest.raises(ModelError, match="SSL_CERT_FILE"):
            check_environment("https://far.test/v1")


def make_certificate(folder: Path, name: str = "IP:127.0.0.1") -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=test"]
    command += ["-addext", f"subjectAltName={name}", "-keyout", str(key), "-out", str(certificate)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=WATCHDOG_SECONDS)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    return certificate, key


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
    finally:
        writer.close()


OPEN_FILES = """
import resource, sys
from ais_prompt.errors import ModelError
from ais_prompt.models import allow_connections, forget_connections
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 300))
allow_connections(200)
print(resource.getrlimit(resource.RLIMIT_NOFILE))
forget_connections(200)
allow_connections(20)
print(resource.getrlimit(resource.RLIMIT_NOFILE))
allow_connections(200)
print(resource.getrlimit(resource.RLIMIT_NOFILE))
try:
    allow_connections(1000)
except ModelError as error:
    print(error)
"""


@pytest.mark.process
def test_the_soft_limit_of_open_files_is_raised_and_the_hard_one_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OPEN_FILES], capture_output=True, text=True, timeout=WATCHDOG_SECONDS, check=True
    )
    raised, kept, summed, error = done.stdout.splitlines()
    assert raised == kept == "(264, 300)"
    assert summed == "(284, 300)", "the connections of two models that are open at the same time"
    assert "beside the 220 of other models" in error
    assert "ulimit -n 1284" in error
    assert "max_concurrency" in error
    allow_connections(1)
    forget_connections(1)


class TestOwn:
    """Transports of the user."""

    def test_a_class_of_your_own_is_named_by_its_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "own_transport.py").write_text(
            "from ais_prompt.models.transport import Reply\n"
            "class Canned:\n"
            "    def __init__(self, server, word):\n"
            "        self.word = word\n"
            "    async def send(self, method, path, body, sink):\n"
            "        return Reply(200, self.word.encode())\n"
            "    async def close(self):\n"
            "        pass\n"
        )
        monkeypatch.syspath_prepend(tmp_path)
        transport = opened({"type": "own_transport.Canned", "word": "hi"}, "http://far.test/v1")
        assert asyncio.run(transport.send("POST", "x", b"{}", None)) == Reply(200, b"hi")
        with pytest.raises(ModelError, match=r"own_transport\.Canned cannot be used: TypeError"):
            opened({"type": "own_transport.Canned", "words": "hi"}, "http://far.test/v1")

    @pytest.mark.parametrize("client", ["aiohtp", {"type": 3}, {}, "no.such.Transport"])
    def test_what_is_no_transport_is_refused(self, client: Any) -> None:
        with pytest.raises(ConfigError):
            read_client(client)
