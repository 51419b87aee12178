"""Functions of the user that fetch a token, named in a config by their dotted path."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable

from ais_prompt.errors import ConfigError
from ais_prompt.registry import import_dotted
from ais_prompt.utils.secrets import SECRETS


def token_provider_at(path: str) -> Callable[[], Awaitable[str]]:
    """Import a token provider. Every token that it returns is hidden from then on.

    Args:
        path: dotted path of a function without arguments that returns a token, or awaits one.

    Raises:
        ConfigError: there is no such function. A text that may be a token itself is not repeated.
    """
    names = path.split(".") if isinstance(path, str) else []
    if len(names) < 2 or not all(name.isidentifier() and len(name) <= 64 for name in names):
        raise ConfigError(
            "token_provider is not the dotted path of a function",
            fix="write token_provider='my_module.my_function'; a token itself must not be part of a config",
        )
    provider = import_dotted(path)

    async def token() -> str:
        value = provider()
        if inspect.isawaitable(value):
            value = await value
        if not isinstance(value, str) or not value:
            raise ValueError(f"{path} returned {type(value).__name__}, not a token")
        SECRETS.add(value)
        return value

    return token
