"""From a few prompts before and after to the edit that was made, and back: is it all that happened to another prompt?

A lock holds few prompts in full and a digest of each. An edit is found where both texts are there. Undone in the new
text of another prompt, it gives the old text, if nothing else happened to that prompt: the digest proves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, TypeAlias

from msgspec import Struct

from ais_prompt.prompt_locks.hunks import END, LEAST_ALIKE, START, Hunk, common_length, hunks

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
