"""Keys: found by the name of an environment variable, and kept out of everything that is written down."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Final, TypeAlias
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator

from ais_prompt.config.redact import HIDDEN
from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models.address import is_loopback, public_address

DEFAULT_VARIABLE: Final = "OPENAI_API_KEY"

_VARIABLE_NAME: Final = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
_SHORTEST_WORD: Final = 8
"""Shorter words of a header or a query are no secrets; hiding them would only garble messages."""


def check_variable_name(api_key: str | None) -> str | None:
    """The name as it is given; refused is a key that stands in the config itself. The message does not repeat it.

    Raises:
        ConfigError: it is not the name of an environment variable.
    """
    if api_key is None or (api_key.isascii() and api_key in os.environ) or _VARIABLE_NAME.fullmatch(api_key):
        return api_key
    raise ConfigError(
        "api_key is not the name of an environment variable; if it is a key, it must not stand in a config",
        fix=f"export it as {DEFAULT_VARIABLE} or another variable, and write api_key='{DEFAULT_VARIABLE}'",
    )


VariableName: TypeAlias = Annotated[str | None, AfterValidator(check_variable_name)]
"""The name of an environment variable that holds a key, or None; the check of a config looks at it too."""


def read_key(variable: str | None, base_url: str) -> str | None:
    """The key to send; None to send none.

    A server on this machine gets none if only the default variable was meant and it is not set: most want none.

    Raises:
        ModelError: the variable is not set, or what it holds cannot be sent.
    """
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key and variable == DEFAULT_VARIABLE and is_loopback(base_url):
        return None
    if not key:
        raise ModelError(
            f"the environment variable {variable} is not set, so there is no key",
            where=public_address(base_url),
            fix=f"export {variable}=..., or set api_key=None if the server wants no key",
        )
    if not (key.isascii() and key.isprintable()):
        raise ModelError(
            f"the environment variable {variable} holds signs that no key can have",
            where=public_address(base_url),
            fix="export it again, on one line",
        )
    if urlsplit(base_url).username is not None:
        raise ModelError(
            f"two ways to log in: base_url has a user, and {variable} holds a key",
            where=public_address(base_url),
            fix="take the user out of base_url, or set api_key=None",
        )
    return key


def secrets_of(key: str | None, headers: Mapping[str, str], base_url: str) -> frozenset[str]:
    """Every text that must not be shown: the key, the words of the headers, and what is secret in the address."""
    parts = urlsplit(base_url)
    words = {word for text in (*headers.values(), *re.split("[&=]", parts.query)) for word in text.split()}
    secrets = {word for word in words if len(word) >= _SHORTEST_WORD}
    password = parts.password or ""
    login = f"{unquote(parts.username or '')}:{unquote(password)}"
    if password:
        secrets |= {password, unquote(password), base64.b64encode(login.encode()).decode()}
    return frozenset(secrets | ({key} if key else set()))


def redact(text: str, secrets: Iterable[str]) -> str:
    """The text with every secret in it replaced by ``***``."""
    # Longest first: a secret may be part of another one.
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text
