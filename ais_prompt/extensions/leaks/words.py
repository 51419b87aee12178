"""The texts of values and their words, to compare them."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any, Final

from ais_prompt.utils import leaves

_CJK: Final = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD: Final = rf"\d+(?:[.,]\d+)*|[{_CJK}]|[^\W\d_{_CJK}]+"
_PUNCTUATION: Final = r".,;:!?…'\"`“”‘’「」『』《》。、·_"
_WORD_OR_SIGN: Final = rf"{_WORD}|[^\w\s{_PUNCTUATION}]"


def value_text(value: Any) -> str:
    """Return the texts and numbers in a value, one a line; of images and other bytes nothing."""
    return "\n".join(str(leaf) for leaf in leaves(value) if isinstance(leaf, str | int | float))


def words_of(text: str) -> list[str]:
    """Return the words and numbers of a text, without case, punctuation, signs and the commas inside numbers.

    Each Chinese, Japanese or Korean character is a word. A single letter keeps its case, because the
    label ``A`` is not the article ``a``.
    """
    return [word if len(word) == 1 else word.casefold() for word in _found(_WORD, text)]


def spaced(text: str) -> str:
    """Return the words of a text with a space on both sides of each."""
    return f" {' '.join(words_of(text))} "


def words_and_signs_of(text: str) -> list[str]:
    """Return words as `words_of` does, and signs such as ``+`` and ``(`` between them; all letters without case."""
    return [word.casefold() for word in _found(_WORD_OR_SIGN, text)]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)  # takes some milliseconds, and few commands compare texts


def _found(pattern: str, text: str) -> list[str]:
    found = _compiled(pattern).findall(unicodedata.normalize("NFKC", text))
    return [word.replace(",", "") if len(word) > 1 and word[0].isdigit() else word for word in found]
