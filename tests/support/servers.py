"""Servers for tests: real processes on 127.0.0.1, on a free port, stopped when the test is over."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

from tests.support.waiting import WATCHDOG_SECONDS

ROOT = Path(__file__).parents[2]
LIFETIME = 2 * WATCHDOG_SECONDS
"""Seconds after which a server ends by itself, should a test be killed."""

_open = build_opener(ProxyHandler({})).open


@dataclass(frozen=True)
class MockServer:
    """A running `ais_prompt.testing.server`.

    Attributes:
        base_url: what a config has as ``base_url``.
        pid: its process.
    """

    base_url: str
    pid: int

    def follow(self, *rules: Mapping[str, Any]) -> None:
        """Give it a new script (see `ais_prompt.testing.script`); it forgets what it was asked before."""
        self._call("script", json.dumps(rules).encode())

    def stats(self) -> dict[str, Any]:
        """``requests``, ``most_in_flight`` and ``statuses``."""
        stats: dict[str, Any] = self._call("stats")
        return stats

    def requests(self) -> list[dict[str, Any]]:
        """Every request since the last script, in order of arrival."""
        requests: list[dict[str, Any]] = self._call("requests")
        return requests

    def plan_batches(self, *fates: Mapping[str, Any]) -> None:
        """Say what happens to the next batches (a `Fate` of ``batch.mock_batches``); it forgets all before."""
        self._call("mock/batches", json.dumps(fates).encode())

    def batches(self) -> dict[str, Any]:
        """``created``, ``sizes``, and ``paid``: the ids of the requests that batches have answered."""
        batches: dict[str, Any] = self._call("mock/batches")
        return batches

    def signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def stop(self) -> None:
        """Let it go away, at once."""
        self.signal(signal.SIGKILL)
        with suppress(OSError):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def _call(self, path: str, body: bytes | None = None) -> Any:
        address = self.base_url.removesuffix("v1") + path
        with _open(Request(address, body, method="PUT" if body else "GET"), timeout=WATCHDOG_SECONDS) as reply:
            return json.load(reply)


@contextmanager
def mock_server(
    rules: Sequence[Mapping[str, Any]] = (),
    *,
    latency: float = 0.0,
    log: Path | None = None,
    model: Path | None = None,
    port: int = 0,
    lifetime: float = LIFETIME,
) -> Iterator[MockServer]:
    """A mock server as long as the block lasts, on a free port if none is given."""
    command = [sys.executable, "-m", "ais_prompt.testing.server", "--latency", str(latency)]
    command += ["--lifetime", str(lifetime), "--port", str(port)]
    if log:
        command += ["--log", str(log)]
    if model:
        command += ["--model", str(model)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            server = MockServer(process.stdout.readline().strip(), process.pid)
            assert server.base_url, "the mock server did not start"
            if rules:
                server.follow(*rules)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def transformers_serve(model: Path, log: Path) -> Iterator[str]:
    """`transformers serve`, which none of us wrote, with one model; yields its base URL.

    Args:
        model: the model's folder.
        log: where its output goes.
    """
    port = _free_port()
    program = Path(sys.executable).with_name("transformers")
    command = [str(program), "serve", str(model), "--host", "127.0.0.1", "--port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", process, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + WATCHDOG_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with _open(address, timeout=2):
                return
        except (URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"the server did not start: {log.read_text()[-2000:]}")
