"""Short answers in plain words."""

from __future__ import annotations

import re

from ais_prompt.postprocess.numbers import NUMBER, plain_number
from ais_prompt.postprocess.source import said
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types.extraction import Extraction


@POSTPROCESSORS.register_module(name=["general_postprocess", "general"])  # type: ignore[untyped-decorator]  # mmengine has no types
def general_postprocess(text: str) -> Extraction | None:
    """Return the text up to the first newline, full stop or comma, without punctuation, articles and double blanks.

    None if nothing is left. The letter A is an article only where a word is left beside it.

    >>> general_postprocess("The Eiffel  Tower, in Paris.")
    'Eiffel Tower'
    >>> general_postprocess("It's 1,234.5 km.")
    'Its 1234.5 km'
    >>> general_postprocess("(A)")
    'A'

    Source: OpenCompass, ``general_postprocess`` (which also cuts numbers: "3.14" gives 3).
    """
    source = said(text)
    begin = len(source.text) - len(source.text.lstrip())
    start = re.split(r"[\n。]|[.,](?!\d)|(?<!\d)[.,]", source.text[begin:], maxsplit=1)[0]
    words = re.sub(r"(?!(?<=\d)\.(?=\d))[^\w\s]", "", start)
    without_articles = re.sub(r"\b(?:a|an|the)\b", "", words, flags=re.IGNORECASE)
    plain = " ".join(without_articles.split()) or ("A" if re.search(r"\bA\b", words) else "")
    return source.extraction("the first phrase", begin, begin + len(start), plain)


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
def first_number_postprocess(text: str) -> Extraction | None:
    """Return the first number in a text without ``$`` and commas; None if there is none.

    >>> first_number_postprocess("Rating: 8.5 of 10")
    '8.5'

    What counts as a number: `ais_prompt.postprocess.numbers`. Source: OpenCompass, ``first_number_postprocess``.
    """
    source = said(text)
    number = NUMBER.search(source.text)
    return number and source.extraction("the first number", *number.span(), plain_number(number.group()))
