"""Read pickled values of another process without running code: only frozen values of this package and plain ones.

A pickle names classes and functions, and reading it calls them. What runs code of others may write any pickle.
"""

from __future__ import annotations

import io
import pickle
from typing import Any, Final

import msgspec

from ais_prompt.errors import AisPromptError

_PLAIN: Final = {
    "array": {"_array_reconstructor", "array"},
    "builtins": {"bytearray", "complex", "frozenset", "range", "set", "slice"},
    "collections": {"OrderedDict", "Counter", "deque"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "pathlib": {"PosixPath", "PurePosixPath"},
    "uuid": {"UUID"},
}
"""Module → its classes, and functions for them, that do nothing but hold values."""
_REBUILD: Final = {("ais_prompt.errors", "_rebuild"), ("msgspec._utils", "rebuild"), ("msgspec._core", "rebuild")}
"""Functions that call a class with values; the class is one of those that may be read."""


class _Values(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name in _PLAIN.get(module, ()) or (module, name) in _REBUILD:
            return super().find_class(module, name)
        if module.startswith("ais_prompt."):
            found = super().find_class(module, name)
            if isinstance(found, type) and issubclass(found, (msgspec.Struct, AisPromptError)):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no plain value")


def read_values(content: bytes) -> Any:
    """Read a pickle.

    Raises:
        pickle.UnpicklingError: it names something that is no plain value.
        Exception: it is no pickle.
    """
    return _Values(io.BytesIO(content)).load()
