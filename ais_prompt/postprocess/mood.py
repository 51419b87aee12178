"""What each sentence of an answer does: state something, or ask, request, set up, or say what is missing.

An answer that announces its result is read by the announcement. Where there is none, only sentences that state
something can hold the result: not "Is it 42?", "Let x = 3", "Please give the 2 prices", "We need the price of the 3
books".
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

_END: Final = re.compile(r"\n+|[。!?;…]+['\"”’)*]*|\.(?![\w.])['\"”’)*]*")
_QUESTION: Final = re.compile(
    r"\?\W*\Z|(?:吗|么|呢)\W*\Z|\A\W*(?:请问|(?i:what|which|how|why|who|where)\b(?!\s+(?:remains|is\s+left)))"
)
_REQUEST: Final = re.compile(
    r"\b(?i:please|kindly|(?:can|could|would|will)\s+you|tell\s+me|let\s+me\s+know|choose\s+(?:one|from)|feel\s+free)\b"
    r"|\A\W*(?i:find|determine|prove|show\s+that|try|see|give|express|state|describe|(?:compute|calculate|evaluate|solve|multiply|add|subtract|divide)\b(?![^=]*=))\b"
    r"|\A\W*(?i:let\s+(?:me|us)|let['’]s)\b(?![^=]*[=\d])|(?:我们?|让我们|我先)来(?![^=]*[=\d])"
    r"|\A\W*(?:试?求(?![得出])|证明|解(?:方程|不等式|下列)(?![^。]*得)|代入[^。]*试)|请|麻烦你|麻烦您|能否|告诉我"
)
_NOUN: Final = r"(?:information|info|details?|data|context|facts?|clarification)"
_LACK: Final = re.compile(
    rf"\b(?i:(?:i|we|you|one)(?:\s+(?:would|will|still|also|first|do|should)|['’](?:d|ll))*\s+(?:need|require|want|have)\s+"
    rf"(?:to\s+(?:know|see|find\s+out|learn|have|be\s+given|ask)|the\b(?!\s+(?:answer|result))|more\s+{_NOUN}|additional|further|some\s+more)"
    r"|(?:do|does|did)(?:\s+not|n['’]t)\s+(?:say|tell|state|mention|specify|give|provide|include|know|have|see|understand)"
    rf"|(?:no|any|more|without|lacks?|lacking|missing|insufficient|enough|additional)\s+{_NOUN}"
    r"|(?:not|never|n['’]t)\s+(?:been\s+)?(?:given|stated|specified|mentioned|provided|known|clear|said|enough|possible|able)"
    r"|without\s+(?:knowing|the|a|any|more)|missing|unknown|unspecified|unstated|unclear|insufficient|depends?\s+on|need\s+to\s+know"
    r"|but\s+not\s+(?:what|how|which|where|when|why|who|the)|no\s+(?:real\s+)?(?:answer|solution)s?|somewhere|anywhere"
    r"|(?:the|this)\s+(?:text|problem|question|passage|statement|puzzle|prompt)\s+(?:only\s+)?(?:mentions?|gives?|says?|states?|tells?|lists?|asks?)"
    r"|(?:i\s+am|i['’]m)\s+an?\s+[^.]{0,20}model|my\s+knowledge|time-?out|timed\s+out|we\s+are\s+told|unreadable|illegible"
    r"|too\s+many\s+unknowns|only\b[^.,;]{0,40}\b(?:known|given|mentioned|stated))\b"
    r"|(?:需要|得|要|想)(?:先)?(?:知道|了解|看到|确认)|(?:没有?|未)(?:说|说明|给出?|提供|提到|告诉|写|附)|不(?:知道|清楚|明确|确定)|缺(?:少|失|乏)?"
    r"|[无没]有?(?:实数)?解|我是[^,。]{0,16}模型|超时|知识截止|(?:题目|题干|原文|短文|文中)[^,。]{0,4}(?:提到|给出|说|讲|问|要求)|没有(?:答案|[^,。]{0,12},?就)|需要(?:更多|补充|提供|额外|[^,。\d]{0,6}信息)|只(?:知道|给出?了?|告诉)|仅(?:凭|知道?|给出?)|[没无]法|(?:算|解|求|看|说|选|答)不(?:出|了|到|上)|取决于"
)
_SETUP: Final = re.compile(
    r"(?:\A|[,:]\s*|\b(?:we|i|us|first|now|then|and|to|can|may|must|will)\s+)(?i:let(?:['’]s|\s+us)\s+(?:call|denote|say|set|define|assume|suppose|consider)|"
    r"let(?!['’]s|\s+(?:us|me)\b)|suppose|assume|assuming|"
    r"define|denote|consider|imagine|recall\s+that|note\s+that)\b[^,]*\Z"
    r"|(?:\A|[,:]\s*)\W*(?:解:?)?(?:我们)?(?:首先|先|不妨|可以?|再)?(?:设|假设|假定|令|定义|考虑|记|(?:利用|运用|回忆|注意到?)(?![^,]*[得知是为=]))[^,]*\Z"
    r"|\A\W*(?i:now|next|then|first)?,?\s*(?i:we\s+)?(?i:use|apply|recall)\b[^,=]*\Z"
)
_IF: Final = re.compile(
    r"(?:\A|,\s*)\W*(?:(?:and|but|so|then)\s+)?(?:(?i:if|unless|whether)\b|如果|若|要是|假如|倘若)[^,]*\Z"
)
_ASIDE: Final = re.compile(
    r"\A\W*(?:(?i:(?:(?:let\s+me|to|as\s+an?)\s+)?(?:double-?\s?)?(?:check(?:ing)?|verify|verification|proof|note|confidence|explanation|reason(?:ing)?|rationale|source|hint|ps|p\.s\.))\b"
    r"\W|再?(?:验算|检验|验证|检查)|注意?:|说明|解析|点评|分析|理由|置信度|[\[(【]?本题)"
)
_NO_RESULT: Final = (
    r"(?![^\n]*(?:[=≈]|,\s*(?i:so|then|thus|the)\b|\b(?i:is|are|gets?|gives?|makes?|obtains?|equals?|leaves?|leaving|which|answer)\b"
    r"|[得是为]|所以|因此|等于|则|故|答案))"
)
_PROCEDURE: Final = re.compile(
    # "First, we add 3 and 4.", "先把3和4相加"
    r"\A\W*(?i:(?:(?:first|next|then|now|step\s+\d+)[,:.]?\s+)?(?:we|i|you|one)\s+(?:(?:can|could|will|must|should|need\s+to|"
    r"have\s+to|first|then|now|simply|just)\s+)*(?:add|sum|subtract|multiply|divide|expand|factor|simplify|substitute|apply|"
    rf"differentiate|integrate|square|convert)\b){_NO_RESULT}"
    rf"|\A\W*(?:首先|先|接着|然后|再)(?:[加减乘除]以?|[^。]{{0,40}}(?:相[加减乘除]|展开|化简|代入|求导|通分)){_NO_RESULT}"
    r"|\b(?i:is|was)\s+(?i:the|a|our)\s+(?i:first|next|main|key)\s+(?i:step|thing|idea)\b|(?:第[一二三四五]|下一|关键的?一)步(?:是|要|应该?)(?![^\n]{0,100}[得=])"
)
_GIVEN: Final = re.compile(
    # "We know that x = 3.", "已知x=3。", "We have a = 3 and b = 4."
    r"\A\W*(?:(?i:we\s+(?:know|are\s+given)|given|it\s+is\s+(?:known|given)|recall)\b(?![^\n]*(?:,\s*\w|\b(?i:so|thus|hence|therefore|answer)\b))"
    r"|(?:我们)?(?:已知|知道)(?![^\n]*(?:得|所以|因此|则|故|答案)))"
    r"|\A\W*(?i:we\s+have)\s+\S+\s+and\s+\S+\W*\Z"
)
_PROBLEM: Final = re.compile(
    r"(?:\b(?i:how\s+(?:many|much|long|far|old|tall|often|fast|big|high|heavy)|what|which)\b(?![^?]{0,100}\byou\s+(?:like|want|need|think|mean|prefer)\b)[^?]{0,300}|(?:几|多少|什么|哪)[^?]{0,300})\?\W*(?:\([^()]*\)\W*)?\Z"
    r"|(?:\A|,)\W*(?i:find|calculate|compute|determine|work\s+out)\s+(?i:the|how|what)\b[^=]{0,300}\Z|(?:\A|[,;]\s*)(?:求(?![得出])|计算)[^=。]{0,200}[。?]?\Z"
)
_GOAL: Final = re.compile(
    # "We need to find f(3).", "The figure shows a circle of radius 2."
    r"\b(?i:(?:we|i)\s+(?:need|want|have|wish|aim|are\s+asked)\s+to\s+(?:find|maximi[sz]e|minimi[sz]e|compute|calculate|show|prove|determine|solve)"
    r"|the\s+(?:figure|graph|diagram|table|chart)\s+shows)\b|(?:需要?|要|想)(?:求(?![得出的])|使|证|算|找)|如图|图中"
)
_DANGLING: Final = re.compile(
    r"(?:\b(?:an?|(?<!or\s)(?i:then|and|so|but|or|the|of|to|is|are|was|has|have|that|which|with|if|because|since|by|we))|[-,:+/×÷=]|\s\*|[加减乘]|除以|然后|则|那么|所以"
    r"|因为|而|和|是|需要|还要|再|把|将|接着|接下来)\s*\Z"
)
_CONCLUDES: Final = re.compile(
    r"\A\W*(?:(?i:so|thus|hence|therefore|consequently|accordingly|overall|finally|in\s+(?:conclusion|total|summary|all|the\s+end)|"
    r"altogether|as\s+a\s+result|this\s+(?:means|leaves|gives|makes)|that\s+(?:means|leaves|gives|makes)|we\s+(?:get|obtain))\b"
    r"|所以|因此|因而|综上|综合|总之|总的来说|由此|可见|于是|故|从而|最终|最后|得|即)"
)
_NO_STATEMENTS: Final = (_QUESTION, _REQUEST, _LACK, _PROCEDURE, _GIVEN, _GOAL)


class Sentence(Struct, frozen=True):
    """A sentence and what it does.

    Attributes:
        start, end: where it is in the text; the next one begins at ``end``.
        states: whether it states something.
        concludes: whether it begins like a conclusion: "So ...", "因此".
        aside: whether it is a remark beside the answer: "Check: ...", "解析：".
        asks: whether it poses the problem: "How many are left?", "求面积。".
    """

    start: int
    end: int
    states: bool
    concludes: bool
    aside: bool
    asks: bool


def sentences(text: str) -> list[Sentence]:
    """Return all sentences of a text in order, in linear time."""
    found: list[Sentence] = []
    start = 0
    ends = [*(end.end() for end in _END.finditer(text)), len(text)]
    for end in ends:
        content = text[start:end].strip()
        if content:
            states = not any(pattern.search(content) for pattern in _NO_STATEMENTS)
            concludes, aside = bool(_CONCLUDES.match(content)), bool(_ASIDE.match(content))
            found.append(Sentence(start, end, states, concludes, aside, bool(_PROBLEM.search(content))))
        start = end
    return found


def supposes(clause: str) -> bool:
    """Return whether what comes before a candidate in its sentence sets something up: "Let x = ", "如果有"."""
    return bool(_SETUP.search(clause) or _IF.search(clause))


def sets_up(sentence: str) -> bool:
    """Return whether a sentence introduces something to work with: "Let x be the apples.", "设苹果有x个。"."""
    return bool(_SETUP.search(sentence.strip(" \n.。;")))


def breaks_off(text: str) -> bool:
    """Return whether a text ends in the middle of a sentence: "She buys 3 apples. Then"."""
    return bool(_DANGLING.search(text[-200:]))
