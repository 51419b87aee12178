"""The number or formula that one sentence states: what is said in it, not what is spoken of.

It is the item after the last "=" or in the last conclusion ("..., which leaves 42"); else the last item that is no
circumstance: in brackets, in a clause of time or reason ("after 18 were eaten"), behind a preposition ("42 of the 60",
"in 7 days"). Nothing is said of what is given ("the 3 friends"), a name ("step 2") or a part of a calculation ("3 +").

The rules for circumstances were chosen on the solutions that Kojima et al. 2022, "Large Language Models are Zero-Shot
Reasoners", published for five sets of word problems.
"""

from __future__ import annotations

import re
from typing import Final

from ais_prompt.postprocess.acts import CONCLUSION, EQUATION, TERM
from ais_prompt.postprocess.negation import Doubts

Match = re.Match[str]

_BRACKETS: Final = re.compile(r"\([^()\n]*\)")
_RESULT: Final = re.compile(
    r"(?<![<>!=])=(?!=)|≈|(?:,\s*|\b)(?:so|whence|that['’]s|therefore|thus|hence|which\s+(?:is|are|means|makes|leaves|equals|gives|comes\s+to)|making|"
    r"leaving|giving|totall?ing|meaning|equals|is\s+equal\s+to|gives\s+us|to\s+get|for\s+a\s+total\s+of|a\s+total\s+of)\b"
    r"|,?(?:所以|因此|即|也就是|等于|得到?|共计|一共|总共|合计|还剩下?|剩下)",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    r"\b(?:because|since(?!\s+then)|after|when|while|as|so\s+that(?!\s+(?:means|is|makes|leaves|gives)|['’]s)|in\s+order|although|though|before|until|once|unless|whereas|given)\b(?:(?!\bwe\s+(?:have|get|find|obtain|conclude|must)\b)[^,;])*"
    r"|(?:因为|由于|其中|比)[^,;]*|当[^,;。]*时|[^,;。\n]{0,40}(?:以后|之后|之前|以前),",
    re.IGNORECASE,
)
_REASON: Final = re.compile(r"\W*(?:(?i:since|because)\b|因为|由于)[^,=]*,")
"""A sentence may begin with its reason, which is not its result."""
_MAKES_OF_IT: Final = re.compile(
    r"\b(?:and|so)\s+(?:\w+\s+)?(?:gets|receives|has|needs|pays|is\s+left)\b|[,;][^,;]*(?:应|找回?|还剩|还需|就是)|[,;]\s*\Z"
)
_CAUSE: Final = re.compile(r",\s*(?:because|as|since)\b|因为|由于", re.IGNORECASE)
_DETERMINERS: Final = (
    r"(?:(?:the|an?|all|these|those|her|his|their|its|each|every|other|remaining|original|first|last|next|typical|"
    r"about|only)\s+){0,4}"
)
_CIRCUMSTANCE: Final = re.compile(
    r"(?:\bor\s+(?:about|roughly|approximately|around)|\bat\s+(?:an?|the)\s+(?:price|rate|speed|cost)\s+of|"
    r"(?<!total )(?<!sum )(?<!rest )(?<!profit )(?<!average )(?<!cost )(?<!price )(?<!amount )(?<!number )\bof|"
    r"(?<!left )(?<!up )(?<!out )(?<!end )(?<!ends )(?<!over )\bwith|"
    r"\b(?:at|per|from|by|after|over|within|than|during|until|between|to\s+[a-z]+)|"
    rf"\bfor(?!\s*(?:\\?\$|{EQUATION})))\s+{_DETERMINERS}\Z|每\w{{0,2}}\Z",
    re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"\s*(?:more\s+)?(?:second|minute|hour|day|week|month|year|night|morning|trip|round)s?\b", re.IGNORECASE
)
_YEAR: Final = re.compile(r"(?:1[5-9]|20)\d\d(?![\d.%]|,\d)(?=\s?年|\s*[,.]|\s+[a-z])")
_LABEL_BEFORE: Final = re.compile(
    r"(?:\b(?:step|error|http|status|code|example|question|problem|exercise|page|figure|fig\.|table|equations?|eq\.|formula|"
    r"chapter|section|line|room|rule|method|appendix|version|theorem|part|grade|case|item|number)|[例式图表]|定理|步骤|错误|附录|方法)\s*[(#]?\s*\Z",
    re.IGNORECASE,
)
_PART: Final = re.compile(r"\b(?:some|none|many|most|few|any)\s+of\s+(?:the|these|those)\s+\Z", re.IGNORECASE)
_ORDINAL_END: Final = re.compile(r"(?:st|nd|rd|th)\b|\s?[\u4e00-\u9fff]?中的?")
_ORDINAL: Final = re.compile(r"第\s*\Z")
_ORDINAL_AFTER: Final = re.compile(r"\s*(?:[步题页章节行问版项名天次]|小题)")
_CASE: Final = re.compile(r"(?:\A|[:;。,\n]\s*)[(]\Z")
_CLOCK: Final = re.compile(r"\d:\d\d(?!\d)")
_GIVEN: Final = re.compile(
    r"(?:\b(?:the|these|those|(?<!in )all|both|each\s+of\s+the|any|other|same|(?:more|less|fewer)\s+than|among|row)"
    r"|这|那|各|超过|不到|\d\s+and|\d\s?[和与])\s*\Z",
    re.IGNORECASE,
)
_GIVEN_AFTER: Final = re.compile(
    # "in 3 steps" is about the solution
    r"\s*(?:more\s+)?(?:decimals?|digits?|steps?|equations?|unknowns?|variables?|cases|stages|methods?|approaches)\b"
    r"|\s?[个种]?(?:步骤|方程|未知数|变量|情况|方法|思路)|\s+and\s+\d|\s?[和与]\d|\s?、|\s?(?:型|类)|\s?[\u4e00-\u9fff]{1,4}中有|\s?[位倍]?小数|\s?[\u4e00-\u9fff]?的(?![是为]|\W|\Z)"
)
_SAYS: Final = re.compile(
    r"(?:['’]s|\b(?:is|are|was|were|be|being|but|equals?|equal\s+to|means?|gives?|gives?\s+us|(?:given|obtained)\s+by|reads?|measures?|amounts?\s+to|has\s+(?:rank|order|degree|length|area|volume|dimension|period|slope|radius)|(?:the|a)\s+(?:polynomial|function|value|number|expression|interval|matrix|vector)|yields?|gets?|obtain|have|has|find|see|becomes?|leaves?|"
    r"leaving|making|as|to|into|than|up\s+with|left\s+with|(?:is|are|lies|arrive)\s+at|when|conclude|that|say|pick|keep|accept|answer|value|result|sum|total|quotient|product|maximum|minimum|(?:sum|total|quotient|number|ratio)\s+of)"
    r"|[=≈]|是|为|得|到|等于|即|成|填|变|余|共|约|至|有|取|剩|选|保留|应|要|值)[\s:*(]*(?:exactly|simply|just|about|approximately)?\s*\Z",
    re.IGNORECASE,
)
"""What comes right before a formula that is said, and not spoken of."""
_OPENS: Final = re.compile(
    r"(?:\A|[.。,;:!?\n]|\b(?:so|thus|hence|therefore|then|finally|consequently|accordingly|overall|and|or)|则|故|所以|因此|从而|于是|解|答|果)[\s:*,(]*\Z",
    re.IGNORECASE,
)
_HAN: Final = re.compile(r"(?<!满足)[\u4e00-\u9fff]\s*\Z")
_CLOSES: Final = re.compile(
    r"[\s*_)]*(?:(?:square|cubic)\s)?(?:\Z|[.,;:。!?\n]|(?:works|holds|is\s+(?:the|our|what|it))\b|[a-z]{1,12}[.\s]*\Z|[\u4e00-\u9fff]{1,2}[。\s]*\Z|即?[是为])",
    re.IGNORECASE,
)
_APPOSED: Final = re.compile(r"[a-z\u4e00-\u9fff]\s*,\s*\Z")
_APPOSED_AFTER: Final = re.compile(r"\s*,\s*(?:is|are|has|have|must|can|cannot|will|was)\b")
"""A formula that explains a subject: "the expression, F, is positive"."""
_FULL_STOP: Final = re.compile(r"[\s*_)]*(?:\Z|[。.]\s*\Z)")
_ASKED: Final = re.compile(
    r"\b(?:how\s+(?:many|much|long|far|often|old)|whether|ways\s+to)\b[^,.;:?=]*\Z", re.IGNORECASE
)
"""An indirect question: "how much leaks in 1 hour"."""
_QUOTED: Final = re.compile(r"(?:\A|[\s\u4e00-\u9fff(])[\"“][^\"”\n]+\Z")
_OPERATOR: Final = r"(?:[-+*/×÷−]|\bx\b|\bby\b(?=\s*\$?\d|\s*\Z))"
_OPERAND: Final = re.compile(
    rf"[\d)a-z%]\s*{_OPERATOR}\s*\$?\Z|(?:加上?|减去?|乘以?|除以)\s*\Z|\b(?:add|subtract|plus|minus|times)\s+\$?\Z",
    re.IGNORECASE,
)
_RANGE: Final = re.compile(r"\d\s?[\u4e00-\u9fff]?[到至~～]\s?\Z|\d\s+to\s+\Z")
_RANGE_AFTER: Final = re.compile(r"\s?[\u4e00-\u9fff]?[到至~～]\s?\d|\s+to\s+\d")
_UNSOLVED: Final = re.compile(r"(?<![A-Za-z])[a-z]\s*[-+*/×÷·]\s*[a-z]\s*=\s*\Z")
"""An equation that relates unknowns: "w × d = 24"."""
_OPERAND_AFTER: Final = re.compile(rf"\s*{_OPERATOR}\s*\$?\d")


def result_of(text: str, start: int, end: int, items: re.Pattern[str], doubts: Doubts) -> Match | None:
    """Return the result that the sentence between two places states, None if it has none."""
    reason = _REASON.match(text, start, end)
    start = reason.end() if reason else start
    found = [one for one in items.finditer(text, start, end) if _is_stated(text, one, doubts)]
    found = [one for one in found if not doubts.hedges(text, one.start())] or found
    return _main(text, start, end, found) if found else None


def is_concluded(text: str, start: int, item: Match) -> bool:
    """Return whether an item follows "=" or the words of a conclusion in its sentence, which begins at ``start``."""
    return bool(_RESULT.search(text, start, item.start()) or CONCLUSION.search(text, start, item.start()))


def main_items(text: str, start: int, end: int, items: re.Pattern[str], doubts: Doubts) -> list[Match]:
    """Return what the sentence between two places states, without its circumstances."""
    found = [one for one in items.finditer(text, start, end) if _is_stated(text, one, doubts)]
    return [one for one in _clear(text, start, end, found) if not _is_circumstance(text, start, one)]


def _is_stated(text: str, item: Match, doubts: Doubts) -> bool:
    begin, end = item.span()
    return not (
        doubts.denies(text, begin, end)
        or doubts.leaves_open(text, begin, end)
        or is_label(text, begin, end)
        or (text[begin] in (TERM, EQUATION) and not _is_said(text, begin, end))
        or _ASKED.search(text[max(0, begin - 80) : begin])
        or _QUOTED.search(text[max(0, begin - 80) : begin])
        or _OPERAND.search(text[max(0, begin - 20) : begin])
        or _OPERAND_AFTER.match(text, end)
        or _RANGE.search(text[max(0, begin - 12) : begin])
        or _RANGE_AFTER.match(text, end)
        or _UNSOLVED.search(text[max(0, begin - 20) : begin])
        or _GIVEN.search(text[max(0, begin - 20) : begin])
        or _GIVEN_AFTER.match(text, end)
    )


def _is_said(text: str, start: int, end: int) -> bool:
    """Return whether a formula follows a verb of results, or fills a clause: not "the graph of F", "F diverges"."""
    before = text[max(0, start - 40) : start]
    opens = _OPENS.search(before) or (_HAN.search(before) and (text[start] == EQUATION or _FULL_STOP.match(text, end)))
    if _APPOSED.search(before) and _APPOSED_AFTER.match(text, end):
        return False
    return bool(_SAYS.search(before) or (opens and _CLOSES.match(text, end)))


def is_label(text: str, start: int, end: int) -> bool:
    """Return whether a number names something and counts nothing: "step 2", "Error 404", "第2步", "the 4th"."""
    if not re.match(r"\W*\d", text[start:end]):
        return False
    before = text[max(0, start - 24) : start]
    if _CASE.search(before) and text[end : end + 1] == ")":
        return True
    if _PART.search(before) or _ORDINAL_END.match(text, end):
        return True
    if _ORDINAL.search(before) and _ORDINAL_AFTER.match(text, end):
        return True
    return (
        bool(_LABEL_BEFORE.search(before) or _CLOCK.search(text[max(0, start - 3) : end + 3]))
        or text[end : end + 1] == "号"
    )


def _main(text: str, start: int, end: int, found: list[Match]) -> Match:
    """The result among the items of one sentence."""
    if len(found) == 1:
        return found[0]
    sentence = text[start:end]
    clear = _clear(text, start, end, found) or found
    for cue in reversed(list(_RESULT.finditer(sentence))):
        if cue.group() in "=≈" and (after := [one for one in found if one.start() - start >= cue.start()]):
            proved = _proved(text, clear, start + cue.start(), after[0].group())
            return proved or _after_equals(text, start, after)
        after = [one for one in clear or found if one.start() - start >= cue.start()]
        after = after or [one for one in found if one.start() - start >= cue.start()]
        if after:
            clear = after
            break
    main = [one for one in clear if not _is_circumstance(text, start, one)]
    return (main or clear)[-1]


def _proved(text: str, clear: list[Match], equals: int, value: str) -> Match | None:
    """The item that the calculation of a reason contains: "at least 23, as 77 + 23 = 100"."""
    reason = _CAUSE.search(text, clear[0].end(), equals)
    if reason is None or value in {one.group() for one in clear}:
        return None
    operands = set(re.findall(r"[\d.]*\d", text[reason.end() : equals]))
    said = [one for one in clear if one.end() <= reason.start() and one.group() in operands]
    return said[-1] if said else None


def _after_equals(text: str, start: int, after: list[Match]) -> Match:
    """The item after "=", or what a later clause makes of it: "3 * 12 = 36, so" or "= 40 and gets 10 dollars"."""
    later = [one for one in after[1:] if _MAKES_OF_IT.search(text[after[0].end() : one.start()])]
    return later[-1] if later and not _is_circumstance(text, start, later[-1]) else after[0]


def _clear(text: str, start: int, end: int, found: list[Match]) -> list[Match]:
    """The items that are neither in brackets nor in a clause of time or reason."""
    sentence = text[start:end]
    asides = [span.span() for pattern in (_BRACKETS, _CLAUSE) for span in pattern.finditer(sentence)]
    return [one for one in found if not any(a <= one.start() - start < b for a, b in asides)]


def _is_circumstance(text: str, start: int, item: Match) -> bool:
    before = text[max(start, item.start() - 60) : item.start()]
    if _CIRCUMSTANCE.search(before):
        return True
    if re.search(r"(?i:\bin|\bby|\bas\s+of)\s+\Z|[到在于从]\s?\Z", before) and _YEAR.match(text, item.start()):
        return True
    return bool(re.search(rf"\b[Ii]n\s+{_DETERMINERS}\Z", before) and _TIME.match(text, item.end()))
