"""Make text safe for a terminal, and for files that people review."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ais_prompt.utils.secrets import SECRETS

_INVISIBLE: Final = (
    r"\x7f-\x9f"  # C1 and DEL
    r"\u00ad\u180e\u200b-\u200d\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0000-\U000e01ef"  # of no width, and tags
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # of direction: they change the order in which text is shown
    r"\u2028\u2029"  # separators of lines, for some programs
)
_UNPRINTABLE: Final = re.compile(rf"[\x00-\x08\x0b-\x1f{_INVISIBLE}\ud800-\udfff]")
_UNREVIEWABLE: Final = re.compile(f"[{_INVISIBLE}]")


MOST_NAMES: Final = 12
"""Number of names that an error shows."""


def listed(names: Iterable[object], most: int = MOST_NAMES) -> str:
    """Join names with commas. Of a long list, show the first names and the number of the others."""
    shown = [str(name) for name in names]
    more = len(shown) - most
    return ", ".join(shown[:most]) + (f", … and {more:,} more" if more > 0 else "")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 dataset``, ``1,319 questions``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def printable(text: str) -> str:
    r"""Return the text without secrets, and with escapes for control and invisible characters.

    ``\x1b``, ``\r``, ``\u202e``; newlines and tabs stay. Data and server messages can hold anything; none of it may
    move the cursor, or hide or turn around what a person reads.
    """
    return escaped(SECRETS.hide(text))


def escaped(text: str) -> str:
    """Do the same as `printable`, but keep secrets."""
    if text.isascii() and text.isprintable():  # nearly all texts, and found out sooner than by a search
        return text
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def reviewable_json(text: str) -> str:
    """Return JSON with escapes for all invisible characters. It is read back as the same value."""
    return _UNREVIEWABLE.sub(_json_escape, text)


def _json_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
