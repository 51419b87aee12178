"""Verdicts of a judge: which tag, or which rating, is meant."""

from __future__ import annotations

import re

from ais_prompt.postprocess.boxed import last_boxed
from ais_prompt.postprocess.reasoning import extract_non_reasoning_content
from ais_prompt.registry import POSTPROCESSORS

_ANNOUNCED = r"\b(?:grade|verdict|judge?ment|decision|conclusion|answer|rating|score)(?:\s+is)?\s*[:：=]?[\s*(\[\"'`]*"
_NUMBER = r"(-?\d+(?:\.\d+)?)"


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
def generic_llmjudge_postprocess(text: str, true_tag: str = "A", false_tag: str = "B") -> str | None:
    r"""The tag that a judge gives; None if it gives none, or one as well as the other.

    What is looked for, in this order, in what is said after any thinking: the last ``\boxed{}`` or ``[[ ]]``; the last
    "verdict: A", "grade is A", ...; the tag at the beginning; the only tag that stands alone.

    >>> generic_llmjudge_postprocess("A good attempt, but the value is wrong.\n\nVerdict: **B**")
    'B'
    >>> generic_llmjudge_postprocess("A: CORRECT")
    'A'
    >>> generic_llmjudge_postprocess("It is CORRECT, or perhaps INCORRECT.", "CORRECT", "INCORRECT")
    >>> generic_llmjudge_postprocess("I cannot tell.")

    Source: OpenCompass, ``generic_llmjudge_postprocess``, which takes the first letter A or B of the text, also inside
    a word ("Based on ..." gives B).
    """
    said = extract_non_reasoning_content(text) or ""
    tag = f"(?<![^\\W_])({re.escape(true_tag)}|{re.escape(false_tag)})(?![^\\W_])"
    if (boxed := last_boxed(said)) and (inside := re.search(tag, boxed)):
        return inside.group(1)
    for pattern in (rf"\[\[\s*{tag}\s*\]\]", f"(?i:{_ANNOUNCED}){tag}"):
        if found := re.findall(pattern, said):
            return str(found[-1])
    if start := re.match(rf"[\s*(\[\"'`]*{tag}(?=\s*(?:[^\w\s]|\n|\Z))", said):
        return start.group(1)
    # The word "A" begins sentences.
    no_word = tag + (r"(?!\s+(?!or\b|and\b|is\b)[a-z])" if "A" in (true_tag, false_tag) else "")
    alone = set(re.findall(no_word, said))
    return alone.pop() if len(alone) == 1 else None


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
def judge_rating_postprocess(text: str) -> str | None:
    """The rating that a judge gives, as a number; None if it gives none.

    >>> judge_rating_postprocess("It has 3 faults. Rating: [[7]]")
    '7'
    >>> judge_rating_postprocess("Score: 8.5/10")
    '8.5'

    Source: Zheng et al. 2023, "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena" (the form ``[[7]]``).
    """
    said = extract_non_reasoning_content(text) or ""
    for pattern in (rf"\[\[\s*{_NUMBER}\s*\]\]", f"(?i:{_ANNOUNCED}){_NUMBER}", rf"\A[\s*\[]*{_NUMBER}[\s*\]]*\Z"):
        if found := re.findall(pattern, said):
            return str(found[-1])
    return None
