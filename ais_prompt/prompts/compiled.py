"""Compiled templates: split at their marks once for all rows with the same columns, then only filled."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Protocol, TypeAlias

from ais_prompt.errors import PromptError
from ais_prompt.prompts.base import Filled
from ais_prompt.prompts.fill import CompiledText, compile_text
from ais_prompt.prompts.prompt_list import Item, Piece, PromptList, PromptSection, no_turns_inside, text_of, with_text
from ais_prompt.prompts.shape import section_items

EXAMPLES: Final = "\ue001"
"""The key of the in-context examples; no column has this name."""

Line: TypeAlias = tuple[Item, CompiledText]
"""A text or turn of a template, and its compiled text."""


class CompiledSection:
    """A section of a template, compiled.

    Args:
        name: the name of the section.
        lines: its texts and turns.

    Attributes:
        keys: the keys of the values to fill in.
    """

    def __init__(self, name: str, lines: Sequence[Line]) -> None:
        self.name = name
        self.keys = frozenset(key for _, text in lines for key in text.keys)
        self._lines = lines
        self._fixed = FilledSection(self, {})

    def fill(self, values: Mapping[str, object]) -> FilledSection:
        """Return the section with the values of a row.

        A section without keys is the same object for all rows, so that a chat format can cache it. A round is an
        exception: its values also fill the default prompts of the meta template.
        """
        return FilledSection(self, values) if self.keys or self.name == "round" else self._fixed

    def items(self, values: Mapping[str, object]) -> PromptList:
        """Return the texts and turns, filled."""
        return PromptList([with_text(item, text.fill(values)) for item, text in self._lines])

    @cached_property
    def with_sentinels(self) -> PromptList:
        """The texts and turns with a sentinel for each key: formatted once, they are valid for all rows."""
        return PromptList([with_text(item, text.with_sentinels) for item, text in self._lines])


class FilledSection(PromptSection):
    """A compiled section with the values of a row. Its body is built on demand.

    Attributes:
        compiled: the part that all rows share.
        values: key → value, at least for the keys of ``compiled``.
    """

    __slots__ = ("compiled", "values")

    def __init__(self, compiled: CompiledSection, values: Mapping[str, object]) -> None:
        self.name = compiled.name
        self.compiled = compiled
        self.values = values

    @property
    def body(self) -> PromptList:
        return self.compiled.items(self.values)


class CompiledTemplate(Protocol):
    """A template, compiled for rows with the same columns."""

    def fill(self, values: Mapping[str, object], examples: Filled) -> Filled:
        """Fill the template.

        Args:
            values: key → value.
            examples: the in-context examples.

        Raises:
            PromptError: the place of the examples is inside a text, but they are made of turns.
        """


class CompiledTextTemplate:
    """A string template, compiled.

    Args:
        template: the string.
        marks: mark in the template (such as ``{column}``) → key of its value.
        drop: tokens to delete before filling.
        ice_token: the place of the examples; None if the template has no place for them.
    """

    def __init__(self, template: str, marks: Mapping[str, str], drop: Collection[str], ice_token: str | None) -> None:
        self._around_examples = _compile(template, marks, drop, ice_token).split(EXAMPLES)

    def fill(self, values: Mapping[str, object], examples: Filled) -> str:
        """As `CompiledTemplate.fill`."""
        texts = [text.fill(values) for text in self._around_examples]
        if len(texts) == 1:
            return texts[0]
        if not isinstance(examples, str):
            raise PromptError(
                "examples made of turns cannot be put into a string template",
                fix="write both templates as strings, or both as dialogues",
            )
        return examples.join(texts)


class CompiledDialogueTemplate:
    """A dialogue template, compiled.

    Args:
        template: name of a section → its items, in any form that a config allows.
        marks, drop, ice_token: as `CompiledTextTemplate`.

    Raises:
        PromptError: an item has the wrong shape.
    """

    def __init__(
        self, template: Mapping[str, Any], marks: Mapping[str, str], drop: Collection[str], ice_token: str | None
    ) -> None:
        self._sections: list[_PlainSection | _SectionWithExamples] = []
        for name, section in template.items():
            lines = [(item, _compile(text_of(item), marks, drop, ice_token)) for item in section_items(section)]
            if any(EXAMPLES in text.keys for _, text in lines):
                self._sections.append(_SectionWithExamples(name, lines, str(ice_token)))
            elif lines:
                self._sections.append(_PlainSection(name, lines))

    def fill(self, values: Mapping[str, object], examples: Filled) -> PromptList:
        """As `CompiledTemplate.fill`. A section without columns stays the same object while the examples do."""
        pieces: list[Piece] = []
        for section in self._sections:
            pieces += section.fill(values, examples)
        return PromptList(pieces)


class _PlainSection:
    """Lines without examples."""

    def __init__(self, name: str, lines: Sequence[Line]) -> None:
        self._section = CompiledSection(name, lines)

    def fill(self, values: Mapping[str, object], examples: Filled) -> Sequence[Piece]:  # noqa: ARG002
        return (self._section.fill(values),)


class _SectionWithExamples:
    """A section that contains the in-context examples."""

    def __init__(self, name: str, lines: Sequence[Line], ice_token: str) -> None:
        self._name = name
        self._whole = CompiledSection(name, lines)
        self._lines = [
            _ExamplesLine(item, text, ice_token) if EXAMPLES in text.keys else _PlainSection(name, [(item, text)])
            for item, text in lines
        ]
        self._last: tuple[Filled, Sequence[Piece]] | None = None

    def fill(self, values: Mapping[str, object], examples: Filled) -> Sequence[Piece]:
        if self._whole.keys != {EXAMPLES}:
            return self._filled(values, examples)
        # Only the examples can change this section, and they are often the same for all rows.
        last = self._last
        if last is None or last[0] is not examples:
            last = self._last = examples, self._filled(values, examples)
        return last[1]

    def _filled(self, values: Mapping[str, object], examples: Filled) -> Sequence[Piece]:
        if isinstance(examples, str):  # text is filled in like any other value
            return (self._whole.fill({**values, EXAMPLES: examples}),)
        pieces: list[Piece] = []
        for line in self._lines:
            pieces += line.fill(values, examples)
        return (PromptSection(self._name, PromptList(pieces)),) if pieces else ()


class _ExamplesLine:
    """A line that is replaced by examples made of turns."""

    def __init__(self, item: Item, text: CompiledText, ice_token: str) -> None:
        self._item = item
        self._ice_token = ice_token
        self._around = text.split(EXAMPLES)

    def fill(self, values: Mapping[str, object], examples: PromptList) -> Sequence[Piece]:
        if not isinstance(self._item, str):
            raise no_turns_inside(self._item, self._ice_token)
        if self._item == self._ice_token:  # the usual case
            return examples.pieces
        return examples.join(text.fill(values) for text in self._around).pieces


def _compile(text: str, marks: Mapping[str, str], drop: Collection[str], ice_token: str | None) -> CompiledText:
    for token in drop:
        text = text.replace(token, "")
    keys = marks if ice_token is None else {**marks, ice_token: EXAMPLES}
    return compile_text(text, tuple(keys)).with_keys(keys)
