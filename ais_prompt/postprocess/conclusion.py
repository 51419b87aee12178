"""The result of a solution without a marker: "He paid $42 for 6 books.", "16 - 3 = 13, so she has 13."

A number or formula is read where four things hold:

1. The text has an end. It does not break off, and its last words are no plan, question, premise or doubt.
2. The last sentence with an item states something (`ais_prompt.postprocess.acts`).
3. The item is what that sentence says (`ais_prompt.postprocess.result`).
4. The text shows that the item is a result (`ais_prompt.postprocess.evidence`).

So the last step of a solution that was cut off between two sentences is read as its result: nothing in the text tells
the two apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from ais_prompt.postprocess.acts import LONGEST, Act, Sentence, breaks_off, sentences, unfinished_from
from ais_prompt.postprocess.evidence import fills_line, is_evident
from ais_prompt.postprocess.negation import Doubts, undecided_until
from ais_prompt.postprocess.result import result_of

Match = re.Match[str]

_LEAVES_OPEN: Final = frozenset({Act.ASK, Act.LACK, Act.REJECT, Act.PLAN, Act.SUPPOSE})
_CALCULATION: Final = re.compile(r"\d\S*\s*[-+*/×÷xX]\s*\$?\d[^=\n]{0,80}=\s*\$?-?\d")
_BEFORE_RESULT: Final = re.compile(
    r"\(\s*\)\W*\Z|_{2,}\W*\Z|[,;、]\s*(?:\.{3}|…)\W*\Z|(?:[-+/×÷=(]|(?<!\*)\*)\s*\$?\s*\Z|\$[^$\n]*[\\^_][^$\n]*\Z"
)
"""An operator, an open formula, or a blank to fill in at the end."""
_END: Final = re.compile(r"[.。!?…)\]*'\"”>`|\ue000\ue002]\s*\Z")
_UNIT: Final = re.compile(
    r"[\s*_$)%°]*(?:[a-z]+|[\u4e00-\u9fff]{1,2})?[\s*]*(?:[\s*.。!]*|[\s,–—-]+(?:because|since|as|因为|由于).*)",
    re.DOTALL,
)
_NUMBERING: Final = re.compile(r"^[ \t>*#-]*[(\[]?(\d{1,2})[.)、\]](?=[ \t*]*[^\s\d.,;])", re.MULTILINE)
_CODE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
"""What sets colours in a terminal."""
_CODE_LINE: Final = re.compile(
    r"^[ \t]*(?:(?:def|class|while|if)\b.*:|for\b.*\bin\b.*:.*|"
    r"(?:import|from|return|print|console\.log)\b(?=[ \t(.]).*[\w)]|File \".*)$",
    re.MULTILINE,
)
_ASSIGNMENT: Final = re.compile(r"^[ \t]*\w+ [-+*/]?= .*$", re.MULTILINE)
_ONE_NUMBER: Final = re.compile(r"```\w*\s*[^\w\s]?[\d.,]+\s*```")
_ROW: Final = re.compile(r"^[ \t]*\|.*$", re.MULTILINE)
_TOTAL: Final = re.compile(r"total|sum|answer|result|left|合计|总|答|结果|剩", re.IGNORECASE)


def stated_result(text: str, items: re.Pattern[str], doubts: Doubts, value: Callable[[Match], object]) -> Match | None:
    """Return the number or formula that a text without a marker gives as its result; None if it gives none.

    Args:
        text: an answer.
        items: finds what can be a result.
        doubts: for the same.
        value: makes an item comparable, to see whether two that are merely possible differ.
    """
    text = _prose(text)
    every = sentences(text)
    possible = {value(one) for one in items.finditer(text) if doubts.hedges(text, one.start())}
    if not every or len(possible) > 1 or _goes_on(text, every, items):
        return None
    if len(every) > 1 and not any(one.act is Act.REJECT for one in every) and (first := _bare(text, every[0], items)):
        return first
    results = [
        (one, result_of(text, max(one.start, one.end - LONGEST), one.end, items, doubts))
        for one in _closing(text, every)
    ]
    said = ((one, result) for one, result in results if result and one.act in (Act.STATE, Act.CONDITION))
    remarked = ((one, result) for one, result in results if result and one.act is Act.REMARK)
    sentence, result = next(said, None) or next(remarked, None) or (every[-1], None)
    return result if result and is_evident(text, every, sentence, result, items, doubts, value) else None


def _goes_on(text: str, every: list[Sentence], items: re.Pattern[str]) -> bool:
    """Return whether a text ends before its result: in a calculation, or in a sentence without its full stop."""
    last = every[-1]
    if _BEFORE_RESULT.search(text[-200:]) or (breaks_off(text) and not last.concludes):
        return True
    if len(every) == 1 or _END.search(text):
        return False
    item = items.search(text, last.start)
    if item is None:
        return True
    said = last.concludes or "=" in text[last.start :] or fills_line(text, item)
    return unfinished_from(text) > 0 and not said


def _closing(text: str, every: list[Sentence]) -> list[Sentence]:
    """The last sentences of a text, latest first, up to one that leaves the result open."""
    settled = undecided_until(text)
    closing: list[Sentence] = []
    for sentence in reversed(every):
        case = sentence.act is Act.CONDITION and not _follows(text, sentence, every)
        if sentence.start < settled or sentence.act in _LEAVES_OPEN or case:
            break
        closing.append(sentence)
    return closing


def _bare(text: str, sentence: Sentence, items: re.Pattern[str]) -> Match | None:
    """The item that a sentence consists of, but for a unit: "42 apples. That took me 2 minutes."."""
    found = items.search(text, sentence.start, sentence.end)
    if found is None or not re.fullmatch(r"[\s*_$(]*", text[sentence.start : found.start()]):
        return None
    return found if _UNIT.fullmatch(text, found.end(), sentence.end) else None


def _follows(text: str, condition: Sentence, every: list[Sentence]) -> bool:
    """Return whether a case belongs to a calculation, in it or before it: "If she sells 2 of them, she has 5-2=3."."""
    calculates = _CALCULATION.search(text, condition.start, condition.end)
    return bool(calculates) or any(one.act is Act.STATE for one in every if one.start < condition.start)


def _prose(text: str) -> str:
    """The text without code, rows of tables, numbers of lists and colours; other characters keep their places."""
    text = _ESCAPE.sub(_blank, text)
    if _CODE_LINE.search(text):
        text = _ASSIGNMENT.sub(_blank, _CODE_LINE.sub(_blank, text))
    text = _CODE.sub(lambda code: code.group() if _ONE_NUMBER.fullmatch(code.group()) else _blank(code), text)
    text = _ROW.sub(lambda row: row.group() if _TOTAL.search(row.group()) else _blank(row), text)
    labels: set[int] = set()
    for label in _NUMBERING.finditer(text):
        if int(label[1]) == 1 or int(label[1]) - 1 in labels:
            labels.add(int(label[1]))
    return _NUMBERING.sub(lambda label: _blank(label) if int(label[1]) in labels else label.group(), text)


def _blank(found: Match) -> str:
    return " " * len(found.group())
