"""Filled prompts: texts with ``{column}`` marks, and `PromptList`, a filled dialogue before its chat format is applied.

OpenCompass and AISBench replace column after column in the whole text: a question that contains ``{answer}`` receives
the gold answer. Here a text is split once into literals and marks, and filling joins them in one pass, so that text in
the values is never filled again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias, overload

from ais_prompt.errors import PromptError

SENTINEL: Final = "\ue000"
"""A character of Unicode's private use: no template has it around the name of a column."""


class CompiledText:
    """A text that is split at its marks. Immutable.

    Args:
        pieces: literals and keys in turn; the first and last are literals, possibly empty.

    Attributes:
        keys: the keys of the values to fill in, in order. A mark is its own key until `with_keys` replaces it.
    """

    __slots__ = ("_pieces", "keys")

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = tuple(pieces)
        self.keys = self._pieces[1::2]

    def fill(self, values: Mapping[str, object]) -> str:
        """Return the text with ``str(value)`` for each key (True, None, 0.5, ['x', 1]); every key needs a value."""
        pieces = list(self._pieces)
        pieces[1::2] = [str(values[key]) for key in self.keys]
        return "".join(pieces)

    def with_keys(self, keys: Mapping[str, str]) -> CompiledText:
        """Return the same text with other keys.

        Args:
            keys: old key → new key, for all keys.
        """
        pieces = list(self._pieces)
        pieces[1::2] = [keys[key] for key in self.keys]
        return CompiledText(pieces)

    @property
    def with_sentinels(self) -> str:
        """The text with each key between two sentinels, where `split_at_sentinels` finds it in a longer text."""
        return self.fill({key: f"{SENTINEL}{key}{SENTINEL}" for key in self.keys})

    def split(self, key: str) -> list[CompiledText]:
        """Return the texts between the occurrences of a key: one more than there are occurrences."""
        texts, start = [], 0
        for place in range(1, len(self._pieces), 2):
            if self._pieces[place] == key:
                texts.append(CompiledText(self._pieces[start:place]))
                start = place + 1
        return [*texts, CompiledText(self._pieces[start:])]


def split_at_sentinels(text: str, keys: Iterable[str]) -> CompiledText:
    """Split a text at the keys between sentinels; other occurrences of the keys are literal text."""
    return CompiledText(re.split(f"{SENTINEL}({'|'.join(map(re.escape, keys))}){SENTINEL}", text))


@lru_cache(maxsize=4096)
def compile_text(text: str, marks: tuple[str, ...]) -> CompiledText:
    """Split a text at its marks. Where one mark begins with another, the longer one counts."""
    if not marks:
        return CompiledText([text])
    # Longest first, so that the result does not depend on the order of the columns.
    longest_first = sorted(marks, key=len, reverse=True)
    return CompiledText(re.split("(" + "|".join(map(re.escape, longest_first)) + ")", text))


def column_marks(fields: Mapping[str, object]) -> dict[str, object]:
    """Return ``{column}`` → value. A column without a name has no mark: ``{}``, as in ``\\boxed{}``, is text."""
    return {mark_of(name): value for name, value in fields.items() if name}


def column_keys(columns: Iterable[str]) -> dict[str, str]:
    """Return ``{column}`` → name of the column."""
    return {mark_of(column): column for column in columns if column}


def mark_of(column: str) -> str:
    """Return the mark of a column in a template.

    There is no format language: no ``!r``, no ``:>5``; ``{{`` is no escape, and ``{ q }`` is no mark.
    """
    return f"{{{column}}}"


Turn: TypeAlias = Mapping[str, Any]
"""A turn of a dialogue: ``role``, ``prompt`` and other keys of the template (``fallback_role``, ``begin``, ``end``)."""

Item: TypeAlias = str | Turn


class PromptSection:
    """A named part of a PromptList that the chat format treats separately. Sections are compared by identity.

    Attributes:
        name: ``begin``, ``ice`` (one in-context example), ``round`` or ``end``; None for items outside of sections.
        body: its items.
        has_media: False if it is known that no turn has media parts, so that the body need not be built to find out.
    """

    __slots__ = ("_body", "has_media", "name")

    def __init__(self, name: str | None, body: PromptList) -> None:
        self.name = name
        self.has_media = True
        self._body = body

    @property
    def body(self) -> PromptList:
        return self._body


Piece: TypeAlias = str | Turn | PromptSection


class PromptList(Sequence[Item]):
    """A list of texts and turns, some of them in sections. Immutable.

    It prints as in OpenCompass's documents and compares equal to a list of its items. A section that several prompts
    share (such as the in-context examples) is the same object in all of them, so that a chat format formats it once.

    Args:
        pieces: texts, turns, and non-empty sections.

    >>> PromptList([{"role": "HUMAN", "prompt": "{q}"}]).format(q="1+1=?")
    PromptList([
        dict(role='HUMAN', prompt='1+1=?'),
    ])
    """

    __slots__ = ("_flat", "pieces")

    def __init__(self, pieces: Iterable[Piece] = ()) -> None:
        self.pieces = tuple(pieces)
        self._flat: tuple[Item, ...] | None = None

    def as_section(self, name: str | None) -> PromptList:
        """Return this list as one section of that name."""
        return PromptList((PromptSection(name, self),)) if self.pieces else self

    def parts(self) -> list[PromptSection]:
        """Return the outermost sections in order; items outside of sections are put into sections without a name."""
        parts: list[PromptSection] = []
        loose: list[Piece] = []
        for piece in self.pieces:
            if not isinstance(piece, PromptSection):
                loose.append(piece)
                continue
            if loose:
                parts.append(PromptSection(None, PromptList(loose)))
                loose = []
            parts.append(piece)
        return [*parts, PromptSection(None, PromptList(loose))] if loose else parts

    def format(self, **values: object) -> PromptList:
        """Fill ``{name}`` in texts and prompts in one pass; names without a value stay as they are."""
        texts = column_marks(values)
        marks = tuple(texts)
        return self.with_items(lambda item: with_text(item, compile_text(text_of(item), marks).fill(texts)))

    def replace(self, old: str, new: str | PromptList) -> PromptList:
        """Replace ``old`` by ``new`` in texts and prompts.

        Where ``new`` is a PromptList, the text is split at ``old``; empty pieces are left out.

        Raises:
            PromptError: ``new`` is a PromptList and ``old`` is inside the prompt of a turn.
        """
        if isinstance(new, str):
            return self.with_items(lambda item: with_text(item, text_of(item).replace(old, new)))
        return chain(
            piece.body.replace(old, new).as_section(piece.name)
            if isinstance(piece, PromptSection)
            else _spliced(piece, old, new)
            for piece in self.pieces
        )

    def join(self, texts: Iterable[str]) -> PromptList:
        """Return the texts with this list between them; empty texts are left out."""
        first, *others = texts
        return chain([first, *(piece for text in others for piece in (self, text))])

    def with_items(self, change: Callable[[Item], Item]) -> PromptList:
        """Return the same sections with each text and turn changed."""
        return PromptList(
            PromptSection(piece.name, piece.body.with_items(change))
            if isinstance(piece, PromptSection)
            else change(piece)
            for piece in self.pieces
        )

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
            wanted = range(len(self))[index]
            kept = self._kept(position in wanted for position in range(len(self)))
            return kept if wanted.step > 0 else kept._reversed()
        return self._items[index]

    def _kept(self, wanted: Iterator[bool]) -> PromptList:
        """Return the items for which ``wanted`` yields True, in their sections; it yields once per item."""
        pieces: list[Piece] = []
        for piece in self.pieces:
            if isinstance(piece, PromptSection):
                pieces += piece.body._kept(wanted).as_section(piece.name).pieces
            elif next(wanted):
                pieces.append(piece)
        return PromptList(pieces)

    def _reversed(self) -> PromptList:
        return PromptList(
            PromptSection(piece.name, piece.body._reversed()) if isinstance(piece, PromptSection) else piece
            for piece in reversed(self.pieces)
        )

    def __iter__(self) -> Iterator[Item]:
        for piece in self.pieces:
            if isinstance(piece, PromptSection):
                yield from piece.body
            else:
                yield piece

    def __len__(self) -> int:
        return len(self._items)

    @property
    def _items(self) -> tuple[Item, ...]:
        if self._flat is None:
            self._flat = tuple(iter(self))  # tuple(self) would call __len__ first
        return self._flat

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PromptList | list):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # its turns are mappings

    def __str__(self) -> str:
        """Return the texts and prompts joined, as OpenCompass counts their length."""
        return "".join(map(text_of, self))

    def __repr__(self) -> str:
        lines = [f"    {_shown(item)},\n" for item in self]
        return "PromptList([\n" + "".join(lines) + "])" if lines else "PromptList([])"


def chain(lists: Iterable[str | PromptList]) -> PromptList:
    """Join texts and lists to one list; empty texts are left out."""
    pieces: list[Piece] = []
    for one in lists:
        if not isinstance(one, str):
            pieces += one.pieces
        elif one:
            pieces.append(one)
    return PromptList(pieces)


def text_of(item: Item) -> str:
    """Return a text, or the prompt of a turn; "" if the turn has none."""
    return item if isinstance(item, str) else str(item.get("prompt", ""))


def with_text(item: Item, text: str) -> Item:
    """Return a copy of the item with another text; a turn without a prompt gets none."""
    if isinstance(item, str):
        return text
    return {**item, "prompt": text} if "prompt" in item else dict(item)


def no_turns_inside(turn: Turn, token: str) -> PromptError:
    """Return the error for examples made of turns whose place is inside a turn's prompt."""
    return PromptError(
        f"examples made of turns cannot be put inside the prompt of a {turn.get('role')} turn",
        fix=f"put {token!r} as an item of its own into begin, or make the examples plain text",
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
