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

_QUOTES = r"[\s()\[\]{}<>'\"“”‘’「」【】*:]{0,6}+"
_JOIN = r"(?>\s*(?:,\s*(?:(?:and|or|nor)\b|和|或)?|\band\b|\bor\b|\bnor\b|&|/|、|和|与|及|或)\s*)"
_MORE_BEFORE = rf"(?:ITEM{_QUOTES}(?:{_JOIN}){_QUOTES}){{0,6}}"
_MORE_AFTER = rf"(?:{_JOIN}{_QUOTES}(?:options?\s+)?ITEM{_QUOTES}){{0,6}}"
# "not A, B": without "and" the second may be the answer, so a negation by "not" reaches over and, or, nor, 、 only.
_SHORT_MORE_BEFORE = rf"(?:ITEM{_QUOTES}\s*(?:\bor\b|\bnor\b|、|和|或)\s*{_QUOTES}){{0,6}}"

_FILLERS = (
    r"(?:\s*\b(?:be|been|the|an|to|options?|choices?|answers?|letter|just|simply|necessarily|definitely|really|"
    r"correct|right|either|both|it\s+is|it['’]s|is|equals?|be|of|as)\b)*"
)
_NOT_BEFORE: Final = (
    # not A, isn't A, cannot be A, never A, neither A nor B
    rf"(?:\bnot\b(?!\s+only\b)|\bnever\b|\bneither\b|\bnor\b|\bcannot\b|n['’]t\b){_FILLERS}{_QUOTES}"
    + _SHORT_MORE_BEFORE,
    # I don't think (that) the answer is A
    r"(?:\bnot|n['’]t|\bcannot)\s+(?:think|believe|say|claim|conclude|agree|see\s+how|choose|pick|select|go\s+with)\b(?:\s+for\s+sure)?(?:\s+(?:that|with))?"
    rf"(?:\s+(?:the\s+)?(?:correct\s+|right\s+|final\s+)?(?:answer|option|choice|it|this)\b)?{_FILLERS}{_QUOTES}"
    + _SHORT_MORE_BEFORE,
    # the answer A is what the text turns away from
    r"\b(?:(?:any(?:thing|one)?|everything|all)\s+but|none\s+of|rather\s+than|instead\s+of|other\s+than|except(?:\s+for)?|apart\s+from|as\s+opposed\s+to|unlike|avoid|"
    r"rul(?:e|es|ed|ing)\s+out|eliminat(?:e|es|ed|ing)|exclud(?:e|es|ed|ing)|reject(?:s|ed|ing)?|discard(?:s|ed|ing)?|"
    rf"dismiss(?:es|ed|ing)?|doubt)\b{_FILLERS}{_QUOTES}" + _MORE_BEFORE,
    # 不是A，不选A，并非A，排除A
    r"(?:不(?:会|太?可能|一定|应该?|该|能|可以)?(?:再)?(?:是|选择?|为|等于|填|包[含括]|含)|不(?:能说|认为|觉得|等于说)|不在|并非|而非|(?<!除)非|没有?选|别选|勿选|误选|错选|不要选|没选)"
    rf"(?:选项|答案)?{_QUOTES}" + _SHORT_MORE_BEFORE,
    rf"(?:排除(?:掉|了)?|(?:不对|不正确|错误的?),?(?:即|分别是)|除了|去掉|舍[去弃]|淘汰|剔除|否定了?)(?:选项|答案)?{_QUOTES}(?:ITEM\s*){{0,6}}"
    + _MORE_BEFORE,
)
_BAD = (
    r"(?:not\b(?!\s+only)|never\b|wrong\b|incorrect|false\b|invalid|impossible|eliminated|ruled\s+out|crossed\s+out|struck|dropped|removed|excluded|rejected|"
    r"out\b|too\s+\w+|inconsistent|irrelevant|unlikely|implausible|untrue|mistaken|inaccurate|unrelated|off\b|"
    r"an?\s+(?:distractor|trap|common\s+mistake|mistake)|the\s+(?:wrong|incorrect)\b)"
)
_NOT_AFTER: Final = (
    # A (and B) is wrong, are both incorrect, can be ruled out
    rf"{_QUOTES}{_MORE_AFTER}\s*(?:,\s*(?:which|who)\s+)?\s*(?:options?\s+|choices?\s+|answers?\s+)?"
    r"(?:\b(?:is|are|was|were|be|seems?|looks?|appears?|sounds?|must|can|could|should|would|has|have|been|to)\s+)+"
    rf"(?:\w+ly\s+|also\s+|all\s+|both\s+|thus\s+|just\s+|be\s+){{0,3}}{_BAD}",
    # A isn't, A cannot be, A fails
    rf"{_QUOTES}{_MORE_AFTER}\s*(?:\b(?:is|are|was|were|does|do|did|can|could|would|should|ca|wo)\s*n['’]t\b"
    r"|\b(?:does|do|did)\s+not\b|\bcannot\b|\bfails?\b|\bcontradicts?\b|\bmakes\s+no\s+sense\b)",
    rf"{_QUOTES}{_MORE_AFTER}的?可能性?(?:也|都|很|并)*(?:不大|不高|小|低)",
    # A: wrong, (A) incorrect, A ✗, | A | no |
    r"[\s)\].:*|→=–—-]{0,6}(?:(?:this|that|it)\s+(?:is|was)\s+|also\s+|(?!part)\w+ly\s+|这(?:也)?是|也)?"
    r"(?:(?:wrong|incorrect|false|no|nope)\b(?!\s+(?:to|that|for)\b)|错误?|不正确|不对|✗|✘|❌|×)",
    # A（选项）不正确，A、B都错，A项有误，A可以排除
    rf"{_QUOTES}{_MORE_AFTER}(?:这个|这一)?(?:选项|项|答案|个)?(?:我们?)?(?:的?(?:说法|表述|描述|叙述|内容|做法|观点|结论))?"
    r"(?:都|均|也|就|显然|明显|是|则|并|肯定|一定|被|可以|可|应该|应|必须|要|很|比较|过于|与[^,。\n]{1,8}){0,4}"
    r"(?:不(?:大可能|正确|对|符合|是(?!\s*ITEM)|成立|选|可能|行|能选|合|符|当|全面|准确|恰当|属于|同)|错|为?假|有误|排除|矛盾|误|无关|偏离|相反)",
)
# "if A", but not "if I had to choose"
_IF = (
    r"(?:\b(?i:if(?!\s+(?:i|we|you)\s+(?:had|have|must|were))|suppose|supposing|assume|assuming|whether|unless|had\s+(?:the|it|we|they|you))\b"
    r"|如果(?!必须|一定|要我)|假设|假如|倘若|要是|若|是否)"
)
_SUPPOSED: Final = re.compile(
    rf"{_IF}[^.,。!?;:\n]{{0,40}}\Z"
    # if ..., the answer would be A; 如果……，答案就是A
    rf"|{_IF}[^.。!?;\n]{{0,70}}(?:\bwould(?:\s+have)?\s+be(?:en)?\b|就是|就选|会是|会选)\W{{0,4}}\Z"
)
_IF_CLAUSE: Final = re.compile(rf"{_IF}[^.。!?;\n]*\Z")
_WOULD: Final = re.compile(r"\W{0,6}would\b")
_WOULD_IF: Final = re.compile(r"\W{0,6}would\b[^.,;!?\n]{0,40}\b(?:if|unless|had|were)\b")
_ASKED: Final = re.compile(
    r"[\s)\]'\"”*]{0,6}(?i:correct|right|true|the\s+(?:correct\s+|right\s+|best\s+)?answer|正确|对|是)?\s*(?:吗|呢|么)?\s*(?:\?|吗|么)"
)
# What others think, or what the text thought at first.
_REPORTED: Final = re.compile(
    r"(?:^|[.,;:!?\n(]\s*|\b(?i:and|but)\s+)(?i:(?:al|even\s+)?though|while|whereas|despite|many|students|people|others|(?:a|one|another|the)\s+student|another|your\s+(?:previous|last|first|earlier)\s+(?:answer|choice)|you\s+(?:said|chose|picked|selected|answered)|(?:i\s+(?:can\s+)?(?:see|understand)\s+why\s+)?(?:some|any)(?:one|body)|"
    r"(?:some|most|other)\s+(?:people|students|readers|might|may|would|say|think)|(?:one|you)\s+(?:might|may|could)|"
    r"(?:at\s+first|initially|originally),?|my\s+(?:first|initial|original)|i\s+(?:was|had|thought|initially|originally|"
    r"first|almost|nearly)|it\s+(?:is|was)\s+tempting|a\s+common|"
    r"let['’]s\s+(?:test|check|try|look\s+at|consider)|[\w\s-]{0,40}\btend(?:s|ed)?\s+to)\b[^.,;!?\n]{0,60}\Z"
    r"|(?:虽然|尽管|即使|即便|很多|不少|许多|有人|有些|有的|有同学|乍一?看|(?:先|来|再|首先|接着)看|(?:你|您)[^,。]{0,8}(?:选了|选的|说|答的)|起初|最初|起先|一开始|我?的?第一反应|直觉|原本|本来|以为|看似|与其|表面(?!积))[^,。;!?\n]{0,30}\Z"
)
_SEEMING: Final = re.compile(
    r"\W{0,4}(?i:(?:is|was|looks?|seems?)\s+(?:\w+ly\s+)?(?:tempting|attractive)|(?:may|might|could)\s+(?:seem|look|appear))"
    r"|的(?:人|同学|学生|考生)|(?:选项|项)?(?:看似|看起来|貌似|乍一?看|有一定道理)"
)
_HEDGED: Final = re.compile(
    r"(?:\b(?i:might|may|could|can)\s+(?i:also\s+|well\s+)?(?i:be(?:\s+off\s+by)?|go\s+with|choose|pick|say|answer)|\b(?i:possibly|perhaps|maybe)|(?:可能|或许|也许)(?:会|就)?(?:是|为|选|等于|有)?)"
    r"[\s(\[$'\"“*]{0,4}\Z"
)
# "A or B", "A还是B", "between A and B", "each of A, B", "possible answers: A", "it depends: ... A"
_OPEN_BEFORE: Final = (
    rf"ITEM{_QUOTES}[\u4e00-\u9fff]{{0,2}}(?:\bor\b(?:\s+(?:with|for|to))?|还是|或者?是?)[选是]?{_QUOTES}",
    rf"ITEM{_QUOTES}\b(?:to|through)\b{_QUOTES}",
    r"ITEM[–~-]",
    rf"\bbetween\b\s*(?:options?\s+)?{_QUOTES}(?:ITEM{_QUOTES}\band\b{_QUOTES})?",
    rf"(?:\beither\b|要么是?)\s*(?:options?\s+)?{_QUOTES}",
    rf"不是选?{_QUOTES}ITEM{_QUOTES},?就是选?{_QUOTES}",
    r"\bthe\s+(?:options|choices)\s+are\s*",
    rf"[在从介于]{_QUOTES}ITEM{_QUOTES}(?:和|与|到|至){_QUOTES}",
    rf"\b(?:one|each|any|which|both|all)\s+of\s+(?:the\s+)?(?:options?\s+)?{_QUOTES}{_MORE_BEFORE}",
    r"(?:\b(?:possible|candidate|available|given|following)\s+(?:answers?|options?|choices?)|\b(?:answer|options?|choices?)\s+choices"
    r"|备选(?:答案|项)?|候选(?:答案|项)?|(?<!最)可能的(?:答案|选项))(?:\s+are|是|有)?[\s:]{0,3}",
    r"(?:\bdepend(?:s|ing)\b|看情况|视情况|取决于)[^.。\n]{0,60}",
)
_OPEN_AFTER: Final = (
    rf"{_QUOTES}[\u4e00-\u9fff]{{0,2}}(?:\bor\b(?:\s+(?:with|for|to))?|还是|或者?是?)[选是]?\s*(?:options?\s+)?{_QUOTES}ITEM(?![A-Za-z])",
    r"(?:,\s?ITEM){1,8},?\s+or\s+ITEM(?![A-Za-z])",
    rf"{_QUOTES}\b(?:to|through)\b{_QUOTES}ITEM(?![A-Za-z])",
    r"[–~-]ITEM(?![A-Za-z])",
    rf"{_QUOTES}(?:和|与|、|到|至)\s*{_QUOTES}ITEM\s*(?:之间|中)",
    rf"{_QUOTES}{_MORE_AFTER}\s*(?:(?:are|is)\s+(?:both\s+|all\s+|equally\s+)?(?:possible|plausible)|(?:都|均|各|也)?(?:有可能|有道理|可能))",
)

_UNDECIDED: Final = re.compile(
    r"\b(?i:(?:can(?:not|\s+not|['’]t)|could(?:\s+not|n['’]t)|unable\s+to|impossible\s+to|difficult\s+to|hard\s+to|"
    r"(?:not\s+enough|insufficient|no\s+way|without\s+more)\b[^.\n]{0,40}?)\b[^.\n]{0,25}?\b(?:determin\w*|decid\w*|"
    r"answer\w*|choos\w*|tell|say|know\w*|conclu\w*|select\w*|pick|help|assist|comput\w*|calculat\w*|solv\w*|information|"
    r"data|context|be\s+sure)"
    r"|(?:do|did)(?:\s+not|n['’]t)\s+(?:know|understand|have)|not\s+(?:sure|certain|clear|given|stated|provided|specified)"
    r"|unclear|unsure|uncertain|undecided|(?:not|n['’]t)\s+(?:yet\s+)?decided|no\s+idea|none\s+of\s+(?:the|these|them|those)|(?<!,\s)sorry|as\s+an\s+ai"
    r"|(?:is|are|seems?)\s+missing|(?:is|are|remains?)\s+unknown|ambiguous|timed\s+out)\b"
    r"|无法|不能(?:确定|判断|回答|得出|选)|不知道|不确定|不清楚|不明确|不好判断|难以|(?:没有?|未)(?:想好|决定)|拿不定|[没无]法|缺少|没有(?:给出|正确|合适|足够|提供)|以上(?:选项)?(?:都|均)不|抱歉|对不起|信息不足|条件不足|请求超时"
)


_SENTENCE_END: Final = re.compile(r"[\n。!?;]|\.(?!\d)")


class Doubts(Struct, frozen=True):
    """The patterns of this module for one kind of answer."""

    negated_before: re.Pattern[str]
    negated_after: re.Pattern[str]
    open_before: re.Pattern[str]
    open_after: re.Pattern[str]

    def denies(self, text: str, start: int, end: int) -> bool:
        """Return whether the words around a candidate negate it."""
        before, after = _around(text, start, end)
        return bool(self.negated_before.search(before) or self.negated_after.match(after))

    def denies_before(self, text: str, start: int) -> bool:
        """Whether the words right before a candidate negate it: "not A"; "A: INCORRECT" may be what a label means."""
        return bool(self.negated_before.search(text[max(0, start - REACH) : start]))

    def reports(self, text: str, start: int, end: int) -> bool:
        """Return whether the words around a candidate suppose it, ask for it, or report what others think."""
        before, after = _around(text, start, end)
        return bool(
            _SUPPOSED.search(before)
            or _REPORTED.search(before)
            or _SEEMING.match(after)
            or (_WOULD.match(after) and _IF_CLAUSE.search(before))
            or _WOULD_IF.match(after)
            or _ASKED.match(after)
        )

    def alternates(self, text: str, start: int, end: int) -> bool:
        """Return whether a candidate is named as one of several: "A or B", "between A and B"."""
        before, after = _around(text, start, end)
        return bool(self.open_before.search(before) or self.open_after.match(after))

    def leaves_open(self, text: str, start: int, end: int) -> bool:
        """Return whether the words around a candidate do not assert it, as `reports` and `alternates` say."""
        return self.reports(text, start, end) or self.alternates(text, start, end)

    def hedges(self, text: str, start: int) -> bool:
        """Return whether a candidate is only said to be possible: "it might be A", "可能是A"."""
        return bool(_HEDGED.search(text[max(0, start - REACH) : start]))


@lru_cache(maxsize=64)
def doubts(item: str) -> Doubts:
    """Return the patterns for answers that the regular expression ``item`` matches."""

    def any_of(patterns: tuple[str, ...], ending: str = "") -> re.Pattern[str]:
        every = "|".join(f"(?:{pattern})" for pattern in patterns)
        return re.compile(f"(?i:{every}){ending}".replace("ITEM", f"(?-i:{item})"))

    return Doubts(any_of(_NOT_BEFORE, r"\Z"), any_of(_NOT_AFTER), any_of(_OPEN_BEFORE, r"\Z"), any_of(_OPEN_AFTER))


def is_reported(text: str, start: int) -> bool:
    """Return whether what begins at a place is others' view, or a first thought: "One might think the answer is"."""
    before = text[max(0, start - REACH) : start]
    return bool(_REPORTED.search(before) or _IF_CLAUSE.search(before))


def undecided_until(text: str) -> int:
    """Return the end of the last sentence in which a text says that it has no answer; 0 if it never does.

    What comes before that place is an answer only if a marker announces it: "Tom has 3 apples. I cannot tell more."
    """
    remarks = [remark.end() for remark in _UNDECIDED.finditer(text)]
    if not remarks:
        return 0
    end = _SENTENCE_END.search(text, remarks[-1])
    return end.end() if end else len(text)


def _around(text: str, start: int, end: int) -> tuple[str, str]:
    return text[max(0, start - REACH) : start], text[end : end + REACH]
