"""The engine of the postprocessors: candidates of many rules, of which the strongest marker wins.

A rule finds places where a text may state its answer. The strongest rank that has any candidate decides. Of its
candidates a postprocessor takes the first or the last; one that is taken back ("Wait, ...", "不对") before the next
one does not count. `last_version` leaves out all that an answer takes back in the open: "Wait, no.", "I misread …".

`Doubts` finds words that deny an answer, suppose it or leave it open, in English and Chinese; `other_languages` has
those of others. ``ITEM`` in a pattern is whatever can be an answer: a letter, a number. Several may share one negation:
"A and B are wrong", "排除A、B". The patterns are tried right before and right after a candidate.

`said` makes answers easy to read: thoughts cut out, full-width characters made ASCII, each place still known.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.postprocess.other_languages import ARTICLE, IS, MAY, NOT, NOT_AFTER, WRONG_AFTER
from ais_prompt.types import Extraction
from ais_prompt.utils import late


class Rank(IntEnum):
    """How clearly a text marks its answer."""

    ONLY = 0  # the only number of a text that gives no reason to read it
    ALONE = 1  # a letter or number without any marker
    LABEL = 2  # a line that begins with the option: "B. Paris"
    LINE = 3  # a line that is nothing but the answer
    CONCLUDED = 4  # "so B", "所以B"
    VERDICT = 5  # "B is correct", "B正确"
    ANNOUNCED = 6  # "the answer is B", "答案是B"
    FINAL = 7  # "final answer: B", "最终答案", "故选B"
    MARKED = 8  # "\boxed{B}", "#### 42"


class Rule(Struct, frozen=True):
    """One way to state an answer.

    Attributes:
        name: shown in details and report.
        pattern: of the marker; what it means beyond that is up to the postprocessor.
        rank: how strong the marker is.
        before: pattern of what must come right before it; empty without one.
    """

    name: str
    pattern: str
    rank: Rank
    before: str = ""


class Candidate(Struct, frozen=True):
    """A place that may be the answer.

    Attributes:
        rank, rule: of the rule that found it.
        start, end: where it is in the text.
        text: what it says.
    """

    rank: Rank
    rule: str
    start: int
    end: int
    text: str

    def extraction(self, source: AnswerText) -> Extraction | None:
        """Return it as what is read of an answer; None if it has no text."""
        return source.extraction(self.rule, self.start, self.end, self.text)


_TAKEN_BACK: Final = late(
    r"\b(?i:wait|actually|oops|hmm+|correction|let\s+me\s+(?:re\w+|double)|on\s+second\s+thought|scratch\s+that|my\s+mistake|i\s+was\s+wrong)\b"
    r"|\b[Nn]o\b\s*[,.:;!—-]|不对|等等|等一下|更正|错了|重新|(?<![\u4e00-\u9fff])不[,。]"
)


_AGAIN: Final = late(r"\b(?i:wait|hold\s+on|let\s+me\s+re\w+)\b|等等|等一下|重新")
_OH: Final = (
    r"(?:(?:(?:no,?\s)?wait|hmm+|oh|hold\s+on|sorry|oops|actually|no(?=,)|(?:my\s+)?apologies|i\s+apologi[sz]e|on\s+reflection)\b"
    r"[\s,.!…—–-]{0,4}|(?:等等|等一下|且慢|哎呀|抱歉|对不起|哦|啊|嗯)[\s,.。!…—–-]{0,4})"
)
_MISTAKEN: Final = (
    r"(?<!if\s)(?<!whether\s)(?<!case\s)\bi\s+(?:mis\w+|forgot(?!\s+to\s+(?:mention|say|add))|made\s+an?\s+(?:\w+\s+)?(?:mistake|error)|was\s+wrong|take\s+(?:that|it)\s+back"
    r"|mixed\s+up|overlooked|got\s+(?:that|it)\s+wrong|(?:added|subtracted|multiplied|divided|swapped|confused)\b[^.\n]{0,60}\binstead)\b"
    r"|\b(?:scratch|strike)\s+that\b|\bmy\s+(?:mistake|bad)\b|\b(?:correction|edit)\s*[:,.—–-]"
    r"|\bapologi[sz]e\s+for\s+(?:the|my|that)\s+(?:\w+\s+)?(?:mistake|error|confusion|oversight)\b|\bon\s+second\s+thoughts?\b"
    r"|\b(?:let\s+me|i\s+(?:need|have|want)\s+to|i\s+must)\s+(?:start\s+over|try\s+again|redo|correct\s+(?:that|this|myself|my)|fix\s+(?:that|this|my)|revise)\b"
    r"|\bthat\s+(?:can(?:no|['’])t|can\s+not)\s+be\s+(?:right|correct)\b"
    r"|(?:我|刚才|刚刚|上面|前面)(?:刚才|刚刚|上面|前面)?(?:看|算|写|弄|搞|想|读|理解|数|记|说)错了?|更正"
    r"|(?:刚才|刚刚|之前|上面|前面)的?(?:答案|回答|结果|计算|推理)(?:是)?(?:有误|不对|不正确|错|有问题)|发现(?:算|看|弄)?错了"
)
"""What a model says of its own answer."""
_NO: Final = (
    r"no\b(?=\s*[,.:;!—–-])|(?:that|this|it)(?:['’]s|\s+(?:is|was))\s+(?:(?:not|n['’]t)\s+(?:right|correct|it)|(?:all\s+)?wrong|incorrect|a\s+mistake)\b"
    r"|let\s+me\s+(?:reconsider|re-?think|re-?read|think\s+(?:again|about\s+(?:it|this|that)))\b|(?:让)?我再(?:想|看|算)|不(?=,)"
    r"|(?:好像|似乎|这)?(?:不对|有误|错了)(?=[,。!;…~—]|\Z)"
)
_IT_IS: Final = (
    r"(?=(?:(?:it|that|the\s+(?:correct\s+|right\s+)?answer)(?:['’]s|\s+(?:is|should\s+be|must\s+be))|应该?是|应[为选]|是)"
    r"\s*(?:actually\s+)?[(\[*$]{0,3}(?:(?-i:[A-Z])(?![A-Za-z])|[-−]?\d))"
)
_WITHDRAWN: Final = late(
    r"(?i:(?:\b(?:answer|result)\b|\\boxed|####)[^.!?\n]{0,40}[.!]?\s{1,2}"
    r"that(?:['’]s|\s+(?:is|was))\s+(?:not\s+(?:right|correct)|wrong|incorrect)(?=\s?[.!,—–])"
    rf"|{_MISTAKEN}|(?:\A|(?<=[.!…;。,\n—–])|(?<=[.!…;,'\"”’*}}\]—–]\s))"
    rf"(?:no,?\s{{1,3}}wait\b[\s,.!:—–-]{{0,4}}|{_OH}{{1,4}}(?:{_NO}|{_IT_IS})|(?:好像|似乎|这)?(?:不对|错了)(?=[,。!;…~—]|\Z)|不(?=,)))"
    rf"|(?:(?<=[a-z]\s[A-Z][.!…]\s)|(?<=[a-z]{{2}}[.!…]\s)|(?<=[\d)%*\"”.}}][.!…]\s)|(?<=[*}}]\s))"
    rf"[Nn]o\b(?=\s?[,.!—–])[\s,.!:—–-]{{0,4}}(?i:{_OH}){{0,2}}"
)
"""An answer is taken back in the open: "Wait, no.", "I misread the question", "不对，"."""


def last_version(source: AnswerText) -> AnswerText:
    """Return an answer from where it last takes something back; all that was said before counts for nothing."""
    found = list(_WITHDRAWN.finditer(source.text))
    place = found[-1].end() if found else 0
    return AnswerText(source.text[place:], source, [(0, place)]) if found else source


def strongest(candidates: Iterable[Candidate], text: str) -> list[Candidate]:
    """Return the candidates of the strongest rank in order of their places, without those that are taken back."""
    every = sorted(candidates, key=lambda candidate: (candidate.start, candidate.end))
    if not every:
        return []
    rank = max(candidate.rank for candidate in every)
    best = [candidate for candidate in every if candidate.rank == rank]
    if later := _instead(best[-1], every, text):
        return strongest(later, text)
    kept = [
        one
        for one, after in pairwise(best)
        if one.text == after.text or not _TAKEN_BACK.search(text, one.end, max(after.start, one.end))
    ]
    return [*kept, best[-1]]


def _instead(last: Candidate, every: list[Candidate], text: str) -> list[Candidate]:
    """What is named or announced anew after the strongest candidate is taken back."""
    # "I'd say B... no wait, A.": right after it, if more weakly.
    if back := _TAKEN_BACK.search(text, last.end, last.end + 40):
        later = [one for one in every if back.end() <= one.start <= back.end() + 20 and one.text != last.text]
        if later:
            return [replace(one, rank=last.rank) for one in later]
    # "Final answer: B. Wait. The answer is C."
    again = _AGAIN.search(text, last.end)
    return [one for one in every if again and one.start > again.end() and one.rank >= Rank.ANNOUNCED and one.text]


REACH: Final = 80
"""Characters around a candidate that are looked at."""
_CONDITION: Final = 120
"""Characters before a candidate that may hold its condition."""

_FILLERS = (
    r"(?:[\s(\[{'\"“‘$*【（]|\b(?:be|the|an?|to|equals?|correct|right|options?|choices?|answers?|either|both|it|is|as|for|with|that|"
    rf"think|believe|say|choose|pick|select|just|simply|necessarily|for\s+sure|{IS}|{ARTICLE})\b|选项|答案){{0,8}}"
)
_NEGATED_BEFORE: Final = (
    rf"(?:{NOT}|\b(?:not|never|neither|nor|cannot|hardly|barely)\b(?!\s+only\b)|n['’]t\b|\b(?:anything|everything|all)\s+but\b|\brul\w+\s+out\b"
    r"|\b(?:rather\s+than|instead\s+of|other\s+than|except(?:\s+for)?|unlike|eliminat\w+|exclud\w+|reject\w*|discard\w*)\b"
    r"|(?<!是)不(?:会|太?可能|应该?|该|能|可以|要|能说)?(?:再)?(?:是|选择?|为|等于)|不能说|并非|而非|没有?选|别选|误选|错选|排除(?:掉|了)?|除了)"
    rf"{_FILLERS}(?:ITEM[\s)\]'\"”】]{{0,3}}(?:or|nor|and|、|和|或)[\s(\['\"“【]{{0,3}}){{0,6}}"
)
_NEGATED_AFTER: Final = (
    r"(?:[\s)\]'\"”】]{0,4}(?:,|、|\band\b|\bor\b|和|与|或)[\s(\['\"“【]{0,4}ITEM){0,6}[\s)\]'\"”】*]{0,4}(?:选?项|都|均|也|就|的说法|显然){0,3}\s?"
    r"(?:(?:(?:is|are|was|were|seems?|looks?|must\s+be|(?:can|could)\s+be)\s+)(?:\w+ly\s+|also\s+|both\s+|thus\s+){0,2}"
    r"(?:not\b|wrong|incorrect|false|invalid|impossible|out\b|eliminated|ruled\s+out|excluded|rejected|unlikely|too\b)"
    r"|(?:is|are|was|were|does|do|did|can|could|would)n['’]t\b|(?:does|do|did)\s+not\b|cannot\b|can['’]t\b|fails?\b|contradicts?\b"
    rf"|(?:是|被|可以?|应)?(?:不(?!仅|但|过)|错|有误|排除|矛盾)|[✗✘❌])|{NOT_AFTER}|{WRONG_AFTER}"
)
_SUPPOSED = (
    r"\b(?:if(?!\s+(?:i|we|you)\s+(?:had|have|must|were))|suppose|supposing|assum\w+|whether|unless)\b"
    r"|(?:如果|假设|假如|倘若|若|要是|是否)(?!必须|一定|要我)"
)
_OTHERS = (
    r"\b(?:although|though|while|whereas|despite|(?:many|most|some|other)\s+(?:students|people|readers|would|might|may|choose|pick|say|think)|others\s+\w+|some(?:one|body)|anyone|tend|"
    r"(?:you|i)\s+(?:said|chose|picked|selected|answered|thought|was|almost|nearly)|your\s+(?:previous|last|first|earlier)|"
    rf"might|(?-i:may)|could|at\s+first|initially|originally|tempting|my\s+first)\b|{MAY}"
    r"|虽然|尽管|即使|很多|不少|许多|有人|有些|有的|同学|[你您][^,。]{0,8}(?:选|说|答)|情况|那就|起初|最初|第一|一开始|直觉|本来|以为|看似|与其|(?<![最很])(?<![最很]有)可能(?!的)|也许|或许"
)
_NOT_ASSERTED: Final = late(rf"(?i:{_SUPPOSED}|{_OTHERS})(?:(?!\bthen\b)[^.,。!?;:\n]){{0,60}}\Z")
_IF: Final = (
    r"\b(?i:if)\b(?!\s+(?i:(?:i|we|you|one)\s+(?:had|have|must|were|look|read|use|apply|compare|check|add|subtract|multiply|divide|plug|substitute"
    r"|take|go|think|follow|eliminate|recall|remember|let|count|solve|simplify|work)|asked|pressed|forced|so|not|any|needed|necessary)\b)"
    r"|\b(?i:suppos(?:e|ing)|unless|assuming|provided\s+(?:that|the)|as\s+long\s+as|in\s+case|otherwise(?!,)"
    r"|when\s+(?!compar|combin|simplif|ask|express|round)\w+ed(?=,))\b|\b(?:Were|Had)\s+(?!to\b)\w+"
)
_IF_ZH: Final = (
    r"(?<!是)(?:如果|假如|假设|假若|倘若|要是|(?<![假倘])若)(?!干|非|必须|一定|要我|是?从|我们)|只要|一旦|否则"
    r"|当(?=[^,。]{1,12}时)"
)
_SO: Final = r"\b(?:so|therefore|thus|hence|but|here)\b|所以|因此|故|但|矛盾"
_SUPPOSING: Final = late(rf"(?:{_IF}|{_IF_ZH})(?:(?!{_SO})[^.。!?;\n]|\.(?=\d)){{0,100}}\Z")
"""A condition, up to what holds under it: "If it were heated, the answer would be ..."."""
_DENIED_CLAUSE: Final = late(
    r"(?i:\b(?:not|never|cannot)|n['’]t)\s+(?i:think|believe|say|know|see|agree|sure|clear|certain|mean|imply|follow)\b[^.,;!?\n]{0,40}\Z"
)
_UNDECIDED: Final = late(
    r"\b(?i:(?:cannot|can\s+not|can['’]t|could\s+not|couldn['’]t|unable\s+to|impossible\s+to|hard\s+to|not\s+enough|insufficient)\b"
    r"[^.\n]{0,20}?\b(?:determin\w*|decid\w*|answer\w*|choos\w*|tell|say|know\w*|conclu\w*|solv\w*|find|comput\w*|calculat\w*|help|information|data)"
    r"|(?:do|did)(?:\s+not|n['’]t)\s+(?:know|understand|have)|not\s+(?:sure|certain|clear|given|stated|provided|specified)"
    r"|unclear|unsure|uncertain|undecided|no\s+idea|none\s+of(?!\s+(?:the\s+above|these)\s?\(?[A-Z]\b)|sorry|as\s+an?\s+(?:ai|language)|depends\s+on|(?:is|are|seems?)\s+missing|ambiguous|cut\s+off|without\s+(?:knowing|more|further|a\s+calculator)|no\s+(?:\w+\s+)?(?:information|data)"
    r"|(?:is|are|does|do|was|were|can|could)n['’]t\s+(?:\w+\s+)?(?:given|known|stated|mentioned|specified|solvable|solved|single|be\s+right)"
    r"|(?:can(?:not|['’]t)|can\s+not)\s+(?:\w+\s+){0,4}?(?:count|do|see|read|open|access|be\s+(?:solved|right|answered)))\b"
    r"|无法|不能(?:确定|判断|回答)|不知道|不确定|不清楚|不好判断|难以|缺少|没有(?:给出|告诉|正确|足够|提供)|都不正确|抱歉|对不起|不足|取决于|歧义|[答数算做解]不了|没法|[说拿]不[准定好]|没有?提[到及]|未提及|做不到|不可能|都不行"
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
    return Doubts(late(rf"(?i:{before})\Z"), late(f"(?i:{after})"))


def is_reported(text: str, start: int) -> bool:
    """Return whether what begins at a place is denied, supposed, or others' view: "One might think the answer is"."""
    before = text[max(0, start - REACH) : start]
    return bool(_NOT_ASSERTED.search(before) or _DENIED_CLAUSE.search(before))


def is_supposed(text: str, start: int) -> bool:
    """Return whether what begins at a place holds under a condition: "If it were hot, C would be …"."""
    return _SUPPOSING.search(text[max(0, start - _CONDITION) : start]) is not None


def is_undecided(text: str) -> bool:
    """Return whether a text says that it has no answer."""
    return _UNDECIDED.search(text) is not None


THINK_START: Final = "<think>"
THINK_END: Final = "</think>"

_BETWEEN_NUMBERS: Final = late(r"(?<=[0-9])，(?=[0-9])")
_STRUCK_OUT: Final = late(r"~~[^~\n]{1,200}~~")
_NEXT_QUESTION: Final = late(
    r"(?:Question:|(?<=\n)[ \t*#]{0,6}(?:Q|Problem|问题|题目|问)[ \t]?\d{0,3}[ \t*]{0,3}:).*\Z", re.DOTALL
)


class _Folding(dict[int, int]):
    """Code point → code point of NFKC, for variants in width or font, and for letters in circles.

    Other compatibility characters keep their form: x² is not x2, and ① numbers a step. One character becomes one
    character, so places stay the same.
    """

    def __missing__(self, code: int) -> int:
        form = unicodedata.decomposition(chr(code)).partition(" ")[0]
        folded = unicodedata.normalize("NFKC", chr(code))
        variant = form in ("<wide>", "<narrow>", "<font>", "<noBreak>") or (form == "<circle>" and folded.isalpha())
        self[code] = ord(folded) if variant and len(folded) == 1 else code
        return self[code]


_FOLDING: Final = _Folding()


class AnswerText:
    """A text, and where each of its characters is in the answer that it was made of.

    Attributes:
        text: what is left of the answer.
    """

    def __init__(self, text: str, parent: AnswerText | None = None, kept: list[tuple[int, int]] | None = None) -> None:
        """Make one of a whole answer, or of pieces of another source.

        Args:
            text: as above.
            parent: which source it was made of.
            kept: for each piece, its place here and its place in ``parent``.
        """
        self.text = text
        self._parent = parent
        self._here, self._there = zip(*(kept or [(0, 0)]), strict=True)

    def without(self, pattern: re.Pattern[str], *, spaced: bool = False) -> AnswerText:
        """The source without what a pattern matches; if ``spaced``, white space becomes one newline or blank."""
        pieces: list[str] = []
        kept = [(0, 0)]
        length = last = 0
        for found in pattern.finditer(self.text):
            run = found.group()
            if not run:
                continue
            filler = ("\n" if "\n" in run else " ") if spaced and run.isspace() else ""
            pieces += [self.text[last : found.start()], filler]
            length += found.start() - last
            kept.append((length, found.start()))  # the filler has the place of what it replaces
            length += len(filler)
            last = found.end()
            kept.append((length, last))
        if not last:
            return self
        return AnswerText("".join(pieces) + self.text[last:], self, kept)

    def before_next_question(self) -> AnswerText:
        """The source up to the question with which a base model goes on; empty if it begins with one."""
        return self.without(_NEXT_QUESTION)

    def extraction(self, rule: str, start: int, end: int, text: str | None = None) -> Extraction | None:
        """Return what is between two places, or the text that was made of it; None if that is empty."""
        content = self.text[start:end] if text is None else text
        if not content:
            return None
        origin = self._origin(start)
        return Extraction(content, rule, origin, origin if end == start else self._origin(end - 1) + 1)

    def stripped(self, rule: str, start: int, end: int, characters: str | None = None) -> Extraction | None:
        """Return what is between two places, without white space (or other characters) at its ends; None if empty."""
        content = self.text[start:end]
        start += len(content) - len(content.lstrip(characters))
        return self.extraction(rule, start, start + len(content.strip(characters)))

    def _origin(self, place: int) -> int:
        """The place in the answer."""
        piece = bisect_right(self._here, place) - 1
        there = int(self._there[piece]) + place - int(self._here[piece])
        return there if self._parent is None else self._parent._origin(there)


def said(answer: str, *, fold: bool = True, start: str = THINK_START, end: str = THINK_END) -> AnswerText:
    """An answer without its thoughts, one that never ends included; empty if nothing else was said.

    Args:
        answer: all that came back.
        fold: whether full-width and other variants of characters become plain ones.
        start, end: the marks of a thought. Chat templates may write the start, so the end may come alone.
    """
    if fold and not answer.isascii():
        # A full-width comma parts clauses, never thousands: "答案是42，18只是小计".
        answer = _BETWEEN_NUMBERS.sub(";", answer).translate(_FOLDING)
    source = AnswerText(answer)
    if start in answer:
        thought = re.compile(rf"{re.escape(start)}.*?(?:{re.escape(end)}|\Z)", re.DOTALL)
        source = source.without(thought)
    if end in source.text:
        source = source.without(re.compile(rf"\A.*{re.escape(end)}", re.DOTALL))
    return source.without(_STRUCK_OUT) if fold and "~~" in source.text else source
