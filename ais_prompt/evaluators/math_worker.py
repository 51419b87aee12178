"""Compare mathematical answers with math-verify, in a process of its own with a limit on its memory.

The library reads everything as a formula of LaTeX. Some answers are none, or lose a part on the way, and are handled
here: words ("no" is not the product of n and o), numbers of another base (the subscript is dropped), formulas in plain
notation (``pi/2``, ``2**3``, ``6.63e-34``, ``x²``), small numbers (it compares six decimals, which 6.63e-34 does not
have), and texts of which it reads the first or the last number only ("3 hours 20 minutes", "x = 3 (mod 5)").
"""

from __future__ import annotations

import json
import logging
import os
import re
import unicodedata
from pathlib import Path
from typing import Any, Final

from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify
from math_verify.grader import get_pct_val
from sympy import Basic, FiniteSet, Max, Number, Tuple, UnevaluatedExpr

from ais_prompt.processes import serve

_CLOSE: Final = 2e-6
"""Relative difference of numbers that are equal: 1/3 and 0.333333."""
_MARKS: Final = ("$", "\\(", "\\[", "\\boxed")
_SIGNS: Final = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—−﹣－", "-"),
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
        **{fraction: f" {unicodedata.normalize('NFKC', fraction)}".replace("⁄", "/") for fraction in "¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"},
        **{"⁄": "/", "·": "*", "∞": "\\infty "},
    }
)
"""Other dashes, full-width characters, fractions and signs → those of ASCII and LaTeX."""
_RAISED: Final = re.compile("[⁰¹²³⁴-⁹⁺⁻ⁿ]+")
_LOWERED: Final = re.compile("[₀-₉]+")
_ROOT: Final = re.compile(r"√\s*(?:(?=\()|(\d+(?:\.\d+)?|[^\W_]))")
# The library reads every dollar as the end of a formula, and knows no other currency.
_CURRENCY: Final = re.compile(r"(?:\\\$|\\(?:pounds|euro|yen|textdollar|texteuro)(?![A-Za-z])|[€£¥￥])\s*")
# 1\,000 and 1 000; it knows 1,000 and 1{,}000 itself.
_THOUSANDS: Final = re.compile(
    r"(?<![\d.])(?<!\d[ ~])\d{1,3}(?:(?:\\[,:;! ]|[~ \u00a0\u2009\u202f])\d{3})+(?![ \d]|\s*/)"
)
_MIXED: Final = re.compile(r"(?<![\d./^_])(\d+)\s+(\d+)\s*/\s*(\d+)(?![\d/.])")
_NO_FORMULA: Final = re.compile(
    r"(?:\A|[-+*/=<>(\[{,;$&])\s*[\d.,]*\d\s+\d"  # the library adds or multiplies numbers beside each other
    r"|(?<!\d)\d{4}-\d\d?-\d\d?(?!\d)|\d:\d+:\d|\b0[xb]\d"  # a date, a ratio of three, a number of a program
)
_SENTENCE: Final = re.compile(r"\b(?:answer|is|are)\b|[^\W\d_]{2,}[.:!?]\s|[。：，是为]", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")
_COMPUTED: Final = re.compile(r"[/=÷:]|\\(?:[dt]?frac|[dt]?binom|div|approx)")
"""What makes one number of several."""
_SPACING: Final = re.compile(r"\\[,;:! ]|\\(?:left|right|text|mathrm)(?![A-Za-z])|[\s{}~()]")
_PERCENT: Final = re.compile(r"\s*\\?%\s*\Z")
_UNIT: Final = re.compile(
    r"\d(?:\\(?:circ|text|mathrm)|\W)*(mm|cm|km|m|mg|kg|g|ms|s|min|h|ml|l|a\.?m|p\.?m|A\.?M|P\.?M|C|F)\W*\Z"
)
_BASE: Final = re.compile(r"(?:\\text\{|\\mathrm\{)?\(?([0-9A-Z]+)\)?\}?\s*_\s*\{?\s*(\d{1,2})\s*\}?")

_TEXT: Final = re.compile(r"\\(?:text(?:bf|it|rm)?|math(?:rm|bf)|mbox|operatorname)\s*\{([^{}]*)\}")
_HAN: Final = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_FUNCTIONS: Final = (
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "sin",
    "cos",
    "tan",
    "cot",
    "sec",
    "csc",
    "log",
    "ln",
    "exp",
)
_SYMBOLS: Final = ("pi", "alpha", "beta", "gamma", "delta", "epsilon", "theta", "lambda", "mu", "sigma", "phi", "omega")
_NAME: Final = re.compile(rf"(?<![\\A-Za-z])({'|'.join((*_FUNCTIONS, *_SYMBOLS))})(?![A-Za-z])")
_CALL: Final = re.compile(rf"{_NAME.pattern}|\w\(")
_INFINITY: Final = re.compile(r"(?<![\\A-Za-z])(?:infinity|infty|inf|oo)(?![A-Za-z])", re.IGNORECASE)
_SHORT_WORDS: Final = re.compile("am|an|as|at|be|by|do|go|he|hi|if|in|is|it|me|my|no|of|on|or|so|to|up|us|we")
"""Words of two letters; other pairs of letters are products."""
_WORDS: Final = re.compile(r"[^\W\d_]+(?:[\s,;:.!?'’\"()-]+[^\W\d_]+)*[.!?]*")
_WORD: Final = re.compile(rf"[^\W\d_]{{3,}}|[{_HAN}]")


def is_equal(gold: str, answer: str) -> bool:
    """Return whether two answers are the same text or provably the same mathematics.

    Args:
        gold: LaTeX or plain notation, with or without dollars.
        answer: the same.
    """
    gold, answer = _plain(gold), _plain(answer)
    number, other = _PERCENT.sub("", gold), _PERCENT.sub("", answer)
    if (number, other) != (gold, answer):  # 12.5 % equals 12.5, and by the library 0.125
        return _is_equal(number, other) or _is_equal_formula(gold, answer)
    return _is_equal(gold, answer)


def _is_equal(gold: str, answer: str) -> bool:
    if gold == answer:
        return True
    words, others = _words(gold), _words(answer)
    if (words and others) or ((words or others) and (gold + answer).isalpha()):
        return words == others  # else one is a product: at = a * t
    if (of_base := _of_base(answer)) is not None or _of_base(gold) is not None:
        return _same_base(gold, answer, of_base)
    if (unit := _unit(gold)) and (other := _unit(answer)) and unit != other:
        return False  # the library drops units
    return _is_equal_formula(gold, answer)


def _is_equal_formula(gold: str, answer: str) -> bool:
    golds, answers = _parsed(gold), _parsed(answer)
    if _is_misread(golds, gold) or _is_misread(answers, answer):
        return _bare(gold) == _bare(answer)
    # The order matters: the gold may be an expression that the answer has simplified, not the other way round.
    pairs = ((one, other) for one in golds for other in answers)
    return any(verify([one], [other], timeout_seconds=None) and _is_close(one, other) for one, other in pairs)


def _plain(text: str) -> str:
    """Return a text in ASCII and LaTeX, without what changes no value: currencies, blanks in numbers, outer dollars."""
    text = _RAISED.sub(lambda raised: f"^{{{_ascii(raised.group())}}}", unicodedata.normalize("NFC", text))
    text = _LOWERED.sub(lambda lowered: f"_{{{_ascii(lowered.group())}}}", text)
    text = _ROOT.sub(lambda root: f"sqrt({root[1]})" if root[1] else "sqrt", text)
    text = _CURRENCY.sub("", text.translate(_SIGNS))
    text = _THOUSANDS.sub(lambda number: re.sub(r"\D", "", number.group()), re.sub(r"\{,\}|,\\!", ",", text))
    text = _MIXED.sub(lambda m: rf"\frac{{{int(m[1]) * int(m[3]) + int(m[2])}}}{{{m[3]}}}", text)
    text = re.sub(r"\s+", " ", text).strip()
    if len(text) > 1 and text[0] == text[-1] == "$" and "$" not in text.strip("$"):
        text = text.strip("$ ")
    return text.removesuffix(".").strip()


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_SIGNS)


def _words(text: str) -> list[str] | None:
    """Return the words of an answer that is no formula, in the order of the alphabet if it is a list; else None."""
    text = _TEXT.sub(r" \1 ", text).strip("$ .")
    if not _WORDS.fullmatch(text.replace("(", "").replace(")", "")) or _INFINITY.fullmatch(text) or _CALL.search(text):
        return None
    folded = " ".join(text.casefold().split())
    if not _WORD.search(folded) and not _SHORT_WORDS.fullmatch(folded):
        return None
    parts = [part.strip(" .!?'\"") for part in folded.split(",")]
    return parts if "(" in folded else sorted(parts)


def _of_base(text: str) -> tuple[str, int] | None:
    """Return digits and base of a number with its base as subscript."""
    found = _BASE.fullmatch(text)
    if not found:
        return None
    digits, base = found[1], int(found[2])
    valid = 2 <= base <= 36 and any(sign.isdigit() for sign in digits) and all(int(sign, 36) < base for sign in digits)
    return (digits.lstrip("0"), base) if valid else None


def _same_base(gold: str, answer: str, of_answer: tuple[str, int] | None) -> bool:
    """Compare numbers of which one at least names its base; a question may name it for the answer."""
    of_gold = _of_base(gold)
    if of_gold is None:  # a gold without base is a decimal number
        assert of_answer is not None
        return gold.isdigit() and int(gold) == int(*of_answer)
    if of_answer is None:
        return answer.lstrip("0") == of_gold[0]
    return int(*of_gold) == int(*of_answer) and of_gold[1] == of_answer[1]


def _unit(text: str) -> str | None:
    """Return the unit behind a number, if it is one that cannot be another: "min" may be "minutes", but not "h"."""
    found = _UNIT.search(text)
    return found and found[1].replace(".", "")


def _is_misread(values: list[Any], text: str) -> bool:
    """Return whether a text is no formula, or holds several numbers of which the library has read one."""
    if any(mark in text for mark in _MARKS) or _SENTENCE.search(text):
        return False  # a whole response, in which the library looks for the answer
    numbers = _NUMBER.findall(re.sub(rf"{_TEXT.pattern}(?:\s*\^\s*\{{?-?\d\}}?)?", " ", text))
    is_part = len(numbers) > 1 and not _COMPUTED.search(text) and any(isinstance(value, Number) for value in values)
    return is_part or _NO_FORMULA.search(text) is not None


def _bare(text: str) -> tuple[str, list[str]]:
    """Return a text without blanks and braces, and its numbers, which those may have separated."""
    return _SPACING.sub("", text), _NUMBER.findall(text)


def _parsed(text: str) -> list[Any]:
    formula = _latex(text)
    wrapped = formula if any(mark in formula for mark in _MARKS) else f"${formula}$"
    configs = [LatexExtractionConfig(), ExprExtractionConfig()]
    found: list[Any] = parse(wrapped, configs, parsing_timeout=None) or parse(text, configs, parsing_timeout=None)
    return found


def _latex(text: str) -> str:
    """Return a formula in plain notation as LaTeX."""
    text = re.sub(
        r"(?<![\w.])(\d+(?:\.\d*)?|\.\d+)[eE]([+-]?\d+)(?!\w)",
        lambda number: rf"{number[1]}\times10^{{{int(number[2])}}}",
        text,
    )
    text = re.sub(r"(?<=\d)\s*[xX]\s*(?=10\s*\^)", r"\\times ", text)
    if "\\" in text.replace("\\frac", "").replace("\\times", ""):
        return text
    text = _INFINITY.sub(r"\\infty ", text.replace("**", "^"))
    text = re.sub(r"\ba(?=(?:sin|cos|tan)\b)", "arc", re.sub(r"\blog(\d+)(?=\()", r"log_{\1}", text))
    for opening, latex in (("sqrt(", r"\sqrt{"), ("^(", "^{")):
        text = _braced(text, opening, latex)
    text = re.sub(r"\^(-?\d+)", r"^{\1}", text)
    return _NAME.sub(r"\\\1 ", text)


def _braced(text: str, opening: str, latex: str) -> str:
    """Put what is between an opening text that ends with a bracket and its closing bracket into braces."""
    while (start := text.find(opening)) >= 0:
        depth, end = 1, start + len(opening)
        while end < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        if depth:
            return text
        text = f"{text[:start]}{latex}{text[start + len(opening) : end - 1]}}}{text[end:]}"
    return text


def _is_close(first: Any, second: Any) -> bool:
    """Return False for numbers that agree to six decimals but not to six digits, also inside sets and tuples."""
    if not (isinstance(first, Basic) and isinstance(second, Basic)):
        return True
    if isinstance(first, FiniteSet | Tuple) and isinstance(second, FiniteSet | Tuple):
        ordered = [sorted(one.args, key=lambda part: str(part.evalf())) for one in (first, second)]
        return all(map(_is_close, *ordered))
    if first.has(UnevaluatedExpr) or second.has(UnevaluatedExpr) or not (first.is_number and second.is_number):
        return True  # percentages equal their number and their share
    one, other = first.evalf(15), second.evalf(15)  # floats of sympy: those of Python end at 1e-324
    return first == second or bool(abs(one - other) <= _CLOSE * Max(abs(one), abs(other)))


MEMORY = 4 * 2**30
"""Maximum number of bytes of address space: ``9^{9^{9^9}}`` is a short answer."""


def shown_answer(text: str) -> str:
    """Return what the library reads as the answer in a response, with its percent sign; empty if it reads none.

    These are the options of evalscope (``evalscope/metrics/math/parser.py``, version 1.14).
    """
    configs = [LatexExtractionConfig(boxed_match_priority=0), ExprExtractionConfig()]
    found = parse(text.strip(), configs, extraction_mode="first_match", parsing_timeout=None)
    shown = next((one for one in found if isinstance(one, str)), "")
    values = [one for one in found if not isinstance(one, str)]
    is_percentage = len(values) == 1 and "%" not in shown and get_pct_val(values[0]) is not None
    return f"{shown}%" if is_percentage else shown


def answer(message: bytes) -> bytes:
    """Return, in JSON, whether two texts are equal, gold and answer, or the answer in one text; null if unreadable."""
    texts = json.loads(message)
    try:
        return json.dumps(shown_answer(*texts) if len(texts) == 1 else bool(is_equal(*texts))).encode()
    except Exception:  # sympy raises any exception; unreadable answers are not equal
        return b"false" if len(texts) > 1 else b"null"


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


if __name__ == "__main__":
    _limit_memory()
    # Hide what the libraries write, such as a warning at every comparison that it has no time limit.
    logging.disable(logging.WARNING)
    with Path(os.devnull).open("wb") as nothing:
        os.dup2(nothing.fileno(), 2)
    serve(answer)
