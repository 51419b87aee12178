r"""Numbers in text: found whole, as people and models write them, and read exactly.

What counts as a number:

=============================  =======================================================================
``18``, ``18.00``, ``18.``     18; a full stop after the number is not part of it
``1,000``, ``12,345.50``       commas or blanks between groups of three digits belong to the number: ``1 234``
``1,2,3``, ``3,14``            other commas separate: the last number is 3, and 14
``$18``, ``-$18``, ``$-18``    dollars are numbers; other signs of currency stand outside of it
``-3``, ``−3``, ``–3``         negative, with a hyphen, a minus sign or a dash; ``negative 3``, ``is minus 3``, ``负3``
``5-3``                        a hyphen after a letter, digit or ``_`` is no sign: the last number is 3
``答案是-3``                   but Chinese and Japanese put no blank before a sign: -3
``.5``, ``1e3``                0.5 and 1000
``1.2 million``, ``12万``      1200000 and 120000
``x2``, ``v1.2.3``             no numbers: part of a name
``1/2``                        `VALUE` reads fractions, ``2 1/2`` too; `NUMBER` reads 1 and 2
``٣``, ``１８``                decimal digits of every script are read: 3, 18
=============================  =======================================================================

In answers of GSM8K the strongest marker decides: ``#### 42`` and ``\boxed{42}``, then "final answer", then "the answer
is 42", then what the last sentence says (`ais_prompt.postprocess.stated`). Of equal markers the last counts. A number
that is denied ("not 42") counts for nothing.

Source: Cobbe et al. 2021, "Training Verifiers to Solve Math Word Problems" (the ``####`` mark), and OpenCompass,
``opencompass/datasets/gsm8k.py`` (the last number of the answer).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from ais_prompt.errors import DataError
from ais_prompt.postprocess.readable import said
from ais_prompt.postprocess.rule_engine import Candidate, Rank, doubts, strongest
from ais_prompt.postprocess.stated import OPERAND_AFTER, Statement, marked_spans, stated_result, statements
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types.score import Extraction

NUMBER: Final = re.compile(
    r"""
    # A sign, unless it is a hyphen or a subtraction; dollars on either side. Han and kana are letters to Python.
    (?: (?<![^\W\u3040-\u30ff\u4e00-\u9fff])[-−–‐‑﹣](?:\\?\$)? | \\?\$[-−–‐‑﹣]?
      | (?<![A-Za-z])[Nn]egative\s+(?:\\?\$)?
      | (?:(?<=\bis\s)|(?<=\bbe\s)|(?<=[=:]\s)|(?<=\bto\s)|^)minus\s+(?:\\?\$)? | 负 )?
    (?<![A-Za-z_])(?<!\d\.)
    # Groups of three digits, parted as in text (1,000) or in LaTeX (1{,}000, 1\,000, 1,\!000); or digits.
    (?: (?<!\d[ ])\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?![ ]?\d) | \d{1,3}(?:(?:,(?:\\!)?|\{,\}|\\[,:;!])\d{3})+(?!\d)
      | \d+
      | (?<![^\W\u3040-\u30ff\u4e00-\u9fff])(?<![.)])(?=\.\d) )
    (?: \.\d+ )?                            # a full stop alone ends a sentence
    (?: [eE][-+]?\d+(?!\w) )?
    (?: \s?(?:thousand|million|billion|万|亿)\b | [万亿] )?
    """,
    re.VERBOSE,
)
VALUE: Final = re.compile(rf"(?:{NUMBER.pattern})(?:(?:\s\d+)?\s?/\s?\d+(?![\d.,]*/|\d))?", re.VERBOSE)
"""A number, a fraction, or a number with a fraction."""
_LATEX = re.compile(r"\\[$,:;! ]|\{,\}")
_PLAIN = str.maketrans({"$": None, ",": None, **dict.fromkeys("−–‐‑﹣负", "-")})
_SIGN: Final = re.compile(r"(?:negative|minus)\s+", re.IGNORECASE)
_SCALE: Final = re.compile(r"\s?(thousand|million|billion|万|亿)\Z")
_SCALES: Final = {"thousand": 3, "million": 6, "billion": 9, "万": 4, "亿": 8}
_FRACTION: Final = re.compile(r"(?P<sign>-?)(?:(?P<whole>\d+)\s)?(?P<over>\d+)\s?/\s?(?P<under>\d+)")


def to_decimal(value: Any) -> Decimal | None:
    """The exact value of a number, or of a text that is nothing but a number; None for everything else.

    ``$`` and ``,`` are passed over: ``18``, ``18.0``, ``"$18"``, ``"18."`` and ``" 18.00 "`` are one value, and so are
    ``"1,000"``, ``1000`` and ``"1e3"``, and in LaTeX ``\\$1{,}000`` and ``1\\,000``. A fraction is divided to 28
    digits. Infinity and NaN are not numbers.
    """
    written = plain_number(str(value).strip())
    try:
        if fraction := _FRACTION.fullmatch(written):
            number = Decimal(fraction["over"]) / Decimal(fraction["under"]) + Decimal(fraction["whole"] or 0)
            return -number if fraction["sign"] else number
        number = Decimal(written)
    except (InvalidOperation, ZeroDivisionError):
        return None
    return number if number.is_finite() else None


def plain_number(written: str) -> str:
    """Write what `NUMBER` matched in digits: without signs of dollars and thousands, with a hyphen as its sign."""
    plain = _SIGN.sub("-", _LATEX.sub("", written).translate(_PLAIN))
    plain = re.sub(r"(?<=\d)[ \u00a0\u2009\u202f](?=\d{3}(?![\d/]))", "", plain)
    if scale := _SCALE.search(plain):
        return f"{Decimal(plain[: scale.start()]).scaleb(_SCALES[scale[1]]):f}"
    return plain


_LATEX_FRACTION: Final = re.compile(r"\\[dt]?frac\{(\d+)\}\{(\d+)\}")
_MARK: Final = re.compile(r"####[^\n]*")
_CONTRAST: Final = re.compile(
    r"(?:\bbut(?:\s+rather)?|\brather|\binstead|;\s*it\s+is|而是|应该?是|应为|其实是|,是)\s*[$¥￥]?\s*(?=[-−–\d])"
)
_IS: Final = re.compile(r"=|\bwhich\s+(?:is|equals|makes|gives)\b|\bequals\b|等于|也就是")
_DOUBTS: Final = doubts(r"[-−–]?\d(?:[\d,.]*\d)?")
_MOST_WORDS: Final = 40
"""Characters that may follow a number after "Answer:", such as its unit; more of them are a solution."""


@POSTPROCESSORS.register_module()
def gsm8k_postprocess(text: str) -> Extraction | None:
    r"""Return the number that an answer gives, e.g. ``1250.50``; None if there is none.

    A base model goes on with a next "Question:" of its own; what follows is not part of the answer.
    OpenCompass reads "1,000" as 000 and "16-18" as -18; here they are 1000 and 18.

    >>> gsm8k_postprocess("6 * 7 = 42\n#### 42\nThat took 3 steps.")
    '42'
    >>> gsm8k_postprocess("The answer is not 42 but 43, as 40 + 3 shows.")
    '43'
    >>> gsm8k_postprocess("2 + 2 = 4")
    '4'
    """
    source = said(text).before_next_question()
    plain = _LATEX_FRACTION.sub(lambda one: f"{one[1]}/{one[2]}".ljust(len(one.group())), source.text)
    marked = list(_marked(plain))
    result = None if marked else stated_result(plain, VALUE, _DOUBTS)
    found = strongest([_candidate(Rank.ALONE, "the last sentence", result)] if result else marked, plain)
    return source.extraction(found[-1].rule, found[-1].start, found[-1].end, found[-1].text) if found else None


@POSTPROCESSORS.register_module()
def gsm8k_dataset_postprocess(text: str) -> str:
    """Return the gold: what follows ``####``, without thousands commas.

    Raises:
        DataError: there is no ``####``, or nothing after it.
    """
    _, mark, gold = str(text).rpartition("####")
    gold = gold.strip().replace(",", "")
    if not (mark and gold):
        raise DataError(
            f"the gold answer {str(text)[-40:]!r} has no '#### <number>'",
            fix="leave out dataset_postprocessor if the output column holds the plain answer",
        )
    return gold


def _marked(text: str) -> Iterator[Candidate]:
    """The numbers with a marker."""
    for mark in _MARK.finditer(text):
        if number := next(_numbers(text, mark.start() + 4, mark.end()), None):
            yield _candidate(Rank.MARKED, "####", number)
    for rule, start, end in marked_spans(text):
        if numbers := list(_numbers(text, start, end)):
            yield _candidate(Rank.MARKED, rule, numbers[-1])
    for statement in statements(text):
        if number := _stated(text, statement):
            yield _candidate(statement.rule.rank, statement.rule.name, number)
    for cue in _CONTRAST.finditer(text):
        denied = list(NUMBER.finditer(text, max(0, cue.start() - 40), cue.start()))[-1:]
        if denied and _DOUBTS.denies(text, *denied[0].span()) and (number := VALUE.match(text, cue.end())):
            yield _candidate(Rank.ANNOUNCED, "not … but", number)


def _stated(text: str, statement: Statement) -> re.Match[str] | None:
    """The number that an announcement states: the result of its calculation, else the first that is not denied."""
    start, end = statement.start, statement.end
    if statement.rule.name == "answer:":
        return _only_number(text, statement)
    numbers = list(_numbers(text, start, end))
    if "=" in text[start:end] or (numbers and OPERAND_AFTER.match(text, numbers[0].end())):
        result = max((sign.end() for sign in _IS.finditer(text, start, end)), default=end)
        numbers = [number for number in numbers if number.start() >= result]
    return numbers[-1 if statement.rule.name == "答：" else 0] if numbers else None


def _only_number(text: str, statement: Statement) -> re.Match[str] | None:
    """The number of "Answer: 42 apples"; None for "Answer: She has 3 apples. ...", where a solution begins."""
    end = statement.line_end
    equals = text.rfind("=", statement.start, end)
    start = statement.start if equals < 0 else equals + 1
    number = VALUE.search(text, start, end)
    if number is None or re.search(r"[^\W\d_]{2}", text[start : number.start()].replace("\\text", "")):
        return None
    after = text[number.end() : end]
    return number if len(after) <= _MOST_WORDS and not re.search(r"[\d+*/×÷]|\.\s+\S", after) else None


def _numbers(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """The numbers between two places that are not denied."""
    found = VALUE.finditer(text, start, end)
    return (number for number in found if not _DOUBTS.denies(text, number.start(), number.end()))


def _candidate(rank: Rank, rule: str, number: re.Match[str]) -> Candidate:
    return Candidate(rank, rule, number.start(), number.end(), plain_number(number.group()))
