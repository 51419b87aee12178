"""The keys of a dict in a config, read from the fields of a struct that are marked with a `Key`.

Parsing (`ConfigSection.read`), the advice on misspellings and the reference are made from them.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from types import UnionType
from typing import Annotated, Any, Final

from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

from ais_prompt.parts import key_advice
from ais_prompt.types import NEEDED, Key, PartSpec


class ConfigKey(Struct, frozen=True):
    """A key of a dict, made from the field of its struct.

    Attributes:
        name: the key.
        field: the field of the struct.
        type: of its values.
        key: its `Key`.
        kind: what its values are, in words with an article.
        default: what holds without it; `msgspec.NODEFAULT` if there is nothing to go on with.
        is_needed: whether it must be there.
        struct: what its value, or each item of it, is parsed into; None if the value is plain.
        is_list: whether the value is a list of these.
        has_texts: whether items of that list may be texts.
    """

    name: str
    field: str
    type: Any
    key: Key
    kind: str
    default: Any
    is_needed: bool
    struct: type[Struct] | None = None
    is_list: bool = False
    has_texts: bool = False

    @property
    def default_words(self) -> str:
        """What holds without it, as the reference shows it."""
        if self.is_needed:
            return NEEDED
        return self.key.default or ("none" if self.default in (None, "", ()) else f"`{self.default!r}`")


@cache
def keys_of(struct: type[Struct]) -> Mapping[str, ConfigKey]:
    """Return the keys that a struct has, by name, in the order of its fields."""
    keys = (_key_of(field) for field in fields(struct))
    return {key.name: key for key in keys if key is not None}


class KeyTable(Struct, frozen=True, dict=True):
    """One kind of dict.

    Attributes:
        title: what it is called.
        where: the config path at which it is written.
        struct: its keys; its docstring says what it is for.
        more: keys of extensions → what they are for; each is a dict.
    """

    title: str
    where: str
    struct: type[Struct]
    more: Mapping[str, str] = {}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the keys."""
        return (*keys_of(self.struct), *self.more)

    def unknown(self, values: Mapping[Any, Any]) -> Iterator[tuple[Any, str]]:
        """Yield each key of a dict that is not in the table, with what to write instead."""
        return ((key, key_advice(str(key), self.names)) for key in values if key not in self.names)


_KINDS: Final[Mapping[Any, str]] = {
    **{str: "a text", bool: "True or False", int: "a number", float: "a number"},
    **{PartSpec: "dict(type=...)", Mapping: "dict(...)"},
}


def _key_of(field: FieldInfo) -> ConfigKey | None:
    if typing.get_origin(field.type) is not Annotated:
        return None
    inner, *metadata = typing.get_args(field.type)
    key = next((one for one in metadata if isinstance(one, Key)), None)
    if key is None:
        return None
    limits = tuple(one for one in metadata if one is not key)
    members = list(_members(field.type))
    items = [item for one in members if typing.get_origin(one) is tuple for item in _members(typing.get_args(one)[0])]
    struct = next((one for one in (*members, *items) if isinstance(one, type) and issubclass(one, Struct)), None)
    default = field.default if field.default_factory is NODEFAULT else field.default_factory()
    first = typing.get_origin(members[0]) or members[0]
    return ConfigKey(
        name=key.name or field.name,
        field=field.name,
        type=Annotated[(inner, *limits)] if limits else inner,
        key=key,
        kind=key.kind or _KINDS.get(first, "dict(...)"),
        default=default,
        is_needed=key.default == NEEDED or default is NODEFAULT,
        struct=None if key.read else struct,
        is_list=struct in items,
        has_texts=str in items,
    )


def _members(kind: Any) -> Iterator[Any]:
    """Yield the types of a union, without their metadata."""
    origin = typing.get_origin(kind)
    if origin is Annotated:
        yield from _members(typing.get_args(kind)[0])
    elif origin in (typing.Union, UnionType):
        for one in typing.get_args(kind):
            yield from _members(one)
    else:
        yield kind
