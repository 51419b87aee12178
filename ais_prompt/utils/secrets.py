"""Collect the secrets of this process, and hide them in texts and URLs.

Secrets are added as soon as they are known: when the program starts (environment, command line), when a config is
read, and when a model finds its key. From then on they are hidden in everything that is written or printed: the writers
of files (`ais_prompt.store.disk`), the log, and both output streams of the command line ask `SECRETS`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote, unquote_plus

HIDDEN: Final = "***"
"""The text in place of a secret."""
VISIBLE_PARAMETERS: Final = {"api-version", "api_version"}
"""Parameters of a query that are no secrets."""
VARIABLE: Final = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<bare>[A-Za-z_]\w*))", re.ASCII)
"""The name of an environment variable in place of a value."""
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>]+")
_USER: Final = re.compile(r"(?<=://)[^/?#\s]+(?=@)")
_QUERY: Final = re.compile(r"(?<=\?)[^#\s]+")
SHORTEST: Final = 12
"""Length of the shortest secret that is hidden in free text. Shorter ones may be parts of ordinary words."""
SECRET_VARIABLE: Final = re.compile(r"(.*_)?(API_?KEY|KEY|PASSW(OR)?D|SECRET|TOKEN)", re.IGNORECASE)
"""The name of an environment variable whose value is a secret."""


class SecretRegistry:
    """Texts to hide, in every form in which a server, a library or a file format repeats them."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all secrets."""
        self._values: set[str] = set()
        self._needles: tuple[str, ...] = ()
        self._pattern = self._json_pattern = self._quoted = re.compile("(?!)")

    def add(self, *secrets: str) -> None:
        """Hide these texts from now on."""
        new = {secret for secret in secrets if secret.strip() and secret != HIDDEN} - self._values
        if new:
            self._values = self._values | new
            self._compile()

    def _compile(self) -> None:
        """Compile the patterns that find the secrets."""
        from ais_prompt.utils.secret_forms import in_json, in_text, searchable_forms  # help starts quickly without

        short = sorted((re.escape(text) for text in self._values if len(text) < SHORTEST), key=len, reverse=True)
        self._quoted = re.compile(rf"(?<=['\"])(?:{'|'.join(short)})(?=['\"])") if short else re.compile("(?!)")
        long = [text for text in self._values if len(text) >= SHORTEST]
        self._needles = tuple({_searchable(form) for text in long for form in searchable_forms(text)})
        self._pattern = _any_of([pattern for text in long for pattern in in_text(text)])
        json_secret = _any_of([pattern for text in long for pattern in in_json(text)])
        # Other text is matched one escape at a time, so that no escape is split.
        self._json_pattern = re.compile(
            rf"(?P<secret>{json_secret.pattern})|\\(?:u[0-9a-f]{{4}}|.)", json_secret.flags | re.DOTALL
        )

    def values(self) -> tuple[str, ...]:
        """Return all secrets, for another process of this program."""
        return tuple(self._values)

    def hide(self, text: str) -> str:
        """Return the text with ``***`` in place of every secret of at least `SHORTEST` characters, in any form."""
        return self.hide_and_count(text)[0]

    def hide_and_count(self, text: str) -> tuple[str, int]:
        """Do the same as `hide`, and also return how many secrets were replaced."""
        return self._pattern.subn(HIDDEN, text) if self._may_be_in(text) else (text, 0)

    def hide_in_bytes(self, content: bytes) -> bytes:
        """Do the same as `hide` for UTF-8 bytes."""
        if not self._needles:
            return content
        return self.hide(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def hide_in_json(self, content: bytes) -> bytes:
        """Do the same as `hide` for texts in JSON, or in a piece of JSON that splits no text; JSON stays JSON."""
        if not self._needles or not self._may_be_in(text := content.decode("utf-8", "surrogateescape")):
            return content
        hidden = self._json_pattern.sub(lambda found: HIDDEN if found["secret"] else found[0], text)
        return hidden.encode("utf-8", "surrogateescape")

    def hide_in_message(self, text: str) -> str:
        """Do the same as `hide` for messages of the program: also hide short secrets in quotes, and secrets in URLs."""
        return self._quoted.sub(HIDDEN, self.hide(hide_in_urls(text)))

    def _may_be_in(self, text: str) -> bool:
        # Most texts have no secret, and a plain search is a hundred times faster than the pattern.
        if not self._needles:
            return False
        searchable = _searchable(f"{text}\n{unquote(text)}" if "%" in text else text)
        return any(needle in searchable for needle in self._needles)

    def hide_in_value(self, value: Any) -> Any:
        """Return plain values with ``***`` for every text that is a secret of any length or contains a long one."""
        if isinstance(value, str):
            return HIDDEN if value in self._values else self.hide(value)
        if isinstance(value, Mapping):
            return {key: self.hide_in_value(item) for key, item in value.items()}
        return type(value)(map(self.hide_in_value, value)) if type(value) in (list, tuple) else value


SECRETS: Final = SecretRegistry()
"""The secrets of this process."""


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


def _searchable(text: str) -> str:
    """Return the text in lower case, without the escape characters of formats."""
    return text.replace("\\", "").casefold()


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    # Longest first: a secret may be part of another secret.
    return re.compile("|".join(sorted(patterns, key=len, reverse=True)) or "(?!)", re.IGNORECASE)
