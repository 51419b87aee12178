"""Find and hide the secrets of a URL: user, password and the values of its query."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote, unquote_plus

HIDDEN: Final = "***"
"""What is shown in place of a secret."""
VISIBLE_PARAMETERS: Final = {"api-version", "api_version"}
"""Parameters of a query that are no secrets."""
VARIABLE: Final = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<bare>[A-Za-z_]\w*))", re.ASCII)
"""The name of an environment variable in place of a value."""

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>]+")
_USER: Final = re.compile(r"(?<=://)[^/?#\s]+(?=@)")
_QUERY: Final = re.compile(r"(?<=\?)[^#\s]+")


def secrets_in_url(url: str) -> Iterator[str]:
    """Return user, password and values of the query, quoted and unquoted; the login also in base64."""
    for login in _USER.findall(url)[:1]:
        user, _, password = login.partition(":")
        yield from (user, password, unquote(user), unquote(password))
        yield base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    for query in _QUERY.findall(url)[:1]:
        for value in filter(None, map(_secret_of, query.split("&"))):
            yield from (value, unquote_plus(value))


def secrets_in_urls(text: str) -> Iterator[str]:
    """Apply `secrets_in_url` to every URL in a text."""
    for url in _URL.findall(text):
        yield from secrets_in_url(url)


def hide_in_url(url: str) -> str:
    """Return the URL with ``***`` for its login and the values of its query, except ``api-version``."""
    return _QUERY.sub(lambda found: "&".join(map(_shown, found[0].split("&"))), _USER.sub(HIDDEN, url))


def hide_in_urls(text: str) -> str:
    """Apply `hide_in_url` to every URL in a text."""
    return _URL.sub(lambda found: hide_in_url(found[0]), text) if "://" in text else text


def _shown(parameter: str) -> str:
    secret = _secret_of(parameter)
    return parameter.removesuffix(secret) + HIDDEN if secret else parameter


def _secret_of(parameter: str) -> str:
    """Return the value of a parameter, or the whole parameter if it has no name; empty if it is no secret."""
    name, equals, value = parameter.partition("=")
    value = value if equals else name
    return "" if name in VISIBLE_PARAMETERS or VARIABLE.fullmatch(value) else value
