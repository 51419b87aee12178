"""Collect the secrets of this process, and hide them in texts and URLs.

Secrets are added as soon as they are known: when the program starts (environment, command line), when a config is
read, and when a model finds its key. From then on they are hidden in everything that is written or printed: the writers
of files (`ais_prompt.store.disk`), the log, and both output streams of the command line ask `SECRETS`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote, unquote_plus

HIDDEN: Final = "***"
"""The text in place of a secret."""
VISIBLE_PARAMETERS: Final = {"api-version", "api_version"}
"""Parameters of a query that are no secrets."""
VARIABLE: Final = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<bare>[A-Za-z_]\w*))", re.ASCII)
"""The name of an environment variable in place of a value."""
_ESCAPED: Final = re.compile(r"(?<!\\)(?:\\\\)*\\\Z")
"""A backslash at the end that begins an escape."""
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>]+")
_USER: Final = re.compile(r"(?<=://)[^/?#\s]+(?=@)")
_QUERY: Final = re.compile(r"(?<=\?)[^#\s]+")
SHORTEST: Final = 12
"""Length of the shortest secret that is hidden in free text. Shorter ones may be parts of ordinary words."""
SHORTEST_KEY: Final = 4
"""Length of the shortest key of a server that is hidden in free text, as a whole word."""
_PLACEHOLDERS: Final = {
    *("none", "null", "empty", "dummy", "test", "token", "fake", "mock", "local", "ollama", "unused", "no-key"),
    *("lm-studio", "not-needed", "placeholder"),
}
"""Words that people set as the key of a server that wants none. They are no secrets, and occur in answers."""
_JSON_TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*"(?P<colon>\s*:)?', re.DOTALL)
"""A text in JSON, with the colon after the name of a field."""
SECRET_VARIABLE: Final = re.compile(r"(.*_)?(API_?KEY|KEY|PASSW(OR)?D|SECRET|TOKEN)", re.IGNORECASE)
"""The name of an environment variable whose value is a secret."""


class SecretRegistry:
    """Texts to hide, in every form in which a server, a library or a file format repeats them."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all secrets."""
        self._values: set[str] = set()
        self._keys: set[str] = set()
        self._needles: tuple[str, ...] = ()
        self._pattern = self._json_pattern = self._quoted = self._words = self._odd_words = re.compile("(?!)")

    def add(self, *secrets: str) -> None:
        """Hide these texts from now on."""
        new = {secret for secret in secrets if secret.strip() and secret != HIDDEN} - self._values
        if new:
            self._values = self._values | new
            self._compile()

    def add_key(self, key: str) -> None:
        """Hide the key of a server from now on, in free text too if it has at least `SHORTEST_KEY` characters."""
        if SHORTEST_KEY <= len(key) < SHORTEST and key.lower() not in _PLACEHOLDERS:
            self._keys = self._keys | {key}
        self.add(key)

    def _compile(self) -> None:
        from ais_prompt.secrets.forms import as_words, in_json, in_text, searchable_forms  # help starts quickly

        self._words = re.compile(as_words(self._keys))
        # A file may have a word or a number in its own right, such as the name of a field.
        self._odd_words = re.compile(as_words(key for key in self._keys if not (key.isalpha() or key.isdigit())))
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

    def shared(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return all secrets, and the short keys of servers among them, for `add_shared` of another process."""
        return tuple(self._values), tuple(self._keys)

    def add_shared(self, secrets: Iterable[str], keys: Iterable[str]) -> None:
        """Hide what another process of this program hides."""
        self._keys = self._keys | set(keys)
        self.add(*secrets)

    def hide(self, text: str) -> str:
        """Return the text with ``***`` in place of every secret of at least `SHORTEST` characters, in any form.

        Keys of servers are hidden from `SHORTEST_KEY` characters on, as whole words.
        """
        return self.hide_and_count(text)[0]

    def hide_and_count(self, text: str) -> tuple[str, int]:
        """Do the same as `hide`, and also return how many secrets were replaced."""
        count = more = words = 0
        if self._may_be_in(text):
            text, count = self._pattern.subn(HIDDEN, text)
            text, more = self._hide_escaped(text)
        if self._keys:
            text, words = self._words.subn(HIDDEN, text)
        return text, count + more + words

    def _hide_escaped(self, text: str) -> tuple[str, int]:
        """Hide secrets that only a text without its escapes shows, such as ``&#75;&#101;&#121;``."""
        from ais_prompt.secrets.forms import unescaped

        plain, places = unescaped(text)
        parts, end = [], 0
        for found in self._pattern.finditer(plain) if places else ():
            start, stop = places[found.start()][0], places[found.end() - 1][1]
            if start >= end and not _ESCAPED.search(text, end, start):  # else it is the letter of an escape
                parts += [text[end:start], HIDDEN]
                end = stop
        return "".join([*parts, text[end:]]), len(parts) // 2

    def hide_in_bytes(self, content: bytes) -> bytes:
        """Do the same as `hide` for UTF-8 bytes."""
        if not (self._needles or self._keys):
            return content
        text = content.decode("utf-8", "surrogateescape")
        text = self._pattern.sub(HIDDEN, text) if self._may_be_in(text) else text
        return self._odd_words.sub(HIDDEN, text).encode("utf-8", "surrogateescape")

    def hide_in_json(self, content: bytes) -> bytes:
        """Do the same as `hide` for texts in JSON, or in a piece of JSON that splits no text; JSON stays JSON."""
        if not (self._needles or self._keys):
            return content
        text = content.decode("utf-8", "surrogateescape")
        if self._may_be_in(text):
            text = self._json_pattern.sub(lambda found: HIDDEN if found["secret"] else found[0], text)
            text, _ = self._hide_escaped(text)
        if self._words.search(text):
            # Names of fields and numbers stay: a key may look like them.
            text = _JSON_TEXT.sub(lambda found: found[0] if found["colon"] else self._words.sub(HIDDEN, found[0]), text)
        return text.encode("utf-8", "surrogateescape")

    def hide_in_message(self, text: str) -> str:
        """Do the same as `hide` for messages of the program: also hide short secrets in quotes, and secrets in URLs."""
        return self._quoted.sub(HIDDEN, self.hide(hide_in_urls(text)))

    def _may_be_in(self, text: str) -> bool:
        # Most texts have no secret, and a plain search is a hundred times faster than the pattern.
        if not self._needles:
            return False
        searchable = _searchable(f"{text}\n{unquote(text)}" if "%" in text else text)
        if any(needle in searchable for needle in self._needles):
            return True
        if not ("%" in text or "&" in text or "\\" in text):
            return False
        from ais_prompt.secrets.forms import unescaped

        searchable = _searchable(unescaped(text)[0])
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
