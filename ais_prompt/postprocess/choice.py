"""Answers to multiple-choice questions by capital letters, for prompts after which a model answers with the letter.

An answer in words is the matter of `ais_prompt.postprocess.options`.
"""

from __future__ import annotations

import re

from ais_prompt.registry import POSTPROCESSORS

_CAPITAL = re.compile("[A-Z]")


@POSTPROCESSORS.register_module(name=["first_capital_postprocess", "first-capital"])  # type: ignore[untyped-decorator]  # mmengine has no types
def first_capital_postprocess(text: str) -> str | None:
    """The first letter A to Z in capitals; None if there is none.

    Any capital counts, also that of a sentence.

    >>> first_capital_postprocess("(c) is wrong, D is right")
    'D'
    >>> first_capital_postprocess("The answer is B")
    'T'

    Source: OpenCompass, ``first_capital_postprocess`` (which takes capitals of every script).
    """
    capital = _CAPITAL.search(text)
    return capital.group() if capital else None


@POSTPROCESSORS.register_module(name=["last_capital_postprocess", "last-capital"])  # type: ignore[untyped-decorator]  # mmengine has no types
def last_capital_postprocess(text: str) -> str | None:
    """The last letter A to Z in capitals; None if there is none.

    >>> last_capital_postprocess("First A, but in the end it is B.")
    'B'

    Source: OpenCompass, ``last_capital_postprocess``.
    """
    capitals = _CAPITAL.findall(text)
    return capitals[-1] if capitals else None


@POSTPROCESSORS.register_module(name=["first_capital_postprocess_multi", "first-capital-multi"])  # type: ignore[untyped-decorator]  # mmengine has no types
def first_capital_postprocess_multi(text: str) -> str | None:
    """The first run of letters A to D in capitals, for questions with several right options; None if there is none.

    >>> first_capital_postprocess_multi("ACD are right")
    'ACD'

    Source: OpenCompass, ``first_capital_postprocess_multi``.
    """
    run = re.search("[A-D]+", text)
    return run.group() if run else None
