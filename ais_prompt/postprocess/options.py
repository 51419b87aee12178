r"""The option that an answer in words chooses: "The answer is **(B)**.", "\boxed{B}", "答案是B", "B. Paris".

`ais_prompt.postprocess.option_rules` lists the ways in which an answer names an option, `Rank` how strong each is. What
follows a label is the text of the option, whatever it says. A label does not count where the words before it deny it
("not A"), suppose it ("if A ...") or report it ("many choose A"); "A or B" chooses nothing. Bold, dollars and LaTeX are
looked through, full-width letters are letters. The words "A" and "I" are no options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from ais_prompt.postprocess.option_rules import OptionPatterns, option_patterns
from ais_prompt.postprocess.rules import Candidate, Rank, is_reported, is_undecided, strongest
from ais_prompt.postprocess.source import Source, said
from ais_prompt.postprocess.stated import marked_spans, sentences
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types.score import Extraction

_DECORATION: Final = re.compile(
    r"\*+|`+|\$+|\\[A-Za-z]+(?=\s?\{)|\\(?:rm|bf|sf|it|tt)\b\s?|\\[()\[\]]|(?<!\w)_+|_+(?!\w)"
)
_SPACE: Final = re.compile(r"\s{2,}|[^\S\n ]")
_BOLD: Final = re.compile(r"\*\*([A-Z])\*\*|__([A-Z])__")
_OTHERS: Final = re.compile(r"(?i:\b(?:students?|people|another|test-takers|none\s+of)\b)[^.,;:\n]{0,40}\Z")
"""Who chooses an option that is not the answer: "A student picked A"."""
_LATEX: Final = re.compile(r"\\[A-Za-z]+|\\[()\[\]]|[{}$*]")


@POSTPROCESSORS.register_module()
def first_option_postprocess(text: str, options: str = "ABCD", cushion: bool = True) -> Extraction | None:
    r"""Return the option that an answer names; the first one if it names several. None if it names none.

    >>> first_option_postprocess("A good question. The answer is **(B)**, because ...", "ABCD")
    'B'
    >>> first_option_postprocess(r"So it must be \boxed{\text{C}}.", "ABCD")
    'C'
    >>> first_option_postprocess("I think A is wrong, so C", "ABCD")
    'C'
    >>> first_option_postprocess("综上，答案不是A，而是Ｂ。", "ABCD")
    'B'
    >>> first_option_postprocess("<think>The answer is A?</think>D) Paris", "ABCD")
    'D'
    >>> first_option_postprocess("The answer is Africa.", "ABCD")

    Args:
        text: the answer.
        options: the letters to choose from.
        cushion: whether a letter without any marker will do.

    Source: OpenCompass, ``first_option_postprocess`` (names and arguments; the rules are our own).
    """
    source, found = _named(text, options, cushion=cushion)
    return source.extraction(found[0].rule, found[0].start, found[0].end, found[0].text) if found else None


@POSTPROCESSORS.register_module()
def last_option_postprocess(text: str, options: str = "ABCD", cushion: bool = True) -> Extraction | None:
    """Return the option that an answer names, the last one if it names several; None if there is none.

    >>> last_option_postprocess("The answer is A. No, wait: the answer is C. All others are wrong.", "ABCD")
    'C'

    Args:
        text, options, cushion: as for `first_option_postprocess`.

    Source: OpenCompass, ``last_option_postprocess`` (which takes the last letter of the text, also inside a word).
    """
    source, found = _named(text, options, cushion=cushion)
    return source.extraction(found[-1].rule, found[-1].start, found[-1].end, found[-1].text) if found else None


@POSTPROCESSORS.register_module(name=["multiple_select_postprocess", "multiple-select"])
def multiple_select_postprocess(text: str, options: str = "ABCDEFGH") -> Extraction | None:
    """Return all options that an answer names, in alphabetical order and each once; None if it names none.

    Args:
        text: the answer of the model.
        options: the letters of the options.

    >>> multiple_select_postprocess("The correct options are A, C and D.")
    'ACD'
    >>> multiple_select_postprocess("A和C正确，B不正确")
    'AC'
    >>> multiple_select_postprocess("答案：BD")
    'BD'

    Source: OpenCompass, ``multiple_select_postprocess`` (which collects all capitals, so "The answer is B" gives BT).
    """
    source, found = _named(text, options, several=True)
    if not found:
        return None
    letters = "".join(sorted({letter for one in found for letter in one.text if letter in options}))
    return source.extraction(found[0].rule, found[0].start, found[-1].end, letters)


def _named(text: str, options: str, *, cushion: bool = True, several: bool = False) -> tuple[Source, list[Candidate]]:
    """The options that a text names in the strongest way in which it names any, in order."""
    patterns = option_patterns(options, several)
    everything = said(text)
    whole = everything.before_next_question()
    whole = whole if whole.text.strip() else everything
    for rule, start, end in reversed(marked_spans(whole.text)):
        content = _LATEX.sub(lambda found: " " * len(found.group()), whole.text[start:end])
        if found := patterns.in_mark.search(content):
            one = _candidate(Rank.MARKED, rule, found, start)
            return whole, [] if patterns.further.match(content, found.end()) else [one]
    # "**A** text" is a label, "A text" begins with an article.
    bold = Source(_BOLD.sub(lambda found: f" ({found[1] or found[2]}) ", whole.text), whole)
    source = bold.without(_DECORATION).without(_SPACE, spaced=True)
    candidates = list(_candidates(source.text, patterns, options))
    last = sentences(source.text)[-1:]
    candidates = [one for one in candidates if one.rank > Rank.ALONE or one.start >= last[0][0]]
    found_all = strongest(candidates, source.text)
    if found_all and not several:
        found_all = _one_choice(source.text, found_all, patterns)
    if found_all and found_all[0].rank == Rank.ALONE and not cushion:
        return source, []
    return source, [one for one in found_all if one.text]


def _candidates(text: str, patterns: OptionPatterns, options: str) -> Iterator[Candidate]:
    """The labels that the text asserts; one of several alternatives has no text."""
    repeated = _repeated(text, patterns, options)
    for rule, pattern in patterns.rules:
        for found in pattern.finditer(text):
            one = _candidate(rule.rank, rule.name, found)
            denied = patterns.doubts.denies_before(text, found.start()) or patterns.doubts.denies_before(
                text, one.start
            )
            listed = one.start in repeated and rule.rank not in (Rank.VERDICT, Rank.LINE)
            others = is_reported(text, one.start) or _OTHERS.search(text[max(0, one.start - 60) : one.start])
            if denied or listed or others:
                continue
            if rule.rank in (Rank.CONCLUDED, Rank.ALONE) and patterns.doubts.denies(text, one.start, one.end):
                continue
            if patterns.further.match(text, one.end) or patterns.alternative.search(
                text[max(0, one.start - 20) : one.start]
            ):
                one = replace(one, text="")
            yield one


def _one_choice(text: str, found: list[Candidate], patterns: OptionPatterns) -> list[Candidate]:
    """The candidates of a question with one right option: without a marker they must agree."""
    rank = found[0].rank
    letters = {one.text for one in found}
    if rank == Rank.LABEL and not text[: found[0].start].strip("( [\"'\n>#-"):
        return found[:1]  # what follows explains the other options
    if rank in (Rank.VERDICT, Rank.LINE, Rank.LABEL, Rank.ALONE) and len(letters) > 1:
        return []
    if rank == Rank.ALONE and (is_undecided(text) or _mentioned(text, found[0].start, patterns) != letters):
        return []
    return found


def _candidate(rank: Rank, rule: str, found: re.Match[str], offset: int = 0) -> Candidate:
    group = next(group for group in ("option", "bracketed", "small") if found[group])
    letters = found[group].upper() if group == "small" or len(found[group]) == 1 else found[group]
    return Candidate(rank, rule, offset + found.start(group), offset + found.end(group), letters)


def _repeated(text: str, patterns: OptionPatterns, options: str) -> set[int]:
    """Where labels A, B, ... are that repeat the question, or go through the options."""
    lines = [list(patterns.listed.finditer(text, *line.span())) for line in re.finditer(".+", text)]
    rows = [
        *lines,
        [
            line[0]
            for line in lines
            if line and not re.search(r"\w", text[text.rfind("\n", 0, line[0].start()) + 1 : line[0].start()])
        ],
    ]
    return {
        label.start(1)
        for row in rows
        if len(row) > 1 and [label[1] for label in row] == list(options[: len(row)])
        for label in row
    }


def _mentioned(text: str, place: int, patterns: OptionPatterns) -> set[str]:
    """The letters in the sentence of a place that are not denied."""
    span = next(span for span in sentences(text) if span[0] <= place < span[1])
    return {one[1] for one in patterns.mention.finditer(text, *span) if not patterns.doubts.denies(text, *one.span(1))}
