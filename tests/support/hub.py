"""A server that plays the Hugging Face Hub, with its faults: broken downloads, changed files, gated repositories."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit


class FakeHub:
    """A hub with one repository.

    Attributes:
        endpoint: what HF_ENDPOINT is.
        repo: its id.
        files: path → content, of the branch of Parquet files.
        commit: of the branch.
        breaks: how many downloads break off in the middle.
        corrupt: whether downloads have other bytes than the hub lists.
        gated: whether its terms were not accepted.
        sent: bytes of the contents that were sent so far.
        ranges: the ranges that were asked for.
        tokens: the token of each request.
        headers: more headers of every reply; ``{n}`` in a value is the number of the request.
        redirects: where files are instead; empty if they are here.
    """

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.repo = "openai/gsm8k"
        self.files: dict[str, bytes] = {}
        self.commit = "c" * 40
        self.breaks = 0
        self.corrupt = False
        self.gated = False
        self.sent = 0
        self.ranges: list[str] = []
        self.tokens: list[str] = []
        self.headers: dict[str, str] = {}
        self.redirects = ""

    def listed(self) -> list[dict[str, Any]]:
        """The files as the hub lists them."""
        return [
            {
                "type": "file",
                "path": path,
                "size": len(content),
                "oid": hashlib.sha1(content).hexdigest(),
                "lfs": {"oid": _digest(content), "size": len(content), "pointerSize": 130},
            }
            for path, content in self.files.items()
        ]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: FakeHub

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        self.hub.tokens.append(self.headers.get("Authorization", ""))
        path = unquote(urlsplit(self.path).path)
        api = f"/api/datasets/{self.hub.repo}"
        if self.hub.gated:
            self._send(403, b"{}", {"X-Error-Code": "GatedRepo"}, with_body)
        elif path.startswith(f"{api}/revision/"):
            body = {"id": self.hub.repo, "sha": self.hub.commit, "siblings": []}
            self._send(200, json.dumps(body).encode(), {}, with_body)
        elif path.startswith(f"{api}/tree/"):
            self._send(200, json.dumps(self.hub.listed()).encode(), {}, with_body)
        elif path.startswith(f"/datasets/{self.hub.repo}/resolve/{self.hub.commit}/"):
            self._file(path.partition(f"/resolve/{self.hub.commit}/")[2], with_body)
        else:
            self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"}, with_body)

    def _file(self, name: str, with_body: bool) -> None:
        content = self.hub.files[name]
        headers = {"ETag": f'"{_digest(content)}"', "X-Repo-Commit": self.hub.commit, "Accept-Ranges": "bytes"}
        if self.hub.redirects:
            there = {"Location": f"{self.hub.redirects}{self.path}", "X-Linked-Size": str(len(content))}
            self._send(302, b"", headers | there, with_body)
            return
        if not with_body:
            self._send(200, content, headers, with_body)
            return
        start = 0
        if wanted := self.headers.get("Range"):
            self.hub.ranges.append(wanted)
            start = int(wanted.removeprefix("bytes=").partition("-")[0])
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        body = content[start:]
        if self.hub.corrupt:
            body = bytes(reversed(body))
        if self.hub.breaks:
            self.hub.breaks -= 1
            self._send(206 if start else 200, body, headers, with_body, only=len(body) // 2)
        else:
            self._send(206 if start else 200, body, headers, with_body)

    def _send(self, code: int, body: bytes, headers: dict[str, str], with_body: bool, only: int | None = None) -> None:
        self.send_response(code)
        for name, value in {"Content-Length": str(len(body)), **headers, **self.hub.headers}.items():
            self.send_header(name, value.replace("{n}", str(len(self.hub.tokens))))
        self.end_headers()
        if with_body:
            part = body[:only]
            self.wfile.write(part)
            self.wfile.flush()
            self.hub.sent += len(part)
        if only is not None:
            self.close_connection = True


@contextmanager
def fake_hub() -> Iterator[FakeHub]:
    """Run a hub on a free port as long as the block lasts."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    hub = FakeHub(f"http://127.0.0.1:{server.server_port}")
    handler.hub = hub  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
