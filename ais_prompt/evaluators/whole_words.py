"""Whether a text has another as whole words and numbers."""

from __future__ import annotations

import re
from typing import Final

from ais_prompt.postprocess import inside_numeral

_UNSPACED: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts that put no blanks between words, and Hangul, whose endings follow a word without a blank."""


def contains(text: str, part: str) -> bool:
    """Return whether a text has a part as whole words and numbers: 5 is not in 15, 5.5 or -5, nor "no" in "know".

    A comma belongs to a number as in `ais_prompt.postprocess.numbers`: 7654321 is in "1234567,7654321", 500 not in
    "1,500".
    In Chinese, Japanese, Thai and other scripts without blanks between words every place counts.
    """
    place = text.find(part)
    while place >= 0:
        end = place + len(part)
        before, after = text[max(place - 2, 0) : place], text[end : end + 2]
        is_whole = not (_goes_on(before[::-1], part[:1]) or _goes_on(after, part[-1:]) or _is_signed(before, part))
        if is_whole and not inside_numeral(text, place) and not inside_numeral(text, end):
            return True
        place = text.find(part, place + 1)
    return False


def _goes_on(beside: str, end: str) -> bool:
    """Return whether the word or number at the end of a part goes on with the characters beside it."""
    if end.isdigit() and re.match(r"\.\d", beside):
        return True
    spaced = re.compile(rf"[^\W_{_UNSPACED}]")
    return bool(spaced.match(end) and spaced.match(beside))


def _is_signed(before: str, part: str) -> bool:
    return part[:1].isdigit() and re.search(r"(?<![\w.])[-−]\Z", before) is not None
