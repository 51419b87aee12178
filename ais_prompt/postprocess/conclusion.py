"""The result of a solution without a marker: "He paid $42 for 6 books.", "16 - 3 = 13, so she has 13."

Only the last sentence with a number or formula is read, and only if the text has an end, nothing after that sentence
asks, plans or doubts, and something shows that the item is a result: it follows "=" or a conclusion ("so", "即"), fills
its line ("Total: 42"), comes after a calculation, or is all that the text states. Two numbers side by side, "Tom has 15
and Kim has 9", belong to the question. So the last step of a solution that was cut off between two sentences is read as
its result: nothing in the text tells the two apart.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from ais_prompt.postprocess.negation import Doubts, is_reported, is_undecided

Match = re.Match[str]

TERM: Final = "\ue000"
EQUATION: Final = "\ue002"
"""What replaces each character of a formula, so that a sentence with formulas reads like one with numbers."""
FORMULA: Final = f"[{TERM}{EQUATION}]"
LONGEST: Final = 2_000
"""Characters of a sentence that are looked at, from its end: a hostile text may be one sentence."""

_CODE: Final = re.compile(r"```(?!\w*\s*[^\w\s]?[\d.,]+\s*```).*?(?:```|\Z)|\x1b\[[\d;]*[A-Za-z]", re.DOTALL)
"""Blocks of code that hold more than a number, and colours of a terminal."""
_PROGRAM: Final = re.compile(
    r"^[ \t]*(?:(?:def|class|for|while|if)\b.*:|import\b.*|.*Error: .*)$(?:\n(?!\n).*)*", re.MULTILINE
)
_ROW: Final = re.compile(r"^[ \t]*\|(?!.*(?i:total|answer|合计|答)).*$", re.MULTILINE)
_NUMBERING: Final = re.compile(r"^[ \t>*#-]*(?:[Ss]tep\s*|[(\[])?\d{1,2}[.)、\]:](?=[ \t*]*[^\s\d.,;])", re.MULTILINE)

_END: Final = re.compile(rf"\n+(?!\s*{FORMULA})|[。!?;…]+['\"”’)*]*|\.(?![\w.])['\"”’)*]*(?=\s*(?:\Z|[^a-z\s]))")
_DANGLING: Final = re.compile(
    r"(?:\b(?i:an?|then|and|so|but|or|the|of|to|is|are|was|has|have|that|which|with|if|because|since|by|we|he|she|it|per|for|in|at|from)"
    r"|[-:;+/×÷=(、]|(?<!\d),|\s\*|[加减乘]|除以|然后|则|那么|所以|因为|而|和|是|为|得|需要|再|把|将|当|接着|接下来|不|其|也|就|被|与|及|或|从|在|向|于|这|那|该|并|但|我们)\s*\Z"
    r"|“[^”\n]*\Z|[(（][^)）\n]*\Z|,\s*\.{3}\Z|\$[^$\n]*[\\^_][^$\n]*\Z"
)
_ASKS: Final = re.compile(
    r"\?\W*\Z|\b(?:please|(?:could|can|would|do)\s+you)\b|\A\W*(?:what|which|how|why|who|where)\b|[吗呢么]\W*\Z|请|\A\W*求(?!得|出)|(?:几|多少)[^,。]{0,12}\W*\Z"
    r"|\b(?:not|n['’]t)\b[^,;]*(?:right|possible|match|divisible|make\s+sense)|\bcontradict|\bcan(?:not|['’]t)\s+be\b|矛盾|不对|错|不是一回事"
    r"|\A\W*(?:given\s*:|remember|recall|note|hint|tip|fun\s+fact|it\s+is\s+well\b|(?:要|请)?记住|注意|提示|小知识)|\bformula\b|公式"
    r"|\A\W*(?:an?|one|1|一)\s?(?!共)[a-z\u4e00-\u9fff]+\s*(?:=|≈|is\b|equals|是|等于|约)[^,;]{1,40}\Z",
    re.IGNORECASE,
)
"""What a sentence does that states nothing: it asks, takes something back, or gives a law or a unit."""
_OPEN: Final = re.compile(
    r"\b(?:let\s+(?:us|me|x)|let['’]s|suppose|assume|given|denote|recall|note|for\s+example|such\s+as|without)\b"
    r"|\b(?:we|i|you)(?:['’](?:ll|d)|\s+(?:(?:now|then|first|next|just|still|also)\s+)?(?:will|can|could|may|must|should|need|want|have\s+to|know|are\s+told))\b"
    r"|\A\W*(?:first|next|then|now|to|step|if|when|whenever|each|every|one|an?|1|by|using|with|give|find|multiply|add|divide|subtract|use|consider|calculate|compute|solve|substitute)\s"
    r"|\b(?:goal|task|formula|theorem|law|identity|question|problem|hint|tip|unknown|error|limit|budget|tokens?|contest|knows?|timeout|update|wants?)\b"
    r"|\b(?:may|might|could|would|maybe|perhaps|possibly|either|"
    r"(?<!, )not|never|cannot|nothing|somewhere)\b|n['’]t\b|\A\W*(?:i|my)\b(?!\s+(?:get|got|think|believe|guess|find))"
    r"|已知|设|假设|假如|如果|若|(?<!需)要(?![花付]|\d)|需(?!要?[\d-])|先|接下来|下面|然后|题|每(?!.*得)|公式|定理|例如|比如|可能|也许|大概|不(?!到|足|少|仅)|[没无]|知道|截止|最多|只能|超时|参数"
    r"|注意|回忆|考虑|记|别忘|把|将|用|代入|其中|由(?!此)|平移|检验|思路|想|\A\W*我(?!们|觉得|认为|算|得)|\A\W*[一1](?!共)[\u4e00-\u9fff]",
    re.IGNORECASE,
)
"""What a sentence does that concludes nothing: it plans, supposes, guesses, denies, or gives a rate or a law."""
_REMARK: Final = re.compile(
    r"\A\W*(?:let\s+me\s+know|feel\s+free|(?:i\s+)?hope|if\s+you\s+(?:have|need|want)|check|verif\w+|note|confidence|explanation|this\s+(?:took|is\s+a\s+classic)|that\s+took"
    r"|希望|如有|验算|检验|说明|解析|(?:让我们)?验证)",
    re.IGNORECASE,
)
_CUE: Final = re.compile(
    r"\b(?:so(?!\s+(?:that|many|much|far))|therefore|thus|hence|consequently|that['’]s|(?:which|this|that)\s+(?:is|means|gives|leaves|makes|equals)|making|leaving|giving|"
    r"totall?ing|meaning|equals|is\s+equal\s+to|gives(?:\s+us)?|yields|to\s+get|(?:we|i)\s+(?:get|obtain|find)|but\s+rather)\b"
    r"|所以|因此|因而|故|从而|于是|得到?|即|也就是|等于|应该?是|而是|\A\W*答",
    re.IGNORECASE,
)
"""What begins a conclusion."""
_AFTER_CUE: Final = re.compile(rf"(?:{_CUE.pattern})[\s,:]*\Z", re.IGNORECASE)
_EQUALS: Final = re.compile(r"(?<![<>!=])[=≈](?!=)")
_CALCULATION: Final = re.compile(
    r"[\d)%]\s*[-+*/×÷−]\s*[$(]?\d|=\s*[$¥]?[-−]?\d|\d\s*(?:\bx|plus|minus|times|divided\s+by|[加减乘除]以?)\s*\$?\d",
    re.IGNORECASE,
)
_SUMS_UP: Final = re.compile(
    r"\b(?:total|sum|altogether|in\s+all|overall|result)\b|[一总]共|合计|总[数计]", re.IGNORECASE
)
_ASIDE: Final = re.compile(
    r"\([^()\n]*\)|\b(?:because|since|after|when|while|as|although|though|before|until|once|given)\b[^,;]*"
    r"|(?:因为|由于|其中|比)[^,;]*|当[^,;。]*时|[^,;。\n]{0,40}(?:以后|之后|之前|以前|后|时),",
    re.IGNORECASE,
)
_DETERMINERS: Final = (
    r"(?:(?:the|an?|all|these|those|her|his|their|its|each|every|other|first|last|next|about|only)\s+){0,3}"
)
_CIRCUMSTANCE: Final = re.compile(
    r"(?:(?<!total )(?<!sum )(?<!profit )(?<!average )(?<!cost )(?<!price )(?<!amount )(?<!number )(?<!out )\bof|"
    r"(?<!left )(?<!up )(?<!ends )\bwith|"
    rf"\b(?:at|per|by|from|after|over|within|than|during|until|between|in|on|for(?!\s*\\?\$)))\s+{_DETERMINERS}\\?\$?\Z|(?:每\w{{0,2}}|比|超过|不到|用|在|从|第)\s?\Z",
    re.IGNORECASE,
)
_GIVEN: Final = re.compile(r"(?:\b(?:the|these|those|all|both|other|same|row)|[这那])\s*\Z", re.IGNORECASE)
_LABEL: Final = re.compile(
    r"(?:\b(?:step|error|code|example|question|problem|exercise|page|figure|table|equation|chapter|section|line|room|rule|method|version|theorem|part|grade|case|item)|[例式图表第]|步骤)\s*[(#]?\s*\Z",
    re.IGNORECASE,
)
_LABEL_AFTER: Final = re.compile(r"(?:st|nd|rd|th)\b|号|(?<=\d{4})\s?年|:\d|\)\s*(?=[A-Za-z\u4e00-\u9fff]{3})")
_OPERAND: Final = re.compile(
    r"[\d)a-z%]\s*(?:[-+*/×÷−]|\bx\b|\bby\b)\s*\$?\Z|(?:加上?|减去?|乘以?|除以)\s*\Z|\b(?:add|subtract|plus|minus|times)\s+\$?\Z|(?<![A-Za-z])[a-z]\s*[-+*/×÷·]\s*[a-z]\s*=\s*\Z|\d\s?[\u4e00-\u9fff]?(?:\s(?:to|and)\s|[到至和与、~:])\s?\$?\Z",
    re.IGNORECASE,
)
OPERAND_AFTER: Final = re.compile(r"\s*(?:[-+*/×÷−]|\bx\b)\s*\$?\d|\s*[和与]\s?\d|\s+(?:and|to)\s+\$?\d|\s?[到至~、]")
_SAYS: Final = re.compile(
    r"(?:\b(?:is|are|was|be|equals?|means?|gives?|by|get|obtain|have|has|find|becomes?|as|to|when|conclude|that|say|answer|value|or)|[=≈:]|[是为得到于即成填有取应余共约])[\s:*(]*\Z",
    re.IGNORECASE,
)
_LINE_START: Final = re.compile(r"[\s>*#|_•-]*(?:[^\W\d][^\n,。;:=|]{0,40}[:=|–—-][\s*_]*)?[\s*_$(]*")
_LINE_END: Final = re.compile(r"[\s*_$)%°|]*(?:[A-Za-z]+(?:\s[a-z]+)?|[\u4e00-\u9fff]{1,3})?[\s*)|]*[.。!✓]*\s*\Z")


def stated_result(text: str, items: re.Pattern[str], doubts: Doubts) -> Match | None:
    """Return the number or formula that a text without a marker gives as its result; None if it gives none.

    Args:
        text: an answer.
        items: finds what can be a result.
        doubts: for the same.
    """
    for pattern in (_CODE, _PROGRAM, _ROW, _NUMBERING):
        text = pattern.sub(lambda found: " " * len(found.group()), text)
    if is_cut(text):
        return None
    for start, end in reversed(sentences(text)):
        start = max(start, end - LONGEST)
        sentence = text[start:end]
        if _REMARK.match(sentence):
            continue
        stated = [one for one in items.finditer(text, start, end) if _is_stated(text, one, doubts)]
        main = _main(text, start, end, stated)
        concluded = _concluded(text, start, stated, main)
        if is_undecided(sentence) or _ASKS.search(sentence) or (not concluded and _OPEN.search(sentence)):
            return None
        if concluded or (main and _is_evident(text, main, items)):
            return concluded or main[-1]
        if items.search(sentence):
            return None
    return None


def sentences(text: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence that is not blank."""
    ends = [0, *(end.end() for end in _END.finditer(text)), len(text)]
    return [(start, end) for start, end in pairwise(ends) if text[start:end].strip()]


def is_cut(text: str) -> bool:
    """Return whether a text ends in the middle of a sentence: "She buys 3 apples. Then", "3 + 4 ="."""
    text = text.rstrip()
    if _DANGLING.search(text[-200:]):
        return True
    every = sentences(text)
    if len(every) < 2 or not re.search(r"\w\Z", text):
        return False
    last = text[slice(*every[-1])]
    if not re.search(rf"\d|{FORMULA}|(?<![A-Za-z])[A-Z](?![A-Za-z])", last):
        return True
    words = len(re.findall(r"[A-Za-z]+|[\u4e00-\u9fff]{2}", last))
    return words > 1 and not re.search("[=≈:]", last)


def is_label(text: str, start: int, end: int) -> bool:
    """Return whether a number names something and counts nothing: "step 2", "Error 404", "第2步", "the 4th"."""
    return bool(_LABEL.search(text[max(0, start - 24) : start]) or _LABEL_AFTER.match(text, end))


def _is_stated(text: str, item: Match, doubts: Doubts) -> bool:
    begin, end = item.span()
    before = text[max(0, begin - 40) : begin]
    if text[begin] in (TERM, EQUATION) and not (
        _SAYS.search(before) or _AFTER_CUE.search(before) or _fills_line(text, item)
    ):
        return False
    return not (
        doubts.denies(text, begin, end)
        or is_reported(text, begin)
        or is_label(text, begin, end)
        or _OPERAND.search(before)
        or OPERAND_AFTER.match(text, end)
        or _GIVEN.search(before)
    )


def _concluded(text: str, start: int, stated: list[Match], main: list[Match]) -> Match | None:
    """The first item after the last "=" of a sentence, or the last one after a conclusion."""
    for item in reversed(stated):
        cues = [cue for pattern in (_CUE, _EQUALS) for cue in pattern.finditer(text, start, item.start())]
        if not cues:
            return None
        last = max(cues, key=re.Match.end)
        if last.group() in "=≈":
            return next(one for one in stated if last.end() <= one.start())
        if item in main:
            return item
    return None


def _main(text: str, start: int, end: int, found: list[Match]) -> list[Match]:
    """The items of a sentence that are no circumstances."""
    asides = [aside.span() for aside in _ASIDE.finditer(text[start:end])]
    return [
        one
        for one in found
        if not any(a <= one.start() - start < b for a, b in asides)
        and not _CIRCUMSTANCE.search(text[max(start, one.start() - 60) : one.start()])
    ]


def _is_evident(text: str, main: list[Match], items: re.Pattern[str]) -> bool:
    """Return whether the last of the main items of a sentence is shown to be a result."""
    item = main[-1]
    if _fills_line(text, item) or _CALCULATION.search(text, 0, item.start()):
        return True
    start, end = next(span for span in sentences(text) if span[0] <= item.start() < span[1])
    clause = max(start, text.rfind(",", start, item.start()))
    if _SUMS_UP.search(text, start if len(main) == 1 else clause, end):
        return True
    mains = (
        main
        for start, end in sentences(text)
        for main in _main(text, start, end, list(items.finditer(text, start, end)))
    )
    return {main.group() for main in mains} == {item.group()}


def _fills_line(text: str, item: Match) -> bool:
    """Return whether a line is nothing but an item, its label and its unit: "Total: 42 apples"."""
    start = text.rfind("\n", 0, item.start()) + 1
    end = text.find("\n", item.end())
    line = text[item.end() : len(text) if end < 0 else end]
    return bool(_LINE_START.fullmatch(text[start : item.start()]) and _LINE_END.match(line))
