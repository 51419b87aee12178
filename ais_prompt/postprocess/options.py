r"""The option that an answer in words chooses: "The answer is **(B)**.", "\boxed{B}", "答案是B", "B. Paris".

`ais_prompt.postprocess.option_rules` lists the ways in which an answer names an option, `Rank` how strong each is. A
candidate that is denied ("A is wrong", "not A but C", "答案不是A"), supposed ("if A ..."), reported only ("many choose
A, but") or left open ("A or B?") does not count. A letter without any marker counts if it is the only one. Bold,
dollars and ``\text{}`` are looked through, full-width letters are letters. The words "A" and "I" are no options.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from ais_prompt.postprocess.acts import Act, breaks_off, sentences, unfinished_from
from ais_prompt.postprocess.boxed import marked_spans
from ais_prompt.postprocess.negation import undecided_until
from ais_prompt.postprocess.option_rules import OptionPatterns, option_patterns
from ais_prompt.postprocess.rules import Candidate, Rank, Rule, strongest
from ais_prompt.postprocess.source import Source, said
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types.extraction import Extraction

_DECORATION: Final = re.compile(r"\*+|`+|\$+|\\(?:text|textbf|mathrm|mathbf|boxed)(?=\{)|(?<!\w)_+|_+(?!\w)")
_SPACE: Final = re.compile(r"\s{2,}|[^\S\n ]")

_NO_CHOICE: Final = frozenset({Act.ASK, Act.LACK})
_TOPIC: Final = re.compile(r"(?:选项[A-Z]|.{0,2}[A-Z]选?项)\s?(?:[,的\"“'不虽中讲说]|是关于|\Z)(?![^,。]{0,20}正是)")
"""An option that a Chinese text speaks of, without choosing it yet: "A选项的…"."""
_SUBJECT: Final = re.compile(r"\W*(?:the\s+)?(?:options?|choices?|answers?|statements?|选项)?\W*", re.IGNORECASE)
"""What comes before an option that a sentence is about."""
_VERDICTS: Final = ("……的是B", "B is correct", "B ✓", "B? Yes", "B: … correct", "B正确")


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
        if found := patterns.in_mark.search(whole.text[start:end].replace("\\text", "     ").replace("{", " ")):
            place = start + found.start("option" if found["option"] else "bracketed")
            letters = found["option"] or found["bracketed"].upper()
            return whole, [Candidate(Rank.MARKED, rule, place, place + len(letters), letters)]
    source = whole.without(_DECORATION).without(_SPACE, spaced=True)
    candidates = list(_asserted(source.text, patterns, several))
    if not several:
        right = {one.text for one in candidates if one.rule in _VERDICTS}
        candidates = [one for one in candidates if one.rule not in _VERDICTS or len(right) == 1]
    if breaks_off(source.text):
        # A text that goes on has judged some options only: "A is correct. B"
        candidates = [one for one in candidates if one.rule not in _VERDICTS and one.rank >= Rank.ANNOUNCED]
    elif goes_on := unfinished_from(source.text):
        candidates = [
            one
            for one in candidates
            if one.start >= goes_on or (one.rule not in _VERDICTS and one.rank >= Rank.ANNOUNCED)
        ]
    places = _repeated(source.text, patterns, options)
    found_all = strongest((one for one in candidates if one.start not in places or one.rule in _VERDICTS), source.text)
    if found_all and found_all[0].rank == Rank.ALONE:
        named = {one.text for one in found_all}
        others = _mentioned(source.text, patterns) - set("".join(named))
        if not cushion:
            return source, []
        if len(named) > 1 or others:
            return source, _last_mentioned(source.text, patterns, found_all)
    return source, found_all


def _repeated(text: str, patterns: OptionPatterns, options: str) -> set[int]:
    """Where labels A, B, ... stand that repeat the question, or go through the options."""
    rows = [list(patterns.label.finditer(text))]
    rows += [list(patterns.listed.finditer(text, *line.span())) for line in re.finditer(".+", text)]
    return {
        label.start(1)
        for row in rows
        if len(row) > 1 and [label[1] for label in row] == list(options[: len(row)])
        for label in row
    }


def _last_mentioned(text: str, patterns: OptionPatterns, alone: list[Candidate]) -> list[Candidate]:
    """The letter without a marker in the last sentence with any, if it is the only one there and not its subject."""
    closing = next((one for one in reversed(sentences(text)) if one.start <= alone[-1].start), None)
    if closing is None or closing.act is not Act.STATE or undecided_until(text) > closing.start:
        return []
    said = _mentioned(text, patterns, closing.start, len(text))
    is_subject = _SUBJECT.fullmatch(text[closing.start : alone[-1].start])
    return alone[-1:] if said == {alone[-1].text} and not is_subject else []


def _mentioned(text: str, patterns: OptionPatterns, start: int = 0, end: int = sys.maxsize) -> set[str]:
    """The letters between two places that are neither denied nor left open."""
    doubts = patterns.doubts
    return {
        one[1]
        for one in patterns.mention.finditer(text, start, end)
        if not doubts.denies(text, *one.span(1)) and not doubts.leaves_open(text, *one.span(1))
    }


def _asserted(text: str, patterns: OptionPatterns, several: bool) -> Iterator[Candidate]:
    """The candidates that are neither denied nor left open; a list of them is open where one is asked for."""
    settled = undecided_until(text)
    names = {letter for found in patterns.name.finditer(text) for letter in found[found.lastgroup or 0]}
    denied: set[str] = set()
    mentioned: list[Candidate] = []
    opened = 0
    for one, rule in _candidates(text, patterns):
        weak = one.rank <= Rank.CONCLUDED and one.rank != Rank.LINE
        if weak and (names.intersection(one.text) or (one.rank <= Rank.LABEL and _is_topic(text, one))):
            continue
        if rule.negatable and patterns.doubts.denies(text, one.start, one.end):
            denied.update(one.text)
            continue
        if rule.negatable and patterns.doubts.reports(text, one.start, one.end):
            continue
        if rule.negatable and (end := _end_of_alternatives(text, one, patterns, several)):
            opened = max(opened, end) if one.rank >= Rank.ANNOUNCED else opened
            continue
        hedged = rule.negatable and patterns.doubts.hedges(text, one.start)
        rank = Rank.ALONE if hedged else one.rank
        if rank > Rank.LABEL:
            yield one
        elif rank == Rank.LABEL or one.start >= settled:
            mentioned.append(replace(one, rank=rank))
    # A letter that is denied somewhere is not meant where it merely occurs; nor is one before "the answer is A or B".
    meant = [one for one in mentioned if not denied.intersection(one.text) and one.start >= opened]
    yield from _in_statements(text, meant)


def _candidates(text: str, patterns: OptionPatterns) -> Iterator[tuple[Candidate, Rule]]:
    """Whatever a rule finds."""
    for rule, pattern in patterns.rules:
        for found in pattern.finditer(text):
            group = "option" if found["option"] else "bracketed"
            letters = found[group].upper() if group == "bracketed" else found[group]
            yield Candidate(rule.rank, rule.name, *found.span(group), letters), rule


def _is_topic(text: str, one: Candidate) -> bool:
    return _TOPIC.match(text, max(0, one.start - 2)) is not None


def _end_of_alternatives(text: str, one: Candidate, patterns: OptionPatterns, several: bool) -> int:
    """Return where the options end of which a candidate is one, as in "A or B"; 0 if it is alone."""
    listed = None if several else patterns.further.match(text, one.end)
    if listed:
        return listed.end()
    return one.end if patterns.doubts.alternates(text, one.start, one.end) else 0


def _in_statements(text: str, mentioned: list[Candidate]) -> Iterator[Candidate]:
    """The mentions in sentences that state something; that in the last conclusion if it names one option only."""
    every = sentences(text)
    starts = [sentence.start for sentence in every]
    conclusion: dict[int, set[str]] = {}
    for one in mentioned:
        number = bisect_right(starts, one.start) - 1
        states = every[number].act not in _NO_CHOICE
        if states:
            yield one
        if states and every[number].concludes:
            conclusion.setdefault(number, set()).add(one.text)
    if conclusion and len(conclusion[last := max(conclusion)]) == 1:
        start, end = every[last].start, every[last].end
        found = next(one for one in mentioned if start <= one.start < end)
        yield Candidate(Rank.CONCLUDED, "the conclusion", found.start, found.end, found.text)
