r"""The label that an answer in words gives: "Positive.", "Yes, it is.", "It is **negative**.", "这是正面的。".

A label counts where the answer asserts it, as whole words, in any case. One that is denied ("not positive"), supposed
("if it is true") or reported ("some say yes") does not. An answer that names several labels, or none, is unparsed, but
for a label that

- is marked or announced: ``\boxed{}``, "the answer is", "答案是",
- begins the answer, before a punctuation mark: "No, there is no doubt",
- or is the only one after the last conclusion: "Good acting, bad plot. Overall, negative".

An answer that is nothing but True or False is yes or no, if those are the labels. Where the labels are true and false,
T and F, 对 and 错, or √ and ×, and an answer names neither, other words are read: "Yes, it is."
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.postprocess.other_languages import AND, OR, PARTICLES, SIMPLIFIED
from ais_prompt.postprocess.rule_engine import (
    AnswerText,
    Candidate,
    Doubts,
    Rank,
    doubts,
    is_reported,
    is_undecided,
    said,
    strongest,
)
from ais_prompt.postprocess.stated import marked_spans, statements
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import Extraction
from ais_prompt.utils import late

_DECORATION: Final = late(r"\*+|`+|(?<!\w)_+|_+(?!\w)|\$+|\\text(?=\{)|[\"“”「」‘]")
_CONCLUDES: Final = late(
    r"\b(?:so|thus|therefore|hence|overall|in\s+(?:conclusion|summary|short|the\s+end|total|sum)|to\s+(?:conclude|sum\s+up)|conclu\w+|finally|all\s+in\s+all"
    r"|on\s+balance|ultimately|altogether|i(?:['’]d|\s+would)?\s+(?:say|classify|label|call|choose|pick|rate|go\s+with)|classified\s+as|final|verdict|label\s+is)\b"
    r"|所以|因此|综上|总之|总体|总的来说|整体|最终|故|归为|判断为|应该?是|属于",
    re.IGNORECASE,
)
_WORD_LIKE: Final = frozenset(("no", "so", "one", "other", "right", "a", "i", "none", "not"))
"""Labels that are words of any sentence: only a punctuation mark or the end may follow them."""
_HAN: Final = late(r"[\u2e80-\u9fff]")
_HANGUL: Final = late(r"[가-힣]\Z")
_NEGATES: Final = late(
    r"(?:不|非|没有?|未|无|否)(?:任何)?\s?\Z|\b(?:non[-\s]?|maybe\s|perhaps\s|possibly\s)\Z", re.IGNORECASE
)
_DOUBTED: Final = late(r"\s?\?")
_EXPLAINS: Final = late(
    r"\b(?:because|since)\b(?:(?!\b(?:and|but)\b)[^.,;!?\n]){1,200}|因为[^,。;!?\n]{1,100}", re.IGNORECASE
)
"""A reason, which may name other labels."""
_KEYED: Final = late(
    r"[{,]\s*'?(?:label|sentiment|category|class|classification|prediction|verdict|intent|emotion|标签|类别|情感)'?\s*:"
    r"([^\n,{}\[\]]{1,80})",
    re.IGNORECASE,
)
"""A label in JSON, without its quotation marks."""
_ENDS: Final = r"(?=(?:的|です)?[\s)\]】}'’]*(?:[,.;:!?。，；：！？、)—–-]|\Z|\n))"
_IN_OTHER_WORDS: Final = (
    *({"true": "yes", "false": "no"}, {"t": "true", "f": "false"}, {"t": "yes", "f": "no"}, {"y": "yes", "n": "no"}),
    *({"true": "正确", "false": "错误"}, {"true": "对", "false": "错"}, {"yes": "是", "no": "否"}),
    *({"对": "正确", "错": "错误"}, {"正确": "对", "错误": "错"}),
    *({"√": "对", "×": "错"}, {"√": "正确", "×": "错误"}),
)
"""Labels, and the words that an answer may say for them."""
_SIGNS: Final = SIMPLIFIED | str.maketrans("✓✔☑✅✗✘❌", "√√√√×××")
"""Signs that are written in several ways."""
_TRUTH: Final = late(r"\s*(true|false)\s*\.?\s*", re.IGNORECASE)
"""An answer that is nothing but a truth value, such as that of a function."""
_JOINT: Final = (
    rf"[\s,'’，]{{0,3}}(?:\b(?:or|and|nor)\b|{AND}|{OR}|[/&,、，]|或者?|还是|和|与|也可能是?)+"
    r"[\s'‘]{0,2}(?:(?:it\s+is|be|the|an?)\s+)?"
)
"""What joins two labels: "positive or negative"."""

_CHOICE: Final = late(r"\b(?:or|either|maybe|perhaps|possibly|might|could)\b|或|可能|也许", re.IGNORECASE)


class LabelPatterns(Struct, frozen=True):
    """What finds some labels.

    Attributes:
        names: label as it is compared → as it is written.
        mention: any of them in a text, the longest first.
        joint: two or more of them in a row.
        word: any of them, whatever is beside it.
        doubts: what denies one.
    """

    names: dict[str, str]
    mention: re.Pattern[str]
    joint: re.Pattern[str]
    word: re.Pattern[str]
    doubts: Doubts


@POSTPROCESSORS.register_module()
def label_postprocess(text: str, labels: Sequence[str]) -> Extraction | None:
    """Return the label that an answer gives, as ``labels`` writes it; None if it gives none, or several.

    >>> label_postprocess("The sentiment of this review is **Positive**.", ["positive", "negative"])
    'positive'
    >>> label_postprocess("No, there is no evidence for that.", ["yes", "no"])
    'no'
    >>> label_postprocess("This could be positive or negative.", ["positive", "negative"])
    >>> label_postprocess("It is not positive.", ["positive", "negative"])

    Args:
        text: the answer.
        labels: all labels of the dataset.

    Raises:
        ValueError: there is no label.
    """
    if not labels:
        raise ValueError("label_postprocess needs labels=[...], all labels of the dataset")
    patterns = label_patterns(tuple(map(str, labels)))
    source = said(text).before_next_question().without(_DECORATION)
    source = AnswerText(source.text.translate(_SIGNS), source)
    found = strongest(_candidates(source.text, patterns), source.text)
    if found:
        given = _only(found)
        return given.extraction(source) if given else None
    names = patterns.names
    if (answer := _TRUTH.fullmatch(source.text)) and {"yes", "no"} <= names.keys():
        name = names["yes" if answer[1].casefold() == "true" else "no"]
        return source.extraction("true or false for yes or no", answer.start(1), answer.end(1), name)
    for words in _IN_OTHER_WORDS:
        if words.keys() <= names.keys():
            others = label_patterns(tuple(words.values()), at_end=True)
            if given := _only(strongest(_candidates(source.text, others), source.text)):
                [label] = [label for label, word in words.items() if word == given.text]
                return source.extraction("in other words", given.start, given.end, names[label])
    return None


def _only(found: Sequence[Candidate]) -> Candidate | None:
    """Return the last of candidates, if all name its label, or it is announced; None otherwise."""
    if not found or not found[-1].text:
        return None
    announced = found[-1].rank in (Rank.ANNOUNCED, Rank.FINAL, Rank.MARKED)
    return found[-1] if announced or len({one.text for one in found}) == 1 else None


def stated_word(text: str, words: Sequence[str]) -> Extraction | None:
    """Return the one of ``words`` that an answer states, as `label_postprocess` does; None if it leaves a choice.

    The words are not all that an answer can say, so "no solution or 3" and "maybe none" state nothing.
    """
    found = label_postprocess(text, words) if words else None
    if found is None:
        return None
    others = (text[: found.reading.start], text[found.reading.end :])
    return None if any(map(_CHOICE.search, others)) else found


def same_label(text: str) -> str:
    """Return a label as it is compared: yes, Yes and YES are one, as are 對 and 对, or ✓ and √."""
    return " ".join(
        unicodedata.normalize("NFKC", text).translate(_SIGNS).casefold().replace("_", " ").replace("-", " ").split()
    )


@lru_cache(maxsize=64)
def label_patterns(labels: tuple[str, ...], at_end: bool = False) -> LabelPatterns:
    """Compile what finds these labels; Chinese ones only at the end of a clause if ``at_end``: not "正确的做法是"."""
    names = {same_label(label): label.strip() for label in reversed(labels)}
    written = [_written(name, at_end) for name in sorted(names, key=len, reverse=True)]
    every = "|".join(written)
    joint = rf"(?:{'|'.join(map(_words, sorted(names, key=len, reverse=True)))})"
    return LabelPatterns(
        names,
        re.compile(rf"(?:{every})", re.IGNORECASE),
        re.compile(rf"(?<![A-Za-z]){joint}(?:{_JOINT}{joint})+(?![A-Za-z])", re.IGNORECASE),
        re.compile(joint, re.IGNORECASE),
        doubts(rf"(?i:{every})"),
    )


def _words(name: str) -> str:
    return r"[\s_-]+".join(map(re.escape, name.split()))


def _written(name: str, at_end: bool) -> str:
    """Return the pattern of a label: blanks, hyphens and underscores are one, and words end where it ends."""
    words = _words(name)
    if _HAN.search(name):
        # One sign is part of many words: only a clause that holds nothing else is a label, but for "是对的".
        return (
            rf"(?:(?<![\u2e80-\u9fff])|(?<=[是为选は])){words}{_ENDS}"
            if len(name) == 1
            else words + (_ENDS if at_end else "")
        )
    if name in "√×":  # no part of a calculation
        return rf"(?<![\w)$])(?<![\d)$]\s)(?<!\b[A-Za-z]\s){words}(?!\s?(?:[\d($]|[A-Za-z]\b))"
    # Signs of scripts without blanks between words are no part of a label in letters: "答案是yes。", "정답은 1입니다.".
    start = r"(?<![^\W\u2e80-\u9fff])(?<!\w['’])" if re.match(r"\w", name) else ""
    end = r"(?![^\W\u2e80-\u9fff가-힣])(?!['’][a-z])" if re.search(r"\w\Z", name) else ""
    if _HANGUL.search(name):
        end = f"(?={PARTICLES})"
    is_word = name in _WORD_LIKE or (len(name) == 1 and name.isalpha() and not name.isascii())  # В is "in"
    return f"{start}(?:{words}){end}" + (_ENDS if is_word else "")


def _candidates(text: str, patterns: LabelPatterns) -> Iterator[Candidate]:
    """Yield the labels that a text asserts, each as strongly as it does."""
    marked = [*marked_spans(text), *(("JSON", *pair.span(1)) for pair in _KEYED.finditer(text))]
    for rule, start, end in marked:
        yield from _in_span(text, start, end, Rank.MARKED, rule, patterns)
    for statement in statements(text):
        end = max(statement.end, min(statement.line_end, statement.start + 1))
        yield from _in_span(text, statement.start, end, statement.rule.rank, statement.rule.name, patterns)
    lead = re.match(r"[\s\W]*", text)
    start = lead.end() if lead else 0
    first = patterns.mention.match(text, start)
    if (
        first
        and not any(one.start() == start for one in _joined(text, start, len(text), patterns))
        and re.match(_ENDS, text[first.end() : first.end() + 40])
        and not _DOUBTED.match(text, first.end())
        and not _is_list(text, patterns)
    ):
        yield _candidate(first, Rank.VERDICT, "the first word", patterns)
    if is_undecided(text):
        return
    mentions = list(_asserted(text, 0, len(text), Rank.ALONE, "the only label", patterns))
    cues = list(_CONCLUDES.finditer(text))
    after = [one for one in mentions if cues and one.start >= cues[-1].end()]
    if len({one.text for one in after}) == 1:
        yield replace(after[-1], rank=Rank.CONCLUDED, rule="the conclusion")
    reasons = _EXPLAINS.sub(lambda reason: " " * len(reason.group()), text)
    yield from list(_asserted(reasons, 0, len(text), Rank.ALONE, "the only label", patterns)) or mentions


def _is_list(text: str, patterns: LabelPatterns) -> bool:
    """Return whether a text is nothing but several different labels."""
    names = {same_label(found.group()) for found in patterns.mention.finditer(text)}
    return len(names) > 1 and re.search(r"\w", patterns.mention.sub("", text)) is None


def _in_span(text: str, start: int, end: int, rank: Rank, rule: str, patterns: LabelPatterns) -> Iterator[Candidate]:
    """Yield the label of a place that announces one; a candidate without a text if there are several."""
    found = list(_asserted(text, start, end, rank, rule, patterns))
    if found:
        yield found[0] if len({one.text for one in found}) == 1 else replace(found[0], text="")


def _asserted(text: str, start: int, end: int, rank: Rank, rule: str, patterns: LabelPatterns) -> Iterator[Candidate]:
    """Yield the labels between two places that are not denied, supposed or reported; "A or B" has no text."""
    joint = list(_joined(text, start, end, patterns))
    inside = {place for one in joint for place in range(*one.span())}
    for one in joint:
        yield Candidate(rank, rule, *one.span(), "")
    for found in patterns.mention.finditer(text, start, end):
        before = text[max(0, found.start() - 12) : found.start()]
        denied = _NEGATES.search(before) or patterns.doubts.denies(text, *found.span())
        asked = _DOUBTED.match(text, found.end())
        if not (found.start() in inside or denied or asked or is_reported(text, found.start())):
            yield _candidate(found, rank, rule, patterns)


def _joined(text: str, start: int, end: int, patterns: LabelPatterns) -> Iterator[re.Match[str]]:
    """Yield where different labels are joined, "A or B"; "no, no" is one label."""
    for found in patterns.joint.finditer(text, start, end):
        if len({same_label(one) for one in patterns.word.findall(found.group())}) > 1:
            yield found


def _candidate(found: re.Match[str], rank: Rank, rule: str, patterns: LabelPatterns) -> Candidate:
    return Candidate(rank, rule, *found.span(), patterns.names[same_label(found.group())])
