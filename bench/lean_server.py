"""The cheapest server that a benchmark can ask: every post is answered ``ok`` after a fixed time, and counted.

    python -m bench.lean_server --latency 0.2                # prints its base URL
    python -m bench.lean_server --latency 1 --sigma 1        # log-normal with this mean
    python -m bench.lean_server --port 8000                  # a certain port instead of a free one
    python -m bench.lean_server --failures 1                 # answers each prompt with status 503 the first time

`ais_prompt.testing.server` does more for each request than a fast client, so it would be what is measured.
``GET /stats`` tells how many requests there were, the seconds from the first to the last, how many were in flight at
most, the processor time that the server has taken, and when the first request came, on the clock of
`time.perf_counter`, which the processes of a machine share.

With ``--sigma`` the latency of a request follows from its last message: every run of the same prompts does the same
work, whatever else their requests hold.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from statistics import NormalDist
from typing import Any, Final

ANSWER: Final = json.dumps(
    {
        "id": "lean",
        "object": "chat.completion",
        "created": 0,
        "model": "lean",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 1, "total_tokens": 101},
    }
).encode()
FAILURE: Final = json.dumps({"error": {"message": "overloaded", "type": "server_error"}}).encode()


class Counts:
    """What has happened since the last look."""

    def __init__(self) -> None:
        self.requests = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.first = self.last = 0.0

    def arrived(self) -> None:
        self.requests += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self.first = self.first or time.perf_counter()

    def answered(self) -> None:
        self.in_flight -= 1
        self.last = time.perf_counter()

    def to_json(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "first": self.first,
            "seconds": self.last - self.first,
            "most_in_flight": self.most_in_flight,
            "processor_seconds": time.process_time(),
        }


class Connection(asyncio.Protocol):
    """One connection: requests of HTTP/1.1 with a ``Content-Length``, one after the other."""

    def __init__(
        self,
        latency: Callable[[bytes], float],
        fails: Callable[[bytes], bool],
        take_counts: Callable[[], Counts],
        counts: Callable[[], Counts],
    ) -> None:
        self._latency = latency
        self._fails = fails
        self._take_counts = take_counts
        self._counts = counts
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._buffer[:end]).lower()
        size = end + 4 + int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        if len(self._buffer) < size:
            return
        body = bytes(self._buffer[end + 4 : size])
        del self._buffer[:size]
        if head.startswith(b"get"):
            self._write(json.dumps(self._take_counts().to_json()).encode())
            return
        self._counts().arrived()
        status = b"503 Service Unavailable" if self._fails(body) else b"200 OK"
        if latency := self._latency(body):
            asyncio.get_running_loop().call_later(latency, self._answer, status)
        else:
            self._answer(status)

    def _answer(self, status: bytes) -> None:
        self._counts().answered()
        self._write(ANSWER if status.startswith(b"200") else FAILURE, status)

    def _write(self, body: bytes, status: bytes = b"200 OK") -> None:
        if self._transport is not None:
            kind = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
            self._transport.write(b"HTTP/1.1 %s\r\n%s%s" % (status, kind, body))


def latency_of(body: bytes, mean: float, sigma: float) -> float:
    """Return the seconds that an answer takes: log-normal, by a hash of the prompt; always the mean if sigma is 0."""
    if not (mean and sigma):
        return mean
    prompt = str(json.loads(body)["messages"][-1]["content"]).strip()
    number = int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:8])
    normal = NormalDist().inv_cdf((number + 0.5) / 2**64)
    return mean * math.exp(sigma * normal - sigma**2 / 2)


async def serve(latency: Callable[[bytes], float], port: int, failures: int = 0) -> None:
    """Serve for an hour at most; each prompt fails so many times."""
    counts = [Counts()]
    failed: Counter[int] = Counter()

    def fails(body: bytes) -> bool:
        if not failures:
            return False
        prompt = hash(body)
        failed[prompt] += 1
        return failed[prompt] <= failures

    def take_counts() -> Counts:
        taken = counts[0]
        counts[0] = Counts()
        return taken

    def connection() -> Connection:
        return Connection(latency, fails, take_counts, lambda: counts[0])

    server = await asyncio.get_running_loop().create_server(connection, "127.0.0.1", port, backlog=4096)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.sleep(3600)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.lean_server")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds until a reply")
    parser.add_argument("--sigma", type=float, default=0.0, help="of a log-normal latency; 0 for a fixed one")
    parser.add_argument("--failures", type=int, default=0, help="how often each prompt fails with status 503")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    options = parser.parse_args()
    latency = partial(latency_of, mean=options.latency, sigma=options.sigma)
    asyncio.run(serve(latency, options.port, options.failures))


if __name__ == "__main__":
    main()
