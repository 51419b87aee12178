r"""The option that an answer in words chooses: "The answer is **(B)**.", "\boxed{B}", "答案是B", "B. Paris".

`option_patterns` lists the ways in which an answer names an option, `Rank` how strong each is. What
follows a label is the text of the option, whatever it says. A label does not count where the words before it deny it
("not A"), suppose it ("if A ...") or report it ("many choose A"); "A or B" chooses nothing. Bold, dollars and LaTeX are
looked through, full-width letters are letters. The words "A" and "I" are no options.

In a pattern LABEL is an option, bare, in brackets, or small where nothing follows it in its line; with several right
options a list of them. CAPITAL is one that is not small, LINES several with their texts, a line each.
FREE is a label that the end of a clause or a word of grammar follows. NEXT is any letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from string import ascii_uppercase
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import DataError
from ais_prompt.postprocess.other_languages import (
    AND,
    ANSWER,
    ARTICLE,
    CHOOSE,
    IF,
    IS,
    IS_AFTER,
    NOT,
    NOT_AFTER,
    OR,
    RIGHT,
    SIMPLIFIED,
    SO,
)
from ais_prompt.postprocess.rule_engine import (
    REACH,
    AnswerText,
    Candidate,
    Doubts,
    Rank,
    Rule,
    doubts,
    is_reported,
    is_supposed,
    is_undecided,
    last_version,
    said,
    strongest,
)
from ais_prompt.postprocess.stated import marked_spans, sentences
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import Extraction
from ais_prompt.utils import late

_DECORATION: Final = late(r"\*+|`+|\$+|\\[A-Za-z]+(?=\s?\{)|\\(?:rm|bf|sf|it|tt)\b\s?|\\[()\[\]]|(?<!\w)_+|_+(?!\w)")
_SPACE: Final = late(r"\s{2,}|[^\S\n ]")
_BOLD: Final = late(r"\*\*([A-Z])\*\*|__([A-Z])__")
_OTHERS: Final = late(r"(?i:\b(?:students?|people|another|test-takers|none\s+of(?!\s+the\s+above))\b)[^.,;:\n]{0,40}\Z")
"""Who chooses an option that is not the answer: "A student picked A"."""
_DEPENDS: Final = late(r"(?i:\b(?:depend(?:s|ing)|otherwise)\b|\bif\s+you\b)|取决于|要看|看情况|否则")
"""What makes several announcements those of several cases: "Choose A if you want speed, B if you want safety"."""
_LETTERS_ALONE: Final = late(r"(?:(?:[^\w+#-]|_|-(?=[A-Z]))*+[A-Z])++(?:[^\w+#-]|_)*")
"""Letters without words; not A+, B- or C#."""
_CODE: Final = late(r"[A-Z](?:-?\d|-\w|[+#]|-\Z)")
"""A letter of a name or a mark: AB-100, B12, A-level, C++, B-."""
_WITH_TEXTS: Final = late(r"[A-Z](?:[).:]\s?|\s\()\w\w")
_AFTER_SEPARATOR: Final = late(rf"(?:\A|(?:[,;\n]|\band\b|{AND})\W{{0,4}})([A-Z])(?=[).:]|\s\(|\Z)")
"""A letter of several that are given with their texts: "A) red and C) blue"."""
_LATEX: Final = late(r"\\[A-Za-z]+|\\[()\[\]]|[{}$*]")


@POSTPROCESSORS.register_module()
def first_option_postprocess(text: str, options: str = "ABCD", cushion: bool = True) -> Extraction | None:
    r"""Return the option that an answer names; the first one if it names several. None if it names none.

    >>> first_option_postprocess("A good question. The answer is **(B)**, because ...", "ABCD")
    'B'
    >>> first_option_postprocess(r"So it must be \boxed{\text{C}}.", "ABCD")
    'C'
    >>> first_option_postprocess("I think A is wrong, so C", "ABCD")
    'C'
    >>> first_option_postprocess("综上，答案不是A，而是Ｂ。", "ABCD")
    'B'
    >>> first_option_postprocess("<think>The answer is A?</think>D) Paris", "ABCD")
    'D'
    >>> first_option_postprocess("The answer is Africa.", "ABCD")

    Args:
        text: the answer.
        options: the letters to choose from.
        cushion: whether a letter without any marker will do.

    Source: OpenCompass, ``first_option_postprocess`` (names and arguments; the rules are our own).
    """
    source, found = _named(text, options, cushion=cushion)
    return found[0].extraction(source) if found else None


@POSTPROCESSORS.register_module()
def last_option_postprocess(text: str, options: str = "ABCD", cushion: bool = True) -> Extraction | None:
    """Return the option that an answer names, the last one if it names several; None if there is none.

    >>> last_option_postprocess("The answer is A. No, wait: the answer is C. All others are wrong.", "ABCD")
    'C'

    Args:
        text, options, cushion: as for `first_option_postprocess`.

    Source: OpenCompass, ``last_option_postprocess`` (which takes the last letter of the text, also inside a word).
    """
    source, found = _named(text, options, cushion=cushion)
    return found[-1].extraction(source) if found else None


@POSTPROCESSORS.register_module(name=["multiple_select_postprocess", "multiple-select"])
def multiple_select_postprocess(text: str, options: str = "ABCDEFGH") -> Extraction | None:
    """Return all options that an answer names, in alphabetical order and each once; None if it names none.

    Args:
        text: the answer of the model.
        options: the letters of the options.

    >>> multiple_select_postprocess("The correct options are A, C and D.")
    'ACD'
    >>> multiple_select_postprocess("A和C正确，B不正确")
    'AC'
    >>> multiple_select_postprocess("答案：BD")
    'BD'

    Source: OpenCompass, ``multiple_select_postprocess`` (which collects all capitals, so "The answer is B" gives BT).
    """
    source, found = _named(text, options, several=True)
    if not found:
        return None
    letters = "".join(sorted({letter for one in found for letter in one.text if letter in options}))
    return source.extraction(found[0].rule, found[0].start, found[-1].end, letters)


@POSTPROCESSORS.register_module()
def option_dataset_postprocess(gold: object) -> str:
    """Return the letters of the right options, in alphabetical order and each once.

    Args:
        gold: a text, or a list of texts: letters alone, in brackets, or with the text of the option.

    Raises:
        DataError: the gold names no option, or is a word in capitals, such as NBA.

    >>> option_dataset_postprocess("(A)")
    'A'
    >>> option_dataset_postprocess(["C", "A"])
    'AC'
    >>> option_dataset_postprocess("B. Paris")
    'B'
    """
    text = said("\n".join(map(str, gold)) if isinstance(gold, list | tuple) else str(gold)).text
    letters = re.findall("[A-Z]", text)
    different = sorted(set(letters))
    if not _LETTERS_ALONE.fullmatch(text):
        is_code = not letters or _CODE.search(text)
        found = "" if is_code else str(multiple_select_postprocess(text, ascii_uppercase) or "")
    else:
        found = "".join(different) if letters == different or not isinstance(gold, str) else ""
    if not found:
        raise DataError(f"the gold answer {gold!r:.60} names no option", fix="leave out dataset_postprocessor")
    return found


def _named(
    text: str, options: str, *, cushion: bool = True, several: bool = False
) -> tuple[AnswerText, list[Candidate]]:
    """The options that a text names in the strongest way in which it names any, in order."""
    patterns = option_patterns(options, several)
    everything = said(text)
    everything = AnswerText(everything.text.translate(SIMPLIFIED), everything)
    whole = everything.before_next_question()
    whole = last_version(whole if whole.text.strip() else everything)
    for rule, start, end in reversed(marked_spans(whole.text)):
        content = _LATEX.sub(lambda found: " " * len(found.group()), whole.text[start:end])
        if found := patterns.in_mark.search(content):
            one = _candidate(Rank.MARKED, rule, found, start)
            return whole, [] if patterns.further.match(content, found.end()) else [one]
    # "**A** text" is a label, "A text" begins with an article.
    bold = AnswerText(_BOLD.sub(lambda found: f" ({found[1] or found[2]}) ", whole.text), whole)
    source = bold.without(_DECORATION).without(_SPACE, spaced=True)
    candidates = list(_candidates(source.text, patterns, options))
    last = sentences(source.text)[-1:]
    candidates = [one for one in candidates if one.rank > Rank.ALONE or one.start >= last[0][0]]
    found_all = strongest(candidates, source.text)
    if found_all and not several:
        found_all = _one_choice(source.text, found_all, patterns)
    if found_all and found_all[0].rank == Rank.ALONE and not cushion:
        return source, []
    return source, [one for one in found_all if one.text]


def _candidates(text: str, patterns: OptionPatterns, options: str) -> Iterator[Candidate]:
    """The labels that the text asserts; one of several alternatives has no text."""
    repeated = _repeated(text, patterns, options)
    for rule, pattern, announces in patterns.rules:
        for found in pattern.finditer(text):
            if announces and not announces.search(text[max(0, found.start() - REACH) : found.start()]):
                continue
            one = _candidate(rule.rank, rule.name, found)
            denied = any(patterns.doubts.denies_before(text, place) for place in (found.start(), one.start))
            listed = one.start in repeated and rule.rank not in (Rank.VERDICT, Rank.LINE)
            others = is_reported(text, one.start) or _OTHERS.search(text[max(0, one.start - 60) : one.start])
            if denied or listed or others or is_supposed(text, one.start):
                continue
            if rule.rank in (Rank.CONCLUDED, Rank.ALONE) and patterns.doubts.denies(text, one.start, one.end):
                continue
            before = text[max(0, one.start - 20) : one.start]
            is_one_of = patterns.further.match(text, one.end) or patterns.alternative.search(before)
            yield replace(one, text="") if is_one_of else one


def _one_choice(text: str, found: list[Candidate], patterns: OptionPatterns) -> list[Candidate]:
    """The candidates of a question with one right option: without a marker they must agree."""
    rank = found[0].rank
    letters = {one.text for one in found}
    if rank == Rank.LABEL and not text[: found[0].start].strip("( [\"'\n>#-"):
        return found[:1]  # what follows explains the other options
    if len(letters) > 1 and (rank in (Rank.VERDICT, Rank.LINE, Rank.LABEL, Rank.ALONE) or _DEPENDS.search(text)):
        return []
    if rank == Rank.ALONE:
        # Letters of the sentence that are not denied.
        span = next(span for span in sentences(text) if span[0] <= found[0].start < span[1])
        mentions = patterns.mention.finditer(text, *span)
        mentioned = {one[1] for one in mentions if not patterns.doubts.denies(text, *one.span(1))}
        if is_undecided(text) or mentioned != letters:
            return []
    return found


def _candidate(rank: Rank, rule: str, found: re.Match[str], offset: int = 0) -> Candidate:
    group = next(group for group in ("option", "bracketed", "small") if found[group])
    letters = found[group]
    if _WITH_TEXTS.match(letters):
        letters = "".join(_AFTER_SEPARATOR.findall(letters))
    if group == "small" or len(letters) == 1 or re.search(r"[(\[【][a-z]", letters):
        letters = "".join(re.findall(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])", letters)).upper()
    return Candidate(rank, rule, offset + found.start(group), offset + found.end(group), letters)


def _repeated(text: str, patterns: OptionPatterns, options: str) -> set[int]:
    """Where labels A, B, ... are that repeat the question, or go through the options."""
    spans = [line.span() for line in re.finditer(".+", text)]
    lines = [list(patterns.listed.finditer(text, *span)) for span in spans]
    firsts = [
        line[0]
        for line, (start, _) in zip(lines, spans, strict=True)
        if line and not re.search(r"\w", text[start : line[0].start()])
    ]
    return {
        label.start(1)
        for row in [*lines, firsts]
        if len(row) > 1 and [label[1] for label in row] == list(options[: len(row)])
        for label in row
    }


# No run of these is unbounded: on a long one, patterns that begin with it would take quadratic time.
_OPENING, _CLOSING = r"\s(\[【{<'\"“‘「", r")\]】}>'\"”’」"
_OPEN, _CLOSE = f"[{_OPENING}]{{0,8}}", f"[{_CLOSING}]{{0,8}}"

_BE = r"(?:is|are|was|(?:would|should|must|will|has\s+to)\s+(?:(?!not\b)\w+\s+)?be)"
_IS = rf"\s*(?:\b{_BE}|['’]s\b|[:=→]|[^\S\n]?[-–—](?=[^\S\n]))\s*:?\s*"
_HEAD = (
    rf"(?:\b(?:(?:{ARTICLE})\s+)?"
    rf"(?i:options?|choices?|answers?|statements?|letter|(?:{ANSWER})[^\W\dA-Z_]{{0,3}})\s+|选项|说法)?"
)
_NOUN = (
    r"(?:(?:indeed|clearly|therefore|thus|definitely|simply|then|only|both|probably|likely|most\s+likely)\s+)?"
    r"(?:(?:the\s+)?(?:correct\s+|right\s+|best\s+)?(?:options?|choices?|letters?|answers?)\s*:?)?"
)
_GOOD = (
    r"(?:(?!part|near)\w+ly\s+|indeed\s+|thus\s+)?(?:the\s+|an?\s+)?(?:only\s+|most\s+|more\s+|single\s+)?"
    r"(?:correct|right|true|best|better|accurate|appropriate|suitable|plausible|precise|likely|valid|answer|one\s+(?:that|which))\b"
)
_CHECK = r"(?:[✓✔√☑✅]|(?i:correct|right|true|yes)\b|正确|对(?!于))"
_CLAUSE = rf"(?:(?!(?i:{NOT}|{IF}))[^\n.,;!?。、]){{0,50}}"
_ANNOUNCES = rf"(?:\A|[\n.,;!?。、]){_CLAUSE}?(?<![A-Za-zÀ-ɏ])(?i:{ANSWER}|{RIGHT}|(?:{CHOOSE})\b){_CLAUSE}\Z"
_END = rf"(?={_CLOSE}(?:$|[.,;:!。、।)]|\s?[:(–—]|\s-\s|{IS_AFTER}))"
_IS_ZH = r"(?:应该|应当|应|一定)?(?:就)?(?:是|为|有|选(?!项)|择|项|:)+:?(?:选项)?"
_KIND_ZH = r"(?:选项|一项|说法|表述|答案)?"

RULES: Final = (
    Rule(
        "final answer",
        rf"(?:(?i:\b(?:final|overall)\s+(?:answer|choice|option|decision){_IS}{_NOUN})|(?:(?:最终|最后)的?(?:答案|选项|选择)|故(?=选)){_IS_ZH})LABEL",
        Rank.FINAL,
    ),
    Rule("【答案】", r"(?:[\[【](?:正确|最终|参考)?(?:答案|解答)[\]】]\s*:?|^\W{0,4}答案)\s*LABEL", Rank.FINAL),
    Rule(
        "the answer is",
        r"(?i:(?<!wrong )(?<!incorrect )(?<!each )(?<!every )(?<!no )(?<!no correct )"
        r"(?<!these )(?<!following )(?<!given )\b"
        r"(?:answers?|choice|option|(?<!the )(?:options|choices)|solutions?|conclusion|pick|ans|"
        r"response|letter|verdict|correct(?=\s?[:-])|final(?=\s?:))"
        r"(?:,?\s+(?:to|for|of|here|that|which|left|consistent|among|in|i|however)\b[^.:\n]{0,80}?)?"
        rf"{_IS}{_NOUN})LABEL",
        Rank.ANNOUNCED,
    ),
    Rule(
        "the right one is",
        r"(?i:\b(?:correct|right|true|false|incorrect|wrong|accurate|best|odd)\s+(?:statement|one|sentence|claim|description|item)s?"
        rf"(?:\s+out)?{_IS}{_NOUN})LABEL",
        Rank.ANNOUNCED,
    ),
    Rule(
        "I choose",
        r"(?i:\b(?:choose|choosing|chose|select(?:ed)?|pick(?:ed)?|prefer|mark|tick|circle|answer|"
        rf"(?:go|going|went)\s+(?:with|for)|opt\s+for|vote\s+for|settled?\s+on)\s+{_NOUN}\s*)LABEL",
        Rank.ANNOUNCED,
    ),
    Rule(
        "not A but B",
        r"(?:(?i:\b(?:not|n['’]t)\b[^.\n]{0,20}\b)NEXT\W{1,4}(?i:(?:but|rather)\b[^.,\n]{0,20}?)"
        r"|(?:不是|不选|并非|不在)(?:选项)?NEXT(?:项|选项)?[,;]?(?:而是|而选|而应选|应该?是|是|选)(?:选项)?)FREE",
        Rank.ANNOUNCED,
    ),
    Rule(
        "答案是",
        r"(?<!没有)(?<!没有正确)(?:(?:答案|选项|选择|结论|回答|判断|^答"
        rf"|(?:正确|错误|不对|有误|对|符合(?:题意|要求)?|可能)的{_KIND_ZH}){_IS_ZH}|答案(?=[A-Z]\s*(?:[,。;]|$)))LABEL",
        Rank.ANNOUNCED,
    ),
    Rule("选", r"选(?!项)(?:择|定|:|的是|了)*(?:选项)?LABEL(?!的人|的同学|还是)", Rank.ANNOUNCED),
    Rule(
        "the answers are, in lines",
        r"(?i:\b(?:correct|right|true|answers?)\b[^.:\n]{0,40}:)\s{0,2}\n\W{0,4}LINES",
        Rank.ANNOUNCED,
    ),
    Rule("answer, in other languages", rf"(?<![A-Za-z])CAPITAL{_END}", Rank.ANNOUNCED, _ANNOUNCES),
    Rule(
        "B is correct, in other languages",
        rf"(?<![A-Za-z])CAPITAL{_CLOSE}\s?[번항]?[이가는은がはも]?\s?(?:最も|가장\s)?(?:(?:(?:{IS})\s+(?:(?:{ARTICLE})\s+)?(?:l['’])?)?"
        rf"(?i:{RIGHT}|{ANSWER})(?![^\n.,。]{{0,8}}(?:{NOT_AFTER}))|[를을を]\s?(?:선택|고르|골라|选))",
        Rank.VERDICT,
    ),
    Rule("B is correct", rf"(?<![A-Za-z])LABEL{_CLOSE}(?i:\s*(?:{_BE}|seems|looks)\s+{_GOOD})", Rank.VERDICT),
    Rule(
        "B ✓",
        rf"(?<![A-Za-z])LABEL{_CLOSE}[ :|→=–—?-]{{0,6}}(?:[✓✔√☑✅]|(?<=[:|→=–—?-] ){_CHECK})\W{{0,4}}$",
        Rank.VERDICT,
    ),
    Rule(
        "B正确",
        rf"(?<![A-Za-z])LABEL{_CLOSE}\s*(?:选项|[两三四]?项)?(?:的?(?:说法|表述|描述|叙述|内容))?(?:才|就|都|均|也|显然){{0,2}}(?:是)?"
        r"(?:唯一)?(?:最为?|更)?(?:(?:正确|对|恰当|合适|准确|全面|合理|贴切|严谨|佳|好)(?:的|答案|选项|选择|$|[。,.!;\n])|符合|成立)",
        Rank.VERDICT,
    ),
    Rule(
        "so B",
        r"(?i:\b(?:so|thus|hence|therefore|consequently|accordingly|by\s+elimination|leaving|leaves|means|makes|only|arrive\s+at)\b,?\s*(?:with\s+)?"
        rf"(?:(?:it|this|that)(?:\s+{_BE}|['’]s)\s+)?{_NOUN})FREE",
        Rank.CONCLUDED,
    ),
    Rule("so B, in other languages", rf"(?i:{SO})[\s,、]{{0,2}}(?:(?:{ARTICLE})\s+)?CAPITAL{_END}", Rank.CONCLUDED),
    Rule(
        "it is B",
        rf"(?i:\b(?:(?:it|this|that)(?:\s+{_BE}|['’]s)|think|believe|guess|say|looks\s+like|seems\s+to\s+be|appears\s+to\s+be)\s+(?:that\s+)?(?:(?:it|this|that)(?:\s+{_BE}|['’]s)\s+)?{_NOUN})FREE",
        Rank.CONCLUDED,
    ),
    Rule(
        "B fits",
        rf"(?<![A-Za-z])LABEL{_CLOSE}\s+(?i:best\b|it\s+is\b(?=\W{{0,3}}$)|is(?=\s?[.!])|(?:\w+ly\s+)?(?:fits|matches|works|remains|satisfies|comes\s+closest|is\s+(?:what|left))\b)",
        Rank.CONCLUDED,
    ),
    Rule(
        "所以B",
        r"(?:所以|因此|因而|于是|故|那么|只能是|只剩(?:下)?|只有|应该?是|就是|我?(?:认为|觉得|猜|倾向于?)|毫?无疑问?|显然"
        r"|经过?(?:计算|分析|推理|验证)可?[得知][出到]?)(?:就)?(?:是|为)?(?:选项|答案)?[,:]?FREE",
        Rank.CONCLUDED,
    ),
    Rule(
        "B ✓",
        rf"^\W{{0,4}}{_HEAD}LABEL[).:](?![^\n]{{0,80}}[✗✘❌])[^\n✓✔√☑✅]{{1,80}}[✓✔√☑✅]\W{{0,4}}$",
        Rank.VERDICT,
    ),
    Rule("a line with nothing but B", rf"^\W{{0,4}}{_HEAD}LABEL{_CLOSE}[ \t]*选?项?[.。!,]?[ \t]*$", Rank.LINE),
    Rule("B (its text)", rf"\A\W{{0,4}}{_HEAD}LABEL{_CLOSE} \((?!not\b)[^()\n]{{1,80}}\)[.!]?\s*\Z", Rank.LINE),
    Rule(
        "a label",
        rf"^\W{{0,4}}{_HEAD}LABEL{_CLOSE}(?:[ \t]*(?:[.。、:,)!–—-]"
        r"|(?<=[)\]】])(?!选?项|\s+(?:says|states|claims|describes|refers|mentions)\b)|(?=\((?:not|[\u4e00-\u9fff])))"
        r"|[ \t]+(?=[\u4e00-\u9fff]|(?:because|since)\b))",
        Rank.LABEL,
    ),
    Rule(
        "a label",
        rf"\A\W{{0,4}}{_HEAD}(?!A(?!\s+(?:An?|The)\s)|I(?!\s+(?:An?|The|I)\s)|E\s+a\s)"
        r"LABEL[ \t]+(?=[A-Z\d]|(?:an?|the)\s)",
        Rank.LABEL,
    ),
    Rule(
        "label: B. its text", r"\A\W{0,4}[^\W\d_][^\n\d:.,;!?()]{0,30}:\s{0,2}CAPITAL(?=[.):]\s[^\n:]+\Z)", Rank.LABEL
    ),
    Rule("(B)", r"(?<![A-Za-z])(?=[(\[【][A-Za-z][)\]】,])LABEL", Rank.ALONE),
    Rule(
        "B alone",
        r"\A(?:(?i:probably|definitely|clearly|certainly|surely|obviously|maybe|perhaps|likely|sure|well|just|only|both)[,:!]?\s)?FREE[^\w\n]{0,3}\Z",
        Rank.ALONE,
    ),
    Rule(
        "B at the end",
        r"(?:(?<![A-Za-z])(?i:is|be|to|towards?|by|with|under|in|for|on|only)\s+(?:(?:the\s+)?(?i:options?|choices?|statements?|graph|sentence|number)\s+)?"
        r"|[(–—-]\s?(?i:options?|choices?|answers?)\s+|[→:—]\s?|[,.]\s(?=.{1,3}\Z)|(?:[是选为填即向指有合]|对应)(?:选项)?)LABEL(?=[\s)\]】}'\"”]*(?:$|[。.,;:!?(“–—]|(?i:because|since|as)\b))",
        Rank.ALONE,
    ),
)
"""From "final answer: B" to a letter alone."""


class OptionPatterns(Struct, frozen=True):
    """What finds some options.

    Attributes:
        rules: each with its pattern, and that of what must come before it.
        in_mark: the option at the beginning of what a box holds.
        further: what makes a label one of several: "A or B", "A、B".
        alternative: what comes before the last of several.
        listed: a label in a list of all options: "A) red B) blue".
        mention: any letter that may be one.
        doubts: what denies an option.
    """

    rules: tuple[tuple[Rule, re.Pattern[str], re.Pattern[str] | None], ...]
    in_mark: re.Pattern[str]
    further: re.Pattern[str]
    alternative: re.Pattern[str]
    listed: re.Pattern[str]
    mention: re.Pattern[str]
    doubts: Doubts


@lru_cache(maxsize=64)
def option_patterns(options: str, several: bool) -> OptionPatterns:
    """Compile the rules for the letters ``options``; for questions with several right ones if ``several``."""
    letters, small = re.escape(options), re.escape(options.lower())
    most = len(options) if several else 1
    # "A" and "I" are words before a small letter; a letter may be part of a name: "B超", "A型", "C++", "A = 3".
    is_word = (
        r"(?!A\s+(?!(?:and|or|nor|is|are|was|must|seems|looks|fits|matches|makes|because|since|as|for|if|while|with"
        rf"|ist|es|est|é|è|da)\b|{AND}|{OR})[a-zà-öø-ÿ]"
        r"|I\s+(?!(?:is|because|since)\b)[a-z])"
    )
    end = r"(?![A-Za-z]|['’](?!d[ıiuü]r)[a-z]|[型级股超轮座套班组地点市]|\+\+|\s?=\s?[^=\s])"
    one = rf"{is_word}[{letters}]{{1,{most}}}{end}"
    # After a letter of a list its end comes, or what is said of all of them: not "D、C不是…", "C, A house".
    closed = r"[\s)\]】}'\"”]*"
    ends = (
        rf"(?={closed}(?:$|[^\w\s]|(?:and|or|are|were|all|both|sind|son|sont|sono|são|están|estão)\b|{AND}|{OR}|[A-Z]"
        r"|[ぁ-んァ-ヶ가-힣都均全项选正对符两三四五等和与或以及中之还]))"
    )
    semicolon = r";(?![^.\n]{0,60}\b(?:wrong|incorrect|false|not)\b)"
    with_text = rf"(?:[).:]\s?|\s\()[^\n,;.:]{{1,60}}?(?:[,;]|\band\b|{AND})\s*(?:and\s+)?\(?(?=[A-Z](?:[).:]|\s\())"
    between = (
        rf"(?:{_CLOSE}\s*(?:[,、/&+|]|{semicolon}|\.(?=[A-Z])|\band\b|{AND}|和|与|及|以及)+(?:\s*and\b)?\s*{_HEAD}[{_OPENING}]{{0,4}}"
        rf"|[)\]】]\s?[(\[【]|{with_text}|[ \t]*)"
    )
    more = f"(?>(?:{between}{one}{ends}){{0,{most}}})" if several else ""
    bracketed = rf"[(\[【]\s?(?P<bracketed>[{letters}{small}])\s?[)\]】]"
    if several:
        small_too = f"(?:{one}{ends}|(?<=[(\\[【])[{small}](?=[)\\]】]))"
        others = f"(?>(?:{between}{small_too}){{0,{most}}})"
        bracketed = rf"[(\[【]\s?(?P<bracketed>[{letters}{small}]{end}{others})\s?[)\]】]?"
    line_end = rf"(?=[{_CLOSING}]{{0,4}}[.。,;:]?[ \t]*$|\)\s|\.\s(?=[A-Z\u4e00-\u9fff]))"
    small_list = rf"[{small}](?:\s?[,、;/&]\s?[{small}]){{0,{most - 1}}}"
    not_first = rf"(?!\)[\s,、;&]{{0,3}}(?:(?:and|or)\b|和|与|或)?\s?\([{small}]\))"
    lower = rf"{_OPEN}(?P<small>{small_list})(?:{not_first}{line_end}|(?<=[Oo]ption .)(?!['’\w]))"
    after = (
        rf"(?={closed}(?:$|[。.,;:!?、(–—-](?![A-Za-z0-9])|[是为更最符正因所选项都均才就比而吧的也了]"
        r"|(?:is|because|since|as|for|here|but|seems|would|then|too|instead|rather|not|which|that|with|in|when|at)\b))"
    )
    label = rf"(?:\s*{bracketed}|{_OPEN}(?P<option>{one}{more})|{lower})"
    capital = rf"(?:\s*{bracketed}|{_OPEN}(?P<option>{one}{more}))"
    line = rf"{one}[).:] ?[^\n]{{1,80}}"
    lines = rf"(?P<option>{line}(?:\n\W{{0,4}}{line}){{1,{most}}})" if several else "(?P<option>(?!))"
    forms = {
        "CAPITAL": capital,
        "LINES": lines,
        "LABEL": label,
        "FREE": label + after,
        "NEXT": rf"[(\[【]?[{letters}][)\]】]?(?![A-Za-z])",
    }
    form = re.compile("CAPITAL|FREE|LABEL|LINES|NEXT")
    compiled = tuple(
        (
            rule,
            re.compile(form.sub(lambda found: forms[found.group()], rule.pattern), re.MULTILINE),
            re.compile(rule.before) if rule.before else None,
        )
        for rule in RULES
    )
    either = rf"(?:\bor\b|或者?选?|还是选?|{OR})"
    joint = (
        rf"\s*[\u4e00-\u9fff]{{0,2}}(?:[,、/&;+~–-]|\b(?:and|to)\b|{AND}|和|与|以?及|就是|[到至]|{either}){{1,3}}"
        r"\s*(?:and\b|or\b)?\s*"
    )
    in_brackets = rf"[(\[【][{small}][)\]】]"
    further = rf"{_CLOSE}{joint}{_HEAD}(?:{_OPEN}{one}{ends}|{in_brackets})|\)?\s?\([{letters}{small}]\)"
    if several:
        further = rf"{_CLOSE}\s*{either}\s*{_HEAD}(?:{_OPEN}{one}|{in_brackets})"
    alternative = rf"(?:(?<![A-Za-z])[{letters}]|[(\[【][{small}](?=[)\]】])){_CLOSE}(?!,){joint}{_HEAD}{_OPEN}\Z"
    return OptionPatterns(
        compiled,
        re.compile(rf"^\s*{label}", re.MULTILINE),
        re.compile(further),
        re.compile(rf"(?:\bto|{either}|到)\s*\Z" if several else alternative),
        re.compile(rf"(?<![A-Za-z])([{letters}])[).、.:](?=\s?\w)(?!\s?[{letters}](?![A-Za-z]))"),
        re.compile(rf"(?<![A-Za-z])(?<![A-Za-z]['’])({one})"),
        doubts(rf"(?<![A-Za-z])[{letters}](?![A-Za-z])"),
    )
