"""Numbers in text: found whole, as people and models write them, and read exactly.

What counts as a number:

=============================  =======================================================================
``18``, ``18.00``, ``18.``     18; a full stop after the number is not part of it
``1,000``, ``12,345.50``       commas or blanks between groups of three digits belong to the number: ``1 234``
``1,2,3``, ``3,14``            other commas separate: the last number is 3, and 14
``$18``, ``-$18``, ``$-18``    dollars are numbers; other signs of currency stand outside of it
``-3``, ``−3``, ``–3``         negative, with a hyphen, a minus sign or a dash; ``negative 3``, ``is minus 3``, ``负3``
``5-3``                        a hyphen after a letter, digit or ``_`` is no sign: the last number is 3
``答案是-3``                   but Chinese and Japanese put no blank before a sign: -3
``.5``, ``1e3``                0.5 and 1000
``1.2 million``, ``12万``      1200000 and 120000
``x2``, ``v1.2.3``             no numbers: part of a name
``1/2``                        `VALUE` reads fractions, ``2 1/2`` too; `NUMBER` reads 1 and 2
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
    (?: (?<![^\W\u3040-\u30ff\u4e00-\u9fff])[-−–‐‑﹣](?:\\?\$)? | \\?\$[-−–‐‑﹣]?
      | (?<![A-Za-z])[Nn]egative\s+(?:\\?\$)?
      | (?:(?<=\bis\s)|(?<=\bbe\s)|(?<=[=:]\s)|(?<=\bto\s)|^)minus\s+(?:\\?\$)? | 负 )?
    (?<![A-Za-z_])(?<!\d\.)
    # Groups of three digits, parted as in text (1,000) or in LaTeX (1{,}000, 1\,000, 1,\!000); or digits.
    (?: (?<!\d[ ])\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?![ ]?\d) | \d{1,3}(?:(?:,(?:\\!)?|\{,\}|\\[,:;!])\d{3})+(?!\d)
      | \d+
      | (?<![^\W\u3040-\u30ff\u4e00-\u9fff])(?<![.)])(?=\.\d) )
    (?: \.\d+ )?                            # a full stop alone ends a sentence
    (?: [eE][-+]?\d+(?!\w) )?
    (?: \s?(?:thousand|million|billion|万|亿)\b | [万亿] )?
    """,
    re.VERBOSE,
)
VALUE: Final = re.compile(rf"(?:{NUMBER.pattern})(?:(?:\s\d+)?\s?/\s?\d+(?![\d.,]*/|\d))?", re.VERBOSE)
"""A number, a fraction, or a number with a fraction."""
_LATEX = re.compile(r"\\[$,:;! ]|\{,\}")
_PLAIN = str.maketrans({"$": None, ",": None, **dict.fromkeys("−–‐‑﹣负", "-")})
_SIGN: Final = re.compile(r"(?:negative|minus)\s+", re.IGNORECASE)
_SCALE: Final = re.compile(r"\s?(thousand|million|billion|万|亿)\Z")
_SCALES: Final = {"thousand": 3, "million": 6, "billion": 9, "万": 4, "亿": 8}
_FRACTION: Final = re.compile(r"(?P<sign>-?)(?:(?P<whole>\d+)\s)?(?P<over>\d+)\s?/\s?(?P<under>\d+)")


def to_decimal(value: Any) -> Decimal | None:
    """The exact value of a number, or of a text that is nothing but a number; None for everything else.

    ``$`` and ``,`` are passed over: ``18``, ``18.0``, ``"$18"``, ``"18."`` and ``" 18.00 "`` are one value, and so are
    ``"1,000"``, ``1000`` and ``"1e3"``, and in LaTeX ``\\$1{,}000`` and ``1\\,000``. A fraction is divided to 28
    digits. Infinity and NaN are not numbers.
    """
    written = plain_number(str(value).strip())
    try:
        if fraction := _FRACTION.fullmatch(written):
            number = Decimal(fraction["over"]) / Decimal(fraction["under"]) + Decimal(fraction["whole"] or 0)
            return -number if fraction["sign"] else number
        number = Decimal(written)
    except (InvalidOperation, ZeroDivisionError):
        return None
    return number if number.is_finite() else None


def plain_number(written: str) -> str:
    """Write what `NUMBER` matched in digits: without signs of dollars and thousands, with a hyphen as its sign."""
    plain = _SIGN.sub("-", _LATEX.sub("", written).translate(_PLAIN))
    plain = re.sub(r"(?<=\d)[ \u00a0\u2009\u202f](?=\d{3}(?![\d/]))", "", plain)
    if scale := _SCALE.search(plain):
        return f"{Decimal(plain[: scale.start()]).scaleb(_SCALES[scale[1]]):f}"
    return plain
