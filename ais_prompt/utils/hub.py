"""Use the Hugging Face Hub, or a mirror of it (``HF_ENDPOINT``), that may answer anything or nothing.

`huggingface_hub` writes files where the ETag, the commit and the revision of a reply say, follows the pages of a list
to any address and without end, and sends the token along. Its HTTP client takes hooks; they see every request and
reply, also those that transformers and datasets cause.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from ais_prompt.errors import DataError

HUB: Final = "https://huggingface.co"
MAX_PAGES: Final = 200
"""Largest number of pages of one list, of up to 1,000 files each: the hub advises 100,000 files at most."""
_NAMES: Final = ("ETag", "X-Linked-Etag", "X-Repo-Commit")
"""Headers that name files and folders of the library's cache."""
_NAME: Final = re.compile(r'(W/)?"?[A-Za-z0-9_-][A-Za-z0-9._:+=-]{0,199}"?')
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_PORTS: Final = {"http": 80, "https": 443}
_page_numbers: Final[dict[str, int]] = {}
"""Address of a page or redirect that a reply named → how many came before it."""
SLOW_SECONDS: Final = 5.0
"""A failure that took longer is remembered: the library retried. A quick failure, such as a wrong name, is not."""
REMEMBERED_SECONDS: Final = 60.0
_failed: Final[dict[str, tuple[float, str]]] = {}
"""Name → when its lookup failed, and why."""


def guard_hub() -> None:
    """Let the HTTP client of `huggingface_hub` check each request and reply. A second call changes nothing."""
    import huggingface_hub as hub
    from huggingface_hub.utils import _http  # the factory of now, which a plugin may have set, has no public name

    if _refuse_reply in hub.get_session().event_hooks["response"]:
        return
    make_client = _http._GLOBAL_CLIENT_FACTORY

    def guarded_client() -> Any:
        client: Any = make_client()
        hooks = client.event_hooks
        client.event_hooks = {
            "request": [*hooks["request"], _keep_token],
            "response": [*hooks["response"], _refuse_reply],
        }
        return client

    hub.set_client_factory(guarded_client)


@contextmanager
def lookup(name: str) -> Iterator[None]:
    """Look a name up on the hub; a lookup that just failed slowly is not repeated.

    A benchmark may have fifty datasets with one tokenizer, and huggingface_hub retries each lookup for half a minute.

    Raises:
        ConnectionError: a lookup of this name failed within the last minute, after retries.
    """
    started = time.monotonic()
    failed_at, why = _failed.get(name, (float("-inf"), ""))
    if started - failed_at < REMEMBERED_SECONDS:
        raise ConnectionError(why)
    guard_hub()
    try:
        yield
    except OSError as error:  # raised by transformers without a connection
        ended = time.monotonic()
        if ended - started > SLOW_SECONDS:
            _failed[name] = ended, str(error)
        raise


def _keep_token(request: Any) -> None:
    """Take the token out of a request to a host that is neither the hub nor its mirror."""
    if not _is_hub(str(request.url)):
        request.headers.pop("authorization", None)


def _refuse_reply(response: Any) -> None:
    """Check a reply.

    Raises:
        DataError: it has a path where a name belongs, a list without end, or sends the token elsewhere.
    """
    address = str(response.request.url)
    for header in _NAMES:
        if (value := response.headers.get(header)) is not None and not _NAME.fullmatch(value):
            raise _refusal(f"{header} is no name: {value[:200]!r}", address)
    for route in (response.links.get("xet-auth", {}).get("url"), response.headers.get("X-Xet-Refresh-Route")):
        if route is not None and not _is_hub(str(response.request.url.join(route))):
            raise _refusal(f"it sends the token to another host: {route[:200]}", address)
    number = _page_numbers.pop(address, 0) + 1
    named = [response.links.get("next", {}).get("url"), response.headers.get("Location")]
    for following in filter(None, named):
        if number >= MAX_PAGES:
            raise _refusal(f"a list has more than {MAX_PAGES:,} pages", address)
        _page_numbers[str(response.request.url.join(following))] = number
    path = response.request.url.path
    is_json = response.headers.get("Content-Type", "application/json").startswith("application/json")
    if is_json and response.request.method == "GET" and "/api/" in path and "/resolve" not in path:
        response.read()
        _check_commit(response.content, address)


def _check_commit(body: bytes, address: str) -> None:
    try:
        commit = json.loads(body)["sha"]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return  # a list of files, or an error that the library reports
    if commit is not None and not (isinstance(commit, str) and _COMMIT.fullmatch(commit)):
        raise _refusal(f"the commit is no SHA-1: {str(commit)[:200]!r}", address)


def _is_hub(address: str) -> bool:
    from huggingface_hub import constants

    trusted = (HUB, "https://hf.co", constants.ENDPOINT, os.environ.get("HF_ENDPOINT") or HUB)
    return _origin(address) in map(_origin, trusted)


def _origin(address: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(address)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _refusal(what: str, address: str) -> DataError:
    fix = "check the mirror that HF_ENDPOINT names"
    return DataError(f"a reply of the hub is refused: {what}", where=address, fix=fix)
