"""A template taken apart for all rows that have the same columns: what remains for each row is to fill it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Protocol, TypeAlias

from ais_prompt.errors import PromptError
from ais_prompt.prompts.base import Filled
from ais_prompt.prompts.fill import Text, compile_text
from ais_prompt.prompts.prompt_list import Item, Piece, PromptList, PromptSection, no_turns_inside, text_of, with_text
from ais_prompt.prompts.shape import section_items

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


EXAMPLES: Final = "\ue001"
"""The key of the in-context examples; no column has this name."""


class Blank(Protocol):
    """A template to be filled."""

    def fill(self, values: Mapping[str, object], examples: Filled) -> Filled:
        """The template with values and examples in it.

        Args:
            values: key → what is written for it.
            examples: the in-context examples.

        Raises:
            PromptError: examples made of turns have their place within a text.
        """


class TextBlank:
    """A string template.

    Args:
        template: the string.
        marks: what is replaced → the key of its value.
        drop: tokens that are deleted before anything is filled.
        ice_token: where the examples go; None if there is no place for them.
    """

    def __init__(self, template: str, marks: Mapping[str, str], drop: Collection[str], ice_token: str | None) -> None:
        self._around_examples = _compiled(template, marks, drop, ice_token).split(EXAMPLES)

    def fill(self, values: Mapping[str, object], examples: Filled) -> str:
        """As `Blank.fill`."""
        texts = [text.fill(values) for text in self._around_examples]
        if len(texts) == 1:
            return texts[0]
        if not isinstance(examples, str):
            raise PromptError(
                "examples made of turns cannot stand in a string template",
                fix="write both templates as strings, or both as dialogues",
            )
        return examples.join(texts)


class DialogueBlank:
    """A dialogue.

    Args:
        template: name of a section → its items, in any of the forms of a config.
        marks, drop, ice_token: as `TextBlank`.

    Raises:
        PromptError: an item has the wrong shape.
    """

    def __init__(
        self, template: Mapping[str, Any], marks: Mapping[str, str], drop: Collection[str], ice_token: str | None
    ) -> None:
        self._sections: list[_Plain | _WithExamples] = []
        for name, section in template.items():
            lines = [(item, _compiled(text_of(item), marks, drop, ice_token)) for item in section_items(section)]
            if any(EXAMPLES in text.keys for _, text in lines):
                self._sections.append(_WithExamples(name, lines, str(ice_token)))
            elif lines:
                self._sections.append(_Plain(name, lines))

    def fill(self, values: Mapping[str, object], examples: Filled) -> PromptList:
        """As `Blank.fill`. A section without any column is the same object as long as the examples are."""
        pieces: list[Piece] = []
        for section in self._sections:
            pieces += section.fill(values, examples)
        return PromptList(pieces)


class _Plain:
    """Lines without a place for examples."""

    def __init__(self, name: str, lines: Sequence[Line]) -> None:
        self._outline = Outline(name, lines)

    def fill(self, values: Mapping[str, object], examples: Filled) -> Sequence[Piece]:  # noqa: ARG002
        return (self._outline.fill(values),)


class _WithExamples:
    """A section with a place for examples."""

    def __init__(self, name: str, lines: Sequence[Line], ice_token: str) -> None:
        self._name = name
        self._whole = Outline(name, lines)
        self._lines = [
            _Place(item, text, ice_token) if EXAMPLES in text.keys else _Plain(name, [(item, text)])
            for item, text in lines
        ]
        self._last: tuple[Filled, Sequence[Piece]] | None = None

    def fill(self, values: Mapping[str, object], examples: Filled) -> Sequence[Piece]:
        if self._whole.keys != {EXAMPLES}:
            return self._filled(values, examples)
        # Nothing but the examples can change it, and they are often the same for all rows.
        last = self._last
        if last is None or last[0] is not examples:
            last = self._last = examples, self._filled(values, examples)
        return last[1]

    def _filled(self, values: Mapping[str, object], examples: Filled) -> Sequence[Piece]:
        if isinstance(examples, str):  # they are a value like others
            return (self._whole.fill({**values, EXAMPLES: examples}),)
        pieces: list[Piece] = []
        for line in self._lines:
            pieces += line.fill(values, examples)
        return (PromptSection(self._name, PromptList(pieces)),) if pieces else ()


class _Place:
    """A line with a place for examples that are turns."""

    def __init__(self, item: Item, text: Text, ice_token: str) -> None:
        self._item = item
        self._ice_token = ice_token
        self._around = text.split(EXAMPLES)

    def fill(self, values: Mapping[str, object], examples: PromptList) -> Sequence[Piece]:
        if not isinstance(self._item, str):
            raise no_turns_inside(self._item, self._ice_token)
        if self._item == self._ice_token:  # as most templates have it
            return examples.pieces
        return examples.join(text.fill(values) for text in self._around).pieces


def _compiled(text: str, marks: Mapping[str, str], drop: Collection[str], ice_token: str | None) -> Text:
    for token in drop:
        text = text.replace(token, "")
    keys = marks if ice_token is None else {**marks, ice_token: EXAMPLES}
    return compile_text(text, tuple(keys)).with_keys(keys)
