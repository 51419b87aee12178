"""The engine of the postprocessors: candidates of many rules, of which the strongest marker wins.

A rule finds places where a text may state its answer. The strongest rank that has any candidate decides. Of its
candidates a postprocessor takes the first or the last; one that is taken back ("Wait, ...", "不对") before the next
one does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum
from itertools import pairwise
from typing import Final

from msgspec import Struct
from msgspec.structs import replace


class Rank(IntEnum):
    """How clearly a text marks its answer."""

    ALONE = 1  # a letter or number without any marker
    LABEL = 2  # a line that begins with the option: "B. Paris"
    LINE = 3  # a line that is nothing but the answer
    CONCLUDED = 4  # "so B", "所以B"
    VERDICT = 5  # "B is correct", "B正确"
    ANNOUNCED = 6  # "the answer is B", "答案是B"
    FINAL = 7  # "final answer: B", "最终答案", "故选B"
    MARKED = 8  # "\boxed{B}", "#### 42"


class Rule(Struct, frozen=True):
    """One way to state an answer.

    Attributes:
        name: shown in details and report.
        pattern: of the marker; what it means beyond that is up to the postprocessor.
        rank: how strong the marker is.
    """

    name: str
    pattern: str
    rank: Rank


class Candidate(Struct, frozen=True):
    """A place that may be the answer.

    Attributes:
        rank, rule: of the rule that found it.
        start, end: where it is in the text.
        text: what it says.
    """

    rank: Rank
    rule: str
    start: int
    end: int
    text: str


_TAKEN_BACK: Final = re.compile(
    r"\b(?i:wait|actually|oops|hmm+|correction|let\s+me\s+(?:re\w+|double)|on\s+second\s+thought|scratch\s+that|my\s+mistake|i\s+was\s+wrong)\b"
    r"|\b[Nn]o\b\s*[,.:;!—-]|不对|等等|等一下|更正|错了|重新|(?<![\u4e00-\u9fff])不[,。]"
)


def strongest(candidates: Iterable[Candidate], text: str) -> list[Candidate]:
    """Return the candidates of the strongest rank in order of their places, without those that are taken back."""
    every = sorted(candidates, key=lambda candidate: (candidate.start, candidate.end))
    if not every:
        return []
    rank = max(candidate.rank for candidate in every)
    best = [candidate for candidate in every if candidate.rank == rank]
    if later := _instead(best[-1], every, text):
        return strongest(later, text)
    kept = [one for one, after in pairwise(best) if not _taken_back(one, after, text)]
    return [*kept, best[-1]]


def _instead(last: Candidate, every: list[Candidate], text: str) -> list[Candidate]:
    """What is named, if more weakly, right after the strongest candidate is taken back: "I'd say B... no wait, A."."""
    taken_back = _TAKEN_BACK.search(text, last.end, last.end + 40)
    later = [one for one in every if taken_back and taken_back.end() <= one.start <= taken_back.end() + 20]
    return [replace(one, rank=last.rank) for one in later if one.text != last.text]


def _taken_back(one: Candidate, after: Candidate, text: str) -> bool:
    return one.text != after.text and _TAKEN_BACK.search(text, one.end, max(after.start, one.end)) is not None
