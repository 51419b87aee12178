"""Find the edit that changed prompts, and prove that it explains the change of other prompts.

A lock contains a few prompts in full, and a digest of every prompt. An edit is found where the old and the new text are
known. Undoing it in the new text of another prompt gives the old text if nothing else changed: the digest proves it.
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
"""`START` and `END` are put around a text, so that its ends can be matched like any other place."""

_LINE: Final = re.compile(rf"[^\n{TURN}]*\n|{TURN}[^\n{TURN}]*\n?|[^\n{TURN}]+")
_WORD: Final = re.compile(rf"{MARK.pattern}|\n|[^\S\n]+|[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+|[^\w\s]")
"""Matches a mark with its role, one newline, spaces, a word (a Chinese character is one), or one sign."""

LEAST_ALIKE: Final = 0.6
"""Lines with a smaller share of common words count as replaced, not as changed."""

Piece: TypeAlias = tuple[str, str]
"""Old and new text of a piece, equal where nothing changed."""

_MOST_ALIGNED: Final = 5_000
"""Maximum number of lines or words to align, because the time grows with the square; more count as replaced."""
_AROUND: Final = 80
"""Characters of context to keep left and right of a change."""


class Hunk(Struct, frozen=True):
    """One changed place in a text.

    Attributes:
        left, right: the context before and after it in the new text, up to `_AROUND` characters.
        old, new: the old and the new text; empty where text was added or removed.
    """

    left: str
    old: str
    new: str
    right: str


def hunks(old: str, new: str, least_alike: float = LEAST_ALIKE) -> list[Hunk]:
    """Return the places where two texts differ. Their contexts include `START` and `END`.

    Of several equal spaces or newlines in a row, the last one counts as added or removed: "newline before ``A:``".
    """
    whole = f"{START}{new}{END}"
    found, at = [], 0
    for before, after in _joined(aligned_pieces(f"{START}{old}{END}", whole, least_alike)):
        end = at + len(after)
        if before != after:
            found.append(
                _moved_right(Hunk(whole[max(0, at - _AROUND) : at], before, after, whole[end : end + _AROUND]))
            )
        at = end
    return found


def aligned_pieces(old: str, new: str, least_alike: float = LEAST_ALIKE) -> Iterator[Piece]:
    """Yield the pieces of two texts in order, old beside new; they are equal where nothing changed."""
    # Align lines first: they are few and mostly unique. Then words are compared within small blocks only.
    return aligned_blocks(lines_of(old), lines_of(new), least_alike)


def aligned_blocks(old: Sequence[str], new: Sequence[str], least_alike: float = LEAST_ALIKE) -> Iterator[Piece]:
    """Do the same as `aligned_pieces` for texts in blocks, which are aligned before words are."""
    for before, after in map(_texts, _aligned(old, new)):
        if before == after:
            yield before, after
        else:
            yield from changed_words(before, after, least_alike)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends."""
    return _LINE.findall(text)


def changed_words(old: str, new: str, least_alike: float = LEAST_ALIKE) -> list[Piece]:
    """Return the pieces of a changed block, word by word; one piece if its words have little in common."""
    aligned = list(_aligned(_WORD.findall(old), _WORD.findall(new)))
    words = sum(len(before) + len(after) for before, after in aligned)
    same = sum(2 * len(before) for before, after in aligned if before == after)
    return list(map(_texts, aligned)) if same >= least_alike * words else [(old, new)]


def _aligned(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield runs of lines or words, equal and different ones in turn."""
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
    """Return how many characters, words or lines are equal at the beginning."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))))


def _texts(run: tuple[Sequence[str], Sequence[str]]) -> Piece:
    return "".join(run[0]), "".join(run[1])


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Join neighbouring pieces that changed, and neighbouring pieces that did not."""
    return [
        ("".join(before for before, _ in group), "".join(after for _, after in group))
        for group in (list(found) for _, found in groupby(pieces, key=lambda piece: piece[0] == piece[1]))
    ]


def _moved_right(hunk: Hunk) -> Hunk:
    """Move an added or removed space or newline after all equal ones that follow it."""
    left, changed, right = hunk.left, hunk.old or hunk.new, hunk.right
    if hunk.old and hunk.new:
        return hunk
    while changed[0].isspace() and right.startswith(changed[0]):
        left, changed, right = left + changed[0], changed[1:] + changed[0], right[1:]
    return Hunk(left, changed, "", right) if hunk.old else Hunk(left, "", changed, right)


Reach: TypeAlias = "tuple[int | None, int | None]"
"""Characters of context left and right of a change that must match for it to be undone; None for the whole context."""

REACHES: Final[Sequence[Reach]] = (
    *((None, None), (1, None), (0, None), (None, 1), (None, 0)),
    *((12, 12), (1, 12), (0, 12), (12, 1), (12, 0), (1, 1), (0, 0)),
)
"""The reaches to try, the strictest first; the digest decides.

The context that the examined prompts share can come from the template, or by chance from the data (a question mark).
"""


class Edit(Struct, frozen=True):
    """Changes that were made together.

    Attributes:
        changes: each with the context that all its occurrences share.
    """

    changes: tuple[Hunk, ...]

    @property
    def literals(self) -> set[tuple[str, str]]:
        """The old and new texts of the changes, without their contexts."""
        return _literals(self.changes)

    def undo(self, new: str, reach: Reach) -> str:
        """Return the text before the edit, provided that nothing else changed in the prompt.

        Args:
            new: the text after the edit.
            reach: one of `REACHES`.
        """
        pattern, olds = _pattern(self.changes, reach)
        text = pattern.sub(lambda found: olds[found.lastindex or 0], f"{START}{new}{END}")
        return text.removeprefix(START).removesuffix(END)


def possible_edits(texts: Sequence[tuple[str, str]]) -> Iterator[Edit]:
    """Yield the edits that explain the first prompt, with contexts from the prompts that changed in the same way.

    The first edit replaces lines with little in common as a whole, which fits replaced examples. The second changes
    them word by word, which fits a new template around the same question.

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
    """Add a change, or merge it with an equal change whose context it shares on the left or right."""
    for at, other in enumerate(changes):
        if _kind(other) == _kind(hunk):
            left = hunk.left[len(hunk.left) - common_length(other.left[::-1], hunk.left[::-1]) :]
            right = hunk.right[: common_length(other.right, hunk.right)]
            if left.strip() or right.strip():
                changes[at] = Hunk(left, hunk.old, hunk.new, right)
                return
    changes.append(hunk)


def _kind(hunk: Hunk) -> tuple[str, str, bool, bool]:
    """Return old text, new text, and whether the change is at the start or end of the text."""
    return hunk.old, hunk.new, hunk.left == START, hunk.right == END


@lru_cache(maxsize=64)
def _pattern(changes: tuple[Hunk, ...], reach: Reach) -> tuple[re.Pattern[str], dict[int, str]]:
    """Return a pattern for the new text of every change, and group number → old text."""
    # The longest first: of two that begin alike, the longer one wins where it fits.
    ordered = sorted(dict.fromkeys(_within(changes, reach)), key=lambda hunk: -len(hunk.new))
    olds = dict(enumerate((hunk.old for hunk in ordered), start=1))
    return re.compile("|".join(map(_expression, ordered)) or "(?!)"), olds


def _expression(hunk: Hunk) -> str:
    # The new text comes first and its left context is checked by a look-behind: that is much faster to search.
    new, left = re.escape(hunk.new), re.escape(hunk.left)
    # A change that was only seen inside texts must not match at their ends.
    behind = f"(?<={left}{new})" if left else f"(?<!{START}{new})"
    ahead = f"(?={re.escape(hunk.right)})" if hunk.right else f"(?!{END})"
    return f"({new}){behind}{ahead}"


def _within(changes: Iterable[Hunk], reach: Reach) -> Iterator[Hunk]:
    """Trim the context of each change to ``reach``; drop changes that would then match everywhere."""
    left, right = reach
    for hunk in changes:
        kept = hunk.left if left is None else hunk.left[len(hunk.left) - min(left, len(hunk.left)) :]
        within = Hunk(kept, hunk.old, hunk.new, hunk.right[:right])
        if within.left or within.new or within.right:
            yield within
