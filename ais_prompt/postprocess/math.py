r"""Results of mathematical solutions, as LaTeX or plain text; `MATHVerifyEvaluator` compares them by meaning.

Source: OpenCompass, ``opencompass/datasets/math.py`` (names); Hendrycks et al. 2021, "Measuring Mathematical Problem
Solving With the MATH Dataset" (the ``\boxed`` mark of gold and answer).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from ais_prompt.errors import DataError
from ais_prompt.postprocess.numbers import NUMBER, conclusion, plain_number
from ais_prompt.postprocess.rule_engine import Candidate, Rank, doubts, is_undecided
from ais_prompt.postprocess.stated import (
    BOLD,
    EQUATION,
    FORMULA,
    TERM,
    Statement,
    is_bound,
    is_label,
    is_stated,
    last_boxed,
    marked_spans,
    sentences,
    several_values,
    stated_result,
    statements,
)
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import Extraction
from ais_prompt.utils import late

_INLINE: Final = late(
    r"(?<!\\)\$\$(?P<display>[^$]+?)\$\$|(?<![\\$])\$(?P<dollars>(?:[^$\\]|\\.)+)\$(?!\d)|\\\((?P<round>.{1,2000}?)\\\)|\\\[(?P<square>.{1,2000}?)\\\]"
    r"|\\begin\{(?:align|equation|gather|aligned)\*?\}(?P<lines>.{1,2000}?)\\end\{\w+\*?\}",
    re.DOTALL,
)
_HAN: Final = r"\u3400-\u9fff"
_WORDS: Final = late(rf"(?<![\\A-Za-z])[A-Za-z]{{2,}}\s+[A-Za-z]{{2,}}|[{_HAN}]{{2,}}")
_MATHS: Final = late(rf"[^{_HAN}\s,;:。、][^{_HAN}。、]*")
_PROSE: Final = late(r"(?<!\\)\b[A-Za-z]+(?:\s+[A-Za-z]+){2}\b|\b[A-Za-z]{2,}\s+[A-Za-z]{2,}\s+\d")
_UNIT: Final = late(
    r"(?P<number>[-−]?\$?\d[\d,]*(?:\.\d+)?)(?:\*\*)?(?:\s*\\?%|\s*[a-z]{1,4}/[a-z]{1,4}|\s+[A-Za-z]{3,}(?:\s+[A-Za-z]+)*|\s*[个元米岁天%])\Z"
)
_SPOKEN_OF: Final = late(r"(?:\b(?:in|of|on|for)\s+(?:the\s+variables?\s+)?|关于|与)\Z")
"""What comes before a formula that describes a result: "a polynomial in x"."""
_DENIED: Final = late(r"(?i:(?:is|was)?\s?(?:not\b|n['’]t\b)|并?[不非])\s*(?:是)?\s*")
_LEAD: Final = late(
    r"\s*(?:\\displaystyle|(?i:approximately|about|roughly|exactly|therefore|thus|then|simply|just|[a-z]{3,}:(?=\s))|大约|约|=|≈)\s*"
)
_SOLUTION: Final = late(r"\s*解\s*:\s*")
_TEXT: Final = late(r"[\d:.,\s]{0,20}\\text\s?\{[^{}]{1,80}\}[.\s]*")
_FACTORIAL: Final = late(r"\s*(?:\\[a-z]+|[a-z](?![a-z])|[\d^{}()+*/·\s-]){1,40}(?<=[\da-z)])!{1,2}\s*")
_CODE_BLOCK: Final = late(r"\s*```\w*\n(.*?)\n?```\s*", re.DOTALL)
_NO_RESULT: Final = late(
    r"\A\W*(?i:not|no|none|n/a|null|nan|\\f?boxed)\b|[:?]\s*\Z|\A(?:[无否没不]|矛盾|[数算]不|(?:现在|首先)?设)"
)
_SENTENCE: Final = late(
    # Dollars in prose, "It's 42", "I get 42"; but "sin 30" is a formula.
    r"(?<!\\)\$|(?<!\\)\b(?:[A-Za-z]+['’][a-z]+\s+\S"
    r"|(?!(?:sin|cos|tan|cot|log|ln|exp|mod|max|min|gcd|lcm|det|lim)\b)[A-Za-z]{2,}\s+[-\d])"
)
_LONGEST_WORD: Final = 8
"""Characters of a Chinese text that can be an answer by itself, such as 等腰三角形."""
_WORD: Final = "\ue001"
_NOT_A_RESULT: Final = late(
    # a letter, a name with its place, what is to be solved, what is excluded
    r"\\[bp]mod|\A\\?[A-Za-z]+'*(?:_\w|\^[a-z])?(?:\([A-Za-z]\))?\Z|\A[A-Z]\s*\([-\d]|[-+^][^=]*=\s*0\Z|\A(?:\\displaystyle\s*)?\\(?:int|iint|oint|lim|sum|prod)(?![a-z])[^=]*\Z|\A(?!.*\\int).*=.*\bd[xyztu]\Z|\\ne(?:q|\b)|\\perp|\\parallel|\\(?:in|le|ge)\b.*(?:\\mathbb|[a-z],)"
)
_NAME: Final = late(
    r"\A(?!\\(?:binom|frac|sqrt))\\?[A-Za-z]+[_'\w{}]*(?:\^\{-1\})?(?:\([a-z]\))?\Z|\\(?:int|lim|sum|frac\{d\w*\}\{d\w*\}\Z)"
)
_MOST_UNKNOWNS: Final = 2
"""Letters of a result; a law of physics has more of them."""
_RELATION: Final = late(r"=|<|>|\\(?:leq?|geq?|equiv|sim|approx)(?![a-z])")
_EXPONENT: Final = late(r"\^(?:\{[^{}]*\}|-?\w)")
_ITEM: Final = late(f"{TERM}+|{EQUATION}+|(?:{NUMBER.pattern})", re.VERBOSE)
_DOUBTS: Final = doubts(rf"(?:{FORMULA}{{1,80}}|[-−]?\d(?:[\d,.]*\d)?)")
_SPOKEN_NUMBER: Final = late(
    rf"(?=[^\W\d]|[–‐‑﹣]|.*[^\W\d]\Z|\d+[ \u00a0\u2009\u202f]\d)(?:{NUMBER.pattern})", re.VERBOSE
)
"""A number with a word or dash as its sign, a word as its scale, or blanks: "negative 4", "12万", "1 234"."""
_TOKEN: Final = late(r"\s*<[^<>\s]{2,12}>\s*\Z")
"""A mark of a chat template at the end, such as ``<eoa>``."""
_TRIM: Final = ' .*`\n\t!,:。…"“”「」'


@POSTPROCESSORS.register_module()
def math_postprocess_v2(text: str, cut: bool = False) -> Extraction | None:
    r"""Return the result of a solution; None if none can be made out.

    It is, of what is said after any thinking: the last ``\boxed{}`` or ``####``; else what the last "the answer is" or
    "答案是" announces; else all of a text of one line that holds no sentence; else the formula between dollars or
    ``\( \)``, or the number, that the last sentence states (`ais_prompt.postprocess.stated`).

    >>> math_postprocess_v2(r"So $x = 2$. The answer is \boxed{\frac{1}{2}}.")
    '\\frac{1}{2}'
    >>> math_postprocess_v2("The final answer is $2\\sqrt{3}$. I hope it is correct.")
    '2\\sqrt{3}'
    >>> math_postprocess_v2("x^2 + 1")
    'x^2 + 1'
    >>> math_postprocess_v2("Adding them gives 3.5 apples.")
    '3.5'
    >>> math_postprocess_v2("所以，答案是 －８．")
    '-8'

    OpenCompass takes the first "answer is" and cuts at every full stop, so "the answer is 3.5" gives 3.

    Args:
        text: the answer.
        cut: as for `gsm8k_postprocess`.
    """
    return conclusion(text, _candidates, corrected=partial(_marked, corrected=True), cut=cut)


@POSTPROCESSORS.register_module()
def math_dataset_postprocess(text: str) -> str:
    r"""Return the gold of MATH: what the last ``\boxed{}`` of the solution holds.

    >>> math_dataset_postprocess(r"Thus $x = \boxed{-\frac{1}{3}}$.")
    '-\\frac{1}{3}'

    Raises:
        DataError: there is none.
    """
    gold = last_boxed(str(text))
    if not gold:
        raise DataError(
            f"the gold answer {str(text)[-40:]!r} has no \\boxed{{...}}",
            fix="leave out dataset_postprocessor if the output column holds the plain answer",
        )
    return gold


def _candidates(text: str) -> list[Candidate]:
    """Every span that may be the result, with its rank."""
    marked = list(_marked(text))
    if _FACTORIAL.fullmatch(text) and not marked:
        return [Candidate(Rank.LINE, "the whole text", 0, len(text), text.strip())]
    if whole := _whole(text):
        return [*marked, _candidate(text, Rank.LINE, "the whole text", *whole)]
    return marked or list(_alone(text))


def _marked(text: str, *, corrected: bool = False) -> Iterator[Candidate]:
    """The spans with a marker."""
    for rule, start, end in marked_spans(text):
        if re.search(r"\w", text[start:end].replace("\\text", "")):
            formula = _INLINE.fullmatch(text[start:end].strip())
            span = _content(formula, start + text[start:end].index(formula.group())) if formula else (start, end)
            yield Candidate(Rank.MARKED, rule, *span, text[slice(*span)].strip())
    for mark in re.finditer(r"####[ \t]*(\S[^\n]*)", text):
        yield _candidate(text, Rank.MARKED, "####", *mark.span(1))
    for statement in statements(text, corrected=corrected):
        stated = _stated(text, statement)
        if stated and text[slice(*stated)].strip(_TRIM):
            yield _candidate(text, statement.rule.rank, statement.rule.name, *stated)


def _alone(text: str) -> Iterator[Candidate]:
    """The span that the last sentence gives without a marker, if there is one."""
    masked = _INLINE.sub(_masked, text)
    if result := stated_result(masked, _ITEM, _DOUBTS):
        if formula := _INLINE.match(text, result.start()):
            yield _candidate(text, Rank.LABEL, "the last formula", *_content(formula))
        else:
            yield Candidate(Rank.ALONE, "the last sentence", *result.span(), plain_number(result.group()))
    elif (
        (bold := _bold(text))
        and is_stated(text, bold[0])
        and not (is_undecided(text) or is_bound(text, bold[0]) or _DOUBTS.denies(masked, *bold))
    ):
        yield _candidate(text, Rank.ONLY, "the only bold formula", *bold)


def _bold(text: str) -> tuple[int, int] | None:
    """Where the only formula or number in bold is: "So the probability is **3/4**."; None if there are several."""
    found = [one for one in BOLD.finditer(text) if re.search(r"\d|\\", one[1])]
    if len({one[1] for one in found}) != 1 or several_values(text):
        return None
    content = found[-1][1]
    formula = _INLINE.fullmatch(content)
    is_heading = content.rstrip().endswith((":", ".", ")")) and not re.search(r"[(=\\]", content)
    start = found[-1].start(1)
    return None if is_heading or not _is_whole(content) else _content(formula, start) if formula else found[-1].span(1)


def _stated(text: str, statement: Statement) -> tuple[int, int] | None:
    """Where the result of an announcement is: its first formula, else its sentence without words around a number."""
    start, end = statement.start, statement.end
    if denied := _DENIED.match(text, start):
        # "is not 3 but 4"
        contrast = re.compile(r"\b(?:but|rather)\s+|(?<!不)是").search(text, denied.end(), statement.line_end)
        if contrast is None:
            return None
        start = contrast.end()
        end = max(end, start)
        stop = re.compile(r"\n|。|\.(?!\d)|,(?!\d)").search(text, start, statement.line_end)
        end = stop.start() if stop else statement.line_end
    formulas = _formulas(text, start, statement.line_end)
    if formulas and _SPOKEN_OF.search(text, start, formulas[0].start()):
        return None
    if formulas and (formulas[0].start() < end or not text[start : formulas[0].start()].strip()):
        return _content(formulas[0])
    sentence = text[start:end]
    if _SPOKEN_NUMBER.fullmatch(sentence.strip(_TRIM)):
        return start, end
    if re.search(f"[{_HAN}]", sentence) and (
        maths := [m for m in _MATHS.finditer(sentence) if re.search(r"\d|\\", m.group())]
    ):
        return start + maths[-1].start(), start + maths[-1].end()
    if unit := _UNIT.fullmatch(sentence.strip(_TRIM)):
        begin = start + len(sentence) - len(sentence.lstrip(_TRIM))
        return begin, begin + unit.end("number")
    if is_undecided(sentence) or re.fullmatch(r"\W*(?:unknown|unclear|未知|不确定)\W*", sentence):
        return None
    if _PROSE.search(sentence):
        numbers = [one for one in NUMBER.finditer(text, start, end) if not is_label(text, one.start())]
        return numbers[-1].span() if numbers and statement.rule.name != "answer:" else None
    return start, end


def _whole(text: str) -> tuple[int, int] | None:
    """Where the result is in a text, or a block of code, that holds nothing else; None if there is more."""
    block = _CODE_BLOCK.fullmatch(text)
    start, end = block.span(1) if block else (0, len(text))
    if label := _SOLUTION.match(text, start, end):
        start = label.end()
    content = text[start:end].strip(_TRIM)
    if not content or not _is_whole(text[start:end]):
        return None
    begin = text.index(content, start)
    if formula := _INLINE.fullmatch(content):
        return _content(formula, begin)
    unit = _UNIT.fullmatch(content)
    return (begin, begin + unit.end("number")) if unit and not _SPOKEN_NUMBER.fullmatch(content) else (start, end)


def _is_whole(text: str) -> bool:
    """Return whether a text is nothing but a formula or a word; two words side by side make it a sentence."""
    line = text.strip()
    if _TEXT.fullmatch(line):
        return True
    if (
        "\n" in line
        or is_undecided(line)
        or len(sentences(line)) > 1
        or _NO_RESULT.search(line)
        or not re.search(r"\w", line)
    ):
        return False
    if formulas := _formulas(line, 0, len(line)):
        return len(formulas) == 1 and formulas[0].group() == line.strip(_TRIM)
    chinese = re.findall(f"[{_HAN}]", line)
    if chinese:
        is_sentence = len(line) > 4 and line[-1] in "。!?"
        return len(line) <= _LONGEST_WORD and not (is_sentence or re.search(r"[\d$是为得]|等于|所以|因此|答", line))
    return not (_WORDS.search(line) or _SENTENCE.search(line))


def _formulas(text: str, start: int, end: int) -> list[re.Match[str]]:
    """The formulas between two places; "$5 and $6" is none."""
    return [one for one in _INLINE.finditer(text, start, end) if _is_formula(one)]


def _is_formula(found: re.Match[str]) -> bool:
    content = re.sub(r"\\text\{[^{}]*\}", "", found[found.lastgroup or 0])
    return (
        not (found["dollars"] and _WORDS.search(content))
        and re.search(r"[^\W_]", re.sub(r"\\(?:boxed|fbox|text|math)[a-z]*", "", content)) is not None
    )


def _masked(formula: re.Match[str]) -> str:
    """A formula that can be a result as so many marks; any other as a word, and dollars in prose as they are."""
    if not _is_formula(formula):
        return formula.group()
    content = formula[formula.lastgroup or 0].strip()
    mask = EQUATION if "=" in content else TERM
    if _NOT_A_RESULT.search(content) or _is_identity(content):
        mask = _WORD
    return mask * len(formula.group())


def _is_identity(content: str) -> bool:
    """Return whether an equation relates letters only: "a^2 + b^2 = c^2", but not "x = 3" or "f'(x) = g(x)"."""
    left, *rest = _RELATION.split(content)
    right = _EXPONENT.sub("", rest[-1]) if rest else ""
    value = re.search(r"\d|\\pi|\be\b|C\b", right)
    letters = set(re.findall(r"[a-z]", re.sub(r"\\[A-Za-z]+", "", right))) - set("eid")
    if len(letters) > _MOST_UNKNOWNS and "=" in content:
        return True
    return bool(rest) and not value and not ("=" in content and _NAME.search(left.strip()))


def _content(formula: re.Match[str], offset: int = 0) -> tuple[int, int]:
    """Where the content of a formula is; of several lines the last one."""
    start, end = formula.span(formula.lastgroup or 0)
    if formula["lines"]:
        line = re.search(r"[^\s\\&](?:(?!\\\\).)*?(?=\s*(?:\\\\)?\s*\Z)", formula["lines"], re.DOTALL)
        start += line.start() if line else 0
        end = start + len(line.group()) if line else end
    return start + offset, end + offset


def _candidate(text: str, rank: Rank, rule: str, start: int, end: int) -> Candidate:
    """A candidate without the white space and punctuation at its ends."""
    lead = _LEAD.match(text, start, end)
    start = lead.end() if lead else start
    content = _TOKEN.sub("", text[start:end])
    stripped = content.rstrip(_TRIM).lstrip(_TRIM.replace(".", ""))
    begin = start + content.find(stripped)
    if _SPOKEN_NUMBER.fullmatch(stripped):
        return Candidate(rank, rule, begin, begin + len(stripped), plain_number(stripped))
    return Candidate(rank, rule, begin, begin + len(stripped), stripped.replace("**", "").replace("&=", "="))
