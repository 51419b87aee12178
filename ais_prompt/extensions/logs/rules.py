"""Rules by which other tools read and compare answers.

Sources: ``lm_eval/filters/extraction.py`` and ``lm_eval/api/metrics.py`` (``exact_match``) of lm-evaluation-harness,
``inspect_ai/scorer/_match.py``, ``_common.py``, ``_choice.py`` and ``inspect_ai/solver/_multiple_choice.py`` of
inspect_ai, ``benchmark/metrics/evaluate_reference_metrics.py`` of HELM,
``evalscope/metrics/math/parser.py`` and ``evalscope/utils/multi_choices.py`` (version 1.14) of evalscope.

Regular expressions of a log may come from anybody: their time and memory are bounded. The package ``regex`` has a time
limit. It reads patterns as ``re`` does, but for ``(…){e}`` and ``[[:alpha:]]``.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import Any, Final, Literal, TypeAlias, TypeVar

import regex

from ais_prompt.errors import ConfigError, PartError
from ais_prompt.evaluators import MathProcess, MeanEvaluator, golds_of, letters_of
from ais_prompt.metrics import exact_match, token_f1
from ais_prompt.registry import EVALUATORS, POSTPROCESSORS
from ais_prompt.types import Extraction
from ais_prompt.utils import require_installed

MOST_MATH_SECONDS: Final = 10.0
"""Most seconds in which math-verify reads an answer."""
Match: TypeAlias = Literal["exact", "begin", "end", "any", "words", "f1", "letters"]

_ENDS: Final = string.whitespace + string.punctuation
_NO_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_NO_DIGITS: Final = str.maketrans("", "", string.digits)
# Their white space can be divided in many ways, which takes hours for an answer of white space: they have a time limit.
_WRAPPED: Final = r"(\$|\*\*)\s*([A-Za-z\d][A-Za-z\d ,]*?)\s*\1"
_IN_PARENTHESES: Final = r"(?i)((?:^|[:,])\s*)\(([A-Z\d])\)(?=\s*(?:[,.\n]|\Z))"
_LETTERS: Final = (
    r"(?im)^ANSWER\s*:\s*([A-Z\d ,]+)\s*(?:$|\.)",  # on a line of its own
    r"(?i)ANSWER\s*:\s*([A-Z\d ,]+)(?:\W|$)",
)
_MARK: Final = re.compile(r"(?i)answer\s*:\s*\**\s*")
_MARK_ZH: Final = re.compile(r"答案\s*[:：]\s*\**\s*")
_TYPESET: Final = r"(?:(?:\$|\\\(|\\(?:boxed|fbox|text(?:bf)?|math(?:bf|rm))\s*\{)\s*)*"
"""Formulas that a letter may be in."""
_LABELS: Final = (
    re.compile(_TYPESET + r"[(\[（【]\s*([A-Za-z\d](?:\s*[,，/、]\s*[A-Za-z\d])*)\s*[)\]）】]"),
    re.compile(_TYPESET + r"([A-Za-z\d][A-Za-z\d ,，/、]*)"),
)
_LABEL_WORD: Final = re.compile(r"[A-Za-z\d]+")
_ALL_PUNCTUATION: Final = regex.compile(r"\p{P}")
_NO_NUMBER: Final = re.compile(r"[$£€%,*\s]+")

MOST_SECONDS: Final = 1.0
"""Most processor time of a pattern on one answer."""
MOST_REPEATS: Final = 100_000
"""Highest product of the counts of a pattern, such as 1,000 for ``(a{10}){100}``: ``regex`` writes repeats out."""
LONGEST_PATTERN: Final = 10_000
"""Most characters of a pattern."""
MOST_SETS: Final = 200
"""Most sets such as ``[a-z]``: without case Python looks at each character of each, before any time limit."""

Found = TypeVar("Found")


@POSTPROCESSORS.register_module()
def logged_regex(text: str, pattern: str, which: int = 0) -> Extraction | None:
    r"""Return one match of a regular expression, as the filter ``regex`` of lm-evaluation-harness does.

    Args:
        text: the answer of the model.
        pattern: a regular expression; of its groups the first one that is not empty counts, without a group the match.
        which: number of the match from 0; -1 is the last.

    Raises:
        ConfigError: it is no regular expression, or too large.
        PartError: it takes more than a second of processor time.

    >>> logged_regex("6 + 6 = 12. #### 12", r"#### (\-?[0-9\.\,]+)")
    '12'
    """
    found = apply_pattern(pattern, lambda one, limit: list(one.finditer(text, timeout=limit)))
    try:
        match = found[which]
    except IndexError:
        return None
    groups = range(1, match.re.groups + 1) or range(1)
    for group in groups:
        if match[group]:
            answer = match[group].strip()
            return Extraction(answer, "regex", *match.span(group)) if answer else None
    return None


@POSTPROCESSORS.register_module()
def logged_choice(
    text: str,
    pattern: str,
    which: int = 0,
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    ignore: Sequence[str] = (),
    sample_choices: str = "",
) -> Extraction | str | None:
    r"""Return a chosen letter such as "(B)", as the filter ``multi_choice_regex`` of lm-evaluation-harness does.

    Where the pattern matches nothing, the text of a choice counts, and then a letter behind a colon.

    Args:
        text: the answer of the model.
        pattern, which: as for ``logged_regex``; ``which`` chooses among texts of choices and letters too.
        ignore_case, ignore_punctuation, ignore: as for ``LoggedMatchEvaluator``, where texts of choices are searched.
        sample_choices: the choices of the sample, one a line. Scoring passes its column ``choices``.

    >>> logged_choice("I think of Paris.", r"(\([A-Z]\))", sample_choices="Rome\nParis")
    '(B)'
    """
    if (found := logged_regex(text, pattern, which)) is not None or not sample_choices:
        return found

    def cleaned(one: str) -> str:
        one = _without(ignore, one)
        one = one.lower() if ignore_case else one
        return str(_ALL_PUNCTUATION.sub("", one)) if ignore_punctuation else one

    choices = [cleaned(one.strip()) for one in sample_choices.split("\n")]
    letters = {chr(ord("A") + number): f"({chr(ord('A') + number)})" for number in range(len(choices))}
    longest_first = "|".join(map(re.escape, sorted(choices, key=len, reverse=True)))
    behind_colon = rf":\s*({'|'.join(map(re.escape, letters))})"
    for searched, wanted, labels in (
        (cleaned(text), longest_first, dict(zip(choices, letters.values(), strict=True))),
        (text, behind_colon, letters),
    ):
        matches: list[str] = apply_pattern(wanted, partial(_all_matches, searched))
        if -len(matches) <= which < len(matches) and (match := matches[which].strip()):
            return labels.get(match, match)
    return None


@POSTPROCESSORS.register_module()
def logged_letters(text: str, several: bool = False) -> str | None:
    """Return the chosen letters behind "ANSWER:" in order, as the solver ``multiple_choice`` of inspect_ai reads them.

    Args:
        text: the answer of the model; the last "ANSWER:" on a line of its own counts, else the last one anywhere.
        several: whether several letters may be right: "A, C", "A and C" or "AC".

    >>> logged_letters("Both fit.\\nANSWER: C and A", several=True)
    'A, C'
    """
    text = apply_pattern(_WRAPPED, partial(_replaced, r"\2", text))
    text = apply_pattern(_IN_PARENTHESES, partial(_replaced, r"\1\2", text))
    each = (apply_pattern(pattern, lambda one, limit: one.findall(text, timeout=limit)) for pattern in _LETTERS)
    found = next(filter(None, each), [""])[-1].strip().upper()
    if several:
        found = found.replace(" AND ", ",").replace(" ", "")
    tokens = set(filter(None, found.split(",")))
    if several and any(len(token) > 1 for token in tokens):
        tokens = set(found)  # letters without commas
    is_choice = tokens and all(len(token) == 1 and token.isalpha() for token in tokens)
    return ", ".join(sorted(tokens)) if is_choice and (several or len(tokens) == 1) else None


@POSTPROCESSORS.register_module()
def logged_marked_letter(text: str, chinese: bool = False, sample_choices: str = "") -> str | None:
    """Return the chosen letter behind the last "ANSWER:", as benchmarks of evalscope with one right choice read it.

    Without a letter there the last capital letter of the text counts, if it is one of the choices.

    Args:
        text: the answer of the model.
        chinese: whether the marker is "答案：".
        sample_choices: the choices of the sample, one a line. Scoring passes its column ``choices``.

    >>> logged_marked_letter("ANSWER: **B**, not C")
    'B'
    """
    letters = string.ascii_uppercase
    letters = letters[: len(sample_choices.split("\n"))] if sample_choices else letters
    for mark in reversed(list((_MARK_ZH if chinese else _MARK).finditer(text))):
        for pattern in _LABELS:
            label = pattern.match(text, mark.end())
            if label and (named := _leading_letters(label[1], letters)):
                return named if len(named) == 1 else None
    last = next((one for one in reversed(text) if one.isupper()), "")
    return last if last and last in letters else None


def _leading_letters(label: str, letters: str) -> str:
    """Return the part of a text in front of the first word that is neither letters nor between two of them."""
    words = list(_LABEL_WORD.finditer(label))
    are_letters = [set(word[0]) <= set(letters) for word in words] + [False]
    end = 0
    for number, word in enumerate(words):
        if are_letters[number]:
            end = word.end()
        elif not (end and are_letters[number + 1] and word[0].lower() in ("and", "or")):
            break
    return label[:end].strip()


@POSTPROCESSORS.register_module()
def logged_math(text: str) -> str | None:
    """Return the answer that math-verify reads in a response, as the mathematical benchmarks of evalscope do.

    Args:
        text: the answer of the model.

    Raises:
        MissingExtra: math-verify is not installed.
        ModelError: the process that reads cannot be started.
    """
    require_installed("math_verify", extra="metrics", why="logged_math")
    return _math().read(text, MOST_MATH_SECONDS)


@cache
def _math() -> MathProcess:
    return MathProcess()


@EVALUATORS.register_module()
class LoggedMatchEvaluator(MeanEvaluator):
    """Accuracy as other tools compute it: answer and gold are cleaned and compared; of several golds the best counts.

    Args:
        match: how they are compared: equal (``exact``); the answer begins, ends with or contains the gold; equal words
            without case, punctuation and articles (``words``); the F1 of these words (``f1``); or the answer has all
            letters of the gold and no other (``letters``), where several golds are right together.
        ignore_case: whether "Paris" equals "PARIS".
        ignore_punctuation: whether punctuation is left out: everywhere for ``exact``, else at both ends.
        numeric: whether numbers are compared by value. Of an answer with several, that at the end, or the beginning.
        strip: whether white space at both ends is left out.
        ignore: regular expressions whose matches are left out of both.
        ignore_numbers: whether digits are left out.
    """

    def __init__(
        self,
        match: Match = "exact",
        ignore_case: bool = False,
        ignore_punctuation: bool = False,
        numeric: bool = False,
        strip: bool = True,
        ignore: Sequence[str] = (),
        ignore_numbers: bool = False,
    ) -> None:
        self.match = match
        self.ignore_case = ignore_case
        self.ignore_punctuation = ignore_punctuation
        self.ignore_numbers = ignore_numbers
        self.numeric = numeric
        self.strip = strip
        self.ignore = tuple(ignore)
        for pattern in self.ignore:
            compiled(pattern)

    def value(self, answer: str, gold: Any) -> float:
        """Return the value of an answer, from 0 to 1.

        Raises:
            DataError: there is no gold.
        """
        if self.match == "letters":
            return float(set(letters_of([answer])) == set(letters_of([gold])))
        return max(float(self._compared(answer, one)) for one in golds_of(gold))

    def _compared(self, answer: str, gold: str) -> float:
        if self.match == "words":
            return exact_match(answer, gold)
        if self.match == "f1":
            return token_f1(answer, gold)
        answer, gold = self._cleaned(answer), self._cleaned(gold)
        if self.numeric and (wanted := _number(gold)) is not None:
            numbers = [found for word in answer.split() if (found := _number(word)) is not None]
            if self.match == "any":
                return wanted in numbers
            return bool(numbers) and numbers[0 if self.match == "begin" else -1] == wanted
        match self.match:
            case "begin":
                return answer.startswith(gold)
            case "end":
                return answer.endswith(gold)
            case "any":
                return gold in answer
        return answer == gold

    def _cleaned(self, text: str) -> str:
        text = _without(self.ignore, text)
        text = text.casefold() if self.ignore_case else text
        if self.ignore_punctuation and not self.numeric:
            text = text.translate(_NO_PUNCTUATION) if self.match == "exact" else text.strip(_ENDS)
        text = text.translate(_NO_DIGITS) if self.ignore_numbers else text
        return text.strip() if self.strip else text


def _without(patterns: Sequence[str], text: str) -> str:
    """Return a text without the matches of the patterns, one pattern after the other."""
    for pattern in patterns:
        text = apply_pattern(pattern, partial(_replaced, "", text))
    return text


def _all_matches(text: str, pattern: Any, limit: float) -> list[str]:
    return list(pattern.findall(text, timeout=limit))


def _replaced(by: str, text: str, pattern: Any, limit: float) -> str:
    return str(pattern.sub(by, text, timeout=limit))


def _number(text: str) -> float | None:
    try:
        return float(_NO_NUMBER.sub("", text).rstrip("."))
    except ValueError:
        return None


def apply_pattern(pattern: str, use: Callable[[Any, float], Found]) -> Found:
    """Return what ``use`` makes of a compiled pattern and the time limit in seconds.

    Raises:
        ConfigError: it is no regular expression, or too large.
        PartError: it took too long.
    """
    try:
        return use(compiled(pattern), MOST_SECONDS)
    except TimeoutError:
        why = f"the pattern {pattern[:200]!r} takes more than {MOST_SECONDS:g} s on an answer"
        fix = "score by a rule of your own: aisprompt score RUN --config CONFIG"
        raise PartError(f"the rule of the tool cannot be computed: {why}", fix=fix) from None


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Any:
    """Return a pattern of the package ``regex``.

    Raises:
        ConfigError: it is no regular expression of Python, or too large.
    """
    try:
        if len(pattern) > LONGEST_PATTERN:
            raise OverflowError(f"it has more than {LONGEST_PATTERN:,} characters")
        if pattern.count("[") > MOST_SETS:
            raise OverflowError(f"it has more than {MOST_SETS} sets")
        re.compile(pattern)
        counts = (re.findall("[0-9]+", found) for found in re.findall(r"\{([0-9,\s]+)", pattern))
        if math.prod(max(map(int, found), default=1) or 1 for found in counts) > MOST_REPEATS:
            raise OverflowError(f"it repeats more than {MOST_REPEATS:,} times")
        return regex.compile(pattern)
    except (re.error, regex.error, RecursionError, OverflowError, ValueError) as error:
        what = f"the regular expression {pattern[:200]!r} cannot be used: {error}"
        raise ConfigError(what, fix="correct or shorten it") from None
