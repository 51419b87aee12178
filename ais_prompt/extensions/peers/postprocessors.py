r"""The postprocessors of OpenCompass 0.5.4 as they behave there, for numbers that must be comparable with old ones.

Each has the name of ours with ``_peer`` at its end. What differs from ours is what they do on purpose or by accident:
an empty text where nothing is found, letters inside of words, numbers cut at commas. They know no negation, no
full-width characters, and no thoughts. The code is our own; a test compares it with the published wheel.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeVar

from ais_prompt.registry import POSTPROCESSORS

Postprocessor = TypeVar("Postprocessor", bound=Callable[..., Any])


def _registered(function: Postprocessor) -> Postprocessor:
    """Register a function, which says of which of ours it is a variant."""
    function.variant_of = function.__name__.removesuffix("_peer")  # type: ignore[attr-defined]
    return POSTPROCESSORS.register_module(module=function)


@_registered
def general_postprocess_peer(text: str) -> str:
    """Return what is before the first newline, full stop or comma, without punctuation and articles.

    >>> general_postprocess_peer("3.14")
    '3'
    """
    phrase = next(iter(re.split(r"[\n.,]", text, maxsplit=1)))
    words = "".join(character for character in phrase if re.match(r"[\w\s]", character))
    return re.sub(r"\s+", " ", re.sub(r"(?i)\b(?:an?|the)\b", "", words)).strip()


@_registered
def first_capital_postprocess_peer(text: str) -> str:
    """Return the first capital letter of any script."""
    return next(filter(str.isupper, text), "")


@_registered
def last_capital_postprocess_peer(text: str) -> str:
    """Return the last capital letter of any script."""
    return next(filter(str.isupper, reversed(text)), "")


@_registered
def first_capital_postprocess_multi_peer(text: str) -> str:
    """Return the first run of the letters A to D."""
    run = re.search("[ABCD]+", text)
    return run.group() if run else ""


@_registered
def last_option_postprocess_peer(text: str, options: str = "ABCD") -> str:
    """Return the last character of the text that is an option, inside a word or not.

    Args:
        text: the answer of the model.
        options: the letters of the options.
    """
    letters = re.findall(f"[{options}]", text)
    return letters[-1] if letters else ""


@_registered
def multiple_select_postprocess_peer(text: str) -> str:
    """Return all capital letters of the text in alphabetical order.

    >>> multiple_select_postprocess_peer("The answer is B")
    'BT'
    """
    return "".join(sorted(set(filter(str.isupper, text))))


@_registered
def first_number_postprocess_peer(text: str) -> float | None:
    """Return the first number; ``.5`` is one, and thousands commas end one."""
    number = re.search(r"-?\d*\.?\d+", text)
    return float(number.group()) if number else None


@_registered
def gsm8k_postprocess_peer(text: str) -> str:
    """Return the last number before "Question:", with any hyphen before it; ``NULL`` if there is none.

    >>> gsm8k_postprocess_peer("1,000 of 16-18")
    '-18'
    """
    numbers = re.findall(r"-?\d+(?:\.\d+)?", text.partition("Question:")[0])
    return numbers[-1] if numbers else "NULL"


@_registered
def extract_non_reasoning_content_peer(
    text: str, think_start_token: str = "<think>", think_end_token: str = "</think>", open_tag: bool = True
) -> str:
    """Return the text without closed thoughts; a thought that never ends is an answer.

    Args:
        text: the answer of the model.
        think_start_token, think_end_token: the regular expressions around a thought.
        open_tag: keep the tag of a thought that never ends, in which our own postprocessors look for no answer.
    """
    if think_end_token in text and think_start_token not in text:
        return text.rpartition(think_end_token)[2].strip()
    # The marks are regular expressions there.
    rest = re.sub(f"(?s:{think_start_token}.*?{think_end_token})", "", text).strip()
    return rest if open_tag else re.sub(think_start_token, "", rest).strip()


@_registered
def humaneval_postprocess_v2_peer(text: str) -> str:
    """Return the first closed block between ``` marks, else everything, without the indentation of its first line."""
    return _block(text, 0)


@_registered
def humaneval_postprocess_v3_peer(text: str) -> str:
    """Do as `humaneval_postprocess_v2_peer` with the last block."""
    return _block(text, -1)


@_registered
def generic_llmjudge_postprocess_peer(text: str, true_tag: str = "A", false_tag: str = "B") -> str:
    """Return the first of the two tags, inside a word or not; ``unknown`` if there is none.

    Args:
        text: the answer of the judge.
        true_tag, false_tag: the tags of a right and of a wrong answer.
    """
    tag = re.search("|".join(map(re.escape, (true_tag, false_tag))), text)
    return tag.group() if tag else "unknown"


@POSTPROCESSORS.register_module()
def cascade_verdict_peer(text: str) -> str:
    """Return A if the reply of a judge is A, or begins with CORRECT; else B. Source: ``CascadeEvaluator``.

    >>> cascade_verdict_peer("a "), cascade_verdict_peer("Correct."), cascade_verdict_peer("A.")
    ('A', 'A', 'B')
    """
    said = text.strip().upper()
    return "A" if said == "A" or said.startswith("CORRECT") else "B"


@POSTPROCESSORS.register_module()
def last_letter_verdict_peer(text: str) -> str:
    """Return the last character of the reply of a judge if it is A or B; else B. Source: AISBench, ``get_a_or_b``."""
    return text[-1:] if text.endswith(("A", "B")) else "B"


@POSTPROCESSORS.register_module()
def whole_verdict_peer(text: str) -> str:
    """Return the reply of a judge as it is, as where AISBench reads it without a function."""
    return text


def _block(text: str, which: int) -> str:
    blocks = re.findall(r"(?s)```\w*\n(.*?)```", text)
    return str(blocks[which] if blocks else text).lstrip()


_L: Final = "([OPTIONS])"
_END: Final = r"[.。$]?$"
# In the order in which they are tried; the first that is found anywhere in the text decides.
_CHINESE_ANSWER: Final = (
    *(f"答案{verb}{_L}" for verb in (r"是?\s*", r"是?\s*：\s*", r"是?\s*:\s*")),
    *(f"答案选项应?该?{verb}\\s*{_L}" for verb in "是为"),
    *(f"答案应该?{verb}\\s*{_L}" for verb in "是选"),
    rf"答案选项为?\s*：\s*{_L}",
    rf"答案选项为?\s+\(?\*?\*?{_L}\*?\*?\)?",
    rf"答案选项是?\s*:\s*{_L}",
    *(f"答案{verb}\\s*{_L}" for verb in "为选"),
    rf"选择?\s*{_L}",
    # Two patterns that miss a comma between them there, and so are one.
    rf"故选?\s*{_L}只有选?项?\s?{_L}\s?是?对",
    *(rf"只有选?项?\s?{_L}\s?{judged}" for judged in ("是?错", "不?正确", "错误")),
    *(rf"说法{judged}选?项?的?是\s?{_L}" for judged in ("不?对", "不?正确", "错误")),
    *(rf"{_L}\s?是正确{what}" for what in ("的", "答案")),
    rf"选项\s?{_L}\s?正确",
    rf"所以答\s?{_L}",
    *(rf"所{which}\s?([OPTIONS]{_END})" for which in "以有"),
    rf"[\s，：:,]{_L}[。，,\.]?$",
    rf"[\s，,：:][故即]{_L}[。\.]?$",
    *(rf"{before}{_L}[。\.]?$" for before in (r"[\s，,：:]因此", r"[是为。]\s?", r"因此\s?", r"显然\s?")),
    *(rf"答案{verb}\s?(\S+)(?:。|$)" for verb in ("是", "应该是", "为")),
)
_ENGLISH_ANSWER: Final = (
    rf"(?i:ANSWER\s*:\s*{_L})",
    *(
        rf"[Tt]he {what}:?\s+{letter}"
        for what, letter in (
            ("answer is", rf"\(?{_L}\)?"),
            ("answer is", rf"\(?\*?\*?{_L}\*?\*?\)?"),
            ("answer is option", rf"\(?{_L}\)?"),
            ("correct answer is", rf"\(?{_L}\)?"),
            ("correct answer is option", rf"\(?{_L}\)?"),
        )
    ),
    *(rf"[Tt]he correct {what} is:?.*?boxed{{{_L}}}" for what in ("answer", "option", "answer option")),
    rf"[Tt]he answer to the question is:?\s+\(?{_L}\)?",
)
_BARE: Final = (
    rf"^选项\s?{_L}",
    rf"^{_L}\s?选?项",
    r"(\s|^)[OPTIONS][\s。，,：:\.$]",
    r"1.\s?(.*?)$",
    rf"1.\s?{_L}{_END}",
)
_CUSHION: Final = (f"{_L}:", _L)


@_registered
def first_option_postprocess_peer(text: str, options: str = "ABCD", cushion: bool = True) -> str:
    """Return the option that the first matching of many patterns holds; the first in ``options`` if it holds several.

    Args:
        text: the answer of the model.
        options: the letters of the options.
        cushion: whether a letter without any marker counts where nothing else is found.

    >>> first_option_postprocess_peer("I think A is wrong, so C")
    'C'
    >>> first_option_postprocess_peer("It is not A but C, of course")
    'A'
    """
    said = text.strip()
    for pattern in _compiled(options, cushion):
        found = pattern.search(said)
        if found is None:
            continue
        matched = found.group(1) or found.group()
        for option in options:
            if option in matched:
                return option
    return ""


@lru_cache(maxsize=64)
def _compiled(options: str, cushion: bool) -> tuple[re.Pattern[str], ...]:
    patterns = (*_CHINESE_ANSWER, *_ENGLISH_ANSWER, *_BARE, *(_CUSHION if cushion else ()))
    return tuple(re.compile(pattern.replace("OPTIONS", options), re.DOTALL) for pattern in patterns)


@_registered
def math_postprocess_v2_peer(text: str) -> str:
    r"""Return the last ``\boxed{}``, else the first sentence with "answer is", else the first, stripped of units.

    >>> math_postprocess_v2_peer("So x is 3. The answer is 3.5")
    '3'
    """
    if boxed := _last_box(text):
        return boxed
    sentences = text.split(".")
    announcing = (one for one in sentences if "final answer" in one.lower() or "answer is" in one.lower())
    return _simplified(next(announcing, sentences[0]))


@_registered
def math_postprocess_peer(text: str) -> str:
    """Return the first sentence with "final answer", else the first, stripped of units."""
    sentences = text.split(".")
    return _simplified(next((one for one in sentences if "final answer" in one.lower()), sentences[0]))


def _last_box(text: str) -> str | None:
    r"""What the last box holds; None if it never closes, or is no ``\boxed{`` to the letter."""
    begin = text.rfind("\\boxed")
    if begin < 0:
        begin = text.rfind("\\fbox")
    if begin < 0:
        return None
    depth = 0
    for brace in re.finditer("[{}]", text[begin:]):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0 and brace.group() == "}":
            box = text[begin : begin + brace.end()]
            content = box[len("\\boxed{") : -1] if box.startswith("\\boxed{") else None
            double = re.match(r"\{(.*)\}$", content or "")
            return double.group(1) if double else content
    return None


_REPLACED: Final = (
    *(("an ", ""), ("a ", ""), (".$", "$"), ("\\$", ""), ("\\ ", ""), (" ", "")),
    *(("mbox", "text"), (",\\text{and}", ","), ("\\text{and}", ","), ("\\text{m}", "\\text{}"), ("\\le", "<")),
)
# The order matters: removing one unit may make another.
# fmt: off
_UNITS: Final = (
    "square", "ways", "integers", "dollars", "mph", "inches", "ft", "hours", "km", "units", "\\ldots", "sue", "points",
    "feet", "minutes", "digits", "cents", "degrees", "cm", "gm", "pounds", "meters", "meals", "edges", "students",
    "childrentickets", "multiples",
)
# fmt: on
_LATEX: Final = (
    *("\\text{s}", "\\text{.}", "\\text{\ns}", "\\text{}^2", "\\text{}^3", "\\text{\n}", "\\text{}"),
    *("\\mathrm{th}", "^\\circ", "^{\\circ}", "\\;", ",\\!", "{,}", '"', "\\dots", "\n", "\r", "\f"),
)
_UNWRAPPED: Final = (
    (r"\\text\{\((.*?)\)\}", r"\1"),
    *((rf"\\{wrapper}\{{(.*?)\}}", r"\1") for wrapper in ("text", "textbf", "overline")),
    (r"\\boxed\{(.*)\}", r"\1"),
)
_CUES: Final = ("finalansweris(.*)", "answer?is:?(.*)", r"oxed\{(.*?)\}", r"\$(.*?)\$")


def _simplified(sentence: str) -> str:
    r"""A result without units, wrappers and announcement, and with the braces of ``\frac`` and ``\\sqrt``."""
    for old, new in (*_REPLACED, *((unit, "") for unit in (*_UNITS, *_LATEX))):
        sentence = sentence.replace(old, new)
    for pattern, inside in _UNWRAPPED:
        sentence = re.sub(pattern, inside, sentence)
    for cue in _CUES:
        if found := re.findall(cue, sentence):
            sentence = found[-1]
    sentence = sentence.strip()
    if "\\frac" not in sentence:
        sentence = sentence.replace("rac", "\\frac")
    sentence = re.sub("frac([^{])(.)", r"frac{\1}{\2}", sentence)
    sentence = re.sub("sqrt([^{])", r"sqrt{\1}", sentence).replace("$", "")
    digits = sentence.replace(",", "")
    return digits if digits.isdigit() else sentence
