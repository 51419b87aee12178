"""Search for near copies: questions that equal another one except for a few words.

Two questions are near copies if each of their input columns

- has the same words, numbers and signs in the same order, whatever the case and punctuation, or
- has at least `LEAST_WORDS` words, the same numbers and signs, and pairs of adjacent words with a weighted Jaccard
  index of at least `LEAST_OVERLAP`.

Images and other bytes must be equal. Where likeness is the form of a task, different questions are near copies too.

A pair of words weighs log((N + 1) / (n - 1)), N being the rows and n those that have it (inverse document frequency):
what a template writes into every question weighs nothing, what two rows share and no other weighs most. Candidates
come from an inverted index of the rarest pairs of each row, as many as two near copies must have one in common (prefix
filtering: Chaudhuri et al., A Primitive Operator for Similarity Joins in Data Cleaning, 2006).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import islice, pairwise
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.extensions.leaks.words import value_text, words_and_signs_of
from ais_prompt.terminal import tracked
from ais_prompt.types import Sample
from ais_prompt.utils import leaves

LEAST_OVERLAP: Final = 0.4
"""Weighted Jaccard index of near copies, at least."""

LEAST_WORDS: Final = 10
"""Words of a text in which some may be changed; in a shorter one, a changed word makes another question."""

MAX_POSTINGS: Final = 2_000
"""Entries of the index that are looked up for a question, those of its rarest pairs first: it bounds the time."""

MAX_COMPARED: Final = 10
"""Rows that a question is compared with, those that share the most weight of rare pairs first."""

Ids: TypeAlias = NDArray[np.intp]
Words: TypeAlias = tuple[tuple[str, ...], ...]
"""The words, numbers and signs of each column."""

Fixed: TypeAlias = tuple[tuple[str, ...], ...]
"""The numbers and signs of each column."""


class NearCopy(Struct, frozen=True):
    """A question and a row that is a near copy of it.

    Attributes:
        question, row: their places.
        likeness: the least weighted Jaccard index of the columns; 1 if all words, numbers and signs are the same.
    """

    question: int
    row: int
    likeness: float

    @property
    def same_words(self) -> bool:
        """Whether the two differ in nothing but case and punctuation."""
        return self.likeness == 1.0


def find_near_copies(
    questions: Sequence[Sample],
    rows: Sequence[Sample] | None,
    columns: Sequence[str],
    allowed: Callable[[int, int], bool],
) -> list[NearCopy]:
    """Return the near copies of each question.

    Args:
        questions: the questions.
        rows: where copies are looked for; None for the questions themselves.
        columns: the columns that make a question.
        allowed: whether a row counts for a question; both by their places in these sequences.

    Returns:
        In the order of the questions; of one question, up to `MAX_COMPARED` and the first with the same words.
    """
    words = [_words(sample, columns) for sample in [*questions, *(rows or [])]]
    first = 0 if rows is None else len(questions)
    equal: defaultdict[Words, list[int]] = defaultdict(list)  # words → the places of the rows that have them
    for place, own in enumerate(words[first:]):
        if any(own):
            equal[own].append(place)
    index = _PairIndex(words, first, len(columns))
    found = []
    for place in tracked(range(len(questions)), "looking for near copies", unit="questions"):
        same = next((row for row in islice(equal.get(words[place], ()), MAX_POSTINGS) if allowed(place, row)), None)
        if same is not None:
            found.append(NearCopy(place, same, 1.0))
        for row in index.candidates(place):
            likeness = index.likeness(place, first + row)
            if LEAST_OVERLAP <= likeness < 1 and allowed(place, row):
                found.append(NearCopy(place, row, likeness))
    return found


def pair_near_copies(texts: Sequence[str], others: Sequence[str]) -> list[tuple[int, int]]:
    """Return pairs of the places of near copies, one in each, the most alike first; a text is in one pair at most."""
    questions, rows = ([Sample("", 0, {"text": text}) for text in side] for side in (texts, others))
    found = likeliest(find_near_copies(questions, rows, ["text"], lambda _, __: True))
    return [(one.question, one.row) for one in sorted(found, key=lambda one: -one.likeness)]


def likeliest(found: Sequence[NearCopy]) -> list[NearCopy]:
    """Return the most alike near copy of each question, in the order of the questions."""
    best = {one.question: one for one in sorted(found, key=lambda one: one.likeness)}
    return [best[question] for question in sorted(best)]


def _words(sample: Sample, columns: Sequence[str]) -> Words:
    values = [sample.fields.get(column) for column in columns]
    # Images and other bytes count as numbers, which near copies must share.
    return tuple(
        (
            *words_and_signs_of(value_text(value)),
            *(f"0x{sha256(leaf).hexdigest()}" for leaf in leaves(value) if isinstance(leaf, bytes)),
        )
        for value in values
    )


class _PairIndex:
    """An index of adjacent word pairs, numbered from the rarest, and of texts by their rarest pairs.

    Args:
        texts: the words of all texts.
        first: the text from which on texts are candidates.
        columns: how many columns a text has.
    """

    def __init__(self, texts: Sequence[Words], first: int, columns: int) -> None:
        self._texts = texts
        self._first = first
        hashes = [np.fromiter(_pair_hashes(words), np.int64) for words in texts]
        ends = np.cumsum([len(own) for own in hashes])
        pairs, numbers, counts = np.unique(
            np.concatenate([np.empty(0, np.int64), *hashes]), return_inverse=True, return_counts=True
        )
        order = np.argsort(counts, kind="stable")
        by_rarity = np.empty_like(order)
        by_rarity[order] = np.arange(len(order))
        self._column = (pairs % columns)[order] if columns else pairs
        self._columns = columns
        self._weights = np.log((len(texts) + 1) / np.maximum(1, counts[order] - 1))
        self._pairs: list[Ids] = [np.sort(own) for own in np.split(by_rarity[numbers], ends[:-1])]
        self._fixed = [tuple(map(_fixed, words)) for words in texts]
        totals = np.array([self._weights[own].sum() for own in self._pairs])
        self._totals, self._row_totals = totals, totals[first:]
        rows: defaultdict[tuple[int, Fixed], list[int]] = defaultdict(list)
        for row in range(first, len(texts)):
            for pair in self._rarest(row):
                rows[pair, self._fixed[row]].append(row - first)
        self._rows = {key: np.array(own) for key, own in rows.items()}

    def candidates(self, text: int) -> list[int]:
        """Return rows that may be near copies of a text, the likeliest first."""
        keys = [(pair, self._fixed[text]) for pair in self._rarest(text)]
        found = [(self._rows[key], self._weights[key[0]]) for key in keys if key in self._rows]
        if not found:
            return []
        rows = np.concatenate([own for own, _ in found])[:MAX_POSTINGS]
        weights = np.repeat([weight for _, weight in found], [len(own) for own, _ in found])[:MAX_POSTINGS]
        shared = np.bincount(rows, weights, len(self._row_totals))
        # Pairs that are not the rarest of both have less than LEAST_OVERLAP of the weight of one; J >= t needs a common
        # weight of t / (1 + t) times the sum of both.
        mine, theirs = self._totals[text], self._row_totals
        missing = LEAST_OVERLAP / (1 + LEAST_OVERLAP) * (mine + theirs) - LEAST_OVERLAP * np.maximum(mine, theirs)
        enough = np.flatnonzero((shared > 0) & (shared >= missing - 1e-9))
        enough = enough[enough + self._first != text]
        return enough[np.argsort(-shared[enough], kind="stable")][:MAX_COMPARED].tolist()  # type: ignore[no-any-return]

    def likeness(self, one: int, other: int) -> float:
        """Return the least weighted Jaccard index of the columns of two texts with the same numbers and signs."""
        both = np.intersect1d(self._pairs[one], self._pairs[other], assume_unique=True)
        common = self._weight(both)
        union = self._weight(self._pairs[one]) + self._weight(self._pairs[other]) - common
        return min(
            1.0 if mine == theirs else float(of_both / of_union) if of_union > 0 else 0.0
            for mine, theirs, of_both, of_union in zip(self._texts[one], self._texts[other], common, union, strict=True)
        )

    def _rarest(self, text: int) -> list[int]:
        """Return the pairs without which too little weight remains for a near copy."""
        pairs = self._pairs[text]
        weights = np.cumsum(self._weights[pairs])
        enough = np.searchsorted(weights, (1 - LEAST_OVERLAP) * weights[-1] + 1e-9) if len(pairs) else 0
        return pairs[: enough + 1].tolist()  # type: ignore[no-any-return]

    def _weight(self, pairs: Ids) -> NDArray[np.float64]:
        """Return the weight of pairs in each column, shape (columns,)."""
        return np.bincount(self._column[pairs], self._weights[pairs], self._columns).astype(np.float64)


def _pair_hashes(words: Words) -> set[int]:
    """Return a number for each pair of adjacent words of long enough columns; modulo the columns it is the column."""
    return {
        hash(pair) % 2**50 * len(words) + column
        for column, own in enumerate(words)
        if sum(map(str.isalpha, own)) >= LEAST_WORDS
        for pair in pairwise(own)
    }


def _fixed(words: Sequence[str]) -> tuple[str, ...]:
    """Return what near copies must share in a column: numbers and signs, in any order."""
    return tuple(sorted(word for word in words if not word.isalpha()))
