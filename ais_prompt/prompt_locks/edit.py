"""From a few prompts before and after to the edit that was made, and back: is it all that happened to another prompt?

A lock holds few prompts in full and a digest of each. An edit is found where both texts are there. Undone in the new
text of another prompt, it gives the old text, if nothing else happened to that prompt: the digest proves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain, groupby, takewhile
from typing import Final, TypeAlias

from msgspec import Struct

from ais_prompt.prompt_locks.values import MARK, TURN

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


Reach: TypeAlias = "tuple[int | None, int | None]"

REACHES: Final[Sequence[Reach]] = (
    *((None, None), (1, None), (0, None), (None, 1), (None, 0)),
    *((12, 12), (1, 12), (0, 12), (12, 1), (12, 0), (1, 1), (0, 0)),
)
"""How many characters left and right of a change must be there for it to be undone; None for all of them.

What stands there in every prompt that was looked at can be the template's, or by chance the data's, such as a question
mark. So all that can be meant is tried, the strictest first; the digest decides.
"""


class Edit(Struct, frozen=True):
    """Changes that were made together.

    Attributes:
        changes: each with what stands left and right of it wherever it was seen.
    """

    changes: tuple[Hunk, ...]

    @property
    def literals(self) -> set[tuple[str, str]]:
        """What became what, wherever it stands."""
        return _literals(self.changes)

    def undo(self, new: str, reach: Reach) -> str:
        """The text before the edit, if the edit with this reach is all that happened to the prompt.

        Args:
            new: the text after it.
            reach: how much must stand left and right of a change for it to be undone, one of `REACHES`.
        """
        pattern, olds = _pattern(self.changes, reach)
        text = pattern.sub(lambda found: olds[found.lastindex or 0], f"{START}{new}{END}")
        return text.removeprefix(START).removesuffix(END)


def possible_edits(texts: Sequence[tuple[str, str]]) -> Iterator[Edit]:
    """The edits that can be told from a prompt, and from those others in which the same was changed.

    First one in which lines that have little in common became others as a whole, such as other examples; then one in
    which they were changed word by word, such as another frame around the same question.

    Args:
        texts: old and new text of one or more prompts.
    """
    for least_alike in (LEAST_ALIKE, 0.0):
        first, *others = (hunks(old, new, least_alike) for old, new in texts)
        changes: list[Hunk] = []
        for hunk in chain(first, *(found for found in others if _literals(found) == _literals(first))):
            _add(changes, hunk)
        yield Edit(tuple(changes))


def _literals(found: Sequence[Hunk]) -> set[tuple[str, str]]:
    return {(hunk.old, hunk.new) for hunk in found}


def _add(changes: list[Hunk], hunk: Hunk) -> None:
    """Add a change, or make it one with an equal one that has something in common on its left or right."""
    for at, other in enumerate(changes):
        if _kind(other) == _kind(hunk):
            left = hunk.left[len(hunk.left) - common_length(other.left[::-1], hunk.left[::-1]) :]
            right = hunk.right[: common_length(other.right, hunk.right)]
            if left.strip() or right.strip():
                changes[at] = Hunk(left, hunk.old, hunk.new, right)
                return
    changes.append(hunk)


def _kind(hunk: Hunk) -> tuple[str, str, bool, bool]:
    """What was changed, and whether it stands at an end of the text."""
    return hunk.old, hunk.new, hunk.left == START, hunk.right == END


@lru_cache(maxsize=64)
def _pattern(changes: tuple[Hunk, ...], reach: Reach) -> tuple[re.Pattern[str], dict[int, str]]:
    """An expression that finds the new text of every change, and group → its old text."""
    # The longest first: of two that begin alike, the longer one is meant where it fits.
    ordered = sorted(dict.fromkeys(_within(changes, reach)), key=lambda hunk: -len(hunk.new))
    olds = dict(enumerate((hunk.old for hunk in ordered), start=1))
    return re.compile("|".join(map(_expression, ordered)) or "(?!)"), olds


def _expression(hunk: Hunk) -> str:
    # The new text comes first, and what stands left of it is looked at afterwards: that is searched for much faster.
    new, left = re.escape(hunk.new), re.escape(hunk.left)
    # A change that was seen in the midst of texts is not meant at their ends.
    behind = f"(?<={left}{new})" if left else f"(?<!{START}{new})"
    ahead = f"(?={re.escape(hunk.right)})" if hunk.right else f"(?!{END})"
    return f"({new}){behind}{ahead}"


def _within(changes: Iterable[Hunk], reach: Reach) -> Iterator[Hunk]:
    """The changes with no more around them than is to be looked at; one that would then be everywhere is left out."""
    left, right = reach
    for hunk in changes:
        kept = hunk.left if left is None else hunk.left[len(hunk.left) - min(left, len(hunk.left)) :]
        within = Hunk(kept, hunk.old, hunk.new, hunk.right[:right])
        if within.left or within.new or within.right:
            yield within
