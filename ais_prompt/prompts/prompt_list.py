"""`PromptList`: what a dialogue template becomes once data fills it, before a model's own format is applied."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias, overload

from ais_prompt.errors import PromptError
from ais_prompt.prompts.fill import column_marks, compile_text

Turn: TypeAlias = Mapping[str, Any]
"""``role``, ``prompt`` and whatever else the template gave the turn (``fallback_role``, ``begin``, ``end``, ...)."""

Item: TypeAlias = "str | Turn"


class Section:
    """A part of a PromptList that the chat format treats in its own way. Two sections are the same only if identical.

    Attributes:
        name: ``begin``, ``ice`` (one in-context example), ``round`` or ``end``.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


Path: TypeAlias = tuple[Section, ...]
"""The sections around an item, from the outermost to the innermost."""


class PromptList(Sequence[Item]):
    """A list of texts and turns that knows the section of each item. It never changes.

    It prints as the documents show it and compares as a list of its items.

    >>> PromptList([{"role": "HUMAN", "prompt": "{q}"}]).format(q="1+1=?")
    PromptList([
        dict(role='HUMAN', prompt='1+1=?'),
    ])
    """

    __slots__ = ("_items", "_paths")

    def __init__(self, items: Iterable[Item] = (), paths: Iterable[Path] | None = None) -> None:
        self._items = tuple(items)
        self._paths = ((),) * len(self._items) if paths is None else tuple(paths)

    def as_section(self, name: str) -> PromptList:
        """The same items within a new section of that name."""
        section = Section(name)
        return PromptList(self._items, ((section, *path) for path in self._paths))

    def parts(self) -> Iterator[tuple[str | None, PromptList]]:
        """The outermost sections in order: (name, items without that section); None for items outside of any."""
        pairs = zip(self._items, self._paths, strict=True)
        for section, group in groupby(pairs, key=lambda pair: pair[1][0] if pair[1] else None):
            members = list(group)
            yield (
                section.name if section else None,
                PromptList((item for item, _ in members), (path[1:] for _, path in members)),
            )

    def format(self, **values: object) -> PromptList:
        """Put values for ``{name}`` in texts and prompts, in one pass; names without a value stay as they are."""
        texts = column_marks(values)
        marks = tuple(texts)
        filled = (with_text(item, compile_text(text_of(item), marks).fill(texts)) for item in self._items)
        return PromptList(filled, self._paths)

    def replace(self, old: str, new: str | PromptList) -> PromptList:
        """Put ``new`` wherever ``old`` stands in a text or prompt.

        A PromptList only fits among the texts: the text is split there, and empty pieces vanish.

        Raises:
            PromptError: ``new`` is a PromptList and ``old`` stands inside the prompt of a turn.
        """
        if isinstance(new, str):
            return PromptList((with_text(item, text_of(item).replace(old, new)) for item in self._items), self._paths)
        pairs = zip(self._items, self._paths, strict=True)
        return chain(_spliced(item, old, new)._within(path) for item, path in pairs)

    def join(self, texts: Iterable[str]) -> PromptList:
        """The texts with this list between each two of them; empty texts vanish."""
        first, *others = texts
        return chain([first, *(piece for text in others for piece in (self, text))])

    def _within(self, path: Path) -> PromptList:
        return PromptList(self._items, (path + inner for inner in self._paths))

    def __add__(self, other: object) -> PromptList:
        if isinstance(other, str | PromptList):
            return chain([self, other])
        return chain([self, PromptList(other)]) if isinstance(other, list) else NotImplemented

    def __radd__(self, other: object) -> PromptList:
        if isinstance(other, str):
            return chain([other, self])
        return chain([PromptList(other), self]) if isinstance(other, list) else NotImplemented

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> PromptList: ...
    def __getitem__(self, index: int | slice) -> Item | PromptList:
        if isinstance(index, slice):
            return PromptList(self._items[index], self._paths[index])
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PromptList | list):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # its turns are mappings

    def __str__(self) -> str:
        """The texts and prompts, one after the other, as the peers count them."""
        return "".join(text_of(item) for item in self._items)

    def __repr__(self) -> str:
        lines = [f"    {_shown(item)},\n" for item in self._items]
        return "PromptList([\n" + "".join(lines) + "])" if lines else "PromptList([])"


def chain(pieces: Iterable[str | PromptList]) -> PromptList:
    """One list of texts and lists; a text that is empty vanishes."""
    items: list[Item] = []
    paths: list[Path] = []
    for piece in pieces:
        if isinstance(piece, PromptList):
            items += piece._items
            paths += piece._paths
        elif piece:
            items.append(piece)
            paths.append(())
    return PromptList(items, paths)


def text_of(item: Item) -> str:
    """The text of an item: itself, or the prompt of the turn; "" if the turn has none."""
    return item if isinstance(item, str) else str(item.get("prompt", ""))


def with_text(item: Item, text: str) -> Item:
    """A copy of the item with another text; a turn without a prompt stays without."""
    if isinstance(item, str):
        return text
    return {**item, "prompt": text} if "prompt" in item else dict(item)


def no_turns_inside(turn: Turn, token: str) -> PromptError:
    """The error for examples made of turns whose place is inside a turn's prompt."""
    return PromptError(
        f"examples made of turns cannot stand inside the prompt of a {turn.get('role')} turn",
        mend=f"put {token!r} as an item of its own into begin, or make the examples plain text",
    )


def _spliced(item: Item, old: str, new: PromptList) -> PromptList:
    if old not in text_of(item):
        return PromptList([item])
    if not isinstance(item, str):
        raise no_turns_inside(item, old)
    return new.join(item.split(old))


def _shown(item: Item) -> str:
    if isinstance(item, str):
        return repr(item)
    return "dict(" + ", ".join(f"{key}={value!r}" for key, value in item.items()) + ")"
