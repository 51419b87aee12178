"""Values without secrets, for everything that is shown or written down."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.config.literal import parse_literal

HIDDEN: Final = "***"

# A column called `token` or an `ice_token` is no secret; an `api_token` is.
_SECRET_KEY = re.compile(
    r"(.*_)?(api_?keys?|access_keys?|secrets?|secret_key|passw(or)?d|authorization|credentials?)"
    r"|((use|hf|auth|access|api|bearer|refresh|session)_)*token"
)
_SECRET_VALUE = re.compile(r"(Bearer\s+)?(sk-|hf_|ghp_|xox[a-z]-)[\w-]{16,}")
_VARIABLE_NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
_PASSWORD_IN_URL = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_OVERRIDE = re.compile(r"(?P<path>(?:--set=)?[^=]+)=(?P<value>.*)", re.DOTALL)


def redacted(value: Any, key: str) -> Any:
    """The value of a key, with ``***`` in the place of every secret.

    A secret is what stands below a key such as ``api_key`` and is not the name of an environment variable, what looks
    like a well-known kind of key itself, and the user and password in an address.
    """
    if isinstance(value, Mapping):
        return {name: redacted(item, key if _is_secret(key) else str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(redacted(item, key) for item in value)
    if _is_secret(key):
        return value if value is None or isinstance(value, bool) or _names_variable(value) else HIDDEN
    if isinstance(value, str) and _SECRET_VALUE.fullmatch(value):
        return HIDDEN
    return _PASSWORD_IN_URL.sub(HIDDEN, value) if isinstance(value, str) and key.endswith(("url", "proxy")) else value


def redacted_override(argument: str) -> str:
    """An argument of the command line, such as ``models.0.api_key=...``, without its secret; others as they are."""
    override = _OVERRIDE.fullmatch(argument)
    if override is None:
        return str(redacted(argument, ""))
    path, value = override["path"], parse_literal(override["value"])
    keys = path.removeprefix("--set=").split(".")
    shown = redacted(value, next((key for key in keys if _is_secret(key)), keys[-1]))
    return argument if shown == value else f"{path}={shown}"


def _is_secret(key: str) -> bool:
    return _SECRET_KEY.fullmatch(key.lower().replace("-", "_")) is not None


def _names_variable(value: Any) -> bool:
    # Only ASCII is looked up: os.environ raises for text that cannot be encoded.
    if not isinstance(value, str) or not value.isascii():
        return False
    return value in os.environ or _VARIABLE_NAME.fullmatch(value) is not None
