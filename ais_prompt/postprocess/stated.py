"""The sentence in which a solution states its result: "The answer is ...", "答案是…", "答：…"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from ais_prompt.postprocess.negation import is_reported
from ais_prompt.postprocess.rules import Rank, Rule

_IS = (
    r"(?:\s*\b(?:is|are|was|would\s+be|should\s+be|must\s+be|will\s+be|equals?|comes\s+(?:out\s+)?to)\b\s*:?"
    r"|\s+(?=(?:is|was)\s?n['’]t\b))"
)
_TO = r"(?:\s+(?:to|for|of)\s+[^.:\n]{1,80}?)?"

RULES: Final = (
    Rule(
        "final answer",
        rf"(?i:\bfinal\s+(?:answer|result)\b{_TO}(?:\*\*)?(?:{_IS}|\s*[:=]))",
        Rank.FINAL,
    ),
    Rule("the answer is", rf"(?i:\b(?:answer|result|solution)s?\b{_TO}{_IS})", Rank.ANNOUNCED),
    Rule(
        "answer:",
        r"(?i:\b(?:answer|result|ans|response|solution)s?\s*(?:\*\*)?\s*[:=]|^\W{0,4}answer(?:\s+[-–—]\s|\*\*\s)|\bans\.)|^A\s*:(?=\s*\S)",
        Rank.ANNOUNCED,
    ),
    Rule("最终答案", r"(?:最终|最后)的?(?:答案|结果)(?:应该|应当|应)?(?:就)?(?:是|为|等于|:)+", Rank.FINAL),
    Rule(
        "答案是",
        r"(?:答案|结果|结论|回答|解答|得数)(?:应该|应当|应|一定|必定)?(?:就)?(?:(?:是|为|等于|填|:)+|(?=并?不[是在]|并?非))|(?:故|应)填:?",
        Rank.ANNOUNCED,
    ),
    Rule(
        "【答案】",
        r"[\[【](?:正确|最终|参考)?答案[\]】]\s*:?"
        r"|^\W{0,4}答案(?:[ \t*]*(?:,|—{1,2}|-(?=\s))|\*\*|[ \t])[ \t]*(?=[^\s,。])",
        Rank.FINAL,
    ),
    Rule("答：", r"(?:^|(?<=[\n。.!;\s]))答\s*[:,]", Rank.ANNOUNCED),
)
"""What announces a result; the rest of the sentence holds it."""

_EVERY: Final = tuple((rule, re.compile(rule.pattern, re.MULTILINE)) for rule in RULES)
_FULL_STOP: Final = re.compile(
    r"\n|[。;；]|\.(?!\d)|[!?](?=\s|$|[\u4e00-\u9fff])|,?\s*\b(?:because|since)\b|,?(?:因为|由于)|,(?=\s*[\u4e00-\u9fff])|,?\s+(?:and\s+)?not\b(?=[^\n]{0,80}\d|\s+\S{1,30}\s*\Z)|\s\((?=[A-Za-z]{2}|\d+\s+[a-z]{2})|\((?=\d*[^\d()=^_,]?\d*[\u4e00-\u9fff])|,\s*(?:but|though|although|while|whereas|if|when)\s+|,(?:但|不过|尽管|虽然|当)|,\s*which\s+is\s+(?=[^,.\n]{0,60}\b(?:less|more|fewer|than)\b)|\s+(?:instead\s+of|rather\s+than)\b"
)

_WOULD_IF: Final = re.compile(r"[^.\n]{0,80}\bwould\b[^.\n]{0,80}\b(?:if|unless|had)\b")
REACH: Final = 1_000
"""Characters after an announcement that are looked at."""


class Statement(Struct, frozen=True):
    """What follows an announcement.

    Attributes:
        rule: which announcement.
        start, end: the rest of its sentence in the text.
        line_end: where its line ends, or the next announcement begins.
    """

    rule: Rule
    start: int
    end: int
    line_end: int


def statements(text: str) -> Iterator[Statement]:
    """Find every announcement, except those of others' views: "One might think the answer is 3".

    If nothing follows on its line, the next line that is not empty belongs to it. One ends where the next begins.
    """
    found = [(one, rule) for rule, pattern in _EVERY for one in pattern.finditer(text)]
    starts = sorted(one.start() for one, _ in found)
    for one, rule in found:
        start = one.end()
        while start < len(text) and text[start] in " \t\r\n*":
            start += 1
        following = bisect_left(starts, start)
        line_end = text.find("\n", start, start + REACH)
        line_end = min(len(text), start + REACH) if line_end < 0 else line_end
        if following < len(starts):
            line_end = min(line_end, starts[following])
        stop = _FULL_STOP.search(text, start, line_end)
        if is_reported(text, one.start()) or _WOULD_IF.match(text, one.start(), line_end):
            continue
        yield Statement(rule, start, stop.start() if stop else line_end, line_end)
