"""Read docstrings, and the defaults and types of arguments."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import NODEFAULT, Struct, field
from msgspec.structs import fields as struct_fields

from ais_prompt.types import REQUIRED

_SECTION: Final = re.compile(r"^(Args|Attributes|Returns|Raises|Yields):\n((?:(?:    .*)?\n)*)", re.MULTILINE)
_ITEM: Final = re.compile(r"^([\w*, ]+?): (.*(?:\n(?:    .*)?)*)", re.MULTILINE)


def hints_of(part: Any) -> dict[str, Any]:
    """Return name → annotation, resolved where that is possible."""
    is_made = inspect.isclass(part) and not (issubclass(part, Struct | tuple) or typing.is_typeddict(part))
    target = part.__init__ if is_made else part
    try:
        return typing.get_type_hints(target, include_extras=True)
    except (NameError, TypeError):  # a name that only type checkers import
        return dict(getattr(target, "__annotations__", {}))


def default_text(value: Any) -> str:
    """Return a default as a config writes it."""
    if isinstance(value, Struct):
        given = ", ".join(
            f"{one.name}={getattr(value, one.name)!r}"
            for one in struct_fields(value)
            if getattr(value, one.name) != one.default
        )
        return f"{type(value).__name__}({given})"
    return repr(value)


def field_defaults(kind: type[Struct]) -> Iterator[tuple[str, str]]:
    """Yield name and default of each field of a value."""
    for one in struct_fields(kind):
        if one.default is not NODEFAULT:
            yield one.name, default_text(one.default)
        elif one.default_factory is not NODEFAULT:
            yield one.name, default_text(one.default_factory())
        else:
            yield one.name, REQUIRED


class Docstring(Struct, frozen=True):
    """A docstring in its parts.

    Attributes:
        summary: its first sentence.
        text: the paragraphs below it, without the sections.
        items: argument or attribute → its meaning.
        raises: error → when it is raised.
        returns: what is returned; empty if the docstring does not say.
    """

    summary: str = ""
    text: str = ""
    items: Mapping[str, str] = field(default_factory=dict)
    raises: Mapping[str, str] = field(default_factory=dict)
    returns: str = ""


def read_docstring(part: Any) -> Docstring:
    """Return the docstring of a class, function or module.

    A class without ``Args:`` has those of the first of its bases that has some.
    """
    own = parse_docstring(inspect.getdoc(part) or "")
    items: dict[str, str] = {}
    for one in (part, *(part.__mro__[1:-1] if inspect.isclass(part) else ())):
        found = parse_docstring(inspect.cleandoc(one.__doc__ or "")).items
        items = {**found, **items}
    return Docstring(own.summary, own.text, items, own.raises, own.returns)


def parse_docstring(text: str) -> Docstring:
    """Cut a docstring into its parts."""
    text = f"{text.rstrip()}\n"
    sections = {name: inspect.cleandoc(body) for name, body in _SECTION.findall(text)}
    summary, _, rest = _SECTION.sub("", text).strip().partition("\n\n")
    items = {**_items(sections.get("Attributes", "")), **_items(sections.get("Args", ""))}
    returns = sections.get("Returns", sections.get("Yields", ""))
    return Docstring(_joined(summary), rest.strip(), items, _items(sections.get("Raises", "")), _joined(returns))


def _items(section: str) -> dict[str, str]:
    """Return name → meaning; ``train, test: rows`` means the same for both names."""
    found = {}
    for names, meaning in _ITEM.findall(section):
        for name in names.split(","):
            found[name.strip(" *")] = _joined(inspect.cleandoc(meaning))
    return found


def _joined(text: str) -> str:
    return " ".join(text.split())
