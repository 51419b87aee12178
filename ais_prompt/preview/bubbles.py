"""Split a prompt into bubbles: who says what, in which pieces, and which bubbles belong to in-context examples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from ais_prompt.preview.origins import Kind, Origin, Origins, Span
from ais_prompt.preview.preview import PromptView
from ais_prompt.preview.prompt_differences import aligned_blocks, lines_of
from ais_prompt.types import message_to_json
from ais_prompt.utils import describe_call, describe_part, shown_content

FORMAT_KINDS: Final[tuple[Kind, ...]] = ("meta template", "role template", "chat template")
"""What the model's side writes."""

PARTS_JOINED: Final = "\n"
"""Between the texts of a message with media in its origins; it is not sent."""


class Medium(Struct, frozen=True):
    """A picture, sound or video in a message, in one line of words."""

    text: str


class ChangedSpan(Span, frozen=True):
    """A piece that the prompt beside it does not have at this place."""


Piece: TypeAlias = Span | Medium

UNKNOWN: Final = Origin("unknown")


class Bubble(Struct):
    """What one role says, with what the model's format writes around it.

    Attributes:
        role: who says it; empty for a text without a role.
        pieces: its texts with their origins, and its media.
        in_example: whether it belongs to in-context examples as a whole.
        is_format: the model's format writes it between what roles say.
    """

    role: str
    pieces: list[Piece]
    in_example: bool = False
    is_format: bool = False


def bubbles_of(view: PromptView) -> list[Bubble]:
    """Return the bubbles of a prompt in order; where origins are unknown, each text is one piece."""
    prompt = view.prompt
    if isinstance(prompt, str):
        [spans] = view.origins or ((Span(prompt, UNKNOWN),),)
        return _bubbles_of_text(spans)
    origins: Origins = view.origins or tuple(tuple(_unknown_spans(message.content)) for message in prompt)
    bubbles = [
        Bubble(message.role, list(_pieces(shown_content(message_to_json(message)), spans)))
        for message, spans in zip(prompt, origins, strict=True)
    ]
    for bubble in bubbles:
        bubble.in_example = bool(bubble.pieces) and all(
            is_in_example(one) or not _is_said(one) for one in bubble.pieces
        )
    return bubbles


def mark_changes(bubbles: Sequence[Bubble], beside: Sequence[Bubble]) -> None:
    """Split the pieces of a prompt so that words which the other prompt does not have are a `ChangedSpan`.

    Args:
        bubbles: the prompt, which is changed in place.
        beside: the other prompt.
    """
    ends, at = [], 0
    for before, after in aligned_blocks(_blocks(beside), _blocks(bubbles)):
        at += len(after)
        ends.append((at, before != after))
    at = 0
    for bubble in bubbles:
        pieces: list[Piece] = []
        for piece in bubble.pieces:
            if isinstance(piece, Span):
                pieces += _split(piece, at, ends)
                at += len(piece.text)
            else:
                pieces.append(piece)
        bubble.pieces = pieces


def _blocks(bubbles: Sequence[Bubble]) -> list[str]:
    """Return the lines of a prompt, cut where pieces begin: a column is the same behind another format, too."""
    spans = (piece for bubble in bubbles for piece in bubble.pieces if isinstance(piece, Span))
    return [line for span in spans for line in lines_of(span.text)]


def _split(span: Span, at: int, ends: Sequence[tuple[int, bool]]) -> Iterator[Span]:
    """Yield the parts of a span that begins at a position of the text, changed and unchanged in turn."""
    start, last = 0, at + len(span.text)
    for end, changed in ends:
        if end > at + start:
            text = span.text[start : end - at]
            yield ChangedSpan(text, span.origin) if changed else Span(text, span.origin)
            start = end - at
            if end >= last:
                return


def is_in_example(piece: Piece) -> bool:
    """Return whether a piece belongs to an in-context example."""
    return isinstance(piece, Span) and piece.origin.shot is not None


def _unknown_spans(content: Any) -> Iterator[Span]:
    texts = [content] if isinstance(content, str) else [part["text"] for part in content if "text" in part]
    if any(texts):
        yield Span(PARTS_JOINED.join(texts), UNKNOWN)


def _bubbles_of_text(spans: Sequence[Span]) -> list[Bubble]:
    """Return the bubbles of a prompt that is one text."""
    builder = _TextBubbles(
        has_roles=any(span.origin.role for span in spans),
        # A chat template writes messages, and examples that are texts are inside of one.
        has_messages=any(span.origin.kind == "chat template" for span in spans),
    )
    for span in spans:
        builder.add(span)
    bubbles = builder.bubbles
    said = [any(map(_is_said, bubble.pieces)) for bubble in bubbles]
    for bubble, speaks in zip(bubbles, said, strict=True):
        bubble.in_example = speaks and all(map(is_in_example, filter(_is_said, bubble.pieces)))
    for number, speaks in enumerate(said):  # a slot without data between the turns of examples
        if not speaks and 0 < number < len(said) - 1:
            bubbles[number].in_example = bubbles[number - 1].in_example and bubbles[number + 1].in_example
    return bubbles


def _is_said(piece: Piece) -> bool:
    return not isinstance(piece, Span) or piece.origin.kind not in FORMAT_KINDS


Place: TypeAlias = Literal["before", "said", "after", "between"]
"""Where a piece is in its turn: in front of what is said, the words themselves, behind them, or outside of turns."""


_SLOT_TEXT: Final = re.compile(r"\.(begin|end)(?:\[\d+\])?$|\w(\[[01]\])$")
"""Matches the config path of a text in front of or behind a role's words, in a meta template or a role template."""


def _place_in_turn(origin: Origin) -> Place:
    if origin.kind not in FORMAT_KINDS:
        return "said"
    if not origin.role:
        return "between"
    if found := _SLOT_TEXT.search(origin.where):
        return "before" if "begin" in found.groups() or "[0]" in found.groups() else "after"
    return "said"


class _TextBubbles:
    """Collects the bubbles of one text: a turn goes from the text in front of a role's words to that behind them."""

    def __init__(self, *, has_roles: bool, has_messages: bool) -> None:
        self.bubbles: list[Bubble] = []
        self._has_roles = has_roles
        self._has_messages = has_messages
        self._last: Place = "after"
        self._speaker: tuple[str, int | None] = ("", None)

    def add(self, span: Span) -> None:
        origin = span.origin
        place = _place_in_turn(origin)
        if not self._has_roles or (place == "between" and not span.text.strip()):
            place = self._last if self.bubbles else "said"  # all in one bubble; a newline belongs to the turn before it
        elif place == "between":
            self.bubbles.append(Bubble("", [], is_format=True))
        elif self._starts(place, origin):
            self.bubbles.append(Bubble(origin.role, []))
        if not self.bubbles:
            self.bubbles.append(Bubble(origin.role, []))
        bubble = self.bubbles[-1]
        if place == "said" and self._last == "before" and origin.role not in ("", bubble.role):
            bubble.role = f"{origin.role} as {bubble.role}"
        bubble.pieces.append(span)
        self._last, self._speaker = place, (origin.role, origin.shot)

    def _starts(self, place: Place, origin: Origin) -> bool:
        """Return whether a piece begins another turn."""
        if self._last in ("after", "between"):
            return place != "after" or self._last == "between"
        if place == "before":
            return self._last != "before" or origin.role != self._speaker[0]
        if place == "said" and self._last == "said":
            role, shot = self._speaker
            return origin.role != role or (origin.shot != shot and not self._has_messages)
        return False


def _pieces(content: Any, spans: Sequence[Span]) -> Iterator[Piece]:
    """Yield the pieces of a message: those of its text, or of its parts in order."""
    if isinstance(content, str):
        yield from spans
        return
    at, whole = 0, list(spans)
    for part in content:
        if isinstance(part, Mapping) and "text" in part:
            length = len(part["text"])
            yield from cut(whole, at, at + length)
            at += length + len(PARTS_JOINED)
        else:
            yield Medium(describe_part(part) or describe_call(part) or str(part))


def cut(spans: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    """Yield what lies between two positions of the joined text of spans."""
    at = 0
    for span in spans:
        text = span.text[max(0, start - at) : max(0, end - at)]
        if text:
            yield Span(text, span.origin)
        at += len(span.text)
