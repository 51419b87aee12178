"""Draw the rows of a leak search, and test its findings against chance, with a correction for many tests.

A search reads a bounded number of rows and characters. A finding counts if it is significant after the correction of
Bonferroni, and large enough to matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.extensions.leaks.words import value_text
from ais_prompt.types import Sample

SEED: Final = 20_261_122
"""Seed of everything that a search for leaks draws, so that it finds the same each time."""

MAX_CHARACTERS: Final = 10_000_000
"""Characters of all rows that one search reads: a few seconds of work."""

DRAWS: Final = 9_999
"""Random draws of a test; the smallest p-value is one over one more of them."""

ALPHA: Final = 0.01
"""The share of datasets without a leak that raise an alarm, at most; divided by the number of tests (Bonferroni)."""

NOTICEABLE: Final = 0.05
"""An excess over chance, as a share of the questions, below which there is no alarm however significant it is."""

NOTICEABLE_MOST: Final = 0.1
"""The same for what a question about a text may well say: the gold most often, or the right choice alone."""


class Clue(Struct, frozen=True):
    """The result of one test.

    Attributes:
        what: what is so of some questions.
        hits: the samples' rows of which it is so.
        questions: how many were looked at.
        chance: the share of them of which it would be so by chance.
        p: how likely chance alone gives as many.
        fix: what the user can do about it.
        noticeable: the excess over chance, as a share of the questions, below which there is no alarm.
    """

    what: str
    hits: Sequence[int]
    questions: int
    chance: float
    p: float
    fix: str
    noticeable: float = NOTICEABLE

    @property
    def share(self) -> float:
        """The share of questions that the clue applies to."""
        return len(self.hits) / self.questions

    def __str__(self) -> str:
        rows = ", ".join(map(str, self.hits[:3])) + (", and so on" if len(self.hits) > 3 else "")
        p = f"p = {self.p:.4f}" if self.p > 2 / (DRAWS + 1) else f"p < {2 / (DRAWS + 1):.4f}"
        return (
            f"{self.what} in {self.share:.1%} of {self.questions} questions, and by chance in {self.chance:.1%} "
            f"({p}): test row{'s' * (len(self.hits) > 1)} {rows}"
        )


def alarming(clues: Sequence[Clue]) -> list[Clue]:
    """Return the clues that are significant after correction, and large enough to matter."""
    return [clue for clue in clues if clue.p <= ALPHA / len(clues) and clue.share - clue.chance >= clue.noticeable]


def drawn(samples: Sequence[Sample], rows: Sequence[int], most: int, columns: Sequence[str]) -> list[Sample]:
    """Draw samples, in their order: a maximum number, with at most `MAX_CHARACTERS` in their columns together.

    Args:
        samples: a split.
        rows: the rows of it to draw from.
        most: rows to draw; all if there are no more.
        columns: the columns that will be read.
    """
    if len(rows) == len(samples) <= most:
        found = list(samples)
    else:
        found = [samples[row] for row in sorted(Random(SEED).sample(rows, min(most, len(rows))))]
    sizes = sum(len(value_text(sample.fields.get(column))) for sample in found for column in columns)
    if sizes > MAX_CHARACTERS:
        fewer = sorted(Random(SEED).sample(range(len(found)), max(1, len(found) * MAX_CHARACTERS // sizes)))
        found = [found[index] for index in fewer]
    return found


def p_of_matches(matches: NDArray[np.bool_], own: NDArray[np.intp]) -> float:
    """Permutation test of golds that occur in texts: how often shuffled golds occur as often.

    Args:
        matches: whether a gold occurs in a text, shape (texts, different golds).
        own: the gold of each text, shape (texts,).
    """
    rng = np.random.default_rng(SEED)
    rows = np.arange(len(own))
    observed = matches[rows, own].sum()
    as_many = 0
    at_once = 1 + 500_000 // len(own)  # a few megabytes
    for start in range(0, DRAWS, at_once):
        shuffled = rng.permuted(np.tile(own, (min(at_once, DRAWS - start), 1)), axis=1)
        as_many += int((matches[rows, shuffled].sum(axis=1) >= observed).sum())
    return (1 + as_many) / (1 + DRAWS)


def p_of_hits(hits: int, options: Sequence[int]) -> float:
    """One-sided binomial test: how often a random choice is right as often.

    Args:
        hits: how often it was right.
        options: how many choices each question has; questions may differ.
    """
    rng = np.random.default_rng(SEED)
    drawn = np.zeros(DRAWS)
    for n, questions in Counter(options).items():
        drawn += rng.binomial(questions, 1 / n, DRAWS)
    return (1 + int((drawn >= hits).sum())) / (1 + DRAWS)
