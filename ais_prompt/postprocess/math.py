r"""Results of mathematical solutions, as LaTeX or plain text; `MATHVerifyEvaluator` compares them by meaning.

Source: OpenCompass, ``opencompass/datasets/math.py`` (names); Hendrycks et al. 2021, "Measuring Mathematical Problem
Solving With the MATH Dataset" (the ``\boxed`` mark of gold and answer).
"""

from __future__ import annotations

import re

from ais_prompt.errors import DataError
from ais_prompt.postprocess.boxed import last_boxed
from ais_prompt.postprocess.numbers import last_number
from ais_prompt.postprocess.reasoning import extract_non_reasoning_content
from ais_prompt.registry import POSTPROCESSORS

_ANNOUNCEMENT = re.compile(r"(?:(?i:\banswer\s*(?:is|[:：=])|\bresult\s+is)|答案(?:是|为|[:：]))[:：]?[\s*]*")
_SENTENCE_END = re.compile(r"\.(?=\s+[A-Z]|\s*$)|[。；;]|,\s+(?=[a-z]+\s+[a-z]+)")
# A dollar behind a backslash is money, and neither begins nor ends a formula.
_INLINE = re.compile(r"(?<!\\)\$\$?((?:\\.|[^$\\])+)\$\$?|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
def math_postprocess_v2(text: str) -> str | None:
    r"""The result of a solution; None if none can be made out.

    It is, of what is said after any thinking: the last ``\boxed{}``; else what the last "the answer is" announces; else
    all of a text of one line that holds no sentence; else the last formula between dollars or ``\( \)``; else the last
    number.

    >>> math_postprocess_v2(r"So $x = 2$. The answer is \boxed{\frac{1}{2}}.")
    '\\frac{1}{2}'
    >>> math_postprocess_v2("The final answer is $2\\sqrt{3}$. I hope it is correct.")
    '2\\sqrt{3}'
    >>> math_postprocess_v2("x^2 + 1")
    'x^2 + 1'
    >>> math_postprocess_v2("Adding them gives 3.5 apples.")
    '3.5'

    OpenCompass takes the first "answer is" and cuts at every full stop, so "the answer is 3.5" gives 3.
    """
    said = extract_non_reasoning_content(text)
    if said is None:
        return None
    return last_boxed(said) or _announced(said) or _whole(said) or _last_formula(said) or last_number(said)


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
def math_dataset_postprocess(text: str) -> str:
    r"""The gold of MATH: what the last ``\boxed{}`` of the solution holds.

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


def _announced(text: str) -> str | None:
    announcements = list(_ANNOUNCEMENT.finditer(text))
    if not announcements:
        return None
    rest = text[announcements[-1].end() :]
    formula = _INLINE.match(rest)
    if formula:
        return _content(formula)
    line = rest.partition("\n")[0]
    return _SENTENCE_END.split(line, maxsplit=1)[0].strip(" *`") or None


def _whole(text: str) -> str | None:
    """A text that is nothing but a formula or a word; two words side by side make it a sentence."""
    if "\n" in text or re.search(r"(?<!\\)\b[A-Za-z]{2,}\s+[A-Za-z]{2,}", text):
        return None
    formula = _INLINE.fullmatch(text)
    return _content(formula) if formula else text.strip(" .*`") or None


def _last_formula(text: str) -> str | None:
    formulas = list(_INLINE.finditer(text))
    return _content(formulas[-1]) if formulas else None


def _content(formula: re.Match[str]) -> str | None:
    return next(filter(None, formula.groups())).strip(" .\n\t") or None
