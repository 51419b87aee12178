"""What is said if a server lists no models."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from ais_prompt.errors import ModelError
from ais_prompt.models import served_models


@contextmanager
def gateway(key: str, refusal: int = 401) -> Iterator[str]:
    """A server that lists its models for one key only."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.headers["Authorization"] == f"Bearer {key}"
            body = json.dumps({"data": [{"id": "m"}]} if known else {"error": "no key"}).encode()
            self.send_response(200 if known else refusal)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("key", "words"), [(None, "refuses requests without a key"), ("wrong", "refuses the key of OPENAI_API_KEY")]
)
def test_a_missing_or_wrong_key_is_no_wrong_address(
    monkeypatch: pytest.MonkeyPatch, key: str | None, words: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    with gateway("right") as url, pytest.raises(ModelError) as found:
        served_models(url)
    assert words in found.value.what
    assert found.value.where == f"{url}/models"
    assert found.value.fix == "set the environment variable OPENAI_API_KEY to a key of this server"


@pytest.mark.thorough
def test_the_right_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "right")
    with gateway("right") as url:
        assert served_models(url) == ["m"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("status", "fix"), [(500, "if it wants a key, set OPENAI_API_KEY"), (404, "correct the address")]
)
def test_a_gateway_that_fails_without_a_key(monkeypatch: pytest.MonkeyPatch, status: int, fix: str) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with gateway("right", status) as url, pytest.raises(ModelError, match=f"HTTP {status}") as found:
        served_models(url)
    assert fix in str(found.value.fix)
    assert ("no key" in found.value.what) == (status == 500)
