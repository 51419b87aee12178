"""What shows that a number or formula without a marker is a result, and not a part of what given.

An item that the last sentence states is read only for a reason. It fills its line ("Total: 42"). It follows "=" or a
conclusion ("so", "即"). The text calculates before it, or it is the sum, difference, product or quotient of two numbers
before it. The sentence sums up ("in total", "共"). Or the text says nothing else. Two numbers side by side, "Tom has 15
and Kim has 9", give no such reason: they belong to the question.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations
from typing import Final

from ais_prompt.postprocess.acts import EQUATION, LONGEST, Act, Sentence
from ais_prompt.postprocess.negation import Doubts, is_reported
from ais_prompt.postprocess.numbers import NUMBER, to_decimal
from ais_prompt.postprocess.result import is_concluded, main_items

Match = re.Match[str]

_OPERANDS: Final = 12
"""How many of the last numbers are combined."""

_LABEL: Final = re.compile(r"[\s>*#|_•-]*(?:[^\W\d][^\n,。;:=|]{0,40}[:=|–—-][\s*_]*)?[\s*_$(]*")
"""What may come before an item that fills its line: "**Total:** 42", "| Sum | 42 |"."""
_UNIT: Final = re.compile(
    r"[\s*_$)%°|]*(?:[a-z]+(?:\s[a-z]+)?|[\u4e00-\u9fff]{1,3})?[\s*)|]*(?:[\s*.。!✓]*\Z|[\s,–—-]+(?:because|since|as|因为|由于))",
    re.IGNORECASE,
)
_CALCULATES: Final = re.compile(
    r"[\d)%]\s*(?:[-+*/×÷−x]|\\times|\\cdot|\\div)\s*[$(]?\d|\d[^=\n]{0,40}[=≈]\s*[$¥]?[-−]?\d"
    r"|\b(?:plus|minus|times|multiplied\s+by|divided\s+by|half|twice|double)\b|\d\s*(?:加|减|乘以?|除以?)\s*\d|一半|[两\d]倍"
    r"|\b(?:so|therefore|thus|hence|means|leaves|leaving|makes|making|gives|giving|remaining|which\s+is|infer|conclude)\b[^.\n]{0,80}\d"
    r"|(?:所以|因此|得到?|即|等于|还剩|剩下)[^。\n]{0,20}\d",
    re.IGNORECASE,
)
"""A step from some numbers to another."""
_SUMS_UP: Final = re.compile(
    r"\b(?:in\s+total|altogether|together|total|sum|remain(?:s|ing)?|left|then|becomes?|it['’]s|we\s+(?:get|are\s+left\s+with)|finally|"
    r"in\s+the\s+end|by\s+the\s+end|correction|difference|ratio|product|quotient|remainder|average|(?:the|a)\s+result|now|keep)\b"
    r"|[总全]|最[大小高低]|共|合|剩|余|差|和[是为]|积[是为]|商[是为]|平均|那么|则|其实|最后|最终|正好|刚好|变成|变为|更正",
    re.IGNORECASE,
)
"""Words of a sentence that sums up what came before."""
_COPULA: Final = re.compile(
    r"(?:\b(?:is|are|was|were|be|equals?|to)\s+(?:exactly\s+|only\s+|just\s+)?|[是为到得]\s?)[$¥*]*\Z", re.IGNORECASE
)
_UNIT_FACT: Final = re.compile(
    r"\W*(?:an?|one|1)\s+[a-z]+\s*(?:is|equals|=|≈)\s|\W*[一1]\s?(?!共)[^\s\d,=]{1,3}\s?(?:=|等于|约?是|约)",
    re.IGNORECASE,
)
"""A sentence that converts units: "1 mile = 1.609 km"."""
_STEP: Final = re.compile(r"\bso\b|所以|\d\s*[-+*/×÷]\s*\$?\d", re.IGNORECASE)
_RATE: Final = re.compile(
    r"\W*(?:[^,.\n]{1,40},\s*)?(?:an?|one|1|each|every)\s+\w+(?:\s+(?:with|of)\s+\S+\s+\w+)?\s+(?:is|are|has|have|costs?|contains?|holds?|weighs?|equals?|=)"
    r"|\W*(?:[^,。\n]{1,20},\s*)?(?:[一1]\s?(?!共)[^\s\d,]{1,3}\s?(?:是|有|等于|=|约)|每(?![^,。]*(?:[平均]分|分[得到给成]|得|需|要|可|能|应|为|合)))",
    re.IGNORECASE,
)
"""A sentence that gives a rate: "Each question is worth 5 points"."""
_DENIES: Final = re.compile(
    r"\b(?:not|never|cannot|nothing|maybe|perhaps|possibly|somewhere)\b|n['’]t\b|[没无]|不(?!足|到|超|仅|少|等|同|是|对|正)|可能|也许|大概|说不定",
    re.IGNORECASE,
)
"""A sentence that denies or guesses is no statement of a result unless it concludes."""
_CONTRAST: Final = re.compile(r"\b(?:not|n['’]t)\b.{1,40}?\b(?:but|it\s+is)\b|不是.{1,40}?是|而是", re.IGNORECASE)
_WRITER: Final = re.compile(
    r"\W*(?:(?:well|so|okay|ok|hmm|sorry)\b\W*)*i(?:['’](?:m|ve|d|ll))?\b"
    r"(?!\W+(?:\w+\W+){0,2}?(?:get|got|find|found|think|thought|believe|guess|say|conclude|calculate|computed?|obtain|see|make|end)\b)"
    r"|\W*(?:我|本(?:模型|系统|人))(?!们|[^,。]{0,6}(?:算|得|认为|觉得|猜|想|看|选))",
    re.IGNORECASE,
)
"""A sentence about the one who answers: "I have used 2048 tokens"."""


def is_evident(
    text: str,
    every: list[Sentence],
    sentence: Sentence,
    item: Match,
    items: re.Pattern[str],
    doubts: Doubts,
    value: Callable[[Match], object],
) -> bool:
    """Return whether an item is shown to be a result.

    Args:
        text: an answer.
        every: its sentences.
        sentence: the one that states the item.
        item: what may be the result.
        items, doubts, value: as for `ais_prompt.postprocess.conclusion.stated_result`.
    """
    if _UNIT_FACT.match(text, sentence.start) and not _STEP.search(text, sentence.start, sentence.end):
        return False
    if sentence.concludes or fills_line(text, item) or is_concluded(text, sentence.start, item):
        return True
    if sentence.act is Act.REMARK:
        return False
    if _is_worked_out(text, sentence, item):
        return True
    if _is_about_something_else(text, sentence, items, doubts):
        return False
    if _SUMS_UP.search(text, sentence.start, sentence.end) or _is_last_clause(text, sentence, item):
        return True
    bounds = ((max(one.start, one.end - LONGEST), one.end) for one in every)
    mains = {value(main) for start, end in bounds for main in main_items(text, start, end, items, doubts)}
    return mains <= {value(item)} or _closes(text, sentence, item, items)


def _is_worked_out(text: str, sentence: Sentence, item: Match) -> bool:
    """Return whether the text calculates before an item, or the item follows from two numbers before it."""
    rate = _RATE.match(text, sentence.start)
    calculates = _CALCULATES.search(text, 0, sentence.start if rate else item.start())
    return bool(calculates) or EQUATION in text[: sentence.start] or _follows(text, item)


def _is_about_something_else(text: str, sentence: Sentence, items: re.Pattern[str], doubts: Doubts) -> bool:
    """Return whether a sentence gives a rate, speaks of its writer, or denies and guesses: "not 12 but 42" does not."""
    start, end = sentence.start, sentence.end
    if _RATE.match(text, start) or _WRITER.match(text, start):
        return True
    if not _DENIES.search(text, start, end) or _CONTRAST.search(text, start, end):
        return False
    numbers = items.finditer(text, start, end)
    return not any(doubts.denies(text, *one.span()) or is_reported(text, one.start()) for one in numbers)


def _is_last_clause(text: str, sentence: Sentence, item: Match) -> bool:
    """Return whether a sentence ends in a clause that is nothing but the item: "Half the time, 4 days."."""
    clauses = re.split(r",\s*", text[sentence.start : item.start()])
    bare = len(clauses) > 1 and not clauses[-1].strip(" $*") and re.search(r"[^\W\d]{2}", clauses[-2])
    return bool(bare and _UNIT.match(text[item.end() : sentence.end]))


def _closes(text: str, sentence: Sentence, item: Match, items: re.Pattern[str]) -> bool:
    """Return whether a sentence ends in "is 42", and says no more such things: "The sum of 30 and 12 is 42"."""
    said = [
        one
        for one in items.finditer(text, sentence.start, sentence.end)
        if _COPULA.search(text, max(0, one.start() - 20), one.start())
    ]
    return [one.start() for one in said] == [item.start()]


def _follows(text: str, item: Match) -> bool:
    """Return whether a number is sum, difference, product or quotient of two numbers before it."""
    result = to_decimal(item.group())
    if result is None:
        return False
    before = [to_decimal(one.group()) for one in NUMBER.finditer(text, max(0, item.start() - LONGEST), item.start())]
    numbers = [number for number in before if number is not None][-_OPERANDS:]
    return any(
        result in (one + other, one - other, other - one, one * other) or result * one == other or result * other == one
        for one, other in combinations(numbers, 2)
    )


def fills_line(text: str, item: Match) -> bool:
    """Return whether a line is nothing but an item, its label and its unit: "Total: 42 apples"."""
    start = text.rfind("\n", 0, item.start()) + 1
    end = text.find("\n", item.end())
    line = text[item.end() : len(text) if end < 0 else end]
    return bool(_LABEL.fullmatch(text[start : item.start()]) and _UNIT.match(line))
