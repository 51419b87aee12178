"""Write texts for people: safe in a terminal and in files, lists and counts in words, and the nearest known name.

An error about an unknown name looks among other programs' words for what a config says (`key_advice`, `part_meant`)
before it looks for a similar spelling: ``temperature`` is not ``request_rate``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, cast

from ais_prompt.secrets import SECRETS

_INVISIBLE: Final = (
    r"\x7f-\x9f"  # C1 and DEL
    r"\u00ad\u180e\u200b-\u200d\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0000-\U000e01ef"  # of no width, and tags
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # of direction: they change the order in which text is shown
    r"\u2028\u2029"  # separators of lines, for some programs
)
_UNPRINTABLE: Final = re.compile(rf"[\x00-\x08\x0b-\x1f{_INVISIBLE}\ud800-\udfff]")
_UNREVIEWABLE: Final = re.compile(f"[{_INVISIBLE}]")

VARIES: Final = re.compile(
    r"""(HTTP \d{3}|https?:\/\/[^\s/]+)\S*|\[[^\]]*\]|(?<!\w)'[^']*'(?!\w)|"[^"]*"|\w*\d(?:[\w.,-]*\w)?""", re.ASCII
)
"""What varies in messages of one kind: tails of URLs, brackets, quoted values, numbers, and words with a digit (IDs).

An HTTP status and the host of a URL (group 1) stay. ``assets/run.js`` has the same expression.
"""

NARROWEST: Final = 20
WIDEST_TERMINAL: Final = 1000
"""Least and most columns of a terminal that count: a serial console may report none."""
MOST_NAMES: Final = 12
"""Number of names that an error shows."""


def kind_of(message: str) -> str:
    """Return a message without `VARIES`: equal for all messages that one cause has."""
    return VARIES.sub(lambda found: found[1] or "", message)


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
    move the cursor, or hide or turn around the text that a person reads.
    """
    return escaped(SECRETS.hide(text))


def one_line(text: str) -> str:
    """Return a field of a line: `printable`, with escapes for line breaks too, so that it cannot add a line."""
    return printable(text).replace("\n", "\\n")


def shortened(text: str, most: int) -> str:
    """Return a text with at most so many characters; an ellipsis is in place of the rest."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def without_middle(text: str, most: int) -> str:
    """Return a text with about so many characters, half of them from its end; an ellipsis is in place of the rest."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"


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


def near_miss(name: str, candidates: Iterable[object]) -> str | None:
    """Return the candidate that ``name`` seems to be a misspelling of; None if there is none."""
    return nearest(name, [item for item in candidates if isinstance(item, str)], 0.8)


def advice(name: str, known: Iterable[object]) -> str:
    """Return the nearest known name as a question, or the list of all known names."""
    names = [str(item) for item in known]
    if near := nearest(name, names, 0.5):
        return f"did you mean {near!r}?"
    return f"known: {listed(names)}" if names else ""


def nearest(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the name that is spelt most alike; None if none is alike enough, from 0 for any to 1 for an equal name."""
    from difflib import get_close_matches  # only mistakes need it, and `aisprompt list` starts quickly without

    return next(iter(get_close_matches(name, list(names), n=1, cutoff=cutoff)), None)


def is_missing(value: object) -> bool:
    """Return whether a value is none: None, NaN, or a text without a character that can be seen."""
    return value is None or value != value or (isinstance(value, str) and not value.strip())


class Held(str):
    """A text that holds an object: a function that no module names, or rows in memory.

    Whatever checks, shows, compares or stores a config sees the text; the part that it is an argument of takes the
    object. The text alone, read from a file in another process, holds nothing.

    Args:
        text: what the config shows.
        value: the object; None in a text that holds nothing.
    """

    value: Any

    def __new__(cls, text: str, value: Any = None) -> Held:
        held = super().__new__(cls, text)
        held.value = value
        return held

    def __reduce__(self) -> tuple[type[Held], tuple[str]]:
        """Leave the object behind: another process gets the text only."""
        return Held, (str(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> Held:
        """Return the text itself: neither it nor what it holds is ever changed."""
        return self


# A run uses few of the regular expressions that its modules have: those are compiled when they are first used.


class LatePattern:
    """A pattern that is compiled late: each method is that of the compiled pattern from its first use on."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, value)  # found without this function from now on
        return value


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` returns, for the constants of a module; a mistake in it shows at its first use."""
    return cast("re.Pattern[str]", LatePattern(pattern, flags))
