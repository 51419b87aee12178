"""Protocols and type hints: whether a part has all members, whether a value fits, and a type in words."""

from __future__ import annotations

import inspect
import numbers
import reprlib
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import repeat
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Struct


@cache
def members(protocol: type) -> Sequence[str]:
    """Return the public methods and attributes of a protocol, its own and inherited ones."""
    names: dict[str, None] = {}
    for owner in reversed(protocol.__mro__):
        if getattr(owner, "_is_protocol", False):
            names |= dict.fromkeys([*inspect.get_annotations(owner), *vars(owner)])
    return [name for name in names if not name.startswith("_")]


def misfit(value: Any, hint: Any, name: str) -> str:
    """Return why a value does not fit a type hint: "it[0].text is None, not str"; empty if it fits.

    Every item of a collection and every field of a `Struct` is checked. Items of an iterator are not, because reading
    them would consume them. A number of any type is a float, and a list is a tuple.

    Args:
        value: the value.
        hint: the type hint, resolved.
        name: name of the value in the message.
    """
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        found = [misfit(value, one, name) for one in get_args(hint)]
        return _not_a(value, hint, name) if all(found) else ""
    if getattr(origin, "__module__", "") == "numpy":
        return "" if _is_numeric(value) else _not_a(value, "an array of numbers", name)
    if not _is_one(value, hint):
        return _not_a(value, hint, name)
    return next(filter(None, _misfits_inside(value, hint, name)), "")


@lru_cache
def type_hints(part: Any) -> Mapping[str, Any]:
    """Return the type hints of a class or function; none if a hint is imported for type checks only."""
    try:
        return get_type_hints(part)
    except (NameError, TypeError):
        return {}


def type_words(annotation: Any) -> str:
    """Return a type as people read it: ``int or None``, ``list of str``, ``'chat' or 'base'``."""
    if isinstance(annotation, str):
        return annotation
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (typing.Annotated, typing.Required, typing.NotRequired):
        return type_words(args[0])
    if isinstance(annotation, TypeVar):
        return "anything"
    if origin is Literal:
        return " or ".join(map(repr, args))
    if origin in (types.UnionType, typing.Union):
        return " or ".join(dict.fromkeys(map(type_words, args)))
    if origin is not None:
        return _generic_words(annotation, origin, args)
    plain = next((words for kind, words in _PLAIN_WORDS if annotation is kind), None)
    return plain or str(getattr(annotation, "__name__", annotation))


_PLAIN_WORDS: Final = (
    (Any, "anything"),
    (inspect.Parameter.empty, "anything"),
    (object, "anything"),
    (None, "None"),
    (type(None), "None"),
    (Path, "path"),
    (Mapping, "dict"),
    (dict, "dict"),
)
"""Types that are no generic ones, and how people read them."""


def _is_one(value: Any, hint: Any) -> bool:
    """Return whether a value itself fits a hint, whatever is inside of it. A text is no list of texts."""
    origin = get_origin(hint)
    if origin is Literal:
        return value in get_args(hint)
    return isinstance(value, _class_of(hint)) and not (isinstance(value, str | bytes) and origin is not None)


def _class_of(hint: Any) -> type | tuple[type, ...]:
    """Return the class to use with `isinstance`."""
    kind = get_origin(hint) or hint
    if kind is Any or kind is None:
        return object if kind is Any else NoneType
    if kind is float:
        return numbers.Real
    if kind is tuple:
        return (tuple, list)
    is_class = isinstance(kind, type) and not getattr(kind, "_is_protocol", False)
    return kind if is_class or kind in (Callable, Iterator) else object


def _is_numeric(value: Any) -> bool:
    """Return whether NumPy reads a value as an array of numbers; lists and tensors count too."""
    import numpy as np

    try:
        return np.asarray(value).dtype.kind in "biuf"
    except (TypeError, ValueError, RuntimeError):  # lists of different lengths, or a tensor on another device
        return False


def _misfits_inside(value: Any, hint: Any, name: str) -> Iterator[str]:
    origin, args = get_origin(hint), get_args(hint)
    if getattr(hint, "_is_protocol", False):
        for member in members(hint):
            if not hasattr(value, member):
                yield f"{_not_a(value, hint, name)}: it has no {member}"
    elif isinstance(hint, type) and issubclass(hint, Struct):
        for field, inner in type_hints(hint).items():
            yield misfit(getattr(value, field), inner, f"{name}.{field}")
    elif isinstance(origin, type) and issubclass(origin, Collection) and args:
        yield from _misfits_of_items(value, origin, args, name)


def _misfits_of_items(value: Any, origin: type, hints: Sequence[Any], name: str) -> Iterator[str]:
    """Yield those of the items of a collection.

    Args:
        value: the collection.
        origin: its class in the type hint.
        hints: of its keys and values, of each entry of a tuple, or of all items.
        name: of the collection.
    """
    if issubclass(origin, Mapping):
        for key, item in value.items():
            yield misfit(key, hints[0], f"a key of {name}") or misfit(item, hints[1], f"{name}[{key!r}]")
        return
    each: Iterable[Any] = repeat(hints[0])
    if origin is tuple and hints[-1] is not ...:
        each = hints
        if len(value) != len(hints):
            yield f"{name} has {len(value)} entries, not {len(hints)}"
    for number, (item, hint) in enumerate(zip(value, each, strict=False)):
        yield misfit(item, hint, f"{name}[{number}]")


def _not_a(value: Any, hint: Any, name: str) -> str:
    shown = "None" if value is None else f"{_repr(value)} ({type(value).__name__})"
    return f"{name} is {shown}, not {type_words(hint)}"


def _repr(value: Any) -> str:
    try:
        return reprlib.repr(value)
    except Exception:  # `__repr__` may be user-defined
        return "a value"


def _generic_words(annotation: Any, origin: Any, args: tuple[Any, ...]) -> str:
    """Return a type with a type in brackets, such as ``Sequence[str]``, as people read it."""
    if origin in (Mapping, dict):
        return "dict"
    if isinstance(origin, type) and issubclass(origin, Callable):  # type: ignore[arg-type]
        return "function"
    if origin is tuple and Ellipsis not in args:
        return f"({', '.join(map(type_words, args))})"
    if origin in (Sequence, list, tuple, frozenset, set):
        return f"list of {type_words(args[0])}" if args and args[0] is not Any else "list"
    return str(getattr(annotation, "__name__", annotation))
