"""Read the marks in the reply of a judge to a rubric: what it says of which criterion, and how likely each rating was.

Nothing is guessed. A criterion of which the reply says nothing has no mark, and neither has one of which it says two
things. What the reply quotes from the answer or from its prompt does not count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ais_prompt.extensions.rubrics.criteria import PARTLY
from ais_prompt.judges import judge_rating_postprocess, only_tag, without_quotes
from ais_prompt.postprocess import said
from ais_prompt.types import GeneratedToken
from ais_prompt.utils import decode_own, late

Marks = dict[str, Any]
"""Number of a criterion, from ``"1"`` → True, False, a number, or `PARTLY`."""

_WORDS: Final[Mapping[str, bool | str]] = {
    **dict.fromkeys(("yes", "true", "met", "satisfied", "pass", "passed", "fulfilled", "✓", "✅", "是", "满足"), True),
    **dict.fromkeys(("no", "false", "not met", "unmet", "not satisfied", "unsatisfied", "fail", "failed"), False),
    **dict.fromkeys(("not fulfilled", "✗", "❌", "否", "不满足", "未满足"), False),
    **dict.fromkeys(("partly", "partial", "partially", "partly met", "partially met", "partially satisfied"), PARTLY),
}
_WORD: Final = "|".join(map(re.escape, sorted(_WORDS, key=len, reverse=True)))
_MARK: Final = rf"(?P<mark>(?i:{_WORD})|-?\d+(?:\.\d+)?)(?![\w.%/]*\w)"
_NUMBER: Final = r"(?:(?i:criterion|criteria|item|statement|标准|准则)[ \t]*)?#?[ \t]*(?P<number>\d+)"
_LINES: Final = (
    # "1. yes", "Criterion 2: not met, since ...", "[3] no"
    late(rf"(?m:^)[ \t*_>\-(\[|]*{_NUMBER}[ \t]{{0,9}}[.:)\]|*_–—-]{{1,9}}[\s*_|]{{0,9}}{_MARK}"),
    # "1. The answer names the dose: yes"
    late(
        rf"(?m:^)[ \t*_>\-(\[|]*{_NUMBER}[ \t]{{0,9}}[.:)\]|][^\n]*(?:[:=→|]|\s[–—-])[ \t*_|]{{0,9}}{_MARK}"
        r"[ \t*_.!|]{0,9}(?m:$)"
    ),
)
_ENTRY: Final = late(rf"\"{_NUMBER}\"\s*:\s*\"?{_MARK}\"?\s*[,}}\n]")
"""An entry of an object that was cut off."""
_MET: Final = ("criteria_met", "criterion_met", "met", "satisfied", "verdict", "mark", "score", "rating", "answer")
"""Keys of the mark in an object about one criterion."""
_ABOUT: Final = ("criterion", "number", "id", "index", "criterion_id")
"""Keys of the number of its criterion."""
_KEY: Final = re.compile(_NUMBER)
_OPENING: Final = re.compile(r"\[\s*\{|\{")
_BLANKS: Final = re.compile(r"(?<=[ \t])[ \t]+|(?<=\n\n)\n+")
"""White space that says nothing, and makes patterns of lines slow."""
MOST_TRIED: Final = 100
"""Brackets that open nothing, after which no more are tried: a reply of nothing but brackets must not take long."""

MOST_RATING: Final = 9
"""A rating of several digits may be several tokens, and the first of them that of another rating."""
_DIGIT: Final = re.compile(r"[^\w-]*(\d)[^\w]*")


def read_marks(text: str) -> Marks:
    """Return what a reply says of each criterion; of one that is alone in its question, as criterion 1.

    >>> read_marks('{"1": true, "2": "not met"}')
    {'1': True, '2': False}
    >>> read_marks("1. yes\\n3: 4\\n2 - no, since the dose is wrong")
    {'1': True, '3': 4.0, '2': False}
    >>> read_marks('{"explanation": "It names the dose.", "criteria_met": true}')
    {'1': True}
    >>> read_marks("The answer meets most of them.")
    {}
    """
    source = without_quotes(_BLANKS.sub("", said(text).text))
    marks: dict[str, list[Any]] = {}
    if objects := list(_objects(source)):
        for number, mark in _of_value(objects[-1]):
            marks.setdefault(number, []).append(mark)
    else:
        for pattern in (_ENTRY, *_LINES):
            for found in pattern.finditer(source):
                marks.setdefault(str(int(found["number"])), []).append(_word(found["mark"]))
    return {number: each[0] for number, each in marks.items() if all(one == each[0] for one in each)}


def read_mark(text: str) -> Any:
    """Return what a reply to a question about one criterion says of it; None if it says nothing.

    >>> [read_mark(one) for one in ("It never names it. Verdict: no", "Rating: 4", "Yes or no is hard to say.")]
    [False, 4.0, None]
    """
    if marks := read_marks(text):
        return marks.get("1") if len(marks) == 1 else None
    text = _BLANKS.sub("", text)
    forms = (form for word in _WORDS if word.isascii() for form in (word, word.capitalize(), word.upper()))
    tag = only_tag(text, tuple(forms))
    if tag is not None:
        return _WORDS[tag.casefold()]
    return None if (rating := judge_rating_postprocess(text)) is None else float(rating)


def _objects(text: str) -> Iterator[Any]:
    """Yield the objects and lists of objects that are whole in a text, outermost first."""
    place = tried = 0
    while tried < MOST_TRIED and (found := _OPENING.search(text, place)):
        place = found.start() + 1
        if end := _end(text, found.start()):
            try:
                yield decode_own(text[found.start() : end].encode("utf-8", "surrogatepass"))
                place = end
            except ValueError:
                tried += 1
        else:
            tried += 1


def _end(text: str, start: int) -> int:
    """Return where the brackets that open at a place are closed; 0 if they are not."""
    depth, is_text, is_escaped = 0, False, False
    for place in range(start, len(text)):
        character = text[place]
        if is_text:
            is_text, is_escaped = is_escaped or character != '"', character == "\\" and not is_escaped
        elif character == '"':
            is_text = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if not depth:
                return place + 1
    return 0


def _of_value(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield number and mark of each criterion in an object, or in a list of objects that name theirs."""
    if isinstance(value, list):
        for one in value:
            about = next((one[key] for key in _ABOUT if key in one), None) if isinstance(one, dict) else None
            if about is not None and (number := _KEY.fullmatch(str(about).strip())) and (met := _met(one)) is not None:
                yield str(int(number["number"])), met
        return
    if (met := _met(value)) is not None and not any(_KEY.fullmatch(key.strip()) for key in value):
        about = next((value[key] for key in _ABOUT if key in value), 1)
        number = _KEY.fullmatch(str(about).strip())
        yield str(int(number["number"])) if number else "1", met
        return
    for key, one in value.items():
        if number := _KEY.fullmatch(key.strip()):
            mark = _met(one) if isinstance(one, dict) else _plain(one)
            if mark is not None:
                yield str(int(number["number"])), mark
        elif isinstance(one, dict | list):  # {"criteria": {"1": ...}}
            yield from _of_value(one)


def _met(value: Mapping[str, Any]) -> Any:
    return next((_plain(value[key]) for key in _MET if key in value), None)


def _plain(value: Any) -> Any:
    """Return a value of JSON as a mark; None if it is no mark."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return float(value)
    return _word(value) if isinstance(value, str) else None


def _word(text: str) -> Any:
    word = " ".join(text.strip(" *_.!").casefold().split())
    if word in _WORDS:
        return _WORDS[word]
    try:
        return float(word)
    except ValueError:
        return None


def weights_of_rating(text: str, tokens: Sequence[GeneratedToken]) -> dict[str, float] | None:
    """Return rating → its probability in the place of the rating that a reply gives, which comes first.

    The place is that of the only digit whose change changes what the reply is read as. Tokens with the same digit, such
    as ``4`` and `` 4``, are added.

    >>> four = GeneratedToken(" 4", -0.5, {" 4": -0.5, " 5": -1.0, "5": -9.0})
    >>> {rating: round(weight, 3) for rating, weight in weights_of_rating("Rating: 4", [four]).items()}
    {'4': 0.607, '5': 0.368}

    Args:
        text: the reply.
        tokens: what the judge generated; it may begin before the text, and end after it.

    Returns:
        None if the reply gives no rating of one digit, or it is not clear which token that is.
    """
    found = [token for token, begin in _digits(text, tokens) if _decides(text, begin)]
    if len(found) != 1:
        return None
    [token] = found
    weights = {_digit_of(token.text): 0.0}
    for other, log_prob in {token.text: token.log_prob, **token.alternatives}.items():
        if digit := _digit_of(other):
            weights[digit] = weights.get(digit, 0.0) + math.exp(log_prob)
    return weights


def _digit_of(text: str) -> str:
    found = _DIGIT.fullmatch(text)
    return found[1] if found else ""


def _digits(text: str, tokens: Sequence[GeneratedToken]) -> Iterator[tuple[GeneratedToken, int]]:
    """Yield each token that is a digit, with its place in the text. The text is at the end of the tokens."""
    whole = "".join(token.text for token in tokens)
    start = whole.rfind(text.strip())
    place = (len(text) - len(text.lstrip())) - start
    for token in tokens if start >= 0 else ():
        if (digit := _digit_of(token.text)) and 0 <= (begin := place + token.text.index(digit)) < len(text):
            yield token, begin
        place += len(token.text)


def _decides(text: str, begin: int) -> bool:
    """Return whether the digit at a place is what the reply is read as."""
    digit = int(text[begin])

    def read_with(other: int) -> object:
        return read_mark(f"{text[:begin]}{other}{text[begin + 1 :]}")

    near = [other for other in (digit - 1, digit + 1) if 0 <= other <= MOST_RATING]
    return read_with(digit) == digit and any(read_with(other) == other for other in near)
