"""Short answers in plain words."""

from __future__ import annotations

import re

from ais_prompt.postprocess.numbers import first_number
from ais_prompt.registry import POSTPROCESSORS


@POSTPROCESSORS.register_module(name=["general_postprocess", "general"])  # type: ignore[untyped-decorator]  # mmengine has no types
def general_postprocess(text: str) -> str | None:
    """The text up to the first newline, full stop or comma, without punctuation, articles and double blanks.

    None if nothing is left.

    >>> general_postprocess("The Eiffel  Tower, in Paris.")
    'Eiffel Tower'
    >>> general_postprocess("It's 1,234.5 km.")
    'Its 1234.5 km'

    Source: OpenCompass, ``general_postprocess`` (which also cuts numbers: "3.14" gives 3).
    """
    start = re.split(r"\n|[.,](?!\d)|(?<!\d)[.,]", text.lstrip("\n"), maxsplit=1)[0]
    words = re.sub(r"(?!(?<=\d)\.(?=\d))[^\w\s]", "", start)
    without_articles = re.sub(r"\b(?:a|an|the)\b", "", words, flags=re.IGNORECASE)
    return " ".join(without_articles.split()) or None


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
def first_number_postprocess(text: str) -> str | None:
    """The first number in a text without ``$`` and commas; None if there is none.

    >>> first_number_postprocess("Rating: 8.5 of 10")
    '8.5'

    What counts as a number: `ais_prompt.postprocess.numbers`. Source: OpenCompass, ``first_number_postprocess``.
    """
    return first_number(text)
