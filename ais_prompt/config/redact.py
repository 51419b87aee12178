"""Remove secrets from values before they are shown or written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

from ais_prompt.config.literal import parse_literal
from ais_prompt.utils.secrets import SECRETS, SHORTEST
from ais_prompt.utils.urls import HIDDEN, VARIABLE, hide_in_url, secrets_in_url

VISIBLE_HEADERS: Final = {"accept", "api-version", "content-type", "user-agent"}
"""Headers whose values are no secrets."""

# A column called `token` or an `ice_token` is no secret; an `api_token` is.
_SECRET_KEY = re.compile(
    r"(.*_)?((api|access|account|auth|encryption|master|private|secret|service|session|shared|signing|subscription)_?keys?"
    r"|secrets?|passw(or)?d|passphrase|pwd|authorization|credentials?|cookie|sas|signature)"
    r"|((use|hf|hub|ad|auth|oauth|access|api|bearer|refresh|session|id|security|personal|azure|github|gitlab|huggingface)_)*token"
)
_TABLE = re.compile(r"(.*_)?(headers|cookies|query|query_params)")
"""Keys of dicts whose every value is a secret."""
_SECRET_VALUE = re.compile(r"(Bearer\s+)?(sk-|hf_|ghp_|xox[a-z]-)[\w-]{16,}")
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://\S+$")
_VARIABLE_NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
_WITH_VARIABLE = re.compile(rf"([Bb]earer |[Bb]asic |[Tt]oken )?{VARIABLE.pattern}", re.ASCII)
_OVERRIDE = re.compile(r"(?P<path>(?:--set=)?[^=]+)=(?P<value>.*)", re.DOTALL)

Place: TypeAlias = Literal["open", "address", "key", "table", "value"]
"""What a config path says of the values below it: nothing; an address; a key, which may also be the name of an
environment variable; a table such as ``headers``; a value of such a table."""


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
            return type(value)(self.of(item, place) for item in value)
        return value if value is None or isinstance(value, bool) or value == HIDDEN else self._single(value, place)

    def _single(self, value: Any, place: Place) -> Any:
        """Return a text or number, hidden if its place makes it a secret."""
        if place == "key":
            return value if _names_variable(value) else self._hidden(value)
        if place in ("table", "value"):
            return value if isinstance(value, str) and _WITH_VARIABLE.fullmatch(value) else self._hidden(value)
        return self._open(value, place) if isinstance(value, str) else value

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


def redacted_at(path: str, value: Any) -> Any:
    """Return the value at a config path such as ``models.0.headers.Cookie``, with ``***`` in place of every secret."""
    return Redaction().of(value, _place_of(path))


def register_secrets(values: Any) -> None:
    """Hide the secrets of a config from now on, wherever they appear. Values that are also in the open stay."""
    redaction = Redaction()
    redaction.of(values, "open")
    SECRETS.add(*redaction.secrets - redaction.shown)


def redacted_override(argument: str) -> str:
    """Return a command-line argument such as ``models.0.api_key=...`` without its secret; others unchanged."""
    override = _OVERRIDE.fullmatch(argument)
    if override is None:
        return str(Redaction().of(argument, "open"))
    path, value = override["path"], parse_literal(override["value"])
    redaction = Redaction()
    shown = redaction.of(value, _place_of(path.removeprefix("--set=")))
    SECRETS.add(*redaction.secrets)
    return argument if shown == value else f"{path}={shown}"


def _place_of(path: str) -> Place:
    place: Place = "open"
    for key in re.split(r"[.\[\]]+", path):
        place = place if key.isdigit() or not key else _below(place, key)
    return place


@lru_cache(4096)
def _below(place: Place, key: str) -> Place:
    """Return the place below a key."""
    if place in ("key", "value"):
        return place
    if place == "table":
        return "open" if key.lower() in VISIBLE_HEADERS else "value"
    name = key.lower().replace("-", "_")
    if _TABLE.fullmatch(name):
        return "table"
    if _SECRET_KEY.fullmatch(name):
        return "key"
    return "address" if name.endswith(("url", "proxy", "endpoint")) else "open"


def _names_variable(value: Any) -> bool:
    # Only ASCII is looked up: os.environ raises for text that cannot be encoded.
    if not isinstance(value, str) or not value.isascii():
        return False
    return value in os.environ or bool(_VARIABLE_NAME.fullmatch(value) or VARIABLE.fullmatch(value))
