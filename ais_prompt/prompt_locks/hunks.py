"""Where two texts differ: the same pieces and the changed pieces, in order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, takewhile
from typing import Final, TypeAlias

from msgspec import Struct

from ais_prompt.prompt_locks.text import MARK, TURN

START: Final = "\ue2f3"
END: Final = "\ue2f4"
"""Stand before and behind a text, so that its ends can be told like any other place."""

_LINE: Final = re.compile(rf"[^\n{TURN}]*\n|{TURN}[^\n{TURN}]*\n?|[^\n{TURN}]+")
_WORD: Final = re.compile(rf"{MARK.pattern}|\n|[^\S\n]+|[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+|[^\w\s]")
"""Marks with their role, newlines one by one, blanks, words (a Chinese character is one) and signs one by one."""

LEAST_ALIKE: Final = 0.6
"""Lines that have less in common, as a share of their words, are other lines, and not changed ones."""


Piece: TypeAlias = tuple[str, str]
"""Old and new text of a piece, equal where nothing changed."""

_MOST_ALIGNED: Final = 5_000
"""Lines or words that are aligned, which takes a time that grows with their square; more become others as a whole."""
_AROUND: Final = 80
"""Characters left and right of a change that are looked at."""


class Hunk(Struct, frozen=True):
    """One changed place.

    Attributes:
        left, right: what stands before and behind it in the new text, as far as `_AROUND` reaches.
        old, new: what became what; empty where something was added or removed.
    """

    left: str
    old: str
    new: str
    right: str


def hunks(old: str, new: str, least_alike: float = LEAST_ALIKE) -> list[Hunk]:
    """The places where two texts differ. `START` and `END` stand around them.

    An added or removed blank among equal blanks is taken for the last of them: "a newline before ``A:``".
    """
    whole = f"{START}{new}{END}"
    found, at = [], 0
    for before, after in _joined(_pieces(f"{START}{old}{END}", whole, least_alike)):
        end = at + len(after)
        if before != after:
            found.append(
                _moved_right(Hunk(whole[max(0, at - _AROUND) : at], before, after, whole[end : end + _AROUND]))
            )
        at = end
    return found


def _pieces(old: str, new: str, least_alike: float) -> Iterator[Piece]:
    # Lines first: they are few and mostly unique, and words are then compared within small blocks only.
    for before, after in map(_texts, _aligned(_LINE.findall(old), _LINE.findall(new))):
        if before == after:
            yield before, after
        else:
            yield from changed_words(before, after, least_alike)


def changed_words(old: str, new: str, least_alike: float = LEAST_ALIKE) -> list[Piece]:
    """The pieces of a changed block, word by word; the block as one piece if its words have little in common."""
    aligned = list(_aligned(_WORD.findall(old), _WORD.findall(new)))
    words = sum(len(before) + len(after) for before, after in aligned)
    same = sum(2 * len(before) for before, after in aligned if before == after)
    return list(map(_texts, aligned)) if same >= least_alike * words else [(old, new)]


def _aligned(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Lines or words in runs that are equal and runs that are not."""
    head = common_length(before, after)
    tail = common_length(before[head:][::-1], after[head:][::-1])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    yield before[:head], after[:head]
    if max(len(old), len(new)) > _MOST_ALIGNED:
        yield old, new
    else:
        for _, i, j, k, m in SequenceMatcher(None, old, new).get_opcodes():
            yield old[i:j], new[k:m]
    yield before[len(before) - tail :], after[len(after) - tail :]


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """How many characters, words or lines are equal at the beginning."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))))


def _texts(run: tuple[Sequence[str], Sequence[str]]) -> Piece:
    return "".join(run[0]), "".join(run[1])


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces with neighbours made one: those that changed, and those that did not."""
    return [
        ("".join(before for before, _ in group), "".join(after for _, after in group))
        for group in (list(found) for _, found in groupby(pieces, key=lambda piece: piece[0] == piece[1]))
    ]


def _moved_right(hunk: Hunk) -> Hunk:
    """An added or removed blank, moved behind all blanks that are equal to it."""
    left, changed, right = hunk.left, hunk.old or hunk.new, hunk.right
    if hunk.old and hunk.new:
        return hunk
    while changed[0].isspace() and right.startswith(changed[0]):
        left, changed, right = left + changed[0], changed[1:] + changed[0], right[1:]
    return Hunk(left, changed, "", right) if hunk.old else Hunk(left, "", changed, right)
