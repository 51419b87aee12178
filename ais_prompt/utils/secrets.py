"""The secrets that this process knows, and texts without them.

Secrets are added as soon as they are known: when the program starts (environment, command line), when a config is
read, and when a model finds its key. From then on they are hidden in everything that is written or printed: the writers
of files (`ais_prompt.store.disk`), the log, and both output streams of the command line ask `SECRETS`.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote

from ais_prompt.utils.urls import HIDDEN, hide_in_urls

SHORTEST: Final = 12
"""Characters of the shortest secret that is replaced in free text; shorter ones would garble what they are part of."""

_BASE64: Final = "[A-Za-z0-9+/_-]"


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
        if not new:
            return
        self._values = self._values | new
        short = sorted((re.escape(text) for text in self._values if len(text) < SHORTEST), key=len, reverse=True)
        self._quoted = re.compile(rf"(?<=['\"])(?:{'|'.join(short)})(?=['\"])") if short else re.compile("(?!)")
        long = [text for text in self._values if len(text) >= SHORTEST]
        self._needles = tuple(
            {_searchable(form) for text in long for form in (*_forms(text), *dict(_base64_forms(text)))}
        )
        self._pattern = _any_of([pattern for text in long for pattern in _patterns(text, [str])])
        in_json = _any_of([pattern for text in long for pattern in _patterns(text, [_json, _ascii_json])])
        # What is no secret is taken an escape at a time, so that none is torn apart.
        self._json_pattern = re.compile(
            rf"(?P<secret>{in_json.pattern})|\\(?:u[0-9a-f]{{4}}|.)", in_json.flags | re.DOTALL
        )

    def values(self) -> tuple[str, ...]:
        """All of them, for another process of this program."""
        return tuple(self._values)

    def hide(self, text: str) -> str:
        """The text with ``***`` in place of every secret of at least `SHORTEST` characters, in whatever form."""
        return self.hide_and_count(text)[0]

    def hide_and_count(self, text: str) -> tuple[str, int]:
        """`hide`, and how many secrets were replaced."""
        return self._pattern.subn(HIDDEN, text) if self._may_be_in(text) else (text, 0)

    def hide_in_bytes(self, content: bytes) -> bytes:
        """`hide` for UTF-8."""
        if not self._needles:
            return content
        return self.hide(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def hide_in_json(self, content: bytes) -> bytes:
        """`hide` for the texts of JSON, or of a piece of it that tears no text apart; JSON stays JSON."""
        if not self._needles or not self._may_be_in(text := content.decode("utf-8", "surrogateescape")):
            return content
        hidden = self._json_pattern.sub(lambda found: HIDDEN if found["secret"] else found[0], text)
        return hidden.encode("utf-8", "surrogateescape")

    def hide_in_message(self, text: str) -> str:
        """`hide` for the program's own words: also short secrets in quotes, and whatever is secret in a URL."""
        return self._quoted.sub(HIDDEN, self.hide(hide_in_urls(text)))

    def _may_be_in(self, text: str) -> bool:
        # Plain search is a hundred times faster than the pattern, and nearly every text has no secret.
        if not self._needles:
            return False
        searchable = _searchable(f"{text}\n{unquote(text)}" if "%" in text else text)
        return any(needle in searchable for needle in self._needles)

    def hide_in_value(self, value: Any) -> Any:
        """Plain values with ``***`` in place of every text that is a secret, however short, or contains a long one."""
        if isinstance(value, str):
            return HIDDEN if value in self._values else self.hide(value)
        if isinstance(value, Mapping):
            return {key: self.hide_in_value(item) for key, item in value.items()}
        return type(value)(map(self.hide_in_value, value)) if type(value) in (list, tuple) else value


SECRETS: Final = SecretRegistry()
"""The secrets of this process."""


def _searchable(text: str) -> str:
    """The text in one case, and without what formats put before a character."""
    return text.replace("\\", "").casefold()


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    # Longest first: a secret may be part of another one.
    return re.compile("|".join(sorted(patterns, key=len, reverse=True)) or "(?!)", re.IGNORECASE)


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _ascii_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _patterns(secret: str, written: Sequence[Callable[[str], str]]) -> set[str]:
    """The patterns of a secret in all forms, in a text whose characters are written in one of these ways."""
    forms = {re.escape(write(form)) for form in _forms(secret) for write in written}
    quoted = {"".join(_perhaps_quoted(character, write) for character in secret) for write in written}
    return forms | quoted | set(dict(_base64_forms(secret)).values())


def _forms(secret: str) -> Iterator[str]:
    """The forms of a secret in which all of it can be found, in any case."""
    # Upper case is found in any case, but for letters that become two.
    for text in (secret, secret.upper()):
        yield text
        yield html.escape(text)
        yield html.escape(text, quote=False)
        yield repr(text)[1:-1]
        for write in (_json, _ascii_json):
            yield write(text)
            yield write(write(text))
        yield quote(text, safe="")
        yield quote_plus(text)


def _perhaps_quoted(character: str, write: Callable[[str], str]) -> str:
    """The pattern of a character in a URL; clients differ in what they quote."""
    quoted = "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
    return f"(?:{re.escape(write(character))}|{quoted})"


def _base64_forms(secret: str) -> Iterator[tuple[str, str]]:
    """What base64 of a text that contains the secret contains for sure, and the pattern that also finds its ends.

    Three bytes become four characters, so there are three forms, by the position of the secret in the text.
    """
    content = secret.encode("utf-8", "surrogatepass")
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + content).decode()
        begin = (0, 2, 3)[before]
        core = encoded[begin : (before + len(content)) * 8 // 6]
        for form in (core, core.replace("+", "-").replace("/", "_")):
            # A letter after a backslash is the end of a JSON escape.
            head = rf"(?:(?<!\\){_BASE64}{{{begin}}})?" if begin else ""
            yield form, f"{head}{re.escape(form)}{_BASE64}{{0,2}}={{0,2}}"
