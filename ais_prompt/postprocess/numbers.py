"""Numbers in text: found as people and models write them, and read exactly.

What counts as a number:

=============================  =======================================================================
``18``, ``18.00``, ``18.``     18; a full stop after the number is not part of it
``1,000``, ``12,345.50``       commas between groups of three digits belong to the number
``1,2,3``, ``3,14``            other commas separate: the last number is 3, and 14
``$18``, ``-$18``, ``$-18``    dollars are numbers; other signs of currency stand outside of it
``-3``, ``−3``                 negative, with a hyphen or a minus sign
``5-3``                        a hyphen after a letter, digit or ``_`` is no sign: the last number is 3
``答案是-3``                   but Chinese and Japanese put no blank before a sign: -3
``1/2``, ``1e3``, ``.5``       not read as one: the last numbers are 2, 3 and 5, as in OpenCompass
``٣``, ``１８``                decimal digits of every script are read: 3, 18
=============================  =======================================================================
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any, Final

NUMBER: Final = re.compile(
    r"""
    # A sign, unless it is a hyphen or a subtraction; dollars on either side. Han and kana are letters to Python.
    (?: (?<![^\W\u3040-\u30ff\u4e00-\u9fff])[-−](?:\\?\$)? | \\?\$[-−]? )?
    # Groups of three digits, parted as in text (1,000) or in LaTeX (1{,}000, 1\,000, 1,\!000); or digits.
    (?: \d{1,3}(?:(?:,(?:\\!)?|\{,\}|\\[,:;!])\d{3})+(?!\d) | \d+ )
    (?: \.\d+ )?                            # a full stop alone ends a sentence
    """,
    re.VERBOSE,
)
_LATEX = re.compile(r"\\[$,:;! ]|\{,\}")
_PLAIN = str.maketrans({"$": None, ",": None, "−": "-"})


def to_decimal(value: Any) -> Decimal | None:
    """The exact value of a number, or of a text that is nothing but a number; None for everything else.

    ``$`` and ``,`` are passed over: ``18``, ``18.0``, ``"$18"``, ``"18."`` and ``" 18.00 "`` are one value, and so are
    ``"1,000"``, ``1000`` and ``"1e3"``, and in LaTeX ``\\$1{,}000`` and ``1\\,000``. Infinity and NaN are not numbers.
    """
    try:
        number = Decimal(plain_number(str(value).strip()))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def plain_number(written: str) -> str:
    """Write what `NUMBER` matched without signs of dollars and thousands, and with a hyphen as its sign."""
    return _LATEX.sub("", written).translate(_PLAIN)
