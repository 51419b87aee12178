"""A prompt by the places that its pieces come from, and token by token."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.text import Text

from ais_prompt.plan.origins import Origin, Span
from ais_prompt.plan.tokens import Token
from ais_prompt.utils.text import printable

STYLES: Final = {
    "data": "green",
    "template": "yellow",
    "meta template": "magenta",
    "role template": "magenta",
    "chat template": "blue",
}
"""What a piece comes from → its colour. What belongs to an example is underlined."""

SPECIAL: Final = "★"


def coloured(spans: Iterable[Span]) -> Text:
    """The text with each piece in the colour of its origin."""
    return Text.assemble(*((printable(span.text), _style(span.origin)) for span in spans))


def legend(spans: Iterable[Span]) -> Text:
    """Which colour means what, for the origins that are there."""
    kinds = dict.fromkeys((span.origin.kind, span.origin.shot is not None) for span in spans)
    words = [
        (f"{kind}{' of an example' if in_shot else ''}", _style(Origin(kind, shot=1 if in_shot else None)))
        for kind, in_shot in kinds
    ]
    return Text("  ").join(Text(word, style=style) for word, style in words)


def listed(spans: Iterable[Span]) -> Iterator[Text]:
    """One line for each piece, for where there are no colours."""
    for span in spans:
        yield Text(f"  {printable(describe(span.origin))}: {span.text!r}")


def describe(origin: Origin) -> str:
    """Where a piece comes from, in words: ``data column 'question' of shot 2``."""
    what = f"data column {origin.column!r}" if origin.kind == "data" else origin.kind
    return what if origin.shot is None else f"{what} of shot {origin.shot}"


def tokens_line(tokens: Sequence[Token]) -> Text:
    """The tokens in order, each with its id; special ones have a star."""
    line = Text()
    for number, token in enumerate(tokens):
        style = "bold red" if token.special else ("cyan" if number % 2 else "green")
        # A newline is shown, and made: the line can be read like the prompt.
        line.append(printable(token.text).replace("\n", "↵"), style)
        line.append(f"⟨{SPECIAL if token.special else ''}{token.id}⟩", "dim")
        line.append("\n" * token.text.count("\n"))
    return line


def _style(origin: Origin) -> str:
    return STYLES[origin.kind] + (" underline" if origin.shot is not None else "")
