"""An entry of the reference as text for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from ais_prompt.reference.entry import REQUIRED, Argument, Entry

_INDENT = "  "


def entry_text(entry: Entry, width: int) -> str:
    """Return an entry as text; no line is longer than ``width`` but those of code."""
    return "\n".join(line.rstrip() for line in _lines(entry, width)) + "\n"


def plain(text: str) -> str:
    """Return a text without the marks of Markdown and docstrings."""
    text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r"\1 (\2)", text)
    text = re.sub(r"``(.+?)``", r"\1", text)
    return re.sub(r"(?<!`)`(?:~|ais_prompt\.)?([^`\n]+)`", r"\1", text)


def _lines(entry: Entry, width: int) -> Iterator[str]:
    yield f"{entry.name} ({entry.kind})"
    yield from _wrapped(plain(entry.summary), width, _INDENT)
    if entry.usage:
        yield ""
        yield from _wrapped(entry.usage, width, _INDENT, _INDENT * 2)
    for block in filter(None, entry.text.split("\n\n")):
        yield ""
        if block.startswith((" ", ">>>", "|")):
            yield from (f"{_INDENT}{line}" for line in plain(block).splitlines())
            continue
        for item in re.split(r"\n(?=- )", plain(block).replace("::", ":")):
            yield from _wrapped(
                " ".join(item.split()), width, _INDENT, _INDENT * 2 if item.startswith("- ") else _INDENT
            )
    for argument in entry.arguments:
        yield ""
        yield from _argument(argument, width)
    if entry.facts:
        yield ""
    for title, text in entry.facts:
        yield from _wrapped(f"{plain(title)}: {plain(text)}", width, _INDENT, _INDENT * 2)


def _argument(argument: Argument, width: int) -> Iterator[str]:
    default = argument.default
    words = [
        plain(argument.kind),
        "required" if default == REQUIRED else f"default {plain(default)}" if default else "",
    ]
    yield from _wrapped(f"{argument.name}  {', '.join(filter(None, words))}", width, _INDENT, _INDENT * 4)
    yield from _wrapped(plain(argument.meaning), width, _INDENT * 3)


def _wrapped(text: str, width: int, first: str, rest: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
