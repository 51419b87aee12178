"""Bodies and replies as the packages of providers type them."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import TypeAdapter

from tests.support.lazy import Lazy


class PackageTypes:
    """The types in a module of a package.

    Args:
        module: such as ``openai.types.chat``.
    """

    def __init__(self, module: str) -> None:
        self.module = Lazy(module)

    def read(self, name: str, value: Any) -> Any:
        """Return a value as a type reads it, without fields that it does not know.

        Raises:
            ValidationError: the value is not of this type.
        """
        return _plain(_adapter(self.module, name).validate_python(value))

    def read_json(self, name: str, text: str | bytes) -> Any:
        """Do the same for a JSON text."""
        return _plain(_adapter(self.module, name).validate_json(text))


@cache
def _adapter(module: Lazy, name: str) -> TypeAdapter[Any]:
    return TypeAdapter(getattr(module, name))


def _plain(value: Any) -> Any:
    """Return a validated value with the lazy iterators of pydantic read."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        return value
    return [_plain(item) for item in value]
