"""Select rows of a split by ``train_range`` and ``test_range``.

A text is read by a small grammar and never evaluated::

    range   = [ term { "+" term } ]          an empty text takes all rows
    term    = bracket { bracket }            "[:100][::2]": a bracket picks from what the one before it left
    bracket = "[" slice "]" | "[" row { "," row } "]"
    slice   = [start] ":" [stop] [ ":" [step] ]

with whole numbers that mean what they mean for a Python list: from 0, and negative ones from the end.
"""

from __future__ import annotations

import random
import re
from array import array
from collections.abc import Sequence
from itertools import chain

from ais_prompt.errors import ConfigError

_EXAMPLES = "'[:100]', '[10:20]', '[::2]', '[-5:]', '[0, 5, 7]', '[:1] + [2]', or a number of rows such as 100"
# Eighteen digits are more rows than there are, and fit into 64 bits.
_NUMBER = r"\s*-?[0-9]{1,18}\s*"
_TERM = re.compile(r"\s*(?:\[[^\[\]]*\]\s*)+")
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_SLICE = re.compile(rf"({_NUMBER}|\s*):({_NUMBER}|\s*)(?::({_NUMBER}|\s*))?")
_ROWS = re.compile(rf"{_NUMBER}(?:,{_NUMBER})*,?\s*")


def select(wanted: int | float | str | None, size: int) -> Sequence[int]:
    """Return the numbers of the selected rows in order; a `range` if they are consecutive.

    Args:
        wanted: a text as above; a number of rows, which are drawn at random with the number itself as the seed (as
            OpenCompass and AISBench do, so the same questions are asked); a fraction of the rows, drawn likewise;
            None, 0, a negative number or ``size`` and more for all rows in their own order.
        size: rows in the split.

    Raises:
        ConfigError: the text is not a range, or names a row that is not there; the number is not whole.
    """
    if wanted is None:
        return range(size)
    if isinstance(wanted, str):
        if not wanted.strip():
            return range(size)
        picked = [_of_term(term, wanted, size) for term in wanted.split("+")]
        return picked[0] if len(picked) == 1 else array("q", chain.from_iterable(picked))
    if 0 < wanted < 1:
        return _drawn(int(wanted * size), size)
    if wanted <= 0 or wanted >= size:
        return range(size)
    if not float(wanted).is_integer():
        raise ConfigError(f"the range {wanted} is not a whole number of rows", fix=f"write {_EXAMPLES}")
    return _drawn(int(wanted), size)


def _drawn(number: int, size: int) -> Sequence[int]:
    rows = array("q", range(size))
    random.Random(number).shuffle(rows)
    return rows[:number]


def _of_term(term: str, text: str, size: int) -> Sequence[int]:
    if not _TERM.fullmatch(term):
        raise _not_a_range(text)
    rows: Sequence[int] = range(size)
    for bracket in _BRACKET.findall(term):
        rows = _pick(bracket, rows, text)
    return rows


def _pick(bracket: str, rows: Sequence[int], text: str) -> Sequence[int]:
    """Return the rows that one bracket selects from those before it."""
    if match := _SLICE.fullmatch(bracket):
        start, stop, step = (int(part) if part and part.strip() else None for part in match.groups())
        if step == 0:
            raise ConfigError(f"the range {text!r} has a step of 0", fix="take a step of 1 or more")
        return rows[start:stop:step]
    if not _ROWS.fullmatch(bracket):
        raise _not_a_range(text)
    try:
        return [rows[int(number)] for number in bracket.split(",") if number.strip()]
    except IndexError:
        raise ConfigError(
            f"the range {text!r} names a row that is not there: the rows are 0 to {len(rows) - 1}"
            if rows
            else f"the range {text!r} names a row, but there are no rows",
            fix="name rows that the split has",
        ) from None


def _not_a_range(text: str) -> ConfigError:
    return ConfigError(f"{text!r} is not a range of rows", fix=f"write {_EXAMPLES}")
