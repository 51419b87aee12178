"""Find where every character of a prompt comes from: data, template, example, or the model's format.

The prompt is made once more with marks around everything that goes into it: around each value of the data, around each
example, around each text that the dataset's templates write. What is inside of no mark is the format's own. Templates
and formats pass texts on as they are, so the marks survive; the prompt without them must be the prompt that is sent, or
else nothing is claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict, replace

from ais_prompt.chat import ChatFormat, Mode
from ais_prompt.chat.formats import MessagesFormat
from ais_prompt.chat.role_format import RoleTemplateFormat
from ais_prompt.chat.tokenizer_template import TokenizerChatFormat
from ais_prompt.inferencers import DialogueInferencer, InferenceContext, Inferencer, Preview
from ais_prompt.prompts import Filled, PromptBuilder, PromptList
from ais_prompt.prompts.multimodal import END, STARTS, has_marker
from ais_prompt.prompts.prompt_list import Item, Piece, PromptSection, text_of, with_text
from ais_prompt.types import ChatMessage, Prompt, Sample

Kind: TypeAlias = Literal["data", "template", "meta template", "role template", "chat template"]

TRIES: Final = ((True, False), (False, False), (True, True))
"""How marks are set, until they harm nothing: around blanks or within, around a value or in the texts of its parts."""

FIRST_MARK: Final = 0xF0000
LAST_MARK: Final = 0xFFFFD
"""Marks are characters of a private plane, which no text is expected to hold."""

_TEXT_PART: Final = re.compile(f"({re.escape(STARTS['text'])})(.*?)(?={re.escape(END)}|$)", re.DOTALL)


class Origin(Struct, frozen=True):
    """Where a piece of a prompt comes from.

    Attributes:
        kind: ``data``, a value of a row; ``template``, a text of the dataset's templates; or what the model's side
            writes around these: its meta template, its role template, or the chat template of its tokenizer.
        column: the column of a value; empty for others.
        shot: number of the in-context example that it belongs to, from 1; None for what belongs to none.
    """

    kind: Kind
    column: str = ""
    shot: int | None = None


class Span(Struct, frozen=True):
    """A piece of a prompt that comes from one place."""

    text: str
    origin: Origin

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"text": self.text, **asdict(self.origin)}


Origins: TypeAlias = tuple[tuple[Span, ...], ...]
"""The spans of a prompt that is one text, or of each message in order; a message with media has those of its texts."""


def find_origins(
    inferencer: Inferencer, sample: Sample, shots: Sequence[Sample], context: InferenceContext, seen: Sequence[Preview]
) -> list[Origins | None]:
    """Return the origins of every prompt of a sample; None for one whose format changes its texts.

    Args:
        inferencer, sample, shots, context: what the prompts are made of.
        seen: the prompts themselves.
    """
    found: list[Origins | None] = [None] * len(seen)
    for around_blanks, in_parts in TRIES:
        marks = _Marks(Origin(_format_kind(context.chat)), around_blanks=around_blanks, in_parts=in_parts)
        marked = _marked_previews(inferencer, sample, shots, context, marks)
        if len(marked) != len(seen):
            continue
        for number, (view, origins) in enumerate(zip(seen, marked, strict=True)):
            if found[number] is None and _texts(view.prompt) == _unmarked(origins):
                found[number] = origins
    return found


def _format_kind(chat: ChatFormat) -> Kind:
    """Return what writes the outermost texts."""
    if isinstance(chat, TokenizerChatFormat):
        return "chat template"
    return "role template" if isinstance(chat, RoleTemplateFormat) else "meta template"


class _Marks:
    """Put marks around texts, and read them back.

    Args:
        outside: what writes the texts that no mark is around.
        around_blanks: whether blanks at either end of a text are inside of its marks. A chat template that strips
            texts would find none to strip then.
        in_parts: whether a value with AISBench's markers of texts and media is a list of parts, of which only the texts
            are marked, or a text like any other.
    """

    def __init__(self, outside: Origin, *, around_blanks: bool, in_parts: bool) -> None:
        self._outside = outside
        self._around_blanks = around_blanks
        self._in_parts = in_parts
        self._origins: list[Origin] = []

    def wrap(self, text: str, origin: Origin) -> str:
        """Put a text between two marks; an empty text stays as it is."""
        core = text if self._around_blanks else text.strip()
        number = FIRST_MARK + 2 * len(self._origins)
        if not core or number >= LAST_MARK:
            return text
        self._origins.append(origin)
        return text.replace(core, f"{chr(number)}{core}{chr(number + 1)}", 1)

    def wrap_value(self, value: str, origin: Origin) -> str:
        """Return a value of the data with marks."""
        if not (self._in_parts and has_marker(value)):
            return self.wrap(value, origin)
        return _TEXT_PART.sub(lambda found: found[1] + self.wrap(found[2], origin), value)

    def read(self, text: str) -> tuple[Span, ...]:
        """Return the spans of a marked text."""
        return tuple(
            Span("".join(sign for sign, _ in group), origin)
            for origin, group in groupby(self._signs(text), key=lambda pair: pair[1])
        )

    def _signs(self, text: str) -> Iterator[tuple[str, Origin]]:
        inside = [self._outside]
        for sign in text:
            number = ord(sign) - FIRST_MARK
            if not 0 <= number < 2 * len(self._origins):
                yield sign, inside[-1]
            elif number % 2:
                inside.pop()
            else:
                inside.append(self._origins[number // 2])


def _marked_previews(
    inferencer: Inferencer, sample: Sample, shots: Sequence[Sample], context: InferenceContext, marks: _Marks
) -> list[Origins]:
    in_turns = isinstance(inferencer, DialogueInferencer)
    question = _marked_sample(sample, marks, None, in_turns=in_turns)
    examples = [_marked_sample(shot, marks, number) for number, shot in enumerate(shots, start=1)]
    chat = _MarkingFormat(context.chat, context.builder, examples, marks)
    try:
        views = inferencer.preview(question, examples, replace(context, chat=chat))
        return [tuple(marks.read(text) for text in _texts(view.prompt)) for view in views]
    except Exception:  # templates and formats may be the user's own, and expect whatever they like of a value
        return []


def _marked_sample(sample: Sample, marks: _Marks, shot: int | None, *, in_turns: bool = False) -> Sample:
    """Return the sample under another id, since ids distinguish examples; its label stays, for label tables."""
    fields = {
        column: _marked_value(value, Origin("data", column, shot), marks, in_turns=in_turns)
        for column, value in sample.fields.items()
    }
    return replace(sample, id=f"{sample.id}, marked as example {shot} by {id(marks)}", fields=fields)


def _marked_value(value: Any, origin: Origin, marks: _Marks, *, in_turns: bool = False) -> Any:
    """Return a value with marks; a list that holds neither turns nor messages becomes one text."""
    if isinstance(value, list | tuple) and (in_turns or all(isinstance(entry, Mapping) for entry in value)):
        return [_marked_value(entry, origin, marks, in_turns=in_turns) for entry in value]
    if isinstance(value, Mapping):  # a message: its role must stay
        return {key: _marked_value(entry, origin, marks) if key == "content" else entry for key, entry in value.items()}
    return marks.wrap_value(str(value), origin)


class _MarkingFormat:
    """Mark the texts of the dataset's templates and examples before the model's format gets them."""

    def __init__(self, chat: ChatFormat, builder: PromptBuilder, examples: Sequence[Sample], marks: _Marks) -> None:
        self._chat = (
            TokenizerChatFormat(_MarkedMessages(chat.messages, marks), chat.tokenizer, chat.media_kinds)
            if isinstance(chat, TokenizerChatFormat)
            else chat
        )
        self._builder = builder
        self._examples = examples
        self._marks = marks

    def render(self, prompt: Filled, mode: Mode) -> Prompt:
        numbers = iter(range(1, len(self._examples) + 1))
        marked = self._text(prompt) if isinstance(prompt, str) else self._list(prompt, None, numbers)
        return self._chat.render(marked, mode)

    def _list(self, prompt: PromptList, shot: int | None, numbers: Iterator[int]) -> PromptList:
        return PromptList(self._piece(piece, shot, numbers) for piece in prompt.pieces)

    def _piece(self, piece: Piece, shot: int | None, numbers: Iterator[int]) -> Piece:
        if isinstance(piece, PromptSection):
            inner = next(numbers, shot) if piece.name == "ice" else shot
            return PromptSection(piece.name, self._list(piece.body, inner, numbers))
        return self._item(piece, shot)

    def _item(self, item: Item, shot: int | None) -> Item:
        if not isinstance(item, str) and isinstance(item.get("content"), str):  # a message in OpenAI form
            return {**item, "content": self._text(item["content"])}
        text = text_of(item)
        return with_text(
            item, self._text(text) if shot is None else self._marks.wrap(text, Origin("template", "", shot))
        )

    def _text(self, text: str) -> str:
        """Return the span of a text that may contain examples."""
        for number, shot in enumerate(self._examples, start=1):
            example = self._builder.examples([shot]) if self._builder.ice_template else ""
            core = example.strip() if isinstance(example, str) else ""
            if core:
                text = text.replace(core, self._marks.wrap(core, Origin("template", "", number)), 1)
        return self._marks.wrap(text, Origin("template"))


class _MarkedMessages:
    """Mark the messages of a chat template."""

    def __init__(self, messages: MessagesFormat, marks: _Marks) -> None:
        self._messages = messages
        self._marks = marks

    def render(self, prompt: Filled, mode: Mode) -> tuple[ChatMessage, ...]:
        return tuple(
            ChatMessage(message.role, self._marks.wrap(message.content, Origin("meta template")))
            if isinstance(message.content, str)
            else message
            for message in self._messages.render(prompt, mode)
        )


def _texts(prompt: Prompt) -> list[str]:
    """Return the text of a prompt, or the texts of its messages."""
    if isinstance(prompt, str):
        return [prompt]
    return [
        content if isinstance(content, str) else "\n".join(part["text"] for part in content if "text" in part)
        for content in (message.content for message in prompt)
    ]


def _unmarked(origins: Origins) -> list[str]:
    return ["".join(span.text for span in spans) for spans in origins]
