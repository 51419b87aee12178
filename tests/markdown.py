"""What tests read out of the pages of docs/ and out of the READMEs."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

FENCED = re.compile(r"^```.*?^```$\n?", re.MULTILINE | re.DOTALL)
"""A code block with its fences. A line that begins with # in it is no heading."""


def blocks(text: str, language: str) -> Iterator[str]:
    """The code blocks of a language, without their fences."""
    for block in FENCED.findall(text):
        first, _, code = block.partition("\n")
        if first == f"```{language}":
            yield code.removesuffix("\n").removesuffix("```")


def headings(text: str) -> list[str]:
    return re.findall(r"^#+ (.*)$", FENCED.sub("", text), re.MULTILINE)


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def links(text: str) -> list[str]:
    """The targets of links and pictures, as they are written."""
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]+`", "`", FENCED.sub("", text)))


def svg_lines(svg: str) -> list[str]:
    """The lines of text of a picture that rich has drawn: pieces of one style each, with no piece for blanks alone."""
    lines: dict[str, str] = {}
    for x, y, length, piece in re.findall(
        r'<text [^>]*\bx="(.+?)" y="(.+?)" textLength="(.+?)"[^>]*>(.*?)</text>', svg
    ):
        text = html.unescape(piece)
        column = round(float(x) / float(length) * len(text))
        lines[y] = lines.get(y, "").ljust(column) + text
    return [line.replace("\N{NO-BREAK SPACE}", " ").rstrip() for line in lines.values()]
