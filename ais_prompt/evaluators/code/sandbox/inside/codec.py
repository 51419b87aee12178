"""Values as JSON: plain ones travel by value, all others by a reference to an object that stays where it is.

JSON scalars are themselves; everything else is a pair of a tag and its content. Reading such a message runs no code of
its sender.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any, Final

ToReference = Callable[[Any], list[Any]]
FromReference = Callable[[str, Any], Any]

_SMALL: Final = 2**53
_COLLECTIONS: Final[dict[str, type]] = {
    kind.__name__: kind
    for kind in (list, tuple, set, frozenset)  # what a list of encoded values makes
}
_AS_TEXT: Final[dict[tuple[str, str], tuple[Callable[[Any], str], str]]] = {
    ("decimal", "Decimal"): (str, ""),
    ("fractions", "Fraction"): (str, ""),
    ("datetime", "date"): (lambda value: str(value.isoformat()), "fromisoformat"),
    ("datetime", "time"): (lambda value: str(value.isoformat()), "fromisoformat"),
    ("datetime", "datetime"): (lambda value: str(value.isoformat()), "fromisoformat"),
}
"""Module and name of a type → how it becomes a text, and the constructor that reads it ("" for the type itself)."""
_BASES: Final[dict[type, Callable[[Any], Any]]] = {
    int: int.__index__, float: float.__float__, str: str.__str__, bytes: bytes, bytearray: bytearray, list: list,
    tuple: tuple, set: set, frozenset: frozenset, dict: dict,
}  # fmt: skip
"""What a value of a derived type, such as a Counter, is taken for."""


def encode(value: Any, reference: ToReference) -> Any:
    """Return a value as JSON.

    Args:
        value: any object.
        reference: makes the pair for an object that does not travel by value.
    """
    kind = type(value)
    if value is None or kind in (bool, str, float):
        return value
    if kind is int:
        return value if -_SMALL < value < _SMALL else ["int", hex(value)]
    if kind in _COLLECTIONS.values():
        return [kind.__name__, [encode(item, reference) for item in value]]
    if kind is dict:
        return ["dict", [[encode(key, reference), encode(item, reference)] for key, item in value.items()]]
    return _encode_rare(value, kind, reference)


def _encode_rare(value: Any, kind: type, reference: ToReference) -> Any:
    if kind in (bytes, bytearray):
        return [kind.__name__, value.hex()]
    if kind is complex:
        return ["complex", [value.real, value.imag]]
    if kind is range:
        return ["range", [encode(part, reference) for part in (value.start, value.stop, value.step)]]
    origin = (kind.__module__, kind.__qualname__)
    if origin in _AS_TEXT:
        return ["text", [*origin, _AS_TEXT[origin][0](value)]]
    if origin == ("datetime", "timedelta"):
        return ["timedelta", [value.days, value.seconds, value.microseconds]]
    if origin == ("collections", "deque"):
        return ["deque", [[encode(item, reference) for item in value], value.maxlen]]
    if origin[0] == "numpy" and hasattr(value, "item") and not getattr(value, "ndim", 1):
        return encode(value.item(), reference)  # a number of NumPy's
    if isinstance(value, type | BuiltinFunctionType) and vars(builtins).get(value.__name__, ...) is value:
        return ["builtin", value.__name__]
    for base, convert in _BASES.items():
        if isinstance(value, base):
            return encode(convert(value), reference)
    return reference(value)


def decode(data: Any, reference: FromReference) -> Any:
    """Return the value of a JSON text.

    Args:
        data: from `encode` of the other side, which may be hostile.
        reference: gives the object that a tag and its content refer to.

    Raises:
        Exception: of some kind, if the JSON is not a value.
    """
    if data is None or isinstance(data, bool | int | float | str):
        return data
    tag, content = data
    if tag == "int":
        return int(content, 16)
    if tag in _COLLECTIONS:
        return _COLLECTIONS[tag](decode(item, reference) for item in content)
    if tag == "dict":
        return {decode(key, reference): decode(item, reference) for key, item in content}
    if tag in ("bytes", "bytearray"):
        return getattr(builtins, tag).fromhex(content)
    if tag == "complex":
        return complex(*content)
    if tag == "range":
        return range(*(decode(part, reference) for part in content))
    if tag == "text":
        module, name, text = content
        constructor = _AS_TEXT[module, name][1]  # KeyError for any other type
        kind = getattr(__import__(module), name)
        return (getattr(kind, constructor) if constructor else kind)(text)
    if tag in ("timedelta", "deque"):
        return _decode_standard(tag, content, reference)
    return reference(tag, content)


def _decode_standard(tag: str, content: Any, reference: FromReference) -> Any:
    if tag == "timedelta":
        return __import__("datetime").timedelta(*content)
    items, longest = content
    return __import__("collections").deque((decode(item, reference) for item in items), longest)
