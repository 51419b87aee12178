"""Remove secrets from config values before they are shown, and write a config without them.

A value is a secret if the name of its key says so (`SECRET_KEY`), or if it looks like a well-known kind of key.
"""

from __future__ import annotations

import keyword
import math
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

from ais_prompt.config.literals import literal_values, parse_literal
from ais_prompt.secrets import (
    HIDDEN,
    SECRET_KEY,
    SECRET_VARIABLE,
    SECRETS,
    SHORTEST,
    VARIABLE,
    hide_in_url,
    hide_in_urls,
    is_reference,
    secrets_in_command,
    secrets_in_url,
    secrets_in_urls,
    takes_secret,
)
from ais_prompt.utils import late, with_texts

HEADER = '"""The config of this run, resolved. Run it again: aisprompt run <this file>."""\n\n'
_LONGEST: Final = 2000
"""Characters of a text in the body of a request that files show, such as those of media."""
VISIBLE_HEADERS: Final = {"accept", "api-version", "content-type", "user-agent"}
"""Headers whose values are no secrets."""

_TABLE = late(r"(.*_)?(headers|cookies|query|query_params)")
"""Keys of dicts whose every value is a secret."""
_SECRET_VALUE = late(r"(Bearer\s+)?(sk-|hf_|ghp_|xox[a-z]-)[\w-]{16,}")
_ADDRESS = late(r"[A-Za-z][\w+.-]*://\S+$")
_VARIABLE_NAME = late(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
_WITH_VARIABLE = late(rf"([Bb]earer |[Bb]asic |[Tt]oken )?{VARIABLE.pattern}", re.ASCII)
_OVERRIDE = late(r"(?P<path>(?:--set=)?[^=]+)=(?P<value>.*)", re.DOTALL)

_PROGRAM = {"server", "runner", "sandbox"}
"""Keys of what starts programs: commands, their words and lines of shell."""
_ENVIRONMENT = late(r"env(iron(ment)?)?(_vars)?")

Place: TypeAlias = Literal["open", "address", "key", "table", "value", "program", "environment"]
"""What a config path says of the values below it: nothing; an address; a key, which may also be the name of an
environment variable; a table such as ``headers``; a value of such a table; a command; variables of a program."""


class Redaction:
    """Remove the secrets from plain values.

    Attributes:
        secrets: what was hidden.
        shown: the texts that were left as they are.
    """

    def __init__(self) -> None:
        self.secrets: set[str] = set()
        self.shown: set[str] = set()

    def of(self, value: Any, place: Place) -> Any:
        """Return the value with ``***`` in place of every secret."""
        if type(value) is str:  # most values
            return value if value == HIDDEN else self._single(value, place)
        if isinstance(value, Mapping):
            return {name: self.of(item, _below(place, str(name))) for name, item in value.items()}
        if isinstance(value, list | tuple):
            items = self._words(value) if place == "program" else (self.of(item, place) for item in value)
            return type(value)(items)
        return value if value is None or isinstance(value, bool) or value == HIDDEN else self._single(value, place)

    def _single(self, value: Any, place: Place) -> Any:
        """Return a text or number, hidden if its place makes it a secret."""
        if place == "key":
            return value if _names_variable(value) else self._hidden(value)
        if place in ("table", "value"):
            return value if isinstance(value, str) and _WITH_VARIABLE.fullmatch(value) else self._hidden(value)
        if place == "program" and isinstance(value, str):
            return self._command(value)
        return self._open(value, place) if isinstance(value, str) else value

    def _words(self, words: Iterable[Any]) -> Iterator[Any]:
        """Yield the words of a command, or lines of shell."""
        expects_secret = False
        for word in words:
            if expects_secret and isinstance(word, str | int | float) and not str(word).startswith("-"):
                yield word if is_reference(str(word)) else self._hidden(word)
            else:
                expects_secret = isinstance(word, str) and takes_secret(word)
                yield self.of(word, "program")

    def _command(self, text: str) -> str:
        """Return a command line of which only a part may be secret."""
        shown, done = "", 0
        for begin, end in secrets_in_command(text):
            secret = text[begin:end]
            with suppress(ValueError):  # open quotes
                self.secrets.update(shlex.split(secret))
            shown += text[done:begin] + self._hidden(secret)
            done = end
        shown += text[done:]
        self.secrets.update(secrets_in_urls(text))
        if shown == text:
            self.shown.add(text)
        return hide_in_urls(shown)

    def _open(self, text: str, place: Place) -> str:
        """Return a text of which only a part may be secret."""
        if place == "open" and text in self.shown:  # many datasets have the same texts
            return text
        if _SECRET_VALUE.fullmatch(text):
            return self._hidden(text)
        if place == "address" or _ADDRESS.match(text):
            # The address of a proxy may come without a scheme.
            scheme = "" if "://" in text else "http://"
            self.secrets.update(secrets_in_url(scheme + text))
            return hide_in_url(scheme + text).removeprefix(scheme)
        self.shown.add(text)
        return text

    def _hidden(self, value: Any) -> str:
        text = str(value)
        self.secrets.add(text)
        # Of "Bearer abc" and "session=abc; theme=dark", servers may repeat a part.
        self.secrets.update(word for word in re.split(r"[\s;,=]+", text) if len(word) >= SHORTEST)
        return HIDDEN


def redacted(value: Any, key: str) -> Any:
    """Return the value of a key with ``***`` in place of every secret.

    Secrets are the values of ``headers``, whatever is below a key such as ``api_key`` and is not the name of an
    environment variable, what looks like a well-known kind of key itself, and the login and query of a URL.
    """
    return Redaction().of(value, _below("open", key))


def shown_body(body: Mapping[str, Any]) -> Any:
    """Return the body of a request as files show it: with ``***`` in place of every secret, and long texts cut."""
    return with_texts(
        redacted(dict(body), "body"), lambda text: f"{text[:_LONGEST]}…" if len(text) > _LONGEST else text
    )


def redacted_at(path: str, value: Any) -> Any:
    """Return the value at a config path such as ``models.0.headers.Cookie``, with ``***`` in place of every secret."""
    return Redaction().of(value, _place_of(path))


def shown_command(words: Sequence[str]) -> str:
    """Return the words of a command as one line, with ``***`` in place of every secret."""
    return shlex.join(redacted(list(words), "server")).replace(f"'{HIDDEN}'", HIDDEN)


def register_secrets(values: Any) -> None:
    """Hide the secrets of a config from now on, wherever they appear. Values that are also in the open stay."""
    redaction = Redaction()
    redaction.of(values, "open")
    SECRETS.add(*redaction.secrets - redaction.shown)


def redacted_override(argument: str) -> str:
    """Return a command-line argument such as ``models.0.api_key=...`` without its secret; others unchanged."""
    # The = of an address is one of its query.
    override = None if _ADDRESS.match(argument) else _OVERRIDE.fullmatch(argument)
    path, value = (override["path"], parse_literal(override["value"])) if override else ("", argument)
    redaction = Redaction()
    shown = redaction.of(value, _place_of(path.removeprefix("--set=")))
    SECRETS.add(*redaction.secrets)
    if shown == value:
        return argument
    return f"{path}={shown}" if override else str(shown)


def render_config(values: Mapping[str, Any], header: str = HEADER) -> str:
    """Write plain values as a Python config; a secret among them becomes ``***`` (see `redacted`)."""
    lines = [f"{name} = {_literal(redacted(value, name), 0)}\n" for name, value in values.items()]
    return header + "\n".join(lines)


def hidden_again(config: str) -> str:
    """Return a config that an earlier version wrote, without the secrets that this version hides."""
    try:
        values = literal_values(config)
    except (SyntaxError, ValueError, RecursionError):  # edited by hand
        return config
    return render_config(values)


def _literal(value: Any, depth: int) -> str:
    if isinstance(value, str):  # most values
        return repr(value)
    if isinstance(value, Mapping):
        if all(map(_can_be_keyword, value)):
            return _bracketed(
                "dict(", [f"{key}={_literal(item, depth + 1)}" for key, item in value.items()], ")", depth
            )
        items = [f"{_literal(key, 0)}: {_literal(item, depth + 1)}" for key, item in value.items()]
        return _bracketed("{", items, "}", depth)
    if isinstance(value, list | tuple):
        begin, end = ("(", ")") if isinstance(value, tuple) else ("[", "]")
        return _bracketed(begin, [_literal(item, depth + 1) for item in value], end, depth)
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)


@lru_cache(4096)
def _can_be_keyword(key: Any) -> bool:
    # Python normalises other letters in a keyword (ﬁ becomes fi), and nothing may assign to __debug__.
    is_name = isinstance(key, str) and key.isascii() and key.isidentifier()
    return is_name and not keyword.iskeyword(key) and key != "__debug__"


def _bracketed(begin: str, items: list[str], end: str, depth: int) -> str:
    """Write a short flat value on one line, otherwise one item a line; the last comma also makes tuples of one."""
    if sum(map(len, items)) <= 80:
        flat = f"{begin}{', '.join(items)}{',' if begin == '(' and len(items) == 1 else ''}{end}"
        if len(flat) <= 80 and "\n" not in flat and flat.count("(") + flat.count("[") + flat.count("{") <= 1:
            return flat
    indent = "    " * (depth + 1)
    return "".join([begin, "\n", *(f"{indent}{item},\n" for item in items), "    " * depth, end])


def _place_of(path: str) -> Place:
    place: Place = "open"
    for key in re.split(r"[.\[\]]+", path):
        place = place if key.isdigit() or not key else _below(place, key)
    return place


@lru_cache(4096)
def _below(place: Place, key: str) -> Place:
    if place in ("key", "value"):
        return place
    if place == "environment" and (SECRET_VARIABLE.fullmatch(key) or SECRET_KEY.fullmatch(key.lower())):
        return "value"
    if place == "table":
        return "open" if key.lower() in VISIBLE_HEADERS else "value"
    name = key.lower().replace("-", "_")
    if _TABLE.fullmatch(name):
        return "table"
    if SECRET_KEY.fullmatch(name):
        return "key"
    if name.endswith(("url", "proxy", "endpoint")):
        return "address"
    if place in ("program", "environment"):
        return "environment" if _ENVIRONMENT.fullmatch(name) else "program"
    return "program" if name in _PROGRAM else "open"


def _names_variable(value: Any) -> bool:
    # Only ASCII is looked up: os.environ raises for text that cannot be encoded.
    if not isinstance(value, str) or not value.isascii():
        return False
    return value in os.environ or bool(_VARIABLE_NAME.fullmatch(value) or VARIABLE.fullmatch(value))
