"""Answers to multiple-choice questions."""

from __future__ import annotations

import re

from ais_prompt.registry import POSTPROCESSORS


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
def first_capital_postprocess(text: str) -> str | None:
    """The first letter A to Z in capitals; None if there is none.

    Any capital counts, also that of a sentence: "The answer is B" gives T. It is made for prompts after which a model
    answers with the letter. Source: OpenCompass, ``first_capital_postprocess`` (which takes capitals of every script).
    """
    capital = re.search("[A-Z]", text)
    return capital.group() if capital else None
