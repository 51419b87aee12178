"""Differences of prompts in a few words: "newline added before `A:`"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ais_prompt.preview.prompt_differences import END, MARK, START, TURN, Hunk
from ais_prompt.utils import printable, shortened

_LONGEST_LITERAL: Final = 40
_LONGEST_PLACE: Final = 24
_MOST_CHANGES: Final = 3
_BLANKS: Final = {"\n": "newline", " ": "space", "\t": "tab"}


def changes_title(changes: Sequence[Hunk]) -> str:
    """Describe the first changes of a prompt, and count the others; an equal change in several places is one."""
    # Of several places the last is named: in a few-shot prompt it is in the question, not in an example.
    last = {(change.old, change.new): change for change in changes}
    titles = list(dict.fromkeys(map(_change, last.values())))
    more = len(titles) - _MOST_CHANGES
    return "; ".join(titles[:_MOST_CHANGES]) + (f"; {more} more change{'s' * (more > 1)}" if more > 0 else "")


def readable(text: str) -> str:
    """Return the text with roles in place of marks, fit for a terminal; each message starts on a new line."""
    shown = MARK.sub(lambda mark: f"\n[{mark[0][1:-1]}] ", text.replace(START, "").replace(END, ""))
    begins_with_role = text.lstrip(START).startswith(TURN)
    return printable(shown.removeprefix("\n") if begins_with_role else shown)


def _change(hunk: Hunk) -> str:
    if hunk.old and hunk.new:
        return f"{_literal(hunk.old)} → {_literal(hunk.new)}"
    verb = "removed" if hunk.old else "added"
    return f"{_literal(hunk.old or hunk.new)} {verb} {_place(hunk)}".rstrip()


def _literal(text: str) -> str:
    text = text.strip(START + END)
    if text and not text.strip() and len(set(text)) == 1 and text[0] in _BLANKS:
        return _BLANKS[text[0]] if len(text) == 1 else f"{len(text)} {_BLANKS[text[0]]}s"
    return f"`{_one_line(text, _LONGEST_LITERAL)}`"


def _place(hunk: Hunk) -> str:
    if hunk.right.startswith(END):
        return "at the end"
    if hunk.left.endswith(START):
        return "at the beginning"
    behind = _one_line(readable(hunk.right).strip().partition("\n")[0].strip(), _LONGEST_PLACE)
    if behind:
        return f"before `{behind}`"
    before = _one_line(hunk.left.rstrip().rpartition("\n")[2][-_LONGEST_PLACE:], _LONGEST_PLACE)
    return f"after `{before}`" if before else ""


def _one_line(text: str, longest: int) -> str:
    return shortened(readable(text).replace("\n", "⏎"), longest)
