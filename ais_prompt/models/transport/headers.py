"""The headers of a request, the same for every transport."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote, urlsplit

from ais_prompt import __version__
from ais_prompt.errors import ModelError
from ais_prompt.models.transport.address import public_address
from ais_prompt.models.transport.base import ENCODINGS

_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A header name (RFC 9110, 5.6.2)."""


def request_headers(base_url: str, key: str | None, own: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of every request: the login, what describes the body, and those of the config, which win.

    Args:
        base_url: its user and password log in with Basic authentication.
        key: sent as a bearer token; None for none.
        own: the headers of the config.

    Raises:
        ModelError: a header cannot be sent, such as one with a line break.
    """
    headers = {
        "User-Agent": f"ais_prompt/{__version__}",
        "Content-Type": "application/json",
        "Accept-Encoding": ENCODINGS,
        **_login(base_url, key),
    }
    given = {name.lower() for name in own}
    headers = {name: value for name, value in headers.items() if name.lower() not in given} | dict(own)
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or not _can_be_sent(value):
            raise ModelError(
                f"the header {name!r} cannot be sent: its name or value holds a sign that headers must not hold",
                where=public_address(base_url),
                fix="write it on one line, with Latin letters",
            )
    return headers


def _can_be_sent(value: object) -> bool:
    return isinstance(value, str) and all(sign == "\t" or (" " <= sign <= "\xff" and sign != "\x7f") for sign in value)


def _login(base_url: str, key: str | None) -> dict[str, str]:
    if key:
        return {"Authorization": f"Bearer {key}"}
    parts = urlsplit(base_url)
    if parts.username is None:
        return {}
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": "Basic " + base64.b64encode(login.encode()).decode("ascii")}
