"""Digits of a number in text: where they begin and end, and their value, in the spellings of several countries.

==================  ==========================================================================
``1,234``           1234: commas (or ``'``) before groups of exactly three digits, after one to three
``1,00,000``        100000, as in India
``1.234,56``        1234.56, and ``1.234.567`` is 1234567
``3,5``, ``0,125``  3.5 and 0.125: a comma that cannot part thousands is a decimal comma
``1,2,3``           three numbers, and ``(1,2)`` two, and ``1234567,7654321`` two
``1.2.3``           no number
==================  ==========================================================================
"""

from __future__ import annotations

import re
from typing import Final

from ais_prompt.utils import late

DIGITS: Final = (
    r"(?:\d{1,3}(?:(?:,(?:\\!)?|\{,\}|\\[,:;!]|['’])\d{3}){1,40}(?!\d)(?:\.\d+)?"
    r"|\d{1,2}(?:,\d{2}){1,8},\d{3}(?!\d|,\d)(?:\.\d+)?"
    r"|\d{1,3}(?:\.\d{3})+,\d+(?![.,]?\d)|\d{1,3}(?:\.\d{3}){2,}(?![.,]?\d)"
    r"|(?<!\d,)(?!(?<=[(\[])\d+,\d+[)\]])(?:\d{1,3}(?:,|\{,\})\d+|\d+(?:,|\{,\})\d{1,3})(?![.,]?\d)"
    r"|\d++(?:\.\d++)?(?!\.\d))"
)
"""Pattern of the digits of one number; it may match at any digit, so a pattern around it says where numbers begin."""
_NUMERAL: Final = late(rf"(?<!\d\.){DIGITS}")
_LATEX: Final = late(r",\\!|\{,\}")
_LONGEST: Final = 100
"""Characters around a place that are looked at."""
_BETWEEN: Final = late(r"\\[,:;! ]|['’]")


def inside_numeral(text: str, place: int) -> bool:
    """Return whether a place parts the digits of one number: 1|5, 5|.5 and 1|,500, but not 1234567|,7654321."""
    around = _NUMERAL.finditer(text, max(place - _LONGEST, 0), place + _LONGEST)
    return any(found.start() < place < found.end() for found in around)


def plain_digits(written: str) -> str:
    """Return digits that `DIGITS` matched with a decimal point and nothing between thousands."""
    plain = _BETWEEN.sub("", _LATEX.sub(",", written))
    commas, points = plain.count(","), plain.count(".")
    if commas and points:
        decimal = max(",", ".", key=plain.rfind)
        return plain.replace("." if decimal == "," else ",", "").replace(",", ".")
    if points > 1:
        return re.sub(r"\.(?=\d{3}(?!\d))", "", plain)
    if re.fullmatch(r"(?!0)\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}", plain):
        return plain.replace(",", "")
    return plain.replace(",", ".")
