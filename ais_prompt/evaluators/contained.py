"""Accuracy of short answers in free words: TriviaQA, Natural Questions, L-Eval, DROP, LAMBADA, BBH, RULER."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

from ais_prompt.evaluators.base import MeanEvaluator, golds_of
from ais_prompt.metrics import normalize
from ais_prompt.postprocess import (
    ONLY_NUMBER,
    bbh_freeform_postprocess,
    first_option_postprocess,
    gsm8k_postprocess,
    inside_numeral,
    label_postprocess,
    plain_phrase,
    said,
    to_decimal,
)
from ais_prompt.registry import EVALUATORS

_ANSWER_LINE: Final = re.compile(r"(?i)Answer\s*:\s*([^\n]+)")
_PUNCTUATION: Final = re.compile(f"[{re.escape(string.punctuation)}]")


@EVALUATORS.register_module()
class ContainedAnswerEvaluator(MeanEvaluator):
    """Accuracy: 1 where a gold answer is in the answer, each without punctuation and articles.

    Only whole words and numbers count: 5 is not in 15, and "no" is not in "know"
    (`ais_prompt.evaluators.contained.contains`).

    Source: OpenCompass, ``TriviaQAEvaluator``, ``NQEvaluator`` and ``LEvalEMEvaluator``. There parts of words count,
    and a gold without letters and digits is in every answer; here it is in none.

    Args:
        cues: the answer begins after the last of these texts, which are looked for one after the other.
        first_line: whether only the first line counts, in small letters.
        whole: whether the answer must be equal to the gold.
    """

    def __init__(self, cues: Sequence[str] = ("answer is",), first_line: bool = True, whole: bool = False) -> None:
        self.cues = tuple(cues)
        self.first_line = first_line
        self.whole = whole

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if a gold is in the answer, else 0."""
        text = answer.strip().partition("\n")[0] if self.first_line else answer
        for cue in self.cues:
            text = re.split(re.escape(cue), text, flags=re.IGNORECASE if self.first_line else 0)[-1]
        text = plain_phrase(text.strip())  # before small letters: initials are capitals
        text = text.lower() if self.first_line else text
        return float(any(self._matches(text, one) for one in golds_of(gold)))

    def _matches(self, text: str, gold: str) -> bool:
        plain = plain_phrase(gold)
        if self.first_line:
            plain = plain.lower()
        elif gold.strip() and contains(text, gold):
            return True
        return bool(plain) and (plain == text if self.whole else contains(text, plain))


@EVALUATORS.register_module()
class ContainsEvaluator(MeanEvaluator):
    r"""Accuracy: 1 where a gold answer is anywhere in the answer, after thoughts.

    Only whole words and numbers count: 5 is not in 15, and "no" is not in "know"
    (`ais_prompt.evaluators.contained.contains`). Several golds are alternatives. No difference make

    - upper and lower case, but for golds of two or three capitals: "it" is not IT, nor "who" WHO;
    - full-width and other forms of a character (NFKC), kinds of quotation marks and dashes, bold, fences of code, white
      space, all of it in a gold that begins with a bracket;
    - commas between words and thousands, full stops in U.S. and St., 9:30 AM for 09:30 a.m., and LaTeX around a text:
      ``\text{}``, ``\boxed{}``, ``$``;
    - quotation marks around a gold, its article, the blank between its number and its unit, and its accents, if the
      answer has none.

    Some golds are in too many answers. Yes and no, true and false, 是 and 否 count as `label_postprocess` reads them,
    one capital letter as `first_option_postprocess` does, and a number as `gsm8k_postprocess` does, if the answer gives
    a reason to read one.

    **Known limit**: what the answer says of another gold is not read. "Not Paris but Lyon" has Paris in it, and so has
    an answer that repeats a question or options with the gold. Use a postprocessor for labels, letters, numbers and
    dates.
    """

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if a gold is in the answer, else 0."""
        text = _plain(said(answer).text)
        golds = (_QUOTED.sub(r"\1", _plain(one)) for one in golds_of(gold))
        return float(any(_has(answer, text, one) for one in golds))


_QUOTED: Final = re.compile(r'\A"([^"]+)"\Z')
_QUOTES, _DOUBLE_QUOTES, _DASHES = "‘’‛", "“”„", "‐‑–—−"
_MARKS: Final = str.maketrans(
    {
        **dict.fromkeys("*`"),
        **dict.fromkeys(_QUOTES, "'"),
        **dict.fromkeys(_DOUBLE_QUOTES, '"'),
        **dict.fromkeys(_DASHES, "-"),
        "∶": ":",
    }
)
_LATEX: Final = re.compile(r"\\(?:text(?:bf)?|math(?:rm|bf)|f?box(?:ed)?|operatorname)\s?\{([^{}]*)\}(?:_\{?(?=\d))?")
_FENCE: Final = re.compile(r"```\w*")
_NESTED: Final = 3
"""LaTeX commands inside each other that are left out."""
_LATEX_SPACE: Final = re.compile(r"\\[,;:! ]")
_LATEX_DOLLARS: Final = re.compile(r"\$(?! )([^$\n]{1,200})(?<! )\$(?!\d)|\\[()\[\]]")
_CJK: Final = r"\u3040-\u30ff\u3400-\u9fff"
_NEEDLESS: Final = re.compile(
    # commas of thousands and between words; blanks beside signs that need none, and in 2 : 9
    rf"(?<=\d),(?=\d{{3}}(?![\d,]))|(?<=[^\W\d_]),(?= )|(?<=[{_CJK}]) (?=\w)|(?<=\w) (?=[{_CJK}])"
    # full stops of St. and U.S.
    r"|(?<=\b[A-Z][a-z])\.(?= [A-Z])|(?<=\b[A-Z])\.(?=[A-Z]\.)|(?<=\.[A-Z])\."
    r"|(?<=\d) (?=[:/] ?\d)|(?:(?<=\d[:/])|(?<=\d [:/])) (?=\d)"
)
_TIME: Final = re.compile(r"(?i)(?<![\d:])0?(\d{1,2}(?::\d\d)?) ?([ap])\.?m\b\.?")
_SHORT_CAPITALS: Final = re.compile(r"[A-Z]{2,3}")
_ARTICLE: Final = re.compile(r"(?i:the|an?) (?=\w{4}|[A-Z]{2})")
_STATED: Final = (("yes", "no"), ("true", "false"), ("是", "否"), ("对", "错"), ("正确", "错误"))
"""Golds that are words of many answers."""
_LETTERS: Final = "ABCDEFGHIJ"


def _plain(text: str) -> str:
    """Return a text as it is searched for another: without differences of form, white space and LaTeX."""
    text = _FENCE.sub("", text)
    if "\\" in text or "$" in text:
        for _ in range(_NESTED):
            text = _LATEX.sub(r"\1", text)
        text = _LATEX_DOLLARS.sub(r"\1", _LATEX_SPACE.sub(" ", text.replace("{,}", ",")))
    plain = _NEEDLESS.sub("", " ".join(unicodedata.normalize("NFKC", text).translate(_MARKS).split()))
    return re.sub(r"[.。]+\Z", "", _TIME.sub(r"\1 \2m", plain)) or plain


def _has(answer: str, text: str, gold: str) -> bool:
    """Return whether an answer has a gold; ``text`` is the answer, both as `_plain` returns them."""
    folded = text.casefold()
    # A gold without letters and digits, such as "-", is in every other text.
    if folded == gold.casefold() or not re.search(r"\w", gold):
        return bool(gold) and folded == gold.casefold()
    if labels := next((one for one in _STATED if gold.casefold() in one), None):
        return label_postprocess(answer, labels) == gold.casefold()
    if re.fullmatch("[A-Z]", gold):
        return first_option_postprocess(answer, "".join(dict.fromkeys(_LETTERS + gold))) == gold
    if _SHORT_CAPITALS.fullmatch(gold):
        return contains(text, gold)
    if (number := to_decimal(gold)) is not None and not re.match(r"0\d", gold):
        stated = gsm8k_postprocess(answer)
        if stated is not None and stated.reading.rule != ONLY_NUMBER:
            return to_decimal(stated) == number
    if gold[0] in "[({":  # [0, 1] is [0,1]
        return contains(folded.replace(" ", ""), gold.casefold().replace(" ", ""))
    return any(contains(folded, one.casefold()) for one in _spellings(gold, text)) or _without_article(gold, text)


def _spellings(gold: str, text: str) -> Iterator[str]:
    """Yield a gold, and others of its spellings that this answer may have."""
    yield gold
    if gold[0].isdigit():
        yield re.sub(r"(?<=\d) (?=[^\W\d_])", "", gold)
        yield re.sub(r"(?<=\d)(?=[^\W\d_])", " ", gold)
    if not gold.isascii() and _unaccented(text) == text:
        yield _unaccented(gold)


def _without_article(gold: str, text: str) -> bool:
    """Return whether an answer has a gold without its article; a name only as it is written, "Who" for "The Who"."""
    rest = _ARTICLE.sub("", gold, count=1) if _ARTICLE.match(gold) else ""
    return bool(rest) and (contains(text, rest) if rest != rest.lower() else contains(text.casefold(), rest))


def _unaccented(text: str) -> str:
    """Return a text with e for é; other scripts keep their marks."""
    return "".join(base if (base := unicodedata.normalize("NFD", sign)[0]).isascii() else sign for sign in text)


@EVALUATORS.register_module()
class FuzzyMatchEvaluator(MeanEvaluator):
    """Accuracy: 1 where answer and gold contain each other, in small letters, without punctuation and articles.

    The answer is what follows "Answer:" in a line, or else all. Several golds are separated by ``|``. Source: OpenAI
    simple-evals, ``drop_eval.py``; OpenCompass, ``DropOpenAIEvaluator``.
    """

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if the answer matches one of the golds, else 0."""
        line = _ANSWER_LINE.search(answer)
        text = normalize(line.group(1) if line else answer)
        golds = [normalize(one) for whole in golds_of(gold) for one in whole.split("|")]
        return float(
            any(text == one or (text and one and (contains(one, text) or contains(text, one))) for one in golds)
        )


@EVALUATORS.register_module()
class LambadaEvaluator(MeanEvaluator):
    """Accuracy of the first word, up to a punctuation mark. Source: OpenCompass, ``LambadaEvaluator``."""

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if the first word is the gold, else 0."""
        word = _PUNCTUATION.split(answer.strip().partition(" ")[0], maxsplit=1)[0]
        return float(any(_bare(word) == _bare(one) for one in golds_of(gold)))


def _bare(text: str) -> str:
    """Return what is before the first newline, full stop or comma, without punctuation and articles."""
    phrase = re.split(r"[\n.,]", text, maxsplit=1)[0]
    words = re.sub(r"(?i)\b(?:an?|the)\b", "", re.sub(r"[^\w\s]", "", phrase))
    return re.sub(r"\s+", " ", words).strip()


@EVALUATORS.register_module()
class BBHEvaluator(MeanEvaluator):
    """Accuracy of answers in free words: equal after `bbh_freeform_postprocess`, upper and lower case alike.

    Source: OpenCompass, ``BBHEvaluator`` (metric ``score``).
    """

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if answer and gold are the same, else 0."""
        found, *golds = ((bbh_freeform_postprocess(one) or "").casefold() for one in (answer, *golds_of(gold)))
        return float(found in golds)


@EVALUATORS.register_module()
class OptionOrTextEvaluator(MeanEvaluator):
    """Accuracy where the gold is ``B. its text``: 1 if the first line of the answer is the letter or the text.

    Source: OpenCompass, ``MMLUProBaseEvaluator``.
    """

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if the answer is the letter or the text, else 0."""
        letter, separator, text = golds_of(gold)[0].partition(". ")
        line = answer.partition("\n")[0].strip()
        return float(bool(separator) and ". " not in text and line in (letter, text.strip()))


@EVALUATORS.register_module()
class StringMatchEvaluator(MeanEvaluator):
    """Share of the golds that are in the answer, upper and lower case alike.

    A gold inside of a longer word or number is not there: 5 in 15.

    Source: RULER (arXiv:2404.06654), ``string_match_all`` and ``string_match_part`` in
    ``scripts/eval/synthetic/constants.py`` (there parts of words count).

    Args:
        match: ``all``: the share of the golds; ``part``: 1 if any of them is there, for golds that mean the same.
    """

    metrics = ("string_match",)

    def __init__(self, match: Literal["all", "part"] = "all") -> None:
        self.match = match

    def value(self, answer: str, gold: Any) -> float:
        """Return the share, from 0 to 1.

        Raises:
            DataError: there is no gold.
        """
        text = answer.casefold()
        found = [contains(text, one.casefold()) for one in golds_of(gold)]
        return float(any(found)) if self.match == "part" else sum(found) / len(found)


_UNSPACED: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts that put no blanks between words, and Hangul, whose endings follow a word without a blank."""


def contains(text: str, part: str) -> bool:
    """Return whether a text has a part as whole words and numbers: 5 is not in 15, 5.5 or -5, nor "no" in "know".

    A comma belongs to a number as in `ais_prompt.postprocess.numbers`: 7654321 is in "1234567,7654321", 500 not in
    "1,500".
    In Chinese, Japanese, Thai and other scripts without blanks between words every place counts.
    """
    place = text.find(part)
    while place >= 0:
        end = place + len(part)
        before, after = text[max(place - 2, 0) : place], text[end : end + 2]
        is_signed = part[:1].isdigit() and re.search(r"(?<![\w.])[-−]\Z", before)
        is_whole = not (_goes_on(before[::-1], part[:1]) or _goes_on(after, part[-1:]) or is_signed)
        if is_whole and not inside_numeral(text, place) and not inside_numeral(text, end):
            return True
        place = text.find(part, place + 1)
    return False


def _goes_on(beside: str, end: str) -> bool:
    """Return whether the word or number at the end of a part goes on with the characters beside it."""
    if end.isdigit() and re.match(r"\.\d", beside):
        return True
    spaced = re.compile(rf"[^\W_{_UNSPACED}]")
    return bool(spaced.match(end) and spaced.match(beside))
