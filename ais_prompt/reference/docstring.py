"""Read docstrings: the summary, the description, and the entries of ``Args:``, ``Attributes:`` and ``Raises:``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct, field

_SECTION: Final = re.compile(r"^(Args|Attributes|Returns|Raises|Yields):\n((?:(?:    .*)?\n)*)", re.MULTILINE)
_ITEM: Final = re.compile(r"^([\w*, ]+?): (.*(?:\n(?:    .*)?)*)", re.MULTILINE)


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
