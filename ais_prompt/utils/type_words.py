"""Types as people read them."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin


def type_words(annotation: Any) -> str:
    """Return a type as people read it: ``int or None``, ``list of str``, ``'chat' or 'base'``."""
    if isinstance(annotation, str):
        return annotation
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (typing.Annotated, typing.Required, typing.NotRequired):
        return type_words(args[0])
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
