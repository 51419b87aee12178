"""What tests read out of the pages of docs/ and out of the READMEs."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

FENCED = re.compile(r"^```.*?^```$\n?", re.MULTILINE | re.DOTALL)
"""A code block with its fences. A line that begins with # in it is no heading."""


def blocks(text: str, language: str) -> Iterator[str]:
    """The code blocks of a language, without their fences."""
    for block in FENCED.findall(text):
        first, _, code = block.partition("\n")
        if first == f"```{language}":
            yield code.removesuffix("\n").removesuffix("```")


RUNNABLE = re.compile(r"^```(\w+)(?: title=\"([^\"]*)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANY_LINES = "[…]"


def runnable(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Line (from 0), language, title and code of each block that runs or is a file."""
    for found in RUNNABLE.finditer(text):
        if found[1] in ("python", "console") or found[2]:
            yield text.count("\n", 0, found.start(3)), found[1], found[2] or "", found[3]


def write_file(title: str, code: str, folder: Path = Path()) -> None:
    """Write a file, or replace the argument of a call on lines of its own in one that is there."""
    name, _, part = title.partition(", ")
    path = folder / name
    if part:
        found = re.match(r"( *)(\w+)=", code)
        assert found
        indent, argument = found.groups()
        there = rf"^{indent}{argument}=(?:.*\),|dict\(\n(?:.*\n)*?{indent}\),)\n"
        code, count = re.subn(there, lambda _: code, path.read_text("utf-8"), flags=re.MULTILINE)
        assert count == 1, f"{name} has {argument} {count} times"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code, "utf-8")


def commands(session: str) -> list[tuple[str, str]]:
    """The command lines of a console behind ``$ aisprompt``, each with what it prints."""
    return re.findall(r"^\$ aisprompt (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE)


def is_printed(output: str, expected: str) -> bool:
    """Return whether an output is what a page shows, where ``[…]`` is any lines and ``…`` the rest of a line."""
    printed = "".join(f"{line.rstrip()}\n" for line in output.rstrip().splitlines())
    return re.fullmatch("".join(map(_line_pattern, expected.rstrip().splitlines())), printed) is not None


def _line_pattern(text: str) -> str:
    if text == ANY_LINES:
        return r"(.*\n)*?"
    return re.escape(text.removesuffix("…")) + (".*" if text.endswith("…") else "") + r"\n"


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
