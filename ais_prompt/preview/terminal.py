"""Print a prompt: what is sent, character for character, the origin of its pieces, and its tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from typing import Any, Final

from rich import box
from rich.cells import chop_cells
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

from ais_prompt.checks import MisspeltPlaceholder, PromptWarning
from ais_prompt.preview.bubbles import FORMAT_KINDS, Piece, bubbles_of
from ais_prompt.preview.origins import BETWEEN_SHOTS, Origin, Origins, Span
from ais_prompt.preview.preview import GOLD_TITLES, PromptView, Token, request_line
from ais_prompt.prompts import PromptList, PromptSection
from ais_prompt.terminal import print_heading
from ais_prompt.types import message_to_json
from ais_prompt.utils import counted, describe_call, describe_part, printable, shown_content

END: Final = "⟨end⟩"
"""Printed after the last character, so that trailing white space is visible."""

STYLES: Final = {
    "HUMAN": "cyan",
    "user": "cyan",
    "BOT": "green",
    "assistant": "green",
    "SYSTEM": "magenta",
    "system": "magenta",
}
"""Role → colour of its text; other roles have `OTHER_STYLE`."""

OTHER_STYLE: Final = "blue"

NARROWEST: Final = 36
"""Terminal cells that a prompt needs to be printed beside another."""


def print_sample(views: Sequence[PromptView], console: Console, *, origins: bool = False) -> None:
    """Print the prompts of one sample: side by side if there are several and a terminal is wide enough.

    Otherwise the terminal breaks long lines, so that nothing is added to the text.

    Args:
        views: the prompts, with origins where what the format writes is to be dim.
        console: where they are printed.
        origins: print the origin of each piece.
    """
    first = views[0]
    print_heading(f"{first.model}/{first.dataset}", console)
    row = f"row {first.index}, sample {first.sample_id} · {shots_line(first)}"
    console.print(Text(row, style="dim"), soft_wrap=True)
    warnings = list(dict.fromkeys(warning for view in views for warning in view.warnings))
    for mistake in warnings:
        if isinstance(mistake, MisspeltPlaceholder):
            _print_warning(mistake, console, "bold yellow")
    prompts = [list(_prompt(view, colours=console.color_system is not None, origins=origins)) for view in views]
    if len(views) > 1 and console.is_terminal and console.width >= NARROWEST * len(views):
        table = Table(box=box.MINIMAL, show_edge=False, expand=True, header_style="bold")
        for view in views:
            table.add_column(Text(printable(view.title)), ratio=1)
        table.add_row(*(Group(*map(_Folded, lines)) for lines in prompts))
        console.print(table)
    else:
        for view, lines in zip(views, prompts, strict=True):
            if view.title:
                print_heading(view.title, console, style="dim")
            _print_lines(lines, console)
    if line := request_line(first.request):
        _print_lines((_title("Request"), Text(printable(line), "dim")), console)
    if first.gold is not None:
        sent = {view.gold_sent for view in views}
        style = "dim" if sent == {"none"} else ""
        title = next(title for use, title in GOLD_TITLES.items() if use in sent)
        _print_lines((_title(title), _whole(str(first.gold), style)), console)
    for warning in warnings:
        if not isinstance(warning, MisspeltPlaceholder):
            _print_warning(warning, console, "yellow")
    console.print()


def _print_warning(warning: PromptWarning, console: Console, style: str) -> None:
    console.print(Text(printable(f"Warning: {warning}"), style=style), soft_wrap=not console.is_terminal)


class _Folded:
    """A text broken where the column ends, as a terminal does: no blank is lost, and Chinese text fills its lines."""

    def __init__(self, text: Text) -> None:
        self.text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.split("\n", allow_blank=True):
            line.expand_tabs()
            chunks = chop_cells(line.plain, options.max_width)
            yield from line.divide(list(accumulate(map(len, chunks)))[:-1])


def _print_lines(lines: Iterator[Text] | Sequence[Text], console: Console) -> None:
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False)


def _prompt(view: PromptView, *, colours: bool, origins: bool) -> Iterator[Text]:
    """Yield the turns in the roles of the template, and the prompt as sent."""
    if (
        isinstance(view.filled, PromptList)
        and not origins
        and not all(not isinstance(item, str) and "content" in item for item in view.filled)
    ):
        yield _title("Who says what")
        yield from _dialogue(view.filled)
    length = "" if view.tokens is None else f", {counted(view.tokens, 'token')}"
    if view.tokens is not None and view.max_seq_len is not None:
        length = f", {view.tokens:,} of {view.max_seq_len:,} tokens"
    yield _title(f"As sent: {'one text' if isinstance(view.prompt, str) else 'messages'}{length}")
    if origins and view.origins:
        yield from _by_origin(view, view.origins, colours=colours)
    else:
        yield from _sent(view)
    if origins and not view.origins:
        yield Text("The origin of its pieces is unknown: the format changes the texts", "dim")
    if view.all_tokens is not None:
        yield _title("Tokens")
        yield tokens_line(view.all_tokens)


def _sent(view: PromptView) -> Iterator[Text]:
    """Yield the prompt: what roles say in their colours, and dim what the model's format writes around it."""
    bubbles = bubbles_of(view)
    marks = [warning.mark for warning in view.warnings if isinstance(warning, MisspeltPlaceholder)]
    if isinstance(view.prompt, str):
        pieces = [(piece, _role_style(bubble.role)) for bubble in bubbles for piece in bubble.pieces]
        yield Text.assemble(*(_said(piece, style, marks) for piece, style in pieces), (END, "dim"))
        return
    for message, bubble in zip(view.prompt, bubbles, strict=True):
        style = _role_style(message.role)
        label = _label(message.role, style)
        if isinstance(message.content, str):
            yield Text.assemble(label, *(_said(piece, style, marks) for piece in bubble.pieces), (END, "dim"))
        else:
            yield from _turn(message.role, shown_content(message_to_json(message)))


def _said(piece: Piece, style: str, marks: Sequence[str]) -> Text:
    """Return a piece in the style of its role, or dim if the format writes it; misspelt placeholders stand out."""
    is_format = isinstance(piece, Span) and piece.origin.kind in FORMAT_KINDS
    text = Text(printable(piece.text), style="dim" if is_format else style)
    if marks:
        text.highlight_words(marks, "bold reverse yellow")
    return text


def _by_origin(view: PromptView, origins: Origins, *, colours: bool) -> Iterator[Text]:
    """Yield the prompt in the colours of its origins, or a list of its pieces; then where the texts are written."""
    if colours:
        yield legend(span for spans in origins for span in spans)
    roles = [None] if isinstance(view.prompt, str) else [message.role for message in view.prompt]
    for role, spans in zip(roles, origins, strict=True):
        label = Text() if role is None else Text.assemble((f"[{printable(role)}] ", "bold"))
        if colours:
            yield label + coloured(spans) + Text(END, "dim")
        else:
            yield from [label, *listed(spans)] if role else listed(spans)
    written: dict[str, str] = {}
    for span in (span for spans in origins for span in spans if span.origin.kind != "data" and span.origin.where):
        written.setdefault(view.places.get(span.origin.where, span.origin.where), span.origin.kind)
    if written:
        yield _title("Written at")
    for place, kind in written.items():
        yield Text(f"  {printable(kind)}: {printable(place)}", "dim")


def _dialogue(filled: PromptList) -> Iterator[Text]:
    """Yield the turns, with one line for in-context examples that follow each other."""
    for is_example, pieces in groupby(
        filled.pieces, key=lambda piece: isinstance(piece, PromptSection) and piece.name == "ice"
    ):
        if is_example:
            number = len(list(pieces))
            yield Text(f"[{counted(number, 'example')}, in full below]", style="dim")
            continue
        for piece in pieces:
            if isinstance(piece, PromptSection):
                yield from _dialogue(piece.body)
            elif isinstance(piece, str):
                if piece:
                    yield from _turn("text", piece)
            else:
                said = shown_content(piece) or next((piece[key] for key in ("prompt_mm", "prompt") if key in piece), "")
                yield from _turn(str(piece.get("role", "")), said, fallback=piece.get("fallback_role"))


def _turn(role: str, said: Any, fallback: Any = None) -> Iterator[Text]:
    """Yield a text in the colour of its role, or the parts of a message, each on its own lines."""
    style = _role_style(role)
    label = _label(role if fallback is None else f"{role}, else {fallback}", style)
    if isinstance(said, str):
        yield label + _whole(said, style)
        return
    yield label
    for part in said:
        if described := describe_part(part) or describe_call(part):
            yield Text("  ").append(f"⟨{printable(described)}⟩", style=f"bold {style}")
        else:
            yield Text("  ") + _whole(part["text"] if isinstance(part.get("text"), str) else str(part), style)


def _role_style(role: str) -> str:
    """Return the colour of a role; the first of ``SYSTEM as HUMAN`` counts, and a text without a role has none."""
    return STYLES.get(role.partition(" as ")[0], OTHER_STYLE) if role else ""


def _label(name: str, style: str) -> Text:
    return Text.assemble((f"[{printable(name)}] ", f"bold {style}"))


def _whole(text: str, style: str = "") -> Text:
    return Text.assemble((printable(text), style), (END, "dim"))


def _title(title: str) -> Text:
    return Text(title, style="bold underline")


def shots_line(view: PromptView) -> str:
    """Return the number of in-context examples of a prompt, with their rows."""
    left_out = f" ({view.left_out} left out)" if view.left_out else ""
    if not view.shots:
        return f"no shots{left_out}"
    plural = "s" if len(view.shots) > 1 else ""
    return f"{len(view.shots)} shot{plural}{left_out}: train row{plural} {', '.join(map(str, view.shots))}"


ORIGIN_STYLES: Final = {
    "data": "green",
    "template": "yellow",
    "meta template": "magenta",
    "role template": "magenta",
    "chat template": "blue",
    "unknown": "",
}
"""Origin of a piece → its colour. Pieces of an example are underlined."""

SPECIAL: Final = "★"


def coloured(spans: Iterable[Span]) -> Text:
    """Return the text with each piece in the colour of its origin."""
    return Text.assemble(*((printable(span.text), _style(span.origin)) for span in spans))


def legend(spans: Iterable[Span]) -> Text:
    """Return the legend of the colours in use."""
    kinds = dict.fromkeys((span.origin.kind, span.origin.shot is not None) for span in spans)
    words = [
        (f"{kind}{' of an example' if in_shot else ''}", _style(Origin(kind, shot=1 if in_shot else None)))
        for kind, in_shot in kinds
    ]
    return Text("  ").join(Text(word, style=style) for word, style in words)


def listed(spans: Iterable[Span]) -> Iterator[Text]:
    """Yield one line for each piece, for output without colours."""
    for span in spans:
        yield Text(f"  {printable(describe(span.origin))}: {span.text!r}")


def describe(origin: Origin) -> str:
    """Describe the origin of a piece: ``data column 'question' of shot 2``."""
    what = f"data column {origin.column!r}" if origin.kind == "data" else origin.kind
    if origin.shot == BETWEEN_SHOTS:
        return f"{what} between shots"
    return what if origin.shot is None else f"{what} of shot {origin.shot}"


def tokens_line(tokens: Sequence[Token]) -> Text:
    """Return the tokens in order, each with its id; special tokens have a star."""
    line = Text()
    for number, token in enumerate(tokens):
        style = "bold red" if token.special else ("cyan" if number % 2 else "green")
        # Show the newline and break the line, so that it reads like the prompt.
        line.append(printable(token.text).replace("\n", "↵"), style)
        line.append(f"⟨{SPECIAL if token.special else ''}{token.id}⟩", "dim")
        line.append("\n" * token.text.count("\n"))
    return line


def _style(origin: Origin) -> str:
    return ORIGIN_STYLES[origin.kind] + (" underline" if origin.shot is not None else "")
