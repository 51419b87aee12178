r"""Where an answer states its result: by a mark for programs, in an announcement, or in its last sentence.

`marked_spans` finds ``\boxed{...}``, ``<answer>...</answer>`` and ``"answer": ...`` in JSON. `statements` finds
announcements: "The answer is ...", "答案是…", "答：…". `stated_result` finds the result of a solution without a marker:
"16 - 3 = 13", "So she has 13.", "Total: 42 apples". `only_number` is the weakest: "You have 6 left."

Without a marker a number or formula is read only for a reason. Of the last sentence that has one, in a text that does
not break off, it

- follows the last "=",
- follows a conclusion ("so", "thus", "所以", "得") or a calculation in words ("the sum of 4 and 8 is"),
- fills a line with its label and unit,
- repeats the result of the last calculation: "16 - 3 = 13. She has 13 eggs.",
- or is all that a text of one sentence states.

Else it must be the only number of the text that is no term of a calculation, no bound ("at least 59") and no time
("After 3 hours", "in 2023"), or the only one in bold, or the only one that fills the first line. All else is unparsed:
numbers of premises, plans, questions and steps look like results.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from msgspec import Struct

from ais_prompt.postprocess.rule_engine import Doubts, Rank, Rule, is_reported, is_supposed, is_undecided
from ais_prompt.utils import late

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

_CORRECTS: Final = Rule(
    "it is",
    r"(?i:\b(?:it|that|this)(?:['’]s|\s+(?:is|was|must\s+be|should\s+be|should\s+have\s+been))\b)|应该?[是为]|而是|其实是",
    Rank.CONCLUDED,
)
"""What announces a result after another one was taken back."""
_EVERY: Final = tuple((rule, late(rule.pattern, re.MULTILINE)) for rule in (*RULES, _CORRECTS))
_FULL_STOP: Final = late(
    r"\n|[。;；]|\.(?!\d)|[!?](?=\s|$|[\u4e00-\u9fff])|,?\s*\b(?:because|since)\b|,?(?:因为|由于)|,(?=\s*[\u4e00-\u9fff])|,?\s+(?:and\s+)?not\b(?=[^\n]{0,80}\d|\s+\S{1,30}\s*\Z)|\s\((?=[A-Za-z]{2}|\d+\s+[a-z]{2})|\((?=\d*[^\d()=^_,]?\d*[\u4e00-\u9fff])|,\s*(?:but|though|although|while|whereas|if|when)\s+|,(?:但|不过|尽管|虽然|当)|,\s*which\s+is\s+(?=[^,.\n]{0,60}\b(?:less|more|fewer|than)\b)|\s+(?:instead\s+of|rather\s+than)\b"
)

_UNREAL: Final = late(r"(?i:\bwould\b)|[\u4e00-\u9fff]")
"""What an announcement says after a condition if it announces no result: "If you multiply, the answer is 3" does."""
_WOULD_IF: Final = late(r"[^.\n]{0,80}\bwould\b[^.\n]{0,80}\b(?:if|unless|had)\b")
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


def statements(text: str, *, corrected: bool = False) -> Iterator[Statement]:
    """Find every announcement, except those of others' views: "One might think the answer is 3".

    If ``corrected``, the text follows one that was taken back, and "it is 3" announces a result.

    If nothing follows on its line, the next line that is not empty belongs to it. One ends where the next begins.
    """
    rules = _EVERY if corrected else _EVERY[:-1]
    found = [(one, rule) for rule, pattern in rules for one in pattern.finditer(text)]
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
        if _UNREAL.search(one.group()) and is_supposed(text, one.start()):
            continue
        yield Statement(rule, start, stop.start() if stop else line_end, line_end)


Match = re.Match[str]

TERM: Final = "\ue000"
EQUATION: Final = "\ue002"
"""What replaces each character of a formula, so that a sentence with formulas reads like one with numbers."""
FORMULA: Final = f"[{TERM}{EQUATION}]"
LONGEST: Final = 2_000
"""Characters of a sentence that are looked at, from its end: a hostile text may be one sentence."""

_NOT_PROSE: Final = late(
    r"```(?!\w*\s*[^\w\s]?[\d.,]+\s*```)(?s:.*?)(?:```|\Z)|\x1b\[[\d;]*[A-Za-z]"  # code; colours of a terminal
    r"|^[ \t]*\|(?!.*(?i:total|answer|合计|答)).*$"  # rows of a table
    r"|^[ \t>*#-]*(?:[Ss]tep\s*|[(\[])?\d{1,2}[.)、\]:](?=[ \t*]*[^\s\d.,;])",  # numbers of steps
    re.MULTILINE,
)
_END: Final = late(rf"\n+(?!\s*{FORMULA})|[。!?;…]+['\"”’)*]*|\.(?![\w.])['\"”’)*]*(?=\s*(?:\Z|[^a-z\s]))")
_ENDED: Final = late(r"[.!?。…][\s'\"”’)*|]*\Z|(?:\A|\n)[ \t]*\([^()\n]{1,200}\)[\s*]*\Z")
_DANGLING: Final = late(
    r"(?:\b(?i:an?|then|and|so|but|or|the|of|to|is|are|was|has|have|that|which|with|if|because|since|by|we|he|she|it|per|for|in|at|from)"
    r"|[-:;+/×÷=(、]|(?<!\d),|\s\*|[加减乘]|除以|然后|则|那么|所以|因为|而|和|是|为|得|需要|再|把|将|当|接着|接下来|不|其|也|就|被|与|及|或|从|在|向|于|这|那|该|并|但|我们)\s*\Z"
    r"|“[^”\n]*\Z|[(（][^)）\n]*\Z|,\s*\.{3}\Z|\$[^$\n]*[\\^_][^$\n]*\Z"
)
_ASKS: Final = late(
    r"\?\W*\Z|\b(?:please|(?:could|can|would|do)\s+you)\b|\A\W*(?:what|which|how|why|who|where)\b|[吗呢么]\W*\Z|请|(?:几|多少)[^,。]{0,12}\W*\Z"
    r"|n['’]t\s+(?:match|make)|\b(?:contradict\w*|wrong|stuck|known|denote|geometric|cannot|work\s+out|figure\s+out)\b|矛盾|不对|(?<!没)错|漏|回忆|代换|如图|\bformula\b|公式"
    r"|\A\W*(?:(?:an?|one|1|each|every)\s[a-z]+|[一每](?!共)[\u4e00-\u9fff]{1,3})\s*(?:=|≈|is\b|equals|是|等于|约)[^,;]{1,40}\Z",
    re.IGNORECASE,
)
"""What a sentence does that states no result: it asks, takes something back, or gives a law or a unit."""
_BEGINS: Final = late(
    r"\W*(?:given|let|suppose|assum(?:e|ing)|denote|recall|remember|note|hint|tip|fun\s+fact|wait|next|first|我?们?[设记]|已知|注意|别忘|(?:要|请)?记住|提示|小知识|等等|[还只]需)",
    re.IGNORECASE,
)
"""How a sentence begins that gives, plans or recalls something."""
_PREMISE: Final = (
    r"\b(?:such\s+as|without|goal|task|question|problem|unknowns?|error|limit|budget|tokens?|contest|know|steps?|timeout|wants?|should|not|never"
    r"|cannot|nothing)\b|n['’]t\b"
    r"|\A\W*(?:then|now|to|step|if|when|by|using|find|multiply|add|divide|subtract|use|consider|calculate|compute|solve)\s"
    r"|假|如果|若|先|接下来|下面|然后|题|例如|没(?!错|问题|事)|[无倍]|知道|只能|超时|上限|步骤|未知|不会|考虑|把|将|代入|思路|想"
)
_STATES_NOTHING: Final = late(
    rf"{_PREMISE}|\b(?:we|you|may|might|could|maybe|perhaps"
    r"|either|twice|half|than|times|(?:a|per|each|every)\s+(?:day|week|month|year|hour|minute))\b"
    r"|\A\W*(?:each|every|one|an?|i|my|had|were)\s"
    r"|每|可能|也许|大概|各|最多|超过|用|\A\W*[我一1](?!共)[\u4e00-\u9fff]",
    re.IGNORECASE,
)
"""What a sentence says that only supposes, plans, denies, or gives a rate."""
_ONLY_PREMISE: Final = late(
    rf"{_PREMISE}|\bwe\b(?!\s+(?:get|have|find|obtain|can\s+(?:conclude|say)))|\b(?:because|since|if)\s+(?!19|20)[^\d,]{{1,40}}\d"
    r"|\b(?:digits|decimals?|decimal\s+places?|unless|(?<!all\s)told|mentions?|knowledge|update|parameters|requires?)\b"
    r"|\A\W*(?:let\s+me|i['’]ll|i\s+will)\b(?!\s+say)|截止|更新|参数|位小数|因为[^,。]{0,30}\d|我们需?要|用(?!了)",
    re.IGNORECASE,
)
"""The same for a sentence with the only number of a text, which may hedge: "I think it is 6"."""
_SUM: Final = late(r"[\s*$]*[\d.,]+(?:\s?[-+*/×÷−]\s?[\d.,]+){1,20}\s?=\s?[$*]*[-−]?[\d.,]+[.*$\s]*")
_PERHAPS: Final = late(
    r"\b(?:perhaps|maybe|possibly|probably|guess\w*|or\s+so)\b|(?:\bnot|n['’]t)\s+be\s+(?:sure|certain)\b|也许|可能|大概",
    re.IGNORECASE,
)
_BECAUSE: Final = late(r",?\s+(?:because|since)\b", re.IGNORECASE)
_CONTRASTED: Final = late(r",?\s*\b(?:and\s+)?not\s+\$?\d[\d.,]*", re.IGNORECASE)
_PLANS: Final = late(r"\W*(?:let['’]?s|let\s+us|we|next|now)\b|(?:我们|接下来|下面)", re.IGNORECASE)
_REMARK: Final = late(
    r"\W*(?:let\s+me\s+know|(?:is\s+there\s+)?anything\s+else|(?:would|do)\s+you\s+(?:like|need|want)|feel\s+free|(?:i\s+)?hope|if\s+you\s+(?:have|need|want)|check|verif\w+|note|confidence|explanation|this\s+took|that\s+took"
    r"|希望|如有|验算|检验|说明|解析|(?:让我们)?验证)",
    re.IGNORECASE,
)
_CUE: Final = late(
    r"\b(?:so(?!\s+(?:that|many|much|far))|therefore|thus|hence|consequently|i\.e\.|that['’]s|(?:which|this|that)\s+(?:is|means|gives|leaves|makes|equals)|the\s+(?:total|sum)\s+is|"
    r"meaning|equals|is\s+equal\s+to|gives\s+us|yields|(?:we|i)\s+(?:get|obtain|find|conclude)|altogether|in\s+(?:total|all))\b"
    r"|所以|因此|因而|从而|于是|(?:^|[,;\s])故|(?:[,;求算可解]|我们|^)得[到出]?|得(?=[:=])|,即|也就是|等于|应该?是|而是|\A\W*答",
    re.IGNORECASE,
)
"""What begins a conclusion."""
_LONGEST_CLAUSE: Final = 120
_CLAUSE: Final = late(r"[,;:]\s|[,;:](?!\d)|\b(?:and|so)\b(?!\s*\$?\d)")
_IN_WORDS: Final = late(
    r"(?=\D{0,80}\d)(?:.{0,80}?\b(?:sum|product|difference|quotient|remainder|average|mean|ratio|multipl\w+|add\w*|subtract\w*|tak\w+|divided?|dividing"
    r"|times|plus|minus|half|third|quarter|double|root|cube|square[ds]?)\b|.*\d\s?%?\s+of\b|.*(?:[和差积商]|余数|平方|一半|之[一二三四五六七八九十]|[加减乘除](?:以|上|去)?\s?\d))"
    r".*(?:\b(?:is|are|equals?|makes?|gives?|leaves?)|[是为得到有剩下])(?:\s+(?:equal\s+to|exactly|about))?[\s:$¥*]*\Z",
    re.IGNORECASE | re.DOTALL,
)
"""A calculation in words, with a number of its own, up to its result."""
_TOTAL: Final = late(r"\b(?:total|(?:al)?together|in\s+all)\b|[一总]共|合计", re.IGNORECASE)
_EQUALS: Final = late(r"(?<![<>!=])[=≈](?!=)")
_LABEL: Final = late(
    r"(?:\b(?:step|error|code|example|question|problem|exercise|page|figure|table|equation|chapter|section|line|room|rule|method|version|theorem|part|grade|case|item)|[例式图表第]|步骤)\s*[(#]?\s*\Z",
    re.IGNORECASE,
)
_CALCULATED: Final = (
    r"[\d)a-z%]\s*(?:[-+*/×÷−]|\bx\b|\bby\b)\s*\$?\Z|(?:加上?|减去?|乘以?|除以)\s*\Z|\b(?:add|subtract|plus|minus|times)\s+\$?\Z"
    r"|\d,\Z|\bout\s+of\s+\Z|\d\s?[\u4e00-\u9fff]?(?:\s(?:to|and|or)\s|[到至和与或、~:])\s?\$?\Z|\b(?:the|these|those|all|both|other|same|row)\s*\Z|[这那]\s*\Z"
)
_OPERAND: Final = late(
    rf"{_CALCULATED}|\b(?:after|before|within|during|until|per|at|than|from|in|since)\s+\$?\Z|[比第]\s?\Z",
    re.IGNORECASE,
)
"""What comes before a number of a calculation or a circumstance: "after 2 days"."""
_WHEN: Final = late(r"\A\W*(?:after|before|in|by|on|at|until|within|到)(?:\s+\w+ing)?\s*\$?\Z", re.IGNORECASE)
_WHEN_AFTER: Final = late(r"\s?[\u4e00-\u9fff]{0,4}(?:以后|以前|之后|之前|[后前]|(?<!小)时)[,\s]")
_PERIOD: Final = late(r"\b(?:month|week|day|year|quarter|FY|Q)\s?\Z", re.IGNORECASE)
"""What comes before a number that names a period: "in month 0"."""
_IN_YEAR: Final = late(r"\b(?:in|of|since|for|during|by|until)\s+\Z", re.IGNORECASE)
_YEAR: Final = late(r"(?:1[5-9]|20)\d\d")
_TERM_OF: Final = late(rf"{_CALCULATED}|\b(?:within|until|than|per)\s+\$?\Z|第\s?\Z", re.IGNORECASE)
OPERAND_AFTER: Final = late(
    r"\s*(?:[-+*/×÷−]|\bx\b)\s*\$?\d|\s*[\u4e00-\u9fff]?[和与或]\s?\d|\s+(?:and|to|or)\s+\$?\d|\s?[到至~、]|[,:]\d|[加减乘除](?:以|上|去)?\s?\d"
)
_CHOICE: Final = late(
    r"\d\S{0,3}(?:\s+\w+)?,?\s{0,3}(?:\b(?:or|maybe|perhaps)\b|或者?|还是|,?也?(?:可能|许))[^.,;。\d]{0,12}\d|不是[^,。]{0,12}?\d[^,。]{0,12}?就是",
    re.IGNORECASE,
)
"""Several numbers of which one is right: "5 or 6", "5, maybe 50"."""
_BOUND: Final = late(
    r"\b(?:at\s+(?:least|most)|(?:more|less|fewer|greater|larger|smaller|higher|lower|longer)\s+than|over|under|above|below|(?<!add\s)(?<!adds\s)up\s+to|between|beyond)\s+(?:about\s+)?\$?\Z"
    r"|(?:至少|至多|最多|最少|不到|不足|不超过|不少于|不多于|超过|多于|少于|大于|小于|高于|低于|介于)[\u4e00-\u9fff]{0,4}\s?\Z",
    re.IGNORECASE,
)
"""What comes before a number that only bounds a result: "at least 59"."""
_SAYS: Final = late(
    r"(?:\b(?:is|are|was|be|equals?|means?|gives?|by|get|obtain|have|has|find|becomes?|as|to|conclude|that|value|so|thus|therefore|hence)|[=≈:]|[是为得到于即成填有取应余共约]|所以|因此)[\s,:*(]*\Z"
    r"|(?:\A|\n)[\s>*#-]*\Z",
    re.IGNORECASE,
)
"""What comes before a formula that is stated, not mentioned."""
_LINE: Final = late(
    rf"[\s>*#|_•-]*+(?:[^\W\d][^\n,。;:=|\d]{{0,40}}[:=|–—-])?[\s*_$¥(]*(?:[-−–$\d.,/]+|{FORMULA}+|[A-Z](?![A-Za-z]))[\s*_$)%°|]*"
    r"(?:[A-Za-z]+(?:\s[a-z]+)?|[\u4e00-\u9fff]{1,3})?[\s*)|]*[.。!✓]*\s*"
)
"""A line that holds nothing but an item, its label and its unit: "**Total:** 42 apples"."""
_FORMULA_LINE: Final = late(r"[^\d=,;。\n]{1,24}=[^,;。\n]*\d[^,;。\n]{0,12}\s*")
"""A line that is one equation: "Time = 210 km ÷ 70 km/h = 3 h"."""
BOLD: Final = late(r"\*\*([^*\n]{1,80})\*\*")
_BOLD_NUMBER: Final = late(
    r"\*\*(?:[^*\d\n]{0,40}[:=≈])?[\s$€£¥(\\]*[-−–\d.,/]+(?!\d|[.)]\s?\*\*)(?:[^*\d\n]{0,24}[^*\d\n:])?\*\*"
)
"""Bold text that holds nothing but a number, its label and its unit; no "**1.**" of a list, and no heading."""
_NOW: Final = late(r"\b(?:(?:now|finally)\s+(?:has|have)|leaving(?:\s+\w+)?(?:\s+with)?)\s+\$?\Z", re.IGNORECASE)
_ASIDE: Final = late(
    r"\s\((?!(?:or|maybe|perhaps|possibly|if|unless|not)\b)(?=[^()=\n]{1,120}\)[\s.*]*\Z)|,\s*which\s+is\s+(?:(?:about|around|exactly)\s+)?[\d.]{1,9}\s?%\s+of\b",
    re.IGNORECASE,
)
"""What begins a remark at the end of a sentence that states a result: "42 apples (21 red and 21 green)."."""
_WORD: Final = late(r"[A-Za-z'’]+|[\d.,]+|[\u4e00-\u9fff]{1,2}")
_SHORT: Final = 10
"""Words of a sentence that may be whole without a full stop: "It was built in 1907"."""
_MOST_WORDS: Final = 3
"""Words of a text of one sentence that needs no full stop: "she has 42"."""


def stated_result(text: str, items: re.Pattern[str], doubts: Doubts) -> Match | None:
    """Return the number or formula that a text without a marker gives as its result; None if it gives none.

    Args:
        text: an answer.
        items: finds what can be a result.
        doubts: for the same.
    """
    text = _NOT_PROSE.sub(lambda found: " " * len(found.group()), text)
    every = [(start, end) for start, end in sentences(text) if not _REMARK.match(text, start, end)]
    if not every or _breaks_off(text, every):
        return None
    for start, end in reversed(every):
        start = max(start, end - LONGEST)
        sentence = text[start:end]
        begins = _BEGINS.match(sentence) and not _CUE.search(sentence)
        if begins or is_undecided(sentence) or _ASKS.search(sentence):
            return None
        found = [
            one
            for one in items.finditer(text, start, end)
            if text[one.start()] != TERM or _SAYS.search(text[max(start, one.start() - 40) : one.start()])
        ]
        if found:
            stated = [
                one for one in found if not (_is_term(text, one, doubts, _OPERAND) or is_bound(text, one.start()))
            ]
            if (aside := _ASIDE.search(text, start, end)) and stated and stated[0].start() < aside.start():
                stated = [one for one in stated if one.start() < aside.start()]
            if not stated:
                return None
            alone = len(every) == len(found) == 1
            return _concluded(text, start, stated) or _evident(text, start, end, stated, alone=alone)
    return None


def only_number(text: str, items: re.Pattern[str], doubts: Doubts) -> Match | None:
    """Return the only number of a text that may be its result; None if there are several values, or none is stated.

    Numbers that name something, are denied or are terms of a calculation do not count: "The sum of 4 and 8 is 12."

    Args:
        text, items, doubts: as for `stated_result`.
    """
    text = _NOT_PROSE.sub(lambda found: " " * len(found.group()), text)
    every = [(start, end) for start, end in sentences(text) if not _REMARK.match(text, start, end)]
    if not every or is_undecided(text) or several_values(text):
        return None
    if result := _first_sum(text, items):
        return result
    found = [
        (start, end, one)
        for start, end in every
        for one in items.finditer(text, max(start, end - LONGEST), end)
        if not _is_term(text, one, doubts, _TERM_OF)
    ]
    emphasised = [] if _PERHAPS.search(text) else _in_bold(text, found) or _in_first_line(text, found)
    if emphasised:
        found = emphasised
    elif len({one.group() for _, _, one in found}) > 1:
        found = _without_times(text, found)
    is_short = len(every) == 1 and len(_WORD.findall(text, *every[0])) <= _SHORT
    is_cut = _DANGLING.search(text.rstrip()[-200:]) if is_short or emphasised else _breaks_off(text, every)
    if is_cut or len({one.group() for _, _, one in found}) != 1:
        return None
    item = found[-1][2]
    return None if is_bound(text, item.start()) or not is_stated(text, item.start()) else item


def is_stated(text: str, place: int) -> bool:
    """Return whether the sentence at a place states something of its own, and no later one asks or plans on."""
    every = [(start, end) for start, end in sentences(text) if end > place and not _REMARK.match(text, start, end)]
    if not every or is_supposed(text, place) or is_reported(text, place):
        return False
    start, end = every[0]
    because = _BECAUSE.search(text, place, end)
    end = because.start() if because else end
    sentence = _CONTRASTED.sub("", text[max(start, end - LONGEST) : end])
    if _BEGINS.match(sentence) or _ASKS.search(sentence) or _ONLY_PREMISE.search(sentence):
        return False
    return not any(_ASKS.search(text[slice(*one)]) or _PLANS.match(text, *one) for one in every[1:])


Found = list[tuple[int, int, Match]]
"""Numbers, each with start and end of its sentence."""


def _in_bold(text: str, found: Found) -> Found:
    """Return the numbers in bold that have no other words beside them; none if other bold numbers are left."""
    bold, alone = (
        {place for span in pattern.finditer(text) for place in range(*span.span())} for pattern in (BOLD, _BOLD_NUMBER)
    )
    numbers = [one for one in found if one[2].start() in bold]
    return numbers if all(one.start() in alone for _, _, one in numbers) else []


def _in_first_line(text: str, found: Found) -> Found:
    """Return the number that fills the first line, where no other line is filled by one."""
    lines = [line.span() for line in re.finditer(r"[^\n]+", text) if _LINE.fullmatch(text, *line.span())]
    is_first = len(lines) == 1 and not text[: lines[0][0]].strip()
    return [one for one in found if is_first and one[2].end() <= lines[0][1]]


def _without_times(text: str, found: Found) -> Found:
    """Return the numbers that are no bounds, and do not say when: "After 3 hours", "in 2023", "走了3小时后"."""
    return [
        (start, end, one)
        for start, end, one in found
        if not (
            _WHEN.search(text[start : one.start()])
            or _WHEN_AFTER.match(text, one.end())
            or _PERIOD.search(text[max(0, one.start() - 10) : one.start()])
            or (_YEAR.fullmatch(one.group()) and _IN_YEAR.search(text[max(0, one.start() - 10) : one.start()]))
            or is_bound(text, one.start())
        )
    ]


def _first_sum(text: str, items: re.Pattern[str]) -> Match | None:
    """The result of "30 + 22 = 52", if what comes after it, whole or cut, has no numbers of its own."""
    end = text.find("\n\n")
    if end < 0 or end > LONGEST or not _SUM.fullmatch(text, 0, end):
        return None
    numbers = list(items.finditer(text, 0, end))
    return (
        numbers[-1] if {one.group() for one in items.finditer(text, end)} <= {one.group() for one in numbers} else None
    )


def _is_term(text: str, item: Match, doubts: Doubts, operand: re.Pattern[str]) -> bool:
    """Return whether an item is denied, names something, or is a term of a calculation: ``operand`` is before it."""
    return bool(
        doubts.denies(text, *item.span())
        or is_label(text, item.start())
        or operand.search(text[max(0, item.start() - 40) : item.start()])
        or OPERAND_AFTER.match(text, item.end())
    )


def several_values(text: str) -> bool:
    """Return whether a text leaves several numbers open: "5 or 6"."""
    return _CHOICE.search(text) is not None


def is_bound(text: str, start: int) -> bool:
    """Return whether a number only bounds a result: "at least 59", "不超过8"."""
    return _BOUND.search(text[max(0, start - 40) : start].rstrip("*")) is not None


def sentences(text: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence that is not blank."""
    ends = [0, *(end.end() for end in _END.finditer(text)), len(text)]
    return [(start, end) for start, end in pairwise(ends) if text[start:end].strip()]


def _breaks_off(text: str, every: list[tuple[int, int]]) -> bool:
    """Return whether a text ends in the middle of a sentence, as its last word or the end of its other lines shows."""
    last = text[slice(*every[-1])]
    if _DANGLING.search(text.rstrip()[-200:]):
        return True
    if _ENDED.search(text) or _LINE.fullmatch(last) or _FORMULA_LINE.fullmatch(last):
        return False
    if len(every) == 1:
        return "otal is" not in last and len(re.findall(r"[A-Za-z]{2,}|[\u4e00-\u9fff]{2}", text)) > _MOST_WORDS
    sums_up = _TOTAL.search(last) and re.search(r"=[^=]*\d\W*\w*\s*\Z", last)
    return "=" not in last or bool(_ENDED.search(text[slice(*every[-2])]) and not sums_up)


def is_label(text: str, start: int) -> bool:
    """Return whether a number names something and counts nothing: "step 2", "Error 404", "第2步"."""
    return _LABEL.search(text[max(0, start - 24) : start]) is not None


def _concluded(text: str, start: int, stated: list[Match]) -> Match | None:
    """The first item after the last "=" of a sentence, or the last one after a conclusion."""
    for item in reversed(stated):
        cues = [cue for pattern in (_CUE, _EQUALS) for cue in pattern.finditer(text, start, item.start())]
        if not cues:
            return None
        last = max(cues, key=re.Match.end)
        if last.group() in "=≈":
            return next(one for one in stated if last.end() <= one.start())
        return item
    return None


def _evident(text: str, start: int, end: int, stated: list[Match], *, alone: bool) -> Match | None:
    """The last item of a sentence, if a calculation in words gives it ("Multiplying 6 by 8 makes 48"), or it fills its
    line, repeats a result, ends a story of three numbers ("and now has 42"), or is all that the text states.
    """
    item = stated[-1]
    clause = _CLAUSE.split(text[max(start, item.start() - _LONGEST_CLAUSE) : item.start()])[-1]
    if _IN_WORDS.match(clause):
        return item
    if len(stated) > 2 and _NOW.search(clause) and re.fullmatch(r"[^\d,;:]{0,24}", text[item.end() : end]):
        return item
    line_start, line_end = text.rfind("\n", 0, item.start()) + 1, text.find("\n", item.end())
    if _LINE.fullmatch(text, line_start, len(text) if line_end < 0 else line_end):
        return item
    if _STATES_NOTHING.search(text, start, end):
        return None
    before = text[:start].rpartition("=")
    repeats = before[1] and re.match(rf"\s*[$¥]?{re.escape(item.group())}(?![\d.]*\d)", before[2])
    return item if repeats or alone else None


_TAGGED: Final = late(
    r"(?<!</option>)(?<!</option>\s)<((?:final_?|correct_?)?(?:answer|option)|答案)>((?:(?!<).){0,2000})</\1>(?!\s?<option>)",
    re.DOTALL | re.IGNORECASE,
)
"""An answer in tags. Several options, one after the other, repeat the question."""
_KEYED: Final = late(
    r"""["'](?:final_?|correct_?)?(?:answer|choice|result|答案|最终答案)["']\s*:\s*(?:"([^"\n]{0,500})"|'([^'\n]{0,500})'|([^"'\s,{}\[\]]{1,80}(?:,\d{3}\b)*))""",
    re.IGNORECASE,
)
_TOKEN: Final = late(r"(?P<box>\\f?box(?:ed)?\s*\{)|\\.|[{}]", re.DOTALL)


def last_boxed(text: str) -> str | None:
    r"""Return what the last ``\boxed{}`` or ``\fbox{}`` holds; None if there is none, or its braces never close.

    >>> last_boxed(r"\boxed{1} or rather \boxed{\frac{1}{2}}")
    '\\frac{1}{2}'
    """
    spans = boxed_spans(text)
    return text[slice(*spans[-1])].strip() if spans else None


def boxed_spans(text: str) -> list[tuple[int, int]]:
    """Return where the content of each box begins and ends, in order; of boxes in boxes the innermost.

    Every brace is looked at once, so text of any kind takes linear time.
    """
    found: list[tuple[int, int]] = []
    open_braces: list[int | None] = []  # where the content of a box begins; None for other braces
    for token in _TOKEN.finditer(text):
        if token["box"]:
            open_braces.append(token.end())
        elif token.group() == "{":
            open_braces.append(None)
        elif token.group() == "}" and open_braces:
            start = open_braces.pop()
            if start is not None and not (found and found[-1][0] > start):
                found.append((start, token.start()))
    return found


def marked_spans(text: str) -> list[tuple[str, int, int]]:
    """Return name and place of the content of every mark, in order."""
    found = [("boxed", *span) for span in boxed_spans(text)]
    found += [("<answer>", *tag.span(2)) for tag in _TAGGED.finditer(text)]
    found += [("JSON", *pair.span(pair.lastindex or 0)) for pair in _KEYED.finditer(text)]
    return sorted(found, key=lambda mark: mark[1])
