r"""Numbers in text: found whole, as people and models write them, and read exactly.

What counts as a number:

=============================  =======================================================================
``18``, ``18.00``, ``18.``     18; a full stop after the number is not part of it
``1,000``, ``12'345.50``       signs between groups of three digits belong to the number, and so do blanks: ``1 234``
``1.234,56``, ``1,00,000``     1234.56 and 100000, as in Europe and India
``3,5``, ``0,125``             3.5 and 0.125: a comma that cannot part thousands is a decimal comma
``1,2,3``, ``(1,2)``           several numbers; but ``1234567,7654321`` is two, and ``1.2.3`` no number
``$18``, ``-$18``, ``$-18``    dollars are part of a number; other signs of currency and ``%`` stand outside of it
``-3``, ``−3``, ``–3``         negative, with a hyphen, a minus sign or a dash; ``negative 3``, ``is minus 3``, ``负3``
``5-3``                        a hyphen after a letter, digit or ``_`` is no sign: the last number is 3
``答案是-3``                   but Chinese and Japanese put no blank before a sign: -3
``.5``, ``1e3``, ``5×10³``     0.5, 1000 and 5000
``10^6``, ``101₂``, ``12_8``   1000000, 5 and 10: powers and bases
``2½``                         2.5
``1.2 million``, ``12万``      1200000 and 120000
``twenty-one``                 21, if an answer of GSM8K says nothing else
``x2``, ``v1.2.3``, ``cm^2``   no numbers: part of a name, a version, a unit
``1/2``, ``\frac12``           `VALUE` reads fractions, ``2 1/2`` too; `NUMBER` reads the numbers in them
``٣``, ``１８``                decimal digits of every script are read: 3, 18
=============================  =======================================================================

In answers of GSM8K the strongest marker decides: ``#### 42`` and ``\boxed{42}``, then "final answer", then "the answer
is 42", then what the last sentence says, then the only number (`ais_prompt.postprocess.stated`). Of equal markers the
last counts. A number that is denied ("not 42") or a bound ("at least 42") counts for nothing.

Source: Cobbe et al. 2021, "Training Verifiers to Solve Math Word Problems" (the ``####`` mark), and OpenCompass,
``opencompass/datasets/gsm8k.py`` (the last number of the answer).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, Final

from ais_prompt.errors import DataError
from ais_prompt.postprocess.label_words import stated_word
from ais_prompt.postprocess.rule_engine import Candidate, Rank, doubts, last_version, said, strongest
from ais_prompt.postprocess.stated import (
    OPERAND_AFTER,
    Statement,
    is_bound,
    marked_spans,
    only_number,
    several_values,
    stated_result,
    statements,
)
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import Extraction
from ais_prompt.utils import late

DIGITS: Final = (
    r"(?:\d{1,3}(?:(?:,(?:\\!)?|\{,\}|\\[,:;!]|['’])\d{3}){1,40}(?!\d)(?:\.\d+)?"
    r"|\d{1,2}(?:,\d{2}){1,8},\d{3}(?!\d|,\d)(?:\.\d+)?"
    r"|\d{1,3}(?:\.\d{3})+,\d+(?![.,]?\d)|\d{1,3}(?:\.\d{3}){2,}(?![.,]?\d)"
    r"|(?<!\d,)(?!(?<=[(\[])\d+,\d+[)\]])(?:\d{1,3}(?:,|\{,\})\d+|\d+(?:,|\{,\})\d{1,3})(?![.,]?\d)"
    r"|\d++(?:\.\d++)?(?!\.\d))"
)
"""Pattern of the digits of one number; it may match at any digit, so a pattern around it says where numbers begin."""
_NUMERAL: Final = late(rf"(?<!\d\.){DIGITS}")
_LATEX: Final = late(r",\\!|\{,\}")
_LONGEST: Final = 100
"""Characters around a place that are looked at."""
_ONES: Final = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen",
)
_TENS: Final = re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety")
_VALUES: Final = {**{word: n for n, word in enumerate(_ONES)}, **{word: 10 * n for n, word in enumerate(_TENS, 2)}}
_SMALL: Final = rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_ONES[1:10])}))?|{'|'.join(reversed(_ONES))})"
_HUNDREDS: Final = rf"(?:(?:{'|'.join(_ONES[1:10])})\s+hundred(?:\s+(?:and\s+)?{_SMALL})?|{_SMALL})"
WORDED: Final = rf"(?i:(?<![\w-])(?:{_HUNDREDS}\s+thousand(?:,?\s+(?:and\s+)?{_HUNDREDS})?|{_HUNDREDS})(?![\w-]))"
"""Pattern of a number in words."""
PARTS_OF_NUMBERS: Final = (
    r"(?:hundred|thousand|(?:m|b|tr)illion|dozen|point|half|halves|quarters?"
    r"|(?:thir|four|fif|six|seven|eigh|nin|ten)(?:d|th)s?)"
)
"""Words that make another number of the one before them."""
_BETWEEN: Final = late(r"\\[,:;! ]|['’]")
_SUPERSCRIPTS: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
_SUBSCRIPTS: Final = "₀₁₂₃₄₅₆₇₈₉"
_HALVES: Final = "".join(map(chr, [*range(0xBC, 0xBF), *range(0x2150, 0x215F), 0x2189]))
"""Characters that are fractions: ½."""
_SIGN: Final = r"""
    # A sign, unless it is a hyphen or a subtraction; dollars on either side. Han and kana are letters to Python.
    (?: (?<![^\W\u3040-\u30ff\u4e00-\u9fff])[-−–‐‑﹣](?:\\?\$|[€£¥])? | \\?\$[-−–‐‑﹣]?
      | (?<![A-Za-z])[Nn]egative\s+(?:\\?\$)?
      | (?:(?<=\bis\s)|(?<=\bbe\s)|(?<=[=:]\s)|(?<=\bto\s)|^)minus\s+(?:\\?\$)? | 负 )?
    # Not in a name, after a point, or as an exponent or a subscript.
    (?!0[xX][\da-fA-F])(?<![A-Za-z_\d^])(?<!\d\.)(?<!\^[{-])(?<!_\{)
"""
_POWER: Final = rf"(?:(?:\^|\*\*)(?:[-−]?\d{{1,3}}|\{{[-−]?\d{{1,3}}\}})(?!\w)|[{_SUPERSCRIPTS}]{{1,4}})"
NUMBER: Final = late(
    rf"""{_SIGN}
    (?: (?<!\d[ ])\d{{1,3}}(?:[ \u00a0\u2009\u202f]\d{{3}})+(?![ ]?\d)(?:[.,]\d+)? | {DIGITS}
      | (?<![^\W\u3040-\u30ff\u4e00-\u9fff])(?<![.)])\.\d+ | (?=[{_HALVES}]) )
    (?: [eE][-+]?\d+(?!\w) | \s?(?:×|\\times|·|\\cdot|[x*])\s?10{_POWER} | {_POWER} | \s?[{_HALVES}]
      | _(?:\d{{1,2}}|\{{\d{{1,2}}\}})(?!\w) | [{_SUBSCRIPTS}]{{1,2}} )?
    (?![{_SUPERSCRIPTS}{_SUBSCRIPTS}{_HALVES}]|\^\{{?[-−]?\w|_[\d{{]|(?<=\d)['’]\d)
    (?: \s?(?:thousand|million|billion|trillion|万|亿)\b | [万亿] | k\b )?
    """,
    re.VERBOSE,
)
_PART: Final = r"\s?(?:\d|\{\s?\d+\s?\})"
VALUE: Final = late(
    rf"{_SIGN}(?:\d+\s?)?\\[dt]?frac{_PART}{_PART}"
    rf"|(?:{NUMBER.pattern})(?:(?:\s\d+)?\s?[/⁄]\s?\d+(?![\d.,]*/|\d))?",
    re.VERBOSE,
)
"""A number, a fraction, or a number with a fraction."""
_MONEY: Final = r"(?:[€£¥￥₹₩₽]|\b(?:USD|EUR|GBP|CHF|JPY|INR|RMB|CNY)\b)"
_AROUND: Final = late(rf"\A{_MONEY}\s*|\A\+(?=\S)|\s*(?:{_MONEY}|\\?\$|\\?[%％])?\.?\Z")
"""What may stand around the digits of a gold."""
_UNIT_WORD: Final = r"(?:[a-z°µμΩ%][A-Za-z°µμ]{0,19}|[A-Z][A-Za-z]{0,3})(?:[²³]|\^\{?-?\d\}?)?"
_WITH_UNIT: Final = late(
    # "9 am", "44 BC", "2nd", "5 dozen", "3 and a half", "12 May" and "12月" are other values than their numbers.
    rf"(?!\s?(?:[ap]\.?m\b|(?:AD|BCE?|CE|st|nd|rd|th|and|or|to|x|score|{PARTS_OF_NUMBERS})\b"
    r"|(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*\b|半|[月日号点时]\Z))"
    r"(?:\s?°\s?[CFK]?|\s?[\u4e00-\u9fff]{1,4}|\s?[mgshl]"
    rf"|(?=\s|\(|°|[A-Za-zµμΩ]{{2}}|[a-z]/)\s?\(?{_UNIT_WORD}(?:\s?[/·*]\s?{_UNIT_WORD}|\s{_UNIT_WORD}){{0,2}}\)?)\.?"
)
"""What follows a number with a unit: "12 cm", "3.5 m/s", "8 red apples", "18 (apples)", "30 °C"."""
_DASHES: Final = str.maketrans(dict.fromkeys("−–‐‑﹣负", "-"))
_NEGATIVE: Final = late(r"(?:negative|minus)\s+", re.IGNORECASE)
_SCALE: Final = late(r"\s?(thousand|million|billion|trillion|万|亿|(?<=\d)k)\Z")
_SCALES: Final = {"k": 3, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "万": 4, "亿": 8}
_RAISED: Final = str.maketrans(_SUPERSCRIPTS, "0123456789+-")
_LOWERED: Final = str.maketrans(_SUBSCRIPTS, "0123456789")
_LATEX_FRACTION: Final = late(rf"\\[dt]?frac({_PART})({_PART})")
_FRACTION: Final = late(r"(?P<sign>-?)(?:(?P<whole>\d+)\s)?(?P<over>\d+)/(?P<under>\d+)")
_RADIX: Final = late(r"(-?[0-9]+)_([2-9]|[12][0-9]|3[0-6])")
_POWERS: Final = late(r"(-?)([0-9.]+)\^(-?[0-9]{1,3})")


def to_decimal(value: Any) -> Decimal | None:
    """The exact value of a number, or of a text that is nothing but a number; None for everything else.

    Every spelling that `NUMBER` finds has its value, and signs of currency and percent are passed over: ``18``,
    ``18.0``, ``"$18"``, ``"18 €"``, ``"18 %"``, ``"18."`` and ``" 18.00 "`` are one value, and so are ``"1,000"``,
    ``"1.000,00"``, ``1000``, ``"1e3"``, ``"10^3"`` and ``\\$1{,}000``. A fraction is divided to 28 digits, and
    ``"101_2"`` is 5. Infinity and NaN are not numbers.
    """
    written = _AROUND.sub("", str(value).strip())
    return _exact(plain_number(written)) if VALUE.fullmatch(written) else None


def without_unit(text: str) -> str | None:
    """Return the number of a text that is nothing but a number and a short unit, in digits; None for other texts.

    >>> without_unit("1,500 cm"), without_unit("30°"), without_unit("18 (apples)")
    ('1500', '30', '18')
    >>> without_unit("2 Fast 2 Furious"), without_unit("9 am"), without_unit("CO2"), without_unit("12")
    (None, None, None, None)
    """
    written = text.strip()
    number = VALUE.match(written)
    return plain_number(number.group()) if number and _WITH_UNIT.fullmatch(written, number.end()) else None


def _exact(plain: str) -> Decimal | None:
    """The value of what `plain_number` writes."""
    try:
        if fraction := _FRACTION.fullmatch(plain):
            number = Decimal(fraction["over"]) / Decimal(fraction["under"]) + Decimal(fraction["whole"] or 0)
            return -number if fraction["sign"] else number
        if radix := _RADIX.fullmatch(plain):
            return Decimal(int(radix[1], int(radix[2])))
        if power := _POWERS.fullmatch(plain):
            return Decimal(f"{power[1]}1") * Decimal(power[2]) ** int(power[3])
        number = Decimal(plain)
    except (ArithmeticError, ValueError):
        return None
    return number if number.is_finite() else None


def plain_number(written: str) -> str:
    """Write what `VALUE` matched in digits: without signs of dollars and thousands, with a hyphen as its sign.

    Decimals have a point. ``2½`` becomes ``2 1/2``, ``5×10³`` becomes ``5e3``, ``10³`` ``10^3`` and ``101₂`` ``101_2``.
    """
    plain = _NEGATIVE.sub("-", re.sub(r"\\?\$|[€£¥]", "", written.replace("**", "^")).translate(_DASHES))
    scale = _SCALE.search(plain)
    plain = plain[: scale.start()] if scale else plain
    plain = re.sub(rf"[{_SUPERSCRIPTS}]+", lambda one: "^" + one.group().translate(_RAISED), plain)
    plain = re.sub(rf"[{_SUBSCRIPTS}]+", lambda one: "_" + one.group().translate(_LOWERED), plain)
    plain = re.sub(r"(?<=[\^_])\{(.*?)\}", r"\1", plain)
    plain = re.sub(r"\s?(?:×|\\times|·|\\cdot|[x*])\s?10\^", "e", plain)
    plain = re.sub(rf"\s?[{_HALVES}]", lambda one: " " + unicodedata.normalize("NFKC", one.group().strip()), plain)
    plain = _LATEX_FRACTION.sub(lambda one: f" {one[1].strip(' {}')}/{one[2].strip(' {}')}", plain).replace("⁄", "/")
    plain = re.sub(r"\s?/\s?", "/", plain).strip().replace("- ", "-")
    plain = re.sub(r"(?<=\d)\s(?=\d{3}(?![\d/]))", "", plain)
    plain = re.sub(DIGITS, lambda one: plain_digits(one.group()), plain)
    if scale is None:
        return plain
    number = _exact(plain)
    return written if number is None else f"{number.scaleb(_SCALES[scale[1]]):f}"


ONLY_NUMBER: Final = "the only number"
LAST_SENTENCE: Final = "the last sentence"
UNMARKED: Final = (LAST_SENTENCE, ONLY_NUMBER, "a number in words")
"""Rules for numbers that an answer neither marks nor announces."""
_MARK: Final = late(r"####[^\n]*")
_CONTRAST: Final = late(
    r"(?:\bbut(?:\s+rather)?|\brather|\binstead|;\s*it\s+is|而是|应该?是|应为|其实是|,是)\s*[$¥￥]?\s*(?=[-−–\d])"
)
_IS: Final = late(r"=|\bwhich\s+(?:is|equals|makes|gives)\b|\bequals\b|等于|也就是")
_EQUALS: Final = late(r"[=≈]|\\approx(?![a-z])")
_TERM: Final = late(
    r"\\(?:sqrt|pi|times|cdot|div|pm|binom|log|ln|sin|cos|tan)(?![a-z])|\\[dt]?frac(?!\{(?:\}|\\(?:text|math|mbox)))"
)
"""What makes a number a part of a formula; a fraction of units is none: ``5 \\frac{\\text{m}}{\\text{s}}``."""
_UNIT: Final = late(r"\\(?:text|mathrm|mbox|operatorname|rm)\s?\{[^{}]*\}")
_COMMAND: Final = late(r"\\[A-Za-z]+")
_WORDS: Final = late(r"[^\W\d_]{2}")
_DOUBTS: Final = doubts(r"[-−–]?\d(?:[\d,.]*\d)?")
_IN_WORDS: Final = late(
    rf"\W*(?:(?:the\s+)?(?:final\s+)?answer(?:\s+is)?\W+)?(?P<number>{WORDED})(?:\s+(?!{PARTS_OF_NUMBERS}\b)[^\W\d]+)?\W*",
    re.IGNORECASE,
)
"""An answer that is nothing but a number and its unit: "Eight.", "The answer is forty-two apples." In other sentences
numbers in words are seldom the answer: "There are two cases to consider."
"""
_MOST_WORDS: Final = 40
"""Characters that may follow a number after "Answer:", such as its unit; more of them are a solution."""


@POSTPROCESSORS.register_module()
def gsm8k_postprocess(text: str, cut: bool = False, words: Sequence[str] = ()) -> Extraction | None:
    r"""Return the number that an answer gives, e.g. ``1250.50``; None if there is none.

    A base model goes on with a next "Question:" of its own; what follows is not part of the answer.
    OpenCompass reads "1,000" as 000 and "16-18" as -18; here they are 1000 and 18.

    >>> gsm8k_postprocess("6 * 7 = 42\n#### 42\nThat took 3 steps.")
    '42'
    >>> gsm8k_postprocess("The answer is not 42 but 43, as 40 + 3 shows.")
    '43'
    >>> gsm8k_postprocess("2 + 2 = 4")
    '4'
    >>> gsm8k_postprocess("There is no solution.", words=["no solution"])
    'no solution'

    Args:
        text: the answer.
        cut: whether it was cut off: a number at its very end may go on. The program says so of truncated answers.
        words: right answers that are no numbers. One of them counts in an answer that gives no number.
    """
    number = conclusion(
        text,
        lambda source: list(_marked(source)) or list(_unmarked(source)),
        corrected=partial(_marked, corrected=True),
        cut=cut,
    )
    return stated_word(text, words) if number is None else number


def conclusion(
    text: str,
    find: Callable[[str], Sequence[Candidate]],
    *,
    corrected: Callable[[str], Iterable[Candidate]],
    cut: bool,
) -> Extraction | None:
    """Return the result that an answer ends with; None if there is none.

    Args:
        text: the answer.
        find: returns the places in a text that may be the result.
        corrected: the same for what follows a correction, where ``find`` finds nothing.
        cut: as for `gsm8k_postprocess`.
    """
    whole = said(text).before_next_question()
    source = last_version(whole)
    candidates: Iterable[Candidate] = find(source.text)
    if source is not whole and not candidates:
        candidates = corrected(source.text)
    found = strongest(candidates, source.text)
    result = found[-1].extraction(source) if found else None
    # "The answer is 12" may be the beginning of 1250.
    if cut and result and text[(end := result.reading.end) - 1 : end].isdigit() and text[end:] in ("", ".", ","):
        return None
    return result


@POSTPROCESSORS.register_module()
def gsm8k_dataset_postprocess(text: str) -> str:
    """Return the gold: what follows ``####``; a number in digits, without signs of dollars and thousands.

    Raises:
        DataError: there is no ``####``, or nothing after it.
    """
    _, mark, gold = str(text).rpartition("####")
    gold = gold.strip()
    if not (mark and gold):
        raise DataError(
            f"the gold answer {str(text)[-40:]!r} has no '#### <number>'",
            fix="leave out dataset_postprocessor if the output column holds the plain answer",
        )
    return plain_number(gold) if VALUE.fullmatch(gold) else gold.replace(",", "")


@POSTPROCESSORS.register_module()
def number_dataset_postprocess(text: str) -> str:
    """Return the number of a gold such as "12 cm" or "8 apples", in digits; any other gold as it is.

    >>> number_dataset_postprocess("1,500 cm")
    '1500'
    >>> number_dataset_postprocess("no solution")
    'no solution'
    """
    return without_unit(str(text)) or str(text)


def _unmarked(text: str) -> Iterator[Candidate]:
    """The number that a text without a marker states, if there is one."""
    if result := stated_result(text, VALUE, _DOUBTS):
        yield _candidate(Rank.ALONE, LAST_SENTENCE, result)
    elif only := only_number(text, VALUE, _DOUBTS):
        yield _candidate(Rank.ONLY, ONLY_NUMBER, only)
    elif worded := _IN_WORDS.fullmatch(text):
        value = str(number_of_words(worded["number"]))
        yield Candidate(Rank.ONLY, UNMARKED[-1], *worded.span("number"), value)


def _marked(text: str, *, corrected: bool = False) -> Iterator[Candidate]:
    """The numbers with a marker; a mark that holds no one number has no text."""
    marks = [("####", mark.start() + 4, mark.end()) for mark in _MARK.finditer(text)]
    for rule, start, end in [*marks, *marked_spans(text)]:
        if number := _of_mark(text, start, end):
            yield _candidate(Rank.MARKED, rule, number)
        elif NUMBER.search(text, start, end):
            yield Candidate(Rank.MARKED, rule, start, end, "")
    for statement in statements(text, corrected=corrected):
        if number := _stated(text, statement):
            yield _candidate(statement.rule.rank, statement.rule.name, number)
    for cue in _CONTRAST.finditer(text):
        denied = list(NUMBER.finditer(text, max(0, cue.start() - 40), cue.start()))[-1:]
        if denied and _DOUBTS.denies(text, *denied[0].span()) and (number := VALUE.match(text, cue.end())):
            yield _candidate(Rank.ANNOUNCED, "not … but", number)


def _of_mark(text: str, start: int, end: int) -> re.Match[str] | None:
    """The number that a mark is about; None if it holds a term, or several that differ.

    It follows the last "=", or begins the rest ("42 \\text{ cm}^2"); of a sentence in words it is the last.
    """
    start = max((sign.end() for sign in _EQUALS.finditer(text, start, end)), default=start)
    numbers = list(_numbers(text, start, end))
    if not numbers or several_values(re.sub(r"[{}]", "", _COMMAND.sub("", text[start:end]))):
        return None
    lead, rest = text[start : numbers[0].start()], _UNIT.sub("", text[numbers[0].end() : end])
    if _TERM.search(lead) or _TERM.search(rest):
        return None
    if _WORDS.search(_COMMAND.sub("", lead)):
        return numbers[-1]
    return None if OPERAND_AFTER.match(text, numbers[0].end(), end) or re.match(r"\s*,\s?-?\d", rest) else numbers[0]


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
    after = text[number.end() : end].rstrip(" \t*")
    return number if len(after) <= _MOST_WORDS and not re.search(r"[\d+*/×÷]|\.\s+\S", after) else None


def _numbers(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """The numbers between two places that are not denied, and no bounds."""
    found = VALUE.finditer(text, start, end)
    return (number for number in found if not (_DOUBTS.denies(text, *number.span()) or is_bound(text, number.start())))


def _candidate(rank: Rank, rule: str, number: re.Match[str]) -> Candidate:
    return Candidate(rank, rule, number.start(), number.end(), plain_number(number.group()))


def inside_numeral(text: str, place: int) -> bool:
    """Return whether a place parts the digits of one number: 1|5, 5|.5 and 1|,500, but not 1234567|,7654321."""
    around = _NUMERAL.finditer(text, max(place - _LONGEST, 0), place + _LONGEST)
    return any(found.start() < place < found.end() for found in around)


def plain_digits(written: str) -> str:
    """Return digits that `DIGITS` matched with a decimal point and nothing between thousands."""
    plain = _BETWEEN.sub("", _LATEX.sub(",", written))
    commas, points = plain.count(","), plain.count(".")
    if commas and points:
        decimal = max(",", ".", key=plain.rfind)
        return plain.replace("." if decimal == "," else ",", "").replace(",", ".")
    if points > 1:
        return re.sub(r"\.(?=\d{3}(?!\d))", "", plain)
    if re.fullmatch(r"(?!0)\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}", plain):
        return plain.replace(",", "")
    return plain.replace(",", ".")


def number_of_words(written: str) -> int:
    """Return the value of what `WORDED` matched."""
    thousands = part = 0
    for word in re.findall("[a-z]+", written.lower()):
        if word == "thousand":
            thousands, part = 1000 * part, 0
        elif word == "hundred":
            part *= 100
        else:
            part += _VALUES.get(word, 0)  # "and" adds nothing
    return thousands + part
