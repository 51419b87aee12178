"""What denies an answer, supposes it or leaves it open, in English and Chinese.

``ITEM`` in a pattern is whatever can be an answer: a letter, a number. Several may share one negation: "A and B are
wrong", "排除A、B". The patterns are tried right before and right after a candidate.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

REACH: Final = 80
"""Characters around a candidate that are looked at."""

_FILLERS = (
    r"(?:[\s(\[{'\"“‘$*【（]|\b(?:be|the|an?|to|equals?|correct|right|options?|choices?|answers?|either|both|it|is|as|for|with|that|"
    r"think|believe|say|choose|pick|select|just|simply|necessarily|for\s+sure)\b|选项|答案){0,8}"
)
_NEGATED_BEFORE: Final = (
    r"(?:\b(?:not|never|neither|nor|cannot)\b(?!\s+only\b)|n['’]t\b|\b(?:anything|everything|all)\s+but\b|\brul\w+\s+out\b"
    r"|\b(?:rather\s+than|instead\s+of|other\s+than|except(?:\s+for)?|unlike|eliminat\w+|exclud\w+|reject\w*|discard\w*)\b"
    r"|(?<!是)不(?:会|太?可能|应该?|该|能|可以|要|能说)?(?:再)?(?:是|选择?|为|等于)|不能说|并非|而非|没有?选|别选|误选|错选|排除(?:掉|了)?|除了)"
    rf"{_FILLERS}(?:ITEM[\s)\]'\"”】]{{0,3}}(?:or|nor|and|、|和|或)[\s(\['\"“【]{{0,3}}){{0,6}}"
)
_NEGATED_AFTER: Final = (
    r"(?:[\s)\]'\"”】]{0,4}(?:,|、|\band\b|\bor\b|和|与|或)[\s(\['\"“【]{0,4}ITEM){0,6}[\s)\]'\"”】*]{0,4}(?:选?项|都|均|也|就|的说法|显然){0,3}\s?"
    r"(?:(?:(?:is|are|was|were|seems?|looks?|must\s+be|(?:can|could)\s+be)\s+)(?:\w+ly\s+|also\s+|both\s+|thus\s+){0,2}"
    r"(?:not\b|wrong|incorrect|false|invalid|impossible|out\b|eliminated|ruled\s+out|excluded|rejected|unlikely|too\b)"
    r"|(?:is|are|was|were|does|do|did|can|could|would)n['’]t\b|(?:does|do|did)\s+not\b|cannot\b|can['’]t\b|fails?\b|contradicts?\b"
    r"|(?:是|被|可以?|应)?(?:不(?!仅|但|过)|错|有误|排除|矛盾)|[✗✘❌])"
)
_SUPPOSED = (
    r"\b(?:if(?!\s+(?:i|we|you)\s+(?:had|have|must|were))|suppose|supposing|assum\w+|whether|unless)\b"
    r"|(?:如果|假设|假如|倘若|若|要是|是否)(?!必须|一定|要我)"
)
_OTHERS = (
    r"\b(?:although|though|while|whereas|despite|(?:many|most|some|other)\s+(?:students|people|readers|would|might|may|choose|pick|say|think)|others\s+\w+|some(?:one|body)|anyone|tend|"
    r"(?:you|i)\s+(?:said|chose|picked|selected|answered|thought|was|almost|nearly)|your\s+(?:previous|last|first|earlier)|"
    r"might|(?-i:may)|could|at\s+first|initially|originally|tempting|my\s+first)\b"
    r"|虽然|尽管|即使|很多|不少|许多|有人|有些|有的|同学|[你您][^,。]{0,8}(?:选|说|答)|情况|那就|起初|最初|第一|一开始|直觉|本来|以为|看似|与其|(?<![最有])可能(?!的)|也许|或许"
)
_NOT_ASSERTED: Final = re.compile(rf"(?i:{_SUPPOSED}|{_OTHERS})(?:(?!\bthen\b)[^.,。!?;:\n]){{0,60}}\Z")
_DENIED_CLAUSE: Final = re.compile(
    r"(?i:\b(?:not|never|cannot)|n['’]t)\s+(?i:think|believe|say|know|see|agree|sure|clear|certain|mean|imply|follow)\b[^.,;!?\n]{0,40}\Z"
)
_UNDECIDED: Final = re.compile(
    r"\b(?i:(?:cannot|can\s+not|can['’]t|could\s+not|couldn['’]t|unable\s+to|impossible\s+to|hard\s+to|not\s+enough|insufficient)\b"
    r"[^.\n]{0,20}?\b(?:determin\w*|decid\w*|answer\w*|choos\w*|tell|say|know\w*|conclu\w*|solv\w*|find|comput\w*|calculat\w*|help|information|data)"
    r"|(?:do|did)(?:\s+not|n['’]t)\s+(?:know|understand|have)|not\s+(?:sure|certain|clear|given|stated|provided|specified)"
    r"|unclear|unsure|uncertain|undecided|no\s+idea|none\s+of|sorry|as\s+an?\s+(?:ai|language)|depends\s+on|(?:is|are|seems?)\s+missing|ambiguous|cut\s+off)\b"
    r"|无法|不能(?:确定|判断|回答)|不知道|不确定|不清楚|不好判断|拿不[定准]|难以|缺少|没有(?:给出|告诉|正确|足够|提供)|都不正确|抱歉|对不起|不足|取决于|歧义"
)


class Doubts(Struct, frozen=True):
    """What denies answers of one kind, right before and right after them."""

    negated_before: re.Pattern[str]
    negated_after: re.Pattern[str]

    def denies(self, text: str, start: int, end: int) -> bool:
        """Return whether the words around a candidate negate it."""
        return self.denies_before(text, start) or bool(self.negated_after.match(text, end))

    def denies_before(self, text: str, start: int) -> bool:
        """Return whether the words right before a candidate negate it; "A: INCORRECT" may be what a label means."""
        return bool(self.negated_before.search(text[max(0, start - REACH) : start]))


@lru_cache(maxsize=64)
def doubts(item: str) -> Doubts:
    """Return the patterns for answers that the regular expression ``item`` matches."""
    before, after = (pattern.replace("ITEM", f"(?>(?-i:{item}))") for pattern in (_NEGATED_BEFORE, _NEGATED_AFTER))
    return Doubts(re.compile(rf"(?i:{before})\Z"), re.compile(f"(?i:{after})"))


def is_reported(text: str, start: int) -> bool:
    """Return whether what begins at a place is denied, supposed, or others' view: "One might think the answer is"."""
    before = text[max(0, start - REACH) : start]
    return bool(_NOT_ASSERTED.search(before) or _DENIED_CLAUSE.search(before))


def is_undecided(text: str) -> bool:
    """Return whether a text says that it has no answer."""
    return _UNDECIDED.search(text) is not None
