"""Guess the encoding of a text file from its beginning, where the text is ordinary in one of them only.

Nearly every sequence of bytes is text in some code page, so what counts is whether the text is ordinary: the common
characters of Chinese, Japanese and Korean, and words that are of one alphabet with capitals where they belong.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from ais_prompt.utils import late

UTF8: Final = "utf-8-sig"
"""UTF-8, with or without a byte order mark."""

_MARKS: Final = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as the mark of UTF-16 does
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COMMON: Final[Mapping[str, re.Pattern[bytes]]] = {
    "gb18030": re.compile(rb"[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]"),  # GB 2312: signs, and level 1 by pronunciation
    "big5": re.compile(rb"[\xa1-\xc6]."),  # signs, and level 1 by strokes
    "cp932": re.compile(rb"[\x81-\x83\x88-\x97]."),  # Shift-JIS: signs, kana, and kanji of level 1
    "euc_jp": re.compile(rb"[\xa1\xa3-\xa5\xb0-\xcf][\xa1-\xfe]"),
    "cp949": re.compile(rb"[\xa1-\xa3\xb0-\xc8][\xa1-\xfe]"),  # EUC-KR: signs and syllables
}
"""Code page → its common characters besides those of ASCII."""
_SIGNS: Final = "[«»„“”‘’–—…§°·\u00a0]"
_LETTER: Final = r"[^\W\d_]"
_LOWER: Final = "a-zß-ïñ-öø-üÿœ"
_UPPER: Final = "A-ZÀ-ÏÑ-ÖØ-ÜŒ"
_WORDS: Final = {
    # A word of Latin letters has some of ASCII, or is one letter. Letters that are seldom in Western Europe are left
    # out: in the code pages of Eastern Europe and Turkey they are others.
    "cp1252": re.compile(
        rf"(?<!{_LETTER})(?:(?={_LETTER}*[A-Za-z])(?:[{_UPPER}]?[{_LOWER}]+|[{_UPPER}]+)|[{_UPPER}{_LOWER}])(?!{_LETTER})"
        rf"|{_SIGNS}|[¿¡£€×½²]"
    ),
    "cp1251": re.compile(rf"(?<!{_LETTER})(?:[А-ЯЁЄІЇҐЎ]?[а-яёєіїґў]+|[А-ЯЁЄІЇҐЎ]+)(?!{_LETTER})|{_SIGNS}|№(?=\s?\d)"),
}
"""Code page → its ordinary words and signs. Text in Latin-1 is the same in cp1252."""
_LIKELIEST: Final = ("gb18030", "cp1252", "cp932", "euc_jp", "big5", "cp949", "cp1251")
"""The order of those that fit as well as each other, as many do for a few characters."""
_NO_HEBREW: Final = late("[А-Яыьэюя]")
"""Letters of cp1251 where the code page of Hebrew has none."""
_LEAST: Final = 0.8
"""Share of the characters besides those of ASCII that must be ordinary."""
_KOREAN: Final = 12
"""Characters that are all common in Korean are Chinese by chance if they are fewer."""


def guess_encoding(head: bytes) -> str | None:
    """Return the encoding of a text; None if several are as likely, or none is.

    Args:
        head: its beginning; the last character may be cut.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if b"\0" in head:
        return _wide(head)
    if _decoded(head, UTF8) is not None:
        return UTF8
    shares = {
        encoding: _share_of_common(head, encoding) if encoding in _COMMON else _share_of_words(head, encoding)
        for encoding in _LIKELIEST
    }
    best = max(shares.values())
    likely = [encoding for encoding, share in shares.items() if share == best >= _LEAST]
    if {"gb18030", "cp949"} <= set(likely):
        many = sum(byte >= 0x80 for byte in head) >= 2 * _KOREAN
        return "cp949" if many else "gb18030"
    return likely[0] if likely else None


def _wide(head: bytes) -> str | None:
    """Return the order of bytes of UTF-16 without a mark: every other byte of ASCII text is NUL."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    if min(even, odd) == 0 and max(even, odd) > len(head) // 20:
        return "utf-16-le" if odd else "utf-16-be"
    return None


def _decoded(head: bytes, encoding: str) -> str | None:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return None


def _share_of_common(head: bytes, encoding: str) -> float:
    text = _decoded(head, encoding) or ""
    counts = Counter(character for character in text if character > "\x7f")
    common = sum(
        count for character, count in counts.items() if _COMMON[encoding].fullmatch(character.encode(encoding))
    )
    return common / max(1, counts.total())


def _share_of_words(head: bytes, encoding: str) -> float:
    text = _decoded(head, encoding) or ""
    if encoding == "cp1251" and not _NO_HEBREW.search(text):
        return 0
    ordinary = sum(character > "\x7f" for found in _WORDS[encoding].finditer(text) for character in found[0])
    return ordinary / max(1, sum(character > "\x7f" for character in text))
