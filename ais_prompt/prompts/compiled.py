"""Compiled templates: checked, split at their marks once for all rows with the same columns, then only filled.

The first half is the shape of templates: the sections of a dialogue, their items, and the tokens that mark a place in
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

from ais_prompt.config import TEMPLATE, TURN
from ais_prompt.errors import AisPromptError, PromptError, raise_all
from ais_prompt.prompts.base import Filled
from ais_prompt.prompts.prompt_list import (
    CompiledText,
    Item,
    Piece,
    PromptList,
    PromptSection,
    compile_text,
    no_turns_inside,
    text_of,
    with_text,
)
from ais_prompt.utils import near_miss

SECTIONS: Final = TEMPLATE.names
_TURN_FIX: Final = "dict(role='HUMAN', prompt='...')"
ROUND: Final = f"round=[{_TURN_FIX}]"


def check_round(template: Mapping[str, Any]) -> None:
    """Check that a dialogue template has a round.

    Raises:
        PromptError: it has none.
    """
    if "round" not in template:
        raise PromptError("a dialogue template needs the key 'round'", fix=ROUND)


def section_items(section: Any) -> list[Item]:
    """Return the items of a section, in any form that a config allows; `dialogue_faults` has checked them."""
    return list(section) if isinstance(section, list | tuple) else [section]


def dialogue_faults(template: Mapping[str, Any], where: str = "template") -> Iterator[AisPromptError]:
    """Yield every fault in the shape of a dialogue's sections. `check_round` finds a missing ``round``.

    Args:
        template: a mapping with only the keys `SECTIONS`.
        where: its config path within the part.
    """
    for name, section in template.items():
        place = f"{where}.{name}"
        if name == "round" and (not isinstance(section, list | tuple) or not section):
            found = "is empty" if isinstance(section, list | tuple) else f"is {section!r:.80}"
            yield PromptError(f"'round' must be a list of turns, but it {found}", where=place, fix=ROUND)
            continue
        is_list = isinstance(section, list | tuple)
        for number, item in enumerate(section if is_list else [section]):
            yield from _turn_faults(item, f"{place}[{number}]" if is_list else place)


def check_dialogue(template: Any, owner: str) -> Mapping[str, Any]:
    """Return a template after checking that it is a dialogue.

    Args:
        template: the value in the config.
        owner: the class that requires it, for the message.

    Raises:
        PromptError: it is not a mapping, has other keys or no round, or an item has the wrong shape.
        ConfigFaults: it has several faults.
    """
    only = f"the template of {owner} must be a mapping with only begin, round and end"
    if not isinstance(template, Mapping):
        raise PromptError(f"{only}, not {template!r:.80}", where="template", fix=f"dict({ROUND})")
    unknown = list(TEMPLATE.unknown(template))
    raise_all(PromptError(f"{only}, not {key!r}", where=f"template.{key}", fix=fix) for key, fix in unknown)
    check_round(template)
    raise_all(dialogue_faults(template))
    return template


def _turn_faults(item: Any, where: str) -> Iterator[AisPromptError]:
    if not isinstance(item, str | Mapping):
        what = f"an item of begin, round or end must be a string or a mapping, not {item!r}"
        yield PromptError(what, where=where, fix=_TURN_FIX)
    elif isinstance(item, Mapping) and not isinstance(item.get("prompt", ""), str):
        what = f"the prompt of a turn must be a text, not {item['prompt']!r}"
        yield PromptError(what, where=where, fix=_TURN_FIX)
    elif isinstance(item, Mapping):
        speaks = "prompt" in item or "prompt_mm" in item
        for key, fix in TURN.unknown(item):
            # An unknown key of a turn with a prompt is kept, as in OpenCompass; `check` warns of it.
            if not speaks or near_miss(str(key), TURN.names):
                yield PromptError(f"a turn has no key {key!r}", where=f"{where}.{key}", fix=fix)
        if not isinstance(item.get("role"), str):
            what = f"a turn needs the text 'role', which says who speaks, not {item.get('role')!r:.80}"
            yield PromptError(what, where=where, fix=_TURN_FIX)


def check_token(name: str, token: Any) -> str | None:
    """Return an ``ice_token`` or ``sep_token`` after checking that it is a text or None.

    Raises:
        PromptError: it is empty, or not a text.
    """
    if token is not None and (not isinstance(token, str) or not token):
        raise PromptError(f"{name} must be a text that is not empty, not {token!r}", fix=f"e.g. {name}='</E>'")
    return token


def has_token(entry: Any, token: str) -> bool:
    """Return whether a string, section or dialogue contains a token, in its texts or the prompts of its turns."""
    if isinstance(entry, str):
        return token in entry
    sections = entry.values() if isinstance(entry, Mapping) else [entry]
    return any(token in text_of(item) for section in sections for item in section_items(section))


def missing_token(name: object, token: str | None) -> PromptError:
    """Return the error for a template, or an entry of a label table, that does not contain its ``ice_token``."""
    return PromptError(
        f"ice_token {token!r} is not in {name!r}: the examples would be lost",
        fix=f"put {token!r} where the examples go, or use ZeroRetriever",
    )


EXAMPLES: Final = "\ue001"
"""The key of the in-context examples; no column has this name."""

Line: TypeAlias = tuple[Item, CompiledText]
"""A text or turn of a template, and its compiled text."""

Tokens: TypeAlias = Iterable[str | None]
"""Tokens to delete from a template; None where it has none."""


class CompiledSection:
    """A section of a template, compiled.

    Args:
        name: the name of the section.
        lines: its texts and turns.

    Attributes:
        keys: the keys of the values to fill in.
        has_media: whether a turn can hold media parts; the values of a row are filled in as texts, and add none.
    """

    def __init__(self, name: str, lines: Sequence[Line]) -> None:
        self.name = name
        self.has_media = any(not isinstance(item, str) and item.keys() & {"prompt_mm", "content"} for item, _ in lines)
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
        self.has_media = compiled.has_media
        self.compiled = compiled
        self.values = values

    @property
    def body(self) -> PromptList:
        return self.compiled.items(self.values)


class CompiledTextTemplate:
    """A string template, compiled.

    Args:
        template: the string.
        marks: mark in the template (such as ``{column}``) → key of its value.
        drop: tokens to delete before filling.
        ice_token: the place of the examples; None if the template has no place for them.
    """

    def __init__(self, template: str, marks: Mapping[str, str], drop: Tokens, ice_token: str | None) -> None:
        self._around_examples = _compile(template, marks, drop, ice_token).split(EXAMPLES)

    def fill(self, values: Mapping[str, object], examples: Filled) -> str:
        """Fill the template.

        Args:
            values: key → value.
            examples: the in-context examples.

        Raises:
            PromptError: the examples are made of turns.
        """
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
    """

    def __init__(
        self, template: Mapping[str, Any], marks: Mapping[str, str], drop: Tokens, ice_token: str | None
    ) -> None:
        self._sections: list[CompiledSection | _SectionWithExamples] = []
        for name, section in template.items():
            lines = [(item, _compile(text_of(item), marks, drop, ice_token)) for item in section_items(section)]
            if any(EXAMPLES in text.keys for _, text in lines):
                self._sections.append(_SectionWithExamples(name, lines, str(ice_token)))
            elif lines:
                self._sections.append(CompiledSection(name, lines))

    def fill(self, values: Mapping[str, object], examples: Filled) -> PromptList:
        """Fill the template. A section without columns stays the same object while the examples do.

        Args:
            values: key → value.
            examples: the in-context examples.

        Raises:
            PromptError: the place of the examples is inside a text, but they are made of turns.
        """
        pieces: list[Piece] = []
        for section in self._sections:
            if isinstance(section, CompiledSection):
                pieces.append(section.fill(values))
            else:
                pieces += section.fill(values, examples)
        return PromptList(pieces)


class _SectionWithExamples:
    """A section that contains the in-context examples."""

    def __init__(self, name: str, lines: Sequence[Line], ice_token: str) -> None:
        self._name = name
        self._ice_token = ice_token
        self._whole = CompiledSection(name, lines)
        # Of a line with examples its item, and the texts around them.
        self._lines: list[CompiledSection | tuple[Item, list[CompiledText]]] = [
            (item, text.split(EXAMPLES)) if EXAMPLES in text.keys else CompiledSection(name, [(item, text)])
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
            if isinstance(line, CompiledSection):
                pieces.append(line.fill(values))
                continue
            item, around = line
            if not isinstance(item, str):
                raise no_turns_inside(item, self._ice_token)
            is_token = item == self._ice_token  # the usual case
            pieces += examples.pieces if is_token else examples.join(text.fill(values) for text in around).pieces
        return (PromptSection(self._name, PromptList(pieces)),) if pieces else ()


def _compile(text: str, marks: Mapping[str, str], drop: Tokens, ice_token: str | None) -> CompiledText:
    for token in filter(None, drop):
        text = text.replace(token, "")
    keys = marks if ice_token is None else {**marks, ice_token: EXAMPLES}
    return compile_text(text, tuple(keys)).with_keys(keys)
