"""Keys and headers: read from environment variables, and kept out of everything that is stored or shown.

A variable that a config names comes from the environment, or else from ``.env`` in the working directory. Only the
variables that are asked for are taken from the file. They are not put into the environment, so that no other process
gets them.
"""

from __future__ import annotations

import base64
import io
import os
import re
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from pydantic import AfterValidator

from ais_prompt import __version__
from ais_prompt.catalog import Api
from ais_prompt.config import register_secrets
from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models.transport.network import is_loopback, public_address
from ais_prompt.secrets import HIDDEN, SECRETS, VARIABLE, takes_secret
from ais_prompt.utils import digest, read_regular, with_texts

DEFAULT_VARIABLE: Final = "OPENAI_API_KEY"
_UNSET_IS_NONE: Final = (DEFAULT_VARIABLE, "ANTHROPIC_API_KEY")
"""Variables that may be unset for a server on this machine."""
ANTHROPIC_VERSION: Final = "2023-06-01"
"""The version of the Messages API; ``headers`` of the config may name another one."""
ENCODINGS: Final = "gzip, deflate, zstd"
"""The compressions that a transport can decompress, as an ``Accept-Encoding`` header."""
_OF_ACCOUNTS: Final = ("authorization", "x-api-key", "api-key", "openai-organization", "openai-project")
"""Headers that say whose requests count."""
_SCHEME: Final = re.compile(r"(?:bearer|basic|token)\s", re.IGNORECASE)
_VARIABLE_NAME: Final = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
_VARIABLE_OR_DOLLAR: Final = re.compile(rf"\$\$|{VARIABLE.pattern}", re.ASCII)


def check_variable_name(api_key: str | None) -> str | None:
    """Return the name of a variable; refuse a key that is written in the config itself, without repeating it.

    Raises:
        ConfigError: it is not the name of an environment variable.
    """
    if api_key is None or is_variable(api_key):
        return api_key
    raise ConfigError(
        "api_key is not the name of an environment variable; if it is a key, it must not be written in a config",
        fix=f"export it as {DEFAULT_VARIABLE} or another variable, and write api_key='{DEFAULT_VARIABLE}'",
    )


def is_variable(name: str) -> bool:
    """Return whether a text names a variable, and is no key: one that is set, or words in capitals joined by ``_``."""
    return (name.isascii() and is_named_somewhere(name)) or _VARIABLE_NAME.fullmatch(name) is not None


VariableName: TypeAlias = Annotated[str | None, AfterValidator(check_variable_name)]
"""The name of an environment variable that holds a key, or None; checked with the config."""


def read_key(variable: str | None, base_url: str) -> str | None:
    """Return the key to send; None to send none.

    A server on this machine is sent no key if the variable is a default one and not set: most need none.

    Raises:
        ModelError: the variable is not set, or its value cannot be sent.
    """
    if variable is None:
        return None
    key = named_variable(variable)
    if not key and variable in _UNSET_IS_NONE and is_loopback(base_url):
        return None
    if not key:
        raise ModelError(
            f"the environment variable {variable} is not set, so there is no key",
            where=public_address(base_url),
            fix=f"export {variable}=..., write it into .env, or --set models.0.api_key=None if the server wants no key",
        )
    if not (key.isascii() and key.isprintable()):
        raise ModelError(
            f"the environment variable {variable} holds characters that no key can have",
            where=public_address(base_url),
            fix="export it again, on one line",
        )
    if urlsplit(base_url).username is not None:
        raise ModelError(
            f"two ways to log in: base_url has a user, and {variable} holds a key",
            where=public_address(base_url),
            fix="remove the user from base_url, or set api_key=None",
        )
    SECRETS.add_key(key)
    return key


def key_words(variable: str | None, base_url: str) -> str:
    """Return which key is sent, without the key: ``the key is SUITE_KEY (8 characters, from the environment)``."""
    key = read_key(variable, base_url)
    if variable is None or key is None:
        return "no key is sent"
    origin = "the environment" if os.environ.get(variable, "").strip() else ".env"
    return f"the key is {variable} ({len(key)} characters, from {origin})"


def resolve_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Replace variables in headers, as in `resolve_variables`.

    Raises:
        ModelError: a variable is not set, or a value was hidden when the config was written.
    """
    resolved = {name: resolve_variables(str(value), f"the header {name}") for name, value in headers.items()}
    register_secrets({"headers": resolved})
    for name, value in headers.items():
        if takes_secret(name) or _SCHEME.match(str(value)):
            for found in VARIABLE.finditer(str(value)):
                SECRETS.add_key(named_variable(found["braced"] or found["bare"]))
    return resolved


def resolve_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Replace variables in the texts of ``body_fields``, at any depth, as in `resolve_variables`; hide their values.

    Raises:
        ModelError: a variable is not set, or a text was hidden when the config was written.
    """

    def resolved(text: str, name: str) -> str:
        found = resolve_variables(text, f"the field {name} of body_fields")
        if found != text:
            SECRETS.add(found)
        return found

    return {name: with_texts(value, partial(resolved, name=name)) for name, value in fields.items()}


def resolve_address(base_url: str) -> str:
    """Replace environment variables in the query of an address, as in `resolve_headers`.

    Raises:
        ModelError: as `resolve_headers`.
    """
    parts = urlsplit(base_url)
    if HIDDEN in parts.netloc.rpartition("@")[0]:
        raise _was_hidden("the login of base_url")
    parameters = []
    for parameter in filter(None, parts.query.split("&")):
        name, equals, value = parameter.partition("=")
        resolved = resolve_variables(value, f"{name} in base_url")
        parameters.append(f"{name}{equals}{value if resolved == value else quote(resolved, safe='')}")
    address = urlunsplit(parts._replace(query="&".join(parameters)))
    register_secrets({"base_url": address})
    return address


def resolve_variables(text: str, what: str) -> str:
    """Replace ``$NAME`` and ``${NAME}`` in a text by variables of the environment or ``.env``, ``$$`` by a dollar sign.

    Args:
        text: the text.
        what: the option that it belongs to, for errors.

    Raises:
        ModelError: a variable is not set, or the text was hidden when the config was written.
    """
    if HIDDEN in text:
        raise _was_hidden(what)

    def value_of(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        variable = found["braced"] or found["bare"]
        value = named_variable(variable)
        if not value:
            raise ModelError(
                f"the environment variable {variable} is not set, and {what} names it",
                fix=f"export {variable}=..., or write $$ for a dollar sign",
            )
        return value

    return _VARIABLE_OR_DOLLAR.sub(value_of, text)


def _was_hidden(what: str) -> ModelError:
    fix = "write the secret again, best as the name of an environment variable: '$NAME'"
    return ModelError(f"{what} is {HIDDEN}: it was hidden when this config was written", fix=fix)


_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A header name (RFC 9110, 5.6.2)."""


def request_headers(base_url: str, key: str | None, own: Mapping[str, str], api: Api = "openai") -> dict[str, str]:
    """Return the headers of every request: login, description of the body, and those of the config, which win.

    Args:
        base_url: its user and password log in with Basic authentication.
        key: sent as a bearer token, or as ``x-api-key`` to the Messages API; None for none.
        own: headers of the config.
        api: what the server speaks.

    Raises:
        ModelError: a header cannot be sent, such as one with a line break.
    """
    headers = {
        "User-Agent": f"ais_prompt/{__version__}",
        "Content-Type": "application/json",
        "Accept-Encoding": ENCODINGS,
        **({"anthropic-version": ANTHROPIC_VERSION} if api == "anthropic" else {}),
        **_login(base_url, key, api),
    }
    given = {name.lower() for name in own}
    headers = {name: value for name, value in headers.items() if name.lower() not in given} | dict(own)
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or not _can_be_sent(value):
            raise ModelError(
                f"the header {name!r} cannot be sent: its name or value has a character that headers must not have",
                where=public_address(base_url),
                fix="write it on one line, with Latin letters",
            )
    return headers


def account_of(headers: Mapping[str, str]) -> str:
    """Return a digest of the login in the headers of requests: equal for one account. The login cannot be read from it.

    It stays in memory. Without a login it is empty.
    """
    login = {name.lower(): value for name, value in headers.items() if name.lower() in _OF_ACCOUNTS}
    return digest(login) if login else ""


def _can_be_sent(value: object) -> bool:
    return isinstance(value, str) and all(sign == "\t" or (" " <= sign <= "\xff" and sign != "\x7f") for sign in value)


def _login(base_url: str, key: str | None, api: Api) -> dict[str, str]:
    if key:
        return {"x-api-key": key} if api == "anthropic" else {"Authorization": f"Bearer {key}"}
    parts = urlsplit(base_url)
    if parts.username is None:
        return {}
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": "Basic " + base64.b64encode(login.encode()).decode("ascii")}


DOT_ENV: Final = ".env"


def named_variable(name: str) -> str:
    """Return the value of a variable, without white space around it; an empty text if it is not set anywhere.

    The environment wins. A value of ``.env`` is hidden in everything that is shown or stored from then on.

    Raises:
        ConfigError: there is a ``.env``, and it cannot be read.
    """
    if value := os.environ.get(name, "").strip():
        return value
    value = (_dot_env().get(name) or "").strip()
    if value:
        SECRETS.add(value)
    return value


def is_named_somewhere(name: str) -> bool:
    """Return whether the environment or ``.env`` has a variable.

    Raises:
        ConfigError: as `named_variable`.
    """
    return name in os.environ or name in _dot_env()


def _dot_env() -> dict[str, str | None]:
    path = Path(DOT_ENV)
    try:
        status = path.stat()
        return _parsed(str(path.absolute()), status.st_mtime_ns, status.st_size)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        fix = "correct or remove it, or export the variable"
        raise ConfigError(f"the file with variables cannot be read: {reason}", where=str(path), fix=fix) from None


@lru_cache(maxsize=1)
def _parsed(path: str, _modified_ns: int, _size: int) -> dict[str, str | None]:
    """Parse a file of this age and size. Values are taken as they are: ``$NAME`` in them means nothing."""
    from dotenv import dotenv_values

    text = read_regular(Path(path)).decode("utf-8-sig")
    return dotenv_values(stream=io.StringIO(text), interpolate=False)
