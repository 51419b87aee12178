r"""The option that an answer in words chooses: "The answer is **(B)**.", "\boxed{B}", "答案是B", "B. Paris".

What is looked for, in this order, in what is said after any thinking:

1. the last ``\boxed{B}``;
2. an announcement: "the answer is B", "correct option: (B)", "B is correct", "答案是B", "故选B", "选项B正确", ...;
3. a line that begins with the option: "B", "(B)", "B. Paris", "B) Paris", "B：巴黎";
4. a letter that stands alone anywhere. The words "A" and "I" are no options.

Bold, dollars and ``\text{}`` are looked through. The peers' patterns take letters out of words ("The answer is Africa"
gives A) and know no bold letters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ais_prompt.postprocess.boxed import last_boxed
from ais_prompt.postprocess.reasoning import extract_non_reasoning_content
from ais_prompt.registry import POSTPROCESSORS

_DECORATION = re.compile(r"\*+|`+|\$+|\\(?:text|textbf|mathrm|mathbf|boxed)(?=\{)|(?<!\w)_+|_+(?!\w)")
_SPACE = re.compile(r"\s+")
# No run of these is unbounded: on a long one, patterns that begin with it would take quadratic time.
_OPENING, _CLOSING = r"\s(（\[【{<'\"“‘「", r")）\]】}>'\"”’」"
_OPEN, _CLOSE = f"[{_OPENING}]{{0,8}}", f"[{_CLOSING}]{{0,8}}"

_ENGLISH = (
    r"(?i:\b(?:answer|choice|option|solution)s?(?:\s+(?:to|for|of)\s+[^.:\n]{1,80}?)?"
    r"\s*(?:is|are|was|would\s+be|should\s+be|must\s+be|will\s+be|[:：=])\s*[:：]?\s*"
    r"(?:(?:the\s+)?(?:correct\s+|right\s+)?(?:option|choice|letter)s?\s*[:：]?)?)",
    r"(?i:\b(?:choose|select|pick|go\s+with)\s+(?:(?:the\s+)?(?:option|choice|answer|letter)s?\s*)?)",
)
_CHINESE = (
    r"(?:答案|选项|正确选项)(?:应该|应当|应)?(?:是|为|选|[:：])+[:：]?(?:选项)?",
    r"(?<!不)(?<!不应)(?<!不能)(?:应该选|应选|故选|故答案选|选择|选)(?:项|[:：])*",
)
_AFTER = (
    r"(?i:\s*(?:is|are)\s+(?:the\s+)?(?:correct|right|true|best|answer)\b)"
    r"|\s*(?:选项)?(?:是)?(?:正确|对)(?:的|答案|$|[。，,.])"
)


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
def first_option_postprocess(text: str, options: str = "ABCD", cushion: bool = True) -> str | None:
    r"""The option that an answer names; the first one if it names several. None if it names none.

    >>> first_option_postprocess("A good question. The answer is **(B)**, because ...", "ABCD")
    'B'
    >>> first_option_postprocess(r"So it must be \boxed{\text{C}}.", "ABCD")
    'C'
    >>> first_option_postprocess("综上，答案是B。", "ABCD")
    'B'
    >>> first_option_postprocess("<think>The answer is A?</think>D) Paris", "ABCD")
    'D'
    >>> first_option_postprocess("The answer is Africa.", "ABCD")

    Args:
        text: the answer.
        options: the letters to choose from.
        cushion: whether a letter that merely stands alone will do (point 4 of `ais_prompt.postprocess.options`).

    Source: OpenCompass, ``first_option_postprocess`` (names and arguments; the rules are our own).
    """
    found = _named(text, options, cushion)
    return found[0] if found else None


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
def last_option_postprocess(text: str, options: str = "ABCD", cushion: bool = True) -> str | None:
    """The option that an answer names, the last one if it names several; None if there is none.

    >>> last_option_postprocess("The answer is A. No, wait: the answer is C. All others are wrong.", "ABCD")
    'C'

    Args:
        text, options, cushion: as for `first_option_postprocess`.

    Source: OpenCompass, ``last_option_postprocess`` (which takes the last letter of the text, also inside a word).
    """
    found = _named(text, options, cushion)
    return found[-1] if found else None


@POSTPROCESSORS.register_module(name=["multiple_select_postprocess", "multiple-select"])  # type: ignore[untyped-decorator]  # mmengine has no types
def multiple_select_postprocess(text: str, options: str = "ABCDEFGH") -> str | None:
    """All options that an answer names, in alphabetical order and each once; None if it names none.

    >>> multiple_select_postprocess("The correct options are A, C and D.")
    'ACD'
    >>> multiple_select_postprocess("答案：BD")
    'BD'

    Source: OpenCompass, ``multiple_select_postprocess`` (which collects all capitals, so "The answer is B" gives BT).
    """
    said = _plain(extract_non_reasoning_content(text) or "")
    letter = f"[{re.escape(options)}]"
    between = rf"(?:[,，、/&和与及{_OPENING}{_CLOSING}]|and\b){{0,12}}"
    group = rf"{letter}(?:{between}{letter})*(?![A-Za-z])"
    for start in (*_ENGLISH, *_CHINESE, rf"^{_OPEN}", r"(?<![A-Za-z])"):
        if found := re.search(f"(?:{start}){_OPEN}({group})", said, re.MULTILINE):
            return "".join(sorted(set(re.findall(letter, found.group(1)))))
    return None


def _named(text: str, options: str, cushion: bool) -> Sequence[str]:
    """The options that a text names in the strongest way in which it names any, in order."""
    ways = _ways(options)
    said = extract_non_reasoning_content(text) or ""
    boxed = last_boxed(said)
    if boxed is not None and (found := _letters(ways.at_the_beginning, _plain(boxed))):
        return found[:1]
    chosen = ways if cushion else ways[:-1]
    return next((found for way in chosen if (found := _letters(way, _plain(said)))), [])


class _Ways(NamedTuple):
    """The ways to name an option, the strongest first; each has the letter in one of its groups."""

    announced: re.Pattern[str]
    at_the_beginning: re.Pattern[str]
    alone: re.Pattern[str]


@lru_cache(maxsize=64)
def _ways(options: str) -> _Ways:
    letters = re.escape(options)
    letter = rf"([{letters}])(?![A-Za-z]|['’][a-z])"
    # A small letter is an option only in brackets: "the answer is a number".
    bracketed = rf"[(（\[【]\s*([{letters}{letters.lower()}])\s*[)）\]】]"
    no_word = r"(?<!\bA(?=\s+[a-z]))(?<!\bI(?=\s+[a-z]))"
    announcement = "|".join((*_ENGLISH, *_CHINESE))
    return _Ways(
        re.compile(rf"(?:{announcement})(?:\s*{bracketed}|{_OPEN}{letter})|(?<![A-Za-z]){letter}{_CLOSE}(?:{_AFTER})"),
        re.compile(rf"^\s*(?:{bracketed}|{_OPEN}{letter}{_CLOSE}\s*(?:[.．。、:：,，)-]|$))", re.MULTILINE),
        re.compile(rf"(?<![A-Za-z]){letter}{no_word}"),
    )


def _plain(text: str) -> str:
    """The text without decoration, and without long runs of white space."""
    return _SPACE.sub(lambda run: "\n" if "\n" in run.group() else " ", _DECORATION.sub("", text))


def _letters(pattern: re.Pattern[str], text: str) -> list[str]:
    return [next(filter(None, found.groups())).upper() for found in pattern.finditer(text)]
