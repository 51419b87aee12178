"""Digits of a number in text: where they begin and end, and their value, in the spellings of several countries; and
numbers in English words, up to 999,999: "twenty-one", "two hundred and five thousand".

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
_ONES: Final = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen",
)
_TENS: Final = re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety")
_VALUES: Final = {**{word: n for n, word in enumerate(_ONES)}, **{word: 10 * n for n, word in enumerate(_TENS, 2)}}
_SMALL: Final = rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_ONES[1:10])}))?|{'|'.join(reversed(_ONES))})"
_HUNDREDS: Final = rf"(?:(?:{'|'.join(_ONES[1:10])})\s+hundred(?:\s+(?:and\s+)?{_SMALL})?|{_SMALL})"
WORDED: Final = rf"(?i:(?<![\w-])(?:{_HUNDREDS}\s+thousand(?:,?\s+(?:and\s+)?{_HUNDREDS})?|{_HUNDREDS})(?![\w-]))"
"""Pattern of a number in words."""
PARTS_OF_NUMBERS: Final = (
    r"(?:hundred|thousand|(?:m|b|tr)illion|dozen|point|half|halves|quarters?"
    r"|(?:thir|four|fif|six|seven|eigh|nin|ten)(?:d|th)s?)"
)
"""Words that make another number of the one before them."""
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


def number_of_words(written: str) -> int:
    """Return the value of what `WORDED` matched."""
    thousands = part = 0
    for word in re.findall("[a-z]+", written.lower()):
        if word == "thousand":
            thousands, part = 1000 * part, 0
        elif word == "hundred":
            part *= 100
        else:
            part += _VALUES.get(word, 0)  # "and" adds nothing
    return thousands + part
