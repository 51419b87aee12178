"""Verdicts of a judge: which tag, or which rating, is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ais_prompt.postprocess.boxed import boxed_spans
from ais_prompt.postprocess.negation import Doubts, doubts
from ais_prompt.postprocess.rules import Candidate, Rank, strongest
from ais_prompt.postprocess.source import said
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types.extraction import Extraction

_ANNOUNCED: Final = (
    r"(?:\b(?i:grade|verdict|judge?ment|decision|conclusion|answer|rating|score)(?:\s+is)?"
    r"|(?:评级|判定|判断|结论|评分|得分|分数|答案)(?:结果)?[是为]?)\s*[:=]?[\s*(\[\"'`]*"
)
_NUMBER: Final = r"(?P<found>-?\d+(?:\.\d+)?)"


@POSTPROCESSORS.register_module()
def generic_llmjudge_postprocess(text: str, true_tag: str = "A", false_tag: str = "B") -> Extraction | None:
    r"""Return the tag that a judge gives; None if it gives none, or one as well as the other.

    Args:
        text: the answer of the judge.
        true_tag, false_tag: the tags of a right and of a wrong answer.

    What is looked for, in this order, in what is said after any thinking: the last ``\boxed{}`` or ``[[ ]]``; the last
    "verdict: A", "grade is A", ...; the tag at the beginning; the only tag by itself. A tag that is denied
    ("not A") does not count.

    >>> generic_llmjudge_postprocess("A good attempt, but the value is wrong.\n\nVerdict: **B**")
    'B'
    >>> generic_llmjudge_postprocess("A: CORRECT")
    'A'
    >>> generic_llmjudge_postprocess("It is CORRECT, or perhaps INCORRECT.", "CORRECT", "INCORRECT")
    >>> generic_llmjudge_postprocess("It is not A but B")
    'B'
    >>> generic_llmjudge_postprocess("I cannot tell.")

    Source: OpenCompass, ``generic_llmjudge_postprocess``, which takes the first letter A or B of the text, also inside
    a word ("Based on ..." gives B).
    """
    return only_tag(text, (true_tag, false_tag))


def only_tag(text: str, tags: Sequence[str]) -> Extraction | None:
    """Return which of several tags a judge gives, as `generic_llmjudge_postprocess` finds one of two.

    >>> only_tag("My final verdict is tie: [[A=B]]", ("A>B", "A=B", "B>A"))
    'A=B'

    Args:
        text: the answer of the judge.
        tags: what the prompt tells it to say; one may begin with another one.
    """
    source = said(text)
    longest_first = sorted(tags, key=len, reverse=True)
    tag = f"(?<![^\\W_])(?P<found>{'|'.join(map(re.escape, longest_first))})(?![^\\W_])"
    found = strongest(_verdicts(source.text, tag, is_letter="A" in tags), source.text)
    if not found or (found[-1].rank == Rank.ALONE and len({one.text for one in found}) > 1):
        return None
    return source.extraction(found[-1].rule, found[-1].start, found[-1].end)


@POSTPROCESSORS.register_module()
def judge_rating_postprocess(text: str) -> Extraction | None:
    """Return the rating that a judge gives, as a number; None if it gives none.

    >>> judge_rating_postprocess("It has 3 faults. Rating: [[7]]")
    '7'
    >>> judge_rating_postprocess("Score: 8.5/10")
    '8.5'

    Source: Zheng et al. 2023, "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena" (the form ``[[7]]``).
    """
    source = said(text)
    ways = (
        (Rank.MARKED, "[[ ]]", rf"\[\[\s*{_NUMBER}\s*\]\]"),
        (Rank.ANNOUNCED, "the rating is", f"{_ANNOUNCED}{_NUMBER}"),
        (Rank.LINE, "nothing but the rating", rf"\A[\s*\[]*{_NUMBER}[\s*\]]*\Z"),
    )
    found = strongest(_matches(source.text, ways, doubts(r"\d+(?:\.\d+)?")), source.text)
    return source.extraction(found[-1].rule, found[-1].start, found[-1].end) if found else None


def _verdicts(text: str, tag: str, *, is_letter: bool) -> Iterator[Candidate]:
    denial = doubts(tag.replace("?P<found>", "?:"))
    for start, end in boxed_spans(text):
        if inside := re.search(tag, text[start:end]):
            place = start + inside.start()
            yield Candidate(Rank.MARKED, "boxed", place, place + len(inside.group()), inside.group())
    # The word "A" begins sentences.
    no_word = tag + (r"(?!\s+(?!or\b|and\b|is\b)[a-z])" if is_letter else "")
    ways = (
        (Rank.MARKED, "[[ ]]", rf"\[\[\s*{tag}\s*\]\]"),
        (Rank.ANNOUNCED, "the verdict is", f"{_ANNOUNCED}{tag}"),
        (Rank.LINE, "the beginning", rf"\A[\s*(\[\"'`]*{tag}(?=\s*(?:[^\w\s]|\n|\Z))"),
        (Rank.ALONE, "the only tag", no_word),
    )
    yield from _matches(text, ways, denial)


def _matches(text: str, ways: tuple[tuple[Rank, str, str], ...], denial: Doubts) -> Iterator[Candidate]:
    for rank, name, pattern in ways:
        for found in re.finditer(pattern, text):
            start, end = found.span("found")
            if rank == Rank.MARKED or not denial.denies_before(text, start):
                yield Candidate(rank, name, start, end, found["found"])
