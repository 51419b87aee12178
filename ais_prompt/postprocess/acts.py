"""What each sentence of an answer does: state something, or ask, plan, suppose, report a gap, take something back.

An answer that announces its result is read by the announcement. Where there is none, only a sentence that states
something can hold the result. `ACTS` lists the words that show what a sentence does instead. A conclusion in the same
sentence counts for more: "We have 3 rows of 4, so we need 12" states 12.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from msgspec import Struct

LONGEST: Final = 2_000
"""Characters of a sentence that are looked at, from its end: a hostile text may be one sentence."""
TERM: Final = "\ue000"
EQUATION: Final = "\ue002"
"""What replaces each character of a formula, so that a sentence with formulas reads like one with numbers."""
FORMULA: Final = f"[{TERM}{EQUATION}]"


class Act(Enum):
    """What a sentence does."""

    STATE = "states something"
    OFFER = "offers help"
    REMARK = "checks or explains the answer"
    ASK = "asks or requests"
    LACK = "says what is missing"
    REJECT = "takes something back"
    PLAN = "says what is to be done"
    SUPPOSE = "says what is given or supposed"
    CONDITION = "says what follows in one case"


_WORK: Final = (
    r"(?:re-?)?(?:find|calculate|compute|determine|figure|work|use|apply|add|sum|subtract|multiply|divide|set|solve|check|"
    r"consider|look|compare|convert|substitute|plug|factor|simplify|expand|evaluate|prove|show|analy[sz]e|break|start|begin|"
    r"write|express|count|estimate|identify|define|differentiate|integrate|square|isolate|maximi[sz]e|minimi[sz]e|examine|"
    r"round|draw|proceed|do|try|assume|denote|describe|list|see|give|state)"
)
"""Verbs of calculating: they say what is done and not what comes out."""
_WORK_ZH: Final = (
    r"(?:求|算|计算|找(?!回|零)|确定|分析|讨论|比较|代入|证明|化简|展开|列|作|取|用|使用|利用|运用|应用|考虑|看(?!,)|解|判断|知道|了解|弄清|"
    r"理解|回顾|对|把|将(?![有会在达是近])|乘|除|加|减|通分|求导|配方|验证|检验|检查|改写|整理|进行|分(?:解|析|别|[^\d]{0,3}种)|思考|画|考察)"
    r"(?!出来?是|下来|后|得|完|的|式|图|成|为)"
)
_MODAL: Final = (
    r"(?:['’](?:ll|d|re|m)|\s+(?:will|shall|can|could|may|must|should|now|also|then|first|next|simply|just|only|would|still|again|"
    r"(?:have|need|want|wish|had|aim|try|are|going|are\s+going|am\s+going|would\s+have)\s+to))"
)
_INFORMATION: Final = r"(?:information|info|details?|data|context|facts?|clarification)"
_FIRST: Final = r"(?:(?:first(?:ly)?|second(?:ly)?|next|then|now|finally|lastly|so|and|after\s+that)\b,?\s*)"
_FIRST_ZH: Final = (
    r"(?:(?:第[一二三四五\d]步|首先|其次|先|接着|接下来|然后|再|现在|下面|最后|那么|解题思路|"
    r"我们?|你|让我们?|一起)[,:]?)"
)
_MUST_ZH: Final = r"(?:只?需要?|要|想要?|来|应该?|可以?|必须|得|将|一步一步|就|能|先|再|逐一|分别|进一步)"

ACTS: Final[dict[Act, tuple[str, ...]]] = {
    Act.OFFER: (
        r"\b(?:let\s+me\s+know|feel\s+free|hope\s+(?:this|that|it)|happy\s+to\s+help|if\s+you\s+(?:have|need|want|would\s+like)|"
        r"would\s+you\s+like|do\s+you\s+(?:want|need)\s+(?:me|any|more|further)|good\s+luck|you['’]re\s+welcome)\b",
        r"希望(?:这|对|能)|如果?(?:您|你)?(?:有|还有|需要)[^,。]{0,12}(?:问题|疑问|帮助)|随时(?:问|告诉|联系)|还有(?:什么|其他)问题",
    ),
    Act.REMARK: (
        r"\A(?:(?:let\s+me|to|as\s+an?)\s+)?(?:double-?\s?)?(?:check(?:ing)?|verify|verification|proof|confidence|"
        r"explanation|reason(?:ing)?|rationale|source|ps|p\.s\.)\b\W",
        r"\A(?:再?(?:验算|检验|验证|检查)|说明|解析|点评|分析|理由|置信度|[\[(【]?本题(?!答案|结果))",
    ),
    Act.ASK: (
        # What is left? How many? Please give ..., The question asks for ...
        r"\?\W*\Z|\A(?:what|which|how|why|who|where)\b(?!\s+(?:remains|is|gives|means|leaves|makes)\b)",
        r"\b(?:please|kindly|(?:can|could|would|will)\s+you|tell\s+me|choose\s+(?:one|from))\b",
        r"\b(?:the|this|your)\s+(?:question|problem|task|exercise|puzzle)s?\s+"
        r"(?:is\s+(?:about|to)|asks?|wants|concerns|requires)\b",
        r"(?<!what )\b(?:we|i)(?:\s+(?:are|am|were)|['’](?:re|m))\s+(?:asked|looking\s+for)\b(?!\s+is\b)",
        r"\A(?:prove|show)\s+that\b",
        r"(?:吗|么|呢)\W*\Z|怎么(?:会|可能|能)|\A请问|请(?!注意)|麻烦[你您]|能否|是否|告诉我|(?:几|多少|什么|哪)[^,。]{0,12}\W*\Z",
        r"(?:题目?|问题)(?:要求?|问|是求|想|[^,。]{0,2}求)|(?<!疑)问(?!题)|(?:\A|,)(?:试|要)?求(?![得出解]|的)",
    ),
    Act.LACK: (
        # We need the price. The problem does not say ... I cannot solve this.
        r"\b(?:i|we|you|one)(?:\s+(?:would|will|still|also|first|do|should)|['’](?:d|ll))*\s+(?:need|require|want|have)\s+"
        rf"(?:to\s+(?:know|see|find\s+out|learn|have|be\s+given|ask)|(?-i:the|an?)\b(?!\s+(?:answer|result))|more\s+{_INFORMATION}|additional|further|some\s+more)",
        r"\b(?:do|does|did|can|could|will)(?:\s?not|n['’]t)\s+(?:say|tell|state|mention|specify|give|provide|include|know|have|see|understand|answer|solve|compute|find|show|determine|do)",
        rf"\b(?:no|any|more|without|lacks?|lacking|missing|insufficient|enough|additional)\s+{_INFORMATION}",
        r"(?:\bnot|\bnever|n['’]t)\s+(?:been\s+)?(?:given|stated|specified|mentioned|provided|known|clear|said|enough|possible|able\s+to\s+(?!come|go)|sure|certain|visible)",
        r"\b(?:without\s+(?:knowing|the|a|any|more)|(?:is|are|seems?)\s+missing(?!\s+\$?\d)|unknown|unspecified|unstated|unclear|insufficient|depend(?:s|ing)?\s+on|unable|impossible|unfortunately|"
        r"(?<!, )sorry|apologi[sz]e|undefined|cut\s+off|irrelevant|unreadable|illegible|"
        r"time-?out|timed\s+out|somewhere|anywhere)\b",
        r"\b(?:there\s+(?:is|are)\s+no|no\s+(?:such|closed|real|possible|answer|solution|number|value)|(?:does\s+not|doesn['’]t)\s+exist|too\s+many\s+unknowns|not\s+what)\b(?![^.]*\b(?:other\s+than|except))",
        r"\bbut\s+not\s+(?:what|how|which|where|when|why|who|the)\b|\bonly\b[^.,;]{0,40}\b(?:known|given|mentioned|stated)\b|\bonly\s+(?:handle|know)\b|\bwe\s+are\s+told\b",
        r"\b(?:the|this|your)\s+(?:text|problem|question|passage|statement|puzzle|prompt)\s+(?:only\s+)?(?:mentions?|gives?|says?|states?|tells?|lists?|has|have)\b",
        r"\b(?:i\s+am|i['’]m)\s+an?\s+[^.]{0,20}model|\bas\s+an\s+ai\b|\bmy\s+(?:knowledge|last\s+update)",
        r"\b(?:two|three|several|\d+|many|are|of\s+the)\s+possible\s+(?:answers|values|solutions|cases|results)\b|\beither\s+(?:\$?\d|[\ue000\ue002])|\b(?:two|several|multiple|three)\s+(?:answers|solutions|cases|possibilities)",
        r"(?:需要|得|要|想)(?:先)?(?:知道|了解|看到|确认)|(?:没有?|未)(?:说|说明|给出?|提供|提到|告诉|写|附)|不(?:知道|清楚|明确|确定|存在|足)|缺(?!席)",
        r"\byou\s+(?:mention|forg[eo]t|left\s+out)|[您你](?:提到|忘)|\b(?:was|is|are)\s+(?:empty|blank)\b|\bfailed\b|失败|为空",
        r"\b(?:i|we)\s+(?:(?:can|could|do|did|would|will|am|was|are|were|have)(?:\s+\w+ly)?\s?not\b|(?:ca|could|do|did|would|wo|was|were|have)n['’]t\b)|\bi\s+(?:would|['’]d)\s+rather\s+not|\bi['’](?:m|d|ll)\s+(?:not|rather\s+not)\b|\b(?:i|we)\s+(?:got|am|are)\s+(?:lost|stuck|confused)\b",
        r"\b\w*(?:error|exception)\s*[:(]|\btraceback\b|\b(?:too\s+many\s+requests|rate\s+limit|maximum\s+context|token\s+limit)\b|出错|报错|错误[::码]|(?:请求|加载|解析|渲染|运行|执行)失败|服务器|稍后|重试",
        r"[无没]有?(?:实数)?解|我是[^,。]{0,16}模型|作为(?:一个)?(?:AI|人工智能)|超时|知识截止|(?:题目|题干|原文|短文|文中)[^,。]{0,4}(?:提到|给出|说|讲)|没有(?:答案|[^,。]{0,12},?就)",
        r"需要(?:更多|补充|提供|额外|[^,。\d]{0,6}信息)|只(?:知道|给出?了?|告诉|能处理|能回答)|仅(?:凭|知道?|给出?)|[没无]法|(?:算|解|求|看|说|选|答)不(?:出|了|到|上)|取决于|多余|断了|要找的是|抱歉|对不起|不能(?!完全)|[两多二三几]个(?:答案|解|值|根)",
    ),
    Act.REJECT: (
        # That cannot be right. Wait, 27 is not divisible by 4.
        r"\b(?:is|are|was|be|seems?|looks?)\s*(?:n['’]t|\s+not|\s+clearly)?\s+(?:right|wrong|incorrect|an?\s+(?:mistake|error|contradiction|integer)|divisible|the\s+same|false|absurd)\b(?!\s+answer)",
        r"\bcan(?:not|['’]t)\s+(?:be|have)\b|\bmade\s+a(?:n)?\s+(?:mistake|error)|\b(?:does|do|did)(?:\s+not|n['’]t)\s+(?:match|fit|agree|add\s+up|make\s+sense|work|hold)\b|\bsomething(?:['’]s|\s+is)\s+(?:off|wrong|odd)|\bcontradict\w*|\binconsistent\b|\bstart\s+over\b|\bre-?do\b|\A(?:wait|hmm+|oops|no)\b",
        r"(?:\A|,)(?:但?这|那|但|显然|明显|结果|都)*(?:是)?(?:不(?:对|正确|合理|可能|符合|成立)|矛盾|错)|[算写做弄搞]错|算乱|对不上|对不起来|矛盾|重新(?:算|来|计算|开始|检查|看)|从头|糟糕|不是一回事|漏了|重做|不是整数|不能被|\A等等|假命题|反例|不(?:会|能)超过",
    ),
    Act.PLAN: (
        # We need to find ... First, add 3 and 4. To find the price, ... Our goal is ...
        rf"\b(?:we|i|you|one){_MODAL}{{0,4}}\s+{_WORK}\b(?!(?<!show)(?<!prove)\s+that\b)|\b(?:we|i)\s+(?:now\s+)?(?:require|must\s+have)\b",
        rf"\A{_FIRST}?{_WORK}\b(?!\s*[:=])",
        rf"\A(?:using|with|by|after|in|for)\b[^,]{{0,60}},\s*{_WORK}\b|\b(?:would|might|may)\s+help\s+to\b|\bthing\s+to\s+do\b",
        rf"\A(?:in\s+order\s+)?to\s+(?:get|{_WORK})\b|\blet(?:\s+(?:us|me)|['’]s)\b",
        r"\b(?:our|the|my|a)\s+(?:(?:first|next|main|key|final|last)\s+)?(?:goal|aim|task|step|idea|plan|outline|approach|strategy|thing)\s+(?:is|will|would)\b",
        r"\b(?:is|are)\s+(?:the|our|my)\s+(?:first|next|main|key)\s+(?:step|thing|idea)\b|\Ahere\s*(?:is|['’]s)\s+(?:the|my|a|an|our)\b",
        r"\b(?:it\s+(?:suffices|remains)|can\s+be\s+(?:solved|found|computed|calculated|done)|(?:is|are)\s+(?:solved|found|computed|calculated|(?:given|obtained)(?!\s+by\s*[\ue000\ue002]))\s+by)\b",
        rf"[,;]\s*(?:(?:and\s+)?(?:then|next|finally)\s+{_WORK}\b|(?:再|然后|接着|接下来|最后){_WORK_ZH}?)[^,。\d{TERM}{EQUATION}]*\Z",
        rf"\A(?!解:\s*[\w(]+[<>=≤≥]){_FIRST_ZH}*{_MUST_ZH}*{_WORK_ZH}|(?:需|需要|要|下面|来|可以|我们|想){_MUST_ZH}*{_WORK_ZH}",
        r"我们的?(?:目标|任务)|(?:思路|步骤|计划)(?:如下|:)|第一步是|下一步|(?<!需)要[^,。\d]{1,20},|种情况|讨论|两式|相[加减乘除]\W*\Z|要使|\A为了",
    ),
    Act.SUPPOSE: (
        # Let x be ..., We know that ..., p = price of a pen, There are 60 minutes in an hour.
        r"(?:\A|[,:]\s*|\b(?:we|i|now|then|and|us)\s+)(?:let|suppose|assume|assuming|define|denote|consider|imagine|recall|recalling|note|notice|remember|given(?!\s+(?:the\s+above|this|these|all))|call)\b",
        r"\A(?:hint|tip|note|fun\s+fact|reminder|提示|[小冷]知识|注意?|小?贴士|备注)\s*:|\A(?:we|i)\s+(?:know|are\s+given)|\bit\s+is\s+(?:well[\s-])?(?:known|given)|\b(?:formula|identity|definition)\b|\b(?:theorem|law|rule)\s+(?:states?|says|gives|tells)\b|\bwithout\s+loss\b|\baccording\s+to\s+the\s+(?:problem|question|text)",
        r"\bthere\s+are\s+\d+\s+\w+\s+in\s+an?\b|\A[a-z]\s*=\s*[a-z]{3}|\A\D{0,60}\b(?:wants?|would\s+like|plans|hopes?)\s+to\b|\bwants?\s+to\b\D*\Z|\b(?:such\s+as|for\s+(?:example|instance))\b|\bthe\s+(?:figure|graph|diagram|table|chart)\s+shows",
        r"\A(?:an?|one|1|each|every)\s+(?:dozen|week|day|hour|minute|year|kilo\w+|meter|mile|foot|gram|rectangle|square|triangle|cube)\s+(?:is|has|equals|=)",
        r"\A(?:一|1|每)?个?(?:打|千克|公里|小时|分钟|天|周|年|米|吨|长方形|正方形|三角形)(?:是|有|等于|=)",
        rf"\Awe\s+have\s+{FORMULA}+\s+and\s+{FORMULA}+\W*\Z",
        r"\A(?:解:?)?(?:\(\d\))?(?:那么|则|现在|首先|先|不妨|我们?|可以?|再)*(?:设|假设|假定|令|定义|请?要?记住?|别忘了?|已知|知道|注意|回忆|由(?!此|上)|根据|按照|题中|其中|考虑|取(?!得|最)|连接)",
        r"定理|(?<!通项)公式|性质|如图|图中|约等于|(?:设|令|记)[^,。]{1,12}(?:为|是|=)|\A\D*(?:想要?|打算)|想[^\d]*\Z|比如|例如",
    ),
    Act.CONDITION: (
        r"\A(?:and\s+|but\s+|so\s+)?(?:if|unless|whether|when|whenever|for\s+(?:each|every|any|all))\b",
        r"\A(?:那么|则|\(\d\))*(?:如果|若|当|要是|假如|对于|每当)",
    ),
}
"""What shows that a sentence does more or less than to state something; the first act that matches is its act."""
_EVERY: Final = tuple((act, re.compile("|".join(patterns), re.IGNORECASE)) for act, patterns in ACTS.items())

_SO: Final = (
    r"\b(?:so(?!\s+(?:that\b(?!['’])|many|much|far))|therefore|thus|hence|consequently|making|leaving|giving|totall?ing|meaning|"
    r"that['’]s|whence|(?:which|this|that)\s+(?:is|means?|gives?|leaves?|makes?|equals|comes\s+to)|but\s+rather|total\s+of|gives\s+us|"
    r"(?<=[\w,)] )to\s+(?:get|find\s+that)|yields|simplifies\s+to|"
    r"(?:we|i|you)\s+(?:get|obtain|find|see|conclude))\b"
    r"|所以|因此|因而|故|从而|于是|得到?|即|也就是|共计|一共|总共|合计|还剩下?|剩下(?!的)|应该?是|应为|而是"
    r"|取(?:得|最[大小]值)|(?:后|下来|出来)(?:得|为|是|变为)"
)
CONCLUSION: Final = re.compile(_SO, re.IGNORECASE)
"""What begins a conclusion within a sentence."""
_THEN: Final = r"|\b(?:equals|is\s+equal\s+to)\b|等于|(?:\A|,\s*)then\b|则|那么"
_EQUALS: Final = r"|\d[^=\n]{0,80}(?<!\s[a-z])(?<!\s[a-z]\s)[=≈](?=\s*[$¥]?[-−]?\d)"
"""A calculation, but not "with b = 6 and h = 4"."""
_IS: Final = (
    rf"|[,:](?=\s*{EQUATION}+(?:\s[a-z]+|\([\u4e00-\u9fff]+\))?\W*\Z)|表示[为:]+"
    rf"|(?:[为是]|趋近?于)(?=\s*[$\d{TERM}{EQUATION}-][^,。]{{0,60}}[。.]?\Z)"
)
_LAST_IS: Final = rf"|,\s*and\s+(?:the|its)\s[^,;\d]{{1,60}}\b(?:is|are)\b(?=\s*[$\d{TERM}{EQUATION}-]+\W*\Z)"
_CUES: Final = {
    Act.CONDITION: re.compile(_SO + _THEN + _IS, re.IGNORECASE),
    Act.SUPPOSE: re.compile(
        _SO + r"|(?:\A|,\s*)then\b|则|那么|,\s*[a-z]\s*=(?=\s*[-−]?\$?\d[\d.]*\W*\Z)", re.IGNORECASE
    ),
    Act.PLAN: re.compile(_SO + _THEN + _EQUALS + _IS + _LAST_IS, re.IGNORECASE),
    Act.ASK: re.compile(_SO, re.IGNORECASE),
    Act.LACK: re.compile(_SO + r"|\bbut\b|但|不过", re.IGNORECASE),
    Act.REJECT: re.compile(_SO + _THEN, re.IGNORECASE),
}
"""What begins the conclusion of a sentence, by what the sentence does before it."""
_ITEM: Final = re.compile(rf"\d|{FORMULA}|(?<![A-Za-z])[A-H]{{1,5}}(?![A-Za-z])(?!\s[a-z])")
"""What may be a result: a number, a formula, an option."""
_CONCLUDES: Final = re.compile(
    r"\A\W*(?:(?i:so|thus|hence|therefore|consequently|accordingly|overall|finally|in\s+(?:conclusion|total|summary|all|the\s+end)|"
    r"altogether|as\s+a\s+result|this\s+(?:means|leaves|gives|makes)|that\s+(?:means|leaves|gives|makes)|we\s+(?:get|obtain))\b"
    r"|所以|因此|因而|综上|综合|总之|总的来说|由此|可见|于是|故|从而|最终|最后|得|即)"
)

_END: Final = re.compile(
    rf"(?<![a-z\u4e00-\u9fff{TERM}{EQUATION}])\n+|\n+(?!\s*{FORMULA})|[。!?;…]+['\"”’)*]*|\.(?![\w.])['\"”’)*]*"
)
_REASON: Final = re.compile(r"\A\W*(?:(?i:since|because|as)\b|因为|由于)[^,=]{0,200},\s*")
_NUMBERING: Final = re.compile(
    r"\A[\s>*#•-]*(?:(?:step|phase|part)\s*\d+\s*[:.)*-]*|\(?\d{1,2}[.)、]|[(\[]\d{1,2}[)\]])?[\s*:,]*", re.IGNORECASE
)
_DANGLING: Final = re.compile(
    r"(?:\b(?:an?|(?<!or\s)(?i:then|and|so|but|or|the|of|to|is|are|was|has|have|that|which|with|if|because|since|by|we|he|she|it|per|for|in|at|from|obtain|get))"
    r"|[-,:;+/×÷=(]|\s\*|[加减乘]|除以|然后|则|那么|所以|因为|而|和|是|为|得|需要|还要|再|把|将|令|当|接着|接下来|不|选|其|也|就|使|被|与|及|或|从|在|向|以|于|这|那|该|并|但|我们|显然)\s*\Z"
)

_OPEN: Final = re.compile(
    r"“[^”\n]*\Z|[(（][^)）\n]*\Z|\A[^\"\n]*(?:\"[^\"\n]*\"[^\"\n]*)*(?<!\d)\"(?![,.。])[^\"\n]+\Z"
)
_STOP: Final = re.compile(r"(?<![A-Z])(?<!(?<!\w)\d)(?:[.!](?=\s)|。)")
_CLAUSE: Final = 40
"""Characters of a Chinese text that ends in a full stop if it is complete."""


class Sentence(Struct, frozen=True):
    """A sentence and what it does.

    Attributes:
        start, end: where it is in the text; the next one begins at ``end``.
        act: what it does.
        concludes: whether it begins like a conclusion: "So ...", "因此".
    """

    start: int
    end: int
    act: Act
    concludes: bool


def sentences(text: str) -> list[Sentence]:
    """Return all sentences of a text in order, in linear time."""
    found: list[Sentence] = []
    start = 0
    for end in [*(end.end() for end in _END.finditer(text)), len(text)]:
        content = text[start:end].strip()
        if content:
            found.append(Sentence(start, end, act_of(content[-LONGEST:]), bool(_CONCLUDES.match(content))))
        start = end
    return found


def act_of(sentence: str) -> Act:
    """Return what a sentence does; of a plan or premise with a conclusion, what the conclusion does."""
    sentence = _REASON.sub("", sentence, count=1)
    act = _first_act(sentence)
    for cue in _CUES[act].finditer(sentence) if act in _CUES else ():
        rest = sentence[cue.end() :]
        if _ITEM.search(rest) and _first_act(rest) is Act.STATE:
            return Act.STATE
    return act


def _first_act(sentence: str) -> Act:
    numbering = _NUMBERING.match(sentence)
    content = sentence[numbering.end() :] if numbering else sentence
    return next((act for act, pattern in _EVERY if pattern.search(content)), Act.STATE)


def breaks_off(text: str) -> bool:
    """Return whether a text ends in the middle of a sentence: "She buys 3 apples. Then"."""
    end = text.rstrip()[-200:]
    return bool(_DANGLING.search(end) or _OPEN.search(end))


def unfinished_from(text: str) -> int:
    """Return where the last sentence begins if it has no full stop, but sentences before it have; else 0.

    A long Chinese clause without a full stop begins at its comma.
    """
    text = text.rstrip()
    if not text or text[-1] in ".。!?;…)]}*'\"”>$`|":
        return 0
    line = text.rfind("\n") + 1
    stops = [stop.end() for stop in _STOP.finditer(text)]
    if stops:
        return max(stops[-1], line)
    return max(text.rfind(",") + 1, line) if len(text) > _CLAUSE and "\u4e00" <= text[-1] <= "\u9fff" else 0
