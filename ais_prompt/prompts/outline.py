"""Sections of a template: what is the same in the prompts of all rows is one object, and known once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from ais_prompt.prompts.fill import Text
from ais_prompt.prompts.prompt_list import Item, PromptList, PromptSection, with_text

Line: TypeAlias = tuple[Item, Text]
"""A text or turn of a template, and its text taken apart."""


class Outline:
    """A section before a row fills it.

    Args:
        name: the name of the section.
        lines: its texts and turns.

    Attributes:
        keys: the values that it is filled with.
    """

    def __init__(self, name: str, lines: Sequence[Line]) -> None:
        self.name = name
        self.keys = frozenset(key for _, text in lines for key in text.keys)
        self._lines = lines
        self._fixed = FilledSection(self, {})

    def fill(self, values: Mapping[str, object]) -> FilledSection:
        """The section with the values of a row. Without keys it is the same object for all rows, but for a round.

        The values of a round also fill default prompts of the meta template.
        """
        return FilledSection(self, values) if self.keys or self.name == "round" else self._fixed

    def items(self, values: Mapping[str, object]) -> PromptList:
        """The texts and turns with the values in them."""
        return PromptList([with_text(item, text.fill(values)) for item, text in self._lines])

    @cached_property
    def sealed(self) -> PromptList:
        """The texts and turns with sealed keys in them: what a chat format writes for these holds for all rows."""
        return PromptList([with_text(item, text.sealed) for item, text in self._lines])


class FilledSection(PromptSection):
    """An outline with the values of a row. Its texts and turns are made for those who look at them.

    Attributes:
        outline: what is the same for all rows.
        values: key → what is written for it, for the keys of the outline at least.
    """

    __slots__ = ("outline", "values")

    def __init__(self, outline: Outline, values: Mapping[str, object]) -> None:
        self.name = outline.name
        self.outline = outline
        self.values = values

    @property
    def body(self) -> PromptList:
        return self.outline.items(self.values)
