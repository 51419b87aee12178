r"""The option that an answer in words chooses: "The answer is **(B)**.", "\boxed{B}", "答案是B", "B. Paris".

`RULES` lists the ways in which an answer names an option, `Rank` how strong each is. A candidate that is denied ("A is
wrong", "not A but C", "答案不是A"), supposed ("if A ...") or left open ("A or B?") does not count. Bold, dollars and
``\text{}`` are looked through, full-width letters are letters. The words "A" and "I" are no options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from msgspec import Struct

from ais_prompt.postprocess.boxed import boxed_spans
from ais_prompt.postprocess.negation import Doubts, doubts, undecided_until
from ais_prompt.postprocess.rules import Candidate, Rank, Rule, strongest
from ais_prompt.postprocess.source import Source, said
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types.extraction import Extraction

_DECORATION: Final = re.compile(r"\*+|`+|\$+|\\(?:text|textbf|mathrm|mathbf|boxed)(?=\{)|(?<!\w)_+|_+(?!\w)")
_SPACE: Final = re.compile(r"\s{2,}|[^\S\n ]")
# No run of these is unbounded: on a long one, patterns that begin with it would take quadratic time.
_OPENING, _CLOSING = r"\s([【{<'\"“‘「", r")\]】}>'\"”’」"
_OPEN, _CLOSE = rf"[{_OPENING}\[]{{0,8}}", f"[{_CLOSING}]{{0,8}}"

_IS = r"\s*(?:is|are|was|would\s+be|should\s+be|must\s+be|will\s+be|has\s+to\s+be|[:=])\s*:?\s*"
_NOUN = r"(?:(?:the\s+)?(?:correct\s+|right\s+|best\s+)?(?:options?|choices?|letters?|answers?)\s*:?)?"
_ITS = r"(?:(?:it|this|that)(?:\s+(?:is|must\s+be|would\s+be|has\s+to\s+be|should\s+be)|['’]s)\s+)?"
_ANSWER_ZH = r"(?:答案|选项|选择|结论)"
_IS_ZH = r"(?:应该|应当|应)?(?:就)?(?:是|为|选|:)+:?(?:选项)?"

RULES: Final = (
    Rule(
        "final answer",
        rf"(?i:\b(?:final|overall)\s+(?:answer|choice|option|decision){_IS}{_NOUN})LETTER",
        Rank.FINAL,
        "en",
    ),
    Rule(
        "the answer is",
        rf"(?i:\b(?:answer|choice|option|solution)s?(?:\s+(?:to|for|of)\s+[^.:\n]{{1,80}}?)?{_IS}{_NOUN})LETTER",
        Rank.ANNOUNCED,
        "en",
    ),
    Rule(
        "I choose",
        r"(?i:\b(?:choose|select|pick|go\s+with|going\s+with|opt\s+for|vote\s+for|settle\s+on)\s+"
        r"(?:(?:the\s+)?(?:option|choice|answer|letter)s?\s*)?)LETTER",
        Rank.ANNOUNCED,
        "en",
    ),
    Rule(
        "B is correct",
        rf"(?<![A-Za-z])LETTER{_CLOSE}(?i:\s*(?:is|are)\s+(?:clearly\s+|indeed\s+|therefore\s+|thus\s+)?(?:the\s+)?"
        r"(?:only\s+|most\s+)?(?:correct|right|true|best|answer)\b)",
        Rank.ANNOUNCED,
        "en",
    ),
    Rule(
        "the wrong one is",
        r"(?i:\b(?:incorrect|wrong|false|untrue|inaccurate|odd)\s+(?:statement|one|sentence|claim|description|item)s?"
        rf"(?:\s+out)?{_IS}{_NOUN})LETTER",
        Rank.ANNOUNCED,
        "en",
        negatable=False,
    ),
    Rule(
        "so B",
        rf"(?i:\b(?:so|thus|hence|therefore|consequently|accordingly|leaving|leaves|means|but|rather|instead)\b,?\s*"
        rf"{_ITS}{_NOUN})ARTICLE_LETTER",
        Rank.CONCLUDED,
        "en",
    ),
    Rule(
        "I think B",
        rf"(?i:\b(?:think|believe|guess|say|suspect|feel)\s+(?:that\s+)?{_ITS}{_NOUN})ARTICLE_LETTER",
        Rank.CONCLUDED,
        "en",
    ),
    Rule(
        "it is B",
        r"(?i:\b(?:it|this)(?:\s+is|['’]s|\s+must\s+be|\s+has\s+to\s+be)\s+)ARTICLE_LETTER",
        Rank.CONCLUDED,
        "en",
    ),
    Rule("最终答案", rf"(?:最终|最后)的?{_ANSWER_ZH}{_IS_ZH}LETTER", Rank.FINAL, "zh"),
    Rule("故选", r"(?:故|综上)(?:答案)?(?:应该|应)?选(?:择|项|:)*LETTER", Rank.FINAL, "zh"),
    Rule("答案是", rf"(?:正确)?{_ANSWER_ZH}{_IS_ZH}LETTER", Rank.ANNOUNCED, "zh"),
    Rule("选", r"选(?:择|项|:|的是|了)*LETTER", Rank.ANNOUNCED, "zh"),
    Rule(
        "B正确",
        rf"(?<![A-Za-z])LETTER{_CLOSE}\s*(?:选项|项)?(?:的?(?:说法|表述|描述|叙述|内容))?(?:才|就|都)?(?:是)?(?:唯一)?(?:最)?"
        r"(?:正确|对|符合|恰当|合适)(?:的|答案|选项|题意|要求|$|[。,.!;\n])",
        Rank.ANNOUNCED,
        "zh",
    ),
    Rule(
        "正确的是",
        r"(?:正确|对|符合(?:题意|要求))的?(?:选项|一项|说法|答案)?(?:应该|应)?(?:是|为|:)+LETTER",
        Rank.ANNOUNCED,
        "zh",
    ),
    Rule(
        "错误的是",
        r"(?:(?:错误|不正确|不对|有误|不符合(?:题意|要求)?)的?(?:选项|一项|说法|表述)?(?:是|为|:)+|只有(?:选项)?)LETTER",
        Rank.ANNOUNCED,
        "zh",
        negatable=False,
    ),
    Rule(
        "所以B",
        r"(?:所以|因此|因而|从而|于是|故|则|那么|即|而是|应该?是|应为|只能是|只剩(?:下)?|剩下|就是|我?(?:认为|觉得|猜|倾向于?))"
        r"(?:就)?(?:是|为)?(?:选项|答案)?[,:]?LETTER",
        Rank.CONCLUDED,
        "zh",
    ),
    Rule("a line with nothing but B", rf"^\s*LETTER{_CLOSE}\s*[.。]?\s*$", Rank.LINE),
    Rule("a line that begins with B", rf"^\s*LETTER{_CLOSE}\s*[.。、:,)-]", Rank.LABEL),
    Rule("a line that begins with (B)", r"^\s*BRACKETED", Rank.LABEL),
    Rule("B alone", r"(?<![A-Za-z])BARE", Rank.ALONE),
)
"""LETTER is an option, bare or in brackets; ARTICLE_LETTER one that is not the word "A" or "I"; BARE the same,
without brackets; BRACKETED one in brackets."""

# "Plan B", "vitamin C", "C++", "U.S.A", "20 °C" name no option. Neither do "A ball" and "I think".
_NO_WORD = (
    r"(?!A\s+(?!(?:is|because|since|as|for|here|and|or|but)\b)[a-z])(?!I\s+(?!(?:because|since)\b)[a-z])(?!I['’])"
)
_NO_NAME = (
    r"(?<![A-Za-z]\.)(?<![°º℃])(?i:(?<!plan\s)(?<!vitamin\s)(?<!hepatitis\s)(?<!appendix\s)(?<!section\s)(?<!figure\s)"
    r"(?<!table\s)(?<!type\s)(?<!group\s)(?<!team\s)(?<!grade\s)(?<!class\s)(?<!point\s)(?<!angle\s)(?<!person\s)"
    r"(?<!vertex\s)(?<!part\s)(?<!step\s)(?<!case\s)(?<!city\s)(?<!town\s)(?<!company\s)(?<!box\s)(?<!gate\s))"
    r"(?<!维生素)(?<!方案)(?<!附录)"
)

_NO_NAME_AFTER = r"(?![-+#&]\w|\+\+|#|\.[A-Z]|计划|级|型|组|班|区|座|楼)"


class _Patterns(Struct, frozen=True):
    """The rules for some options, and what denies one of them."""

    rules: tuple[tuple[Rule, re.Pattern[str]], ...]
    in_box: re.Pattern[str]
    doubts: Doubts


@lru_cache(maxsize=64)
def _patterns(options: str, several: bool) -> _Patterns:
    letters = re.escape(options)
    one = f"[{letters}]"
    between = rf"(?:[,、/&和与及{_OPENING}\[{_CLOSING}]|and\b){{0,12}}"
    group = f"{one}(?:{between}{one})*" if several else one
    plain = rf"(?P<option>{group})(?![A-Za-z]|['’][a-z])"
    # A small letter is an option only in brackets: "the answer is a number".
    bracketed = rf"[(\[【]\s*(?P<bracketed>[{letters}{letters.lower()}])\s*[)\]】]"
    letter = (
        f"(?:\\s*{bracketed}(?!{between}{one}(?![A-Za-z]))|{_OPEN}{plain})"
        if several
        else f"(?:\\s*{bracketed}|{_OPEN}{plain})"
    )
    forms = {
        "ARTICLE_LETTER": f"(?:\\s*{bracketed}|{_OPEN}{_NO_WORD}{plain})",
        "BRACKETED": rf"(?:{bracketed}|(?P<option>(?!)))",
        "BARE": rf"(?:{_NO_NAME}{_NO_WORD}{plain}{_NO_NAME_AFTER}|(?P<bracketed>(?!)))",
        "LETTER": letter,
    }
    compiled = []
    for rule in RULES:
        pattern = re.sub("ARTICLE_LETTER|LETTER|BRACKETED|BARE", lambda form: forms[form.group()], rule.pattern)
        compiled.append((rule, re.compile(pattern, re.MULTILINE)))
    return _Patterns(
        tuple(compiled), re.compile(rf"^\s*{letter}", re.MULTILINE), doubts(rf"(?<![A-Za-z]){one}(?![A-Za-z])")
    )


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
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
    return _extraction(source, found[0]) if found else None


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
def last_option_postprocess(text: str, options: str = "ABCD", cushion: bool = True) -> Extraction | None:
    """Return the option that an answer names, the last one if it names several; None if there is none.

    >>> last_option_postprocess("The answer is A. No, wait: the answer is C. All others are wrong.", "ABCD")
    'C'

    Args:
        text, options, cushion: as for `first_option_postprocess`.

    Source: OpenCompass, ``last_option_postprocess`` (which takes the last letter of the text, also inside a word).
    """
    source, found = _named(text, options, cushion=cushion)
    return _extraction(source, found[-1]) if found else None


@POSTPROCESSORS.register_module(name=["multiple_select_postprocess", "multiple-select"])  # type: ignore[untyped-decorator]  # mmengine has no types
def multiple_select_postprocess(text: str, options: str = "ABCDEFGH") -> Extraction | None:
    """Return all options that an answer names, in alphabetical order and each once; None if it names none.

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


def _extraction(source: Source, found: Candidate) -> Extraction | None:
    return source.extraction(found.rule, found.start, found.end, found.text)


def _named(text: str, options: str, *, cushion: bool = True, several: bool = False) -> tuple[Source, list[Candidate]]:
    """The options that a text names in the strongest way in which it names any, in order."""
    patterns = _patterns(options, several)
    whole = said(text)
    for start, end in reversed(boxed_spans(whole.text)):
        if found := patterns.in_box.search(whole.text[start:end].replace("\\text", "     ").replace("{", " ")):
            place = start + found.start("option" if found["option"] else "bracketed")
            letters = found["option"] or found["bracketed"].upper()
            return whole, [Candidate(Rank.MARKED, "boxed", place, place + len(letters), letters)]
    source = whole.without(_DECORATION).without(_SPACE, spaced=True)
    candidates = list(_asserted(source.text, patterns))
    if _is_echo(candidates, options):
        labels = {one.start for one in candidates if one.rank == Rank.LABEL}
        candidates = [one for one in candidates if one.start not in labels or one.rank > Rank.LABEL]
    if not cushion:
        candidates = [one for one in candidates if one.rank > Rank.ALONE]
    return source, strongest(candidates, source.text)


def _asserted(text: str, patterns: _Patterns) -> Iterator[Candidate]:
    """The candidates that are neither denied nor left open."""
    settled = undecided_until(text)
    denied: set[str] = set()
    weak: list[Candidate] = []
    for rule, pattern in patterns.rules:
        for found in pattern.finditer(text):
            group = "option" if found["option"] else "bracketed"
            start, end = found.span(group)
            letters = found[group].upper() if group == "bracketed" else found[group]
            if rule.negatable and patterns.doubts.denies(text, start, end):
                denied.update(letters)
            elif rule.negatable and patterns.doubts.leaves_open(text, start, end):
                continue
            elif rule.rank > Rank.LABEL:
                yield Candidate(rule.rank, rule.name, start, end, letters)
            elif rule.rank == Rank.LABEL or start >= settled:
                weak.append(Candidate(rule.rank, rule.name, start, end, letters))
    # A letter that is denied somewhere is not meant where it merely occurs.
    yield from (one for one in weak if not denied.intersection(one.text))


def _is_echo(candidates: list[Candidate], options: str) -> bool:
    """Whether the lines that begin with options repeat the question: A, B, ... in this order."""
    labels = [one.text for one in candidates if one.rank == Rank.LABEL]
    return len(labels) > 1 and labels == list(options[: len(labels)])
