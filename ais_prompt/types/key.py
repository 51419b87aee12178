"""`Key`: what a field of a spec is as a key of a config."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeAlias

from msgspec import Meta, Struct

NEEDED: Final = "(required)"
"""As the default of a key: it must be there, though its field has a default, with which parsing goes on."""

Count: TypeAlias = Annotated[int, Meta(ge=1)]
Amount: TypeAlias = Annotated[float, Meta(ge=0, le=1e300)]
Text: TypeAlias = Annotated[str, Meta(min_length=1)]


class Key(Struct, frozen=True):
    """Metadata of a field, ``Annotated[type, Key(...)]``, that makes it a key of a config.

    The type says which values are accepted, the default of the field what holds without the key, and the docstring of
    the struct (``Attributes:``) what the key means. From these come parsing, the advice on misspellings, and the
    reference.

    Attributes:
        kind: the accepted values in words, with an article, for errors and the reference; empty for those of the type.
        default: what holds without the key, in words; empty if the default of the field shows it.
        fix: the advice on a wrong value; empty for ``give`` and the kind.
        name: the key, if it is not the name of the field.
        read: changes a value before its type is checked, such as a short form into the long one. It may raise a
            ValueError, whose text is the reason why the value is wrong.
    """

    kind: str = ""
    default: str = ""
    fix: str = ""
    name: str = ""
    read: Callable[[Any], Any] | None = None


def split_names(value: Any) -> Any:
    """Return the names in a text, which are divided by blanks as in OpenCompass; another value as it is."""
    return value.split() if isinstance(value, str) else value


def as_list(value: Any) -> Any:
    """Return a value that is no list as the only item of one; None is an empty list."""
    if isinstance(value, list | tuple):
        return value
    return [] if value is None else [value]


def template_text(value: Any) -> Any:
    """Return the text of a `PromptTemplate`, as OpenCompass writes it; another value as it is."""
    return value.get("template") if isinstance(value, Mapping) else value


def printable(value: Any) -> Any:
    """Return a value that is no text with control characters, which file systems and terminals refuse.

    Raises:
        ValueError: it is one.
    """
    if isinstance(value, str) and not value.isprintable():
        raise ValueError("it contains characters that cannot be printed")
    return value


def number_of_gpus(value: Any) -> Any:
    """Return ``num_gpus`` of a ``run_cfg`` as OpenCompass has it; None if it has none.

    Raises:
        ValueError: it is not a dict.
    """
    if not isinstance(value, Mapping | None):
        raise ValueError("it is not a dict")
    return (value or {}).get("num_gpus")
