"""Answers to multiple-choice questions by capital letters, for prompts after which a model answers with the letter.

An answer in words is the matter of `ais_prompt.postprocess.options`.
"""

from __future__ import annotations

import re

from ais_prompt.postprocess.source import said
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types.score import Extraction

_CAPITAL = re.compile("[A-Z]")
_RUN = re.compile("[A-D]+")


@POSTPROCESSORS.register_module(name=["first_capital_postprocess", "first-capital"])
def first_capital_postprocess(text: str) -> Extraction | None:
    """Return the first letter A to Z in capitals; None if there is none.

    Any capital counts, also that of a sentence.

    >>> first_capital_postprocess("(c) is wrong, D is right")
    'D'
    >>> first_capital_postprocess("The answer is B")
    'T'

    Source: OpenCompass, ``first_capital_postprocess`` (which takes capitals of every script).
    """
    return _capital(text, _CAPITAL, which=0)


@POSTPROCESSORS.register_module(name=["last_capital_postprocess", "last-capital"])
def last_capital_postprocess(text: str) -> Extraction | None:
    """Return the last letter A to Z in capitals; None if there is none.

    >>> last_capital_postprocess("First A, but in the end it is B.")
    'B'

    Source: OpenCompass, ``last_capital_postprocess``.
    """
    return _capital(text, _CAPITAL, which=-1)


@POSTPROCESSORS.register_module(name=["first_capital_postprocess_multi", "first-capital-multi"])
def first_capital_postprocess_multi(text: str) -> Extraction | None:
    """Return the first run of letters A to D, for questions with several right options; None if there is none.

    >>> first_capital_postprocess_multi("ACD are right")
    'ACD'

    Source: OpenCompass, ``first_capital_postprocess_multi``.
    """
    return _capital(text, _RUN, which=0)


def _capital(text: str, pattern: re.Pattern[str], which: int) -> Extraction | None:
    source = said(text)
    found = list(pattern.finditer(source.text))
    name = "the first capital" if which == 0 else "the last capital"
    return source.extraction(name, *found[which].span()) if found else None
