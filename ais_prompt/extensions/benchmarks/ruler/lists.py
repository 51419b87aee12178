"""Words to be counted: common words in a list, frequent words in a coded text (RULER: ``cwe`` and ``fwe``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ais_prompt.extensions.benchmarks.ruler.fit import TokenCounter
from ais_prompt.extensions.benchmarks.ruler.grammar import Dice, new_words

COMMON: Final = 10
TIMES_COMMON: Final = 30
TIMES_OTHERS: Final = 3
"""RULER, ``num_cw``, ``freq_cw`` and ``freq_ucw``."""
_LEAST_TOKENS: Final = 10
"""Three numbered words have more tokens than this."""


class CommonWords:
    """A numbered list in which ten words are common and all others are not.

    Attributes:
        answers, depth, joint, most: as in `ais_prompt.extensions.benchmarks.ruler.fit.Draft`.
    """

    depth: int | None = None
    joint = "\n"

    def __init__(
        self, common: Sequence[str], others: Sequence[str], costs: NDArray[np.float64], seed: Sequence[object]
    ) -> None:
        """Plan a list.

        Args:
            common, others: the words.
            costs: tokens of the list with the first 0, 1, … of the others; shape (others + 1,).
            seed: decides the order.
        """
        self.answers: Sequence[str] = common
        self.most = len(others)
        self._others, self._costs, self._seed = others, costs, seed

    def cost(self, number: int) -> float:
        """Return how many tokens the others add."""
        return float(self._costs[number] - self._costs[0])

    def text(self, number: int, padding: str) -> str:
        """Return the prompt."""
        words = list(self.answers) * TIMES_COMMON + list(self._others[:number]) * TIMES_OTHERS
        order = Dice(*self._seed).order(len(words))
        listed = " ".join(f"{place}. {words[word]}" for place, word in enumerate(order, 1))
        behind = f"\n{padding}" if padding else ""
        return (
            "Below is a numbered list of words. Some of them come up far more often than the others. "
            f"Remember which.\n\n{listed}{behind}\n\n"
            f"Which {COMMON} words come up most often in the list above? "
            "Answer with these words only, separated by commas."
        )


class CommonWordsTask:
    """Make lists in which common words are to be found.

    Args:
        length: tokens of the longest prompt.
        seed: decides the words.
        counter: counts tokens.
    """

    def __init__(self, length: int, seed: int, counter: TokenCounter) -> None:
        self._most = length // _LEAST_TOKENS + 1
        self._seed, self._counter = seed, counter

    def draft(self, depth: int, dice: Dice) -> CommonWords:  # noqa: ARG002  # as all tasks
        """Return a list, which has no depth."""
        order = dice.order(len(self._words))
        words = [self._words[place] for place in order]
        of_words = self._counter.costs(self._words, " ", "en")[order]
        others = TIMES_OTHERS * np.concatenate(([0.0], np.cumsum(of_words[COMMON:])))
        sizes = COMMON * TIMES_COMMON + TIMES_OTHERS * np.arange(len(others))
        costs = TIMES_COMMON * of_words[:COMMON].sum() + others + self._number_costs[sizes]
        return CommonWords(words[:COMMON], words[COMMON:], costs, ("list", self._seed, dice.share()))

    @cached_property
    def _words(self) -> list[str]:
        return new_words(Dice(self._seed, "cwe"), COMMON + self._most)

    @cached_property
    def _number_costs(self) -> NDArray[np.float64]:
        """Tokens of the numbers of the first 0, 1, … words."""
        most = COMMON * TIMES_COMMON + TIMES_OTHERS * self._most
        costs = self._counter.costs([f"{number}." for number in range(1, most + 1)], " ", "en")
        return np.concatenate(([0.0], np.cumsum(costs)))


FREQUENT: Final = 3
_CODED_WORDS: Final = 2000
_NOISE: Final = "..."
"""What is more frequent than all words, and does not count."""


class FrequentWords:
    """A coded text in which a few words are frequent.

    Attributes:
        answers, depth, joint, most: as in `ais_prompt.extensions.benchmarks.ruler.fit.Draft`.
    """

    depth: int | None = None
    joint = "\n"

    def __init__(
        self, words: Sequence[str], costs: NDArray[np.float64], shares: NDArray[np.float64], most: int, seed: float
    ) -> None:
        """Plan a text.

        Args:
            words: by rank; the first is `_NOISE`.
            costs: tokens of each; shape (words,).
            shares: of each in the text; shape (words,).
            most: largest number of words in the text.
            seed: decides the order.
        """
        self.answers: Sequence[str] = list(words[1 : FREQUENT + 1])
        self.most = most
        self._words, self._costs, self._shares, self._seed = words, costs, shares, seed

    def _times(self, number: int) -> NDArray[np.intp]:
        """How often each word is in a text of so many; the asked ones differ from each other and from the next."""
        times = np.floor(number * self._shares).astype(np.intp)
        times[: FREQUENT + 1] += np.arange(FREQUENT + 1, 0, -1)
        return times

    def cost(self, number: int) -> float:
        """Return how many tokens the words add to those of the shortest text."""
        return float(self._costs @ (self._times(number) - self._times(0)))

    def text(self, number: int, padding: str) -> str:
        """Return the prompt."""
        words = [word for word, times in zip(self._words, self._times(number), strict=True) for _ in range(times)]
        coded = " ".join(words[place] for place in Dice("coded", self._seed).order(len(words)))
        behind = f"\n{padding}" if padding else ""
        return (
            "Below is a text in coded words. Find out which coded words are frequent. "
            f"The dots {_NOISE} are no words.\n\n{coded}{behind}\n\n"
            f"Which {FREQUENT} coded words are the most frequent in the text above? "
            "Answer with these words only, separated by commas."
        )


class FrequentWordsTask:
    """Make coded texts in which frequent words are to be found.

    Args:
        length, seed, counter: as in `CommonWordsTask`.
    """

    def __init__(self, length: int, seed: int, counter: TokenCounter) -> None:
        self._length, self._counter = length, counter
        self._words = new_words(Dice(seed, "fwe"), _CODED_WORDS)
        # Zeta distribution with alpha=2, as in RULER; exact sums, so that all machines have the same shares.
        weights = 1 / np.arange(1.0, _CODED_WORDS + 2) ** 2
        self._shares = weights / math.fsum(weights)

    @cached_property
    def _costs(self) -> NDArray[np.float64]:
        return self._counter.costs([_NOISE, *self._words], " ", "en")

    def draft(self, depth: int, dice: Dice) -> FrequentWords:  # noqa: ARG002  # as all tasks
        """Return a text, which has no depth."""
        order = dice.order(_CODED_WORDS)
        words = [_NOISE, *(self._words[place] for place in order)]
        costs = np.concatenate((self._costs[:1], self._costs[1:][order]))
        return FrequentWords(words, costs, self._shares, self._length, dice.share())
