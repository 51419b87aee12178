"""The result of a calculation in sentences without a marker: "He paid $42 for 6 books.", "16 - 3 = 13, so she has 13."

The last sentence that states something holds it. In it, the number after the last "=" or in the last conclusion
("..., which leaves 42"); else the last number that is not a mere circumstance: in brackets, in a clause of time or
reason ("after 18 were eaten"), or behind a preposition ("42 of the 60", "in 7 days", "each with 3").

The rules for circumstances were chosen on the solutions that Kojima et al. 2022, "Large Language Models are Zero-Shot
Reasoners", published for five sets of word problems.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from ais_prompt.postprocess.mood import breaks_off, sentences, sets_up, supposes
from ais_prompt.postprocess.negation import Doubts, undecided_until

Match = re.Match[str]

_LONGEST: Final = 2_000
"""Characters of a sentence that are looked at, from its end: a hostile text may be one sentence."""

_BRACKETS: Final = re.compile(r"\([^()\n]*\)")
_RESULT: Final = re.compile(
    r"(?<![<>!=])=(?!=)|≈|(?:,\s*|\b)(?:so|therefore|thus|hence|which\s+(?:is|are|means|makes|leaves|equals|gives|comes\s+to)|making|"
    r"leaving|giving|totall?ing|meaning|equals|is\s+equal\s+to|gives\s+us|to\s+get|for\s+a\s+total\s+of|a\s+total\s+of)\b"
    r"|,?(?:所以|因此|即|也就是|等于|得到?|共计|一共|总共|合计|还剩下?|剩下)",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    r"\b(?:because|since(?!\s+then)|after|when|while|as|so\s+that(?!\s+(?:means|is|makes|leaves|gives)|['’]s)|in\s+order|although|though|before|until|once|unless|whereas|given)\b[^,;]*"
    r"|(?:因为|由于|其中|比)[^,;]*|当[^,;。]*时",
    re.IGNORECASE,
)
_REASON: Final = re.compile(r"\W*(?:(?i:since|because)\b|因为|由于)[^,=]*,")
"""A sentence may begin with its reason, which is not its result."""
_DETERMINERS: Final = (
    r"(?:(?:the|an?|all|these|those|her|his|their|its|each|every|other|remaining|original|first|last|next|typical|"
    r"about|only)\s+){0,4}"
)
_CIRCUMSTANCE: Final = re.compile(
    r"(?:(?<!total )(?<!sum )(?<!rest )(?<!profit )(?<!average )(?<!cost )(?<!price )(?<!amount )(?<!number )\bof|"
    r"(?<!left )(?<!up )(?<!out )(?<!end )(?<!ends )(?<!over )\bwith|"
    r"\b(?:at|per|from|by|after|over|within|than|during|until|between|to\s+[a-z]+)|"
    rf"\bfor(?!\s*\\?\$))\s+{_DETERMINERS}\Z|每\w{{0,2}}\Z",
    re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"\s*(?:more\s+)?(?:second|minute|hour|day|week|month|year|night|morning|trip|round)s?\b", re.IGNORECASE
)
_LABEL_BEFORE: Final = re.compile(
    r"(?:\b(?:step|error|http|status|code|example|question|problem|exercise|page|figure|fig\.|table|equations?|eq\.|formula|"
    r"chapter|section|line|room|rule|method|appendix|version|theorem|part)|[例式图表]|定理|步骤|错误|附录|方法)\s*[(#]?\s*\Z",
    re.IGNORECASE,
)
_PART: Final = re.compile(r"\b(?:some|none|many|most|few|any)\s+of\s+(?:the|these|those)\s+\Z", re.IGNORECASE)
_ORDINAL_END: Final = re.compile(r"(?:st|nd|rd|th)\b|\s?[\u4e00-\u9fff]?中的")
_ORDINAL: Final = re.compile(r"第\s*\Z")
_ORDINAL_AFTER: Final = re.compile(r"\s*(?:[步题页章节行问版]|小题)")


def stated_result(text: str, items: re.Pattern[str], doubts: Doubts, value: Callable[[Match], object]) -> Match | None:
    """Return the number or formula that a text without a marker gives as its result; None if it gives none.

    Args:
        text: an answer.
        items: finds what can be a result.
        doubts: for the same.
        value: makes an item comparable, to see whether two that are merely possible differ.
    """
    settled = undecided_until(text)
    every = sentences(text)
    if not every or every[-1].asks:
        return None
    # Before a result that never comes, numbers are what is given.
    only_results = breaks_off(text) or any(sets_up(text[one.start : one.end][:_LONGEST]) for one in every[:3])
    possible = {value(one) for one in items.finditer(text) if doubts.hedges(text, one.start())}
    if len(possible) > 1:
        return None
    best: Match | None = None
    for aside in (False, True):
        for sentence in reversed(every):
            if sentence.start < settled or not sentence.states or sentence.aside is not aside:
                continue
            start = max(sentence.start, sentence.end - _LONGEST)
            if only_results and not (sentence.concludes or _RESULT.search(text, start, sentence.end)):
                continue
            reason = _REASON.match(text, start, sentence.end)
            start = reason.end() if reason else start
            found = [one for one in items.finditer(text, start, sentence.end) if _is_stated(text, start, one, doubts)]
            found = [one for one in found if not doubts.hedges(text, one.start())] or found
            if found:
                best = _main(text, start, sentence.end, found)
                break
        if best:
            return best
    return None


def _is_stated(text: str, start: int, item: Match, doubts: Doubts) -> bool:
    begin, end = item.span()
    return not (
        doubts.denies(text, begin, end)
        or doubts.leaves_open(text, begin, end)
        or supposes(text[max(start, begin - 200) : begin])
        or is_label(text, begin, end)
    )


def is_label(text: str, start: int, end: int) -> bool:
    """Return whether a number names something and counts nothing: "step 2", "Error 404", "第2步", "the 4th"."""
    if not re.match(r"\W*\d", text[start:end]):
        return False
    before = text[max(0, start - 24) : start]
    if _PART.search(before) or _ORDINAL_END.match(text, end):
        return True
    if _ORDINAL.search(before) and _ORDINAL_AFTER.match(text, end):
        return True
    return bool(_LABEL_BEFORE.search(before)) or text[end : end + 1] == "号"


def _main(text: str, start: int, end: int, found: list[Match]) -> Match:
    """The result among the items of one sentence."""
    if len(found) == 1:
        return found[0]
    sentence = text[start:end]
    asides = [span.span() for pattern in (_BRACKETS, _CLAUSE) for span in pattern.finditer(sentence)]
    clear = [one for one in found if not any(a <= one.start() - start < b for a, b in asides)] or found
    for cue in reversed(list(_RESULT.finditer(sentence))):
        after = [one for one in clear if one.start() - start >= cue.start()]
        if after and cue.group() in "=≈":
            return after[0]
        if after:
            clear = after
            break
    main = [one for one in clear if not _is_circumstance(text, start, one)]
    return (main or clear)[-1]


def _is_circumstance(text: str, start: int, item: Match) -> bool:
    before = text[max(start, item.start() - 60) : item.start()]
    if _CIRCUMSTANCE.search(before):
        return True
    return bool(re.search(rf"\bin\s+{_DETERMINERS}\Z", before) and _TIME.match(text, item.end()))
