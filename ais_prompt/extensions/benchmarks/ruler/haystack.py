"""A haystack: pieces of filler, with other pieces at given depths among them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.extensions.benchmarks.ruler.grammar import Dice


class Pool(Struct, frozen=True):
    """Pieces that filler is made of.

    Attributes:
        pieces: the texts.
        costs: tokens that each adds, with the joint before it; shape (pieces,).
        joint: the text between two pieces.
        shuffled: whether each prompt has them in an order of its own.
    """

    pieces: Sequence[str]
    costs: NDArray[np.float64]
    joint: str
    shuffled: bool = True

    def order(self, tokens: int, dice: Dice) -> NDArray[np.intp]:
        """Return numbers of pieces with at least so many tokens; they repeat once all were used."""
        rounds = int(tokens // self.costs.sum()) + 1
        size = len(self.pieces)
        return np.concatenate([dice.order(size) if self.shuffled else np.arange(size) for _ in range(rounds)])


class Haystack:
    """A prompt with a haystack in the middle.

    Args:
        head, tail: the text before and after the haystack.
        pool: the filler.
        order: numbers of its pieces.
        hidden: depth from 0 to 1 and text of each piece that is hidden in the filler; those of one depth in this order.
        answers, depth: as in `ais_prompt.extensions.benchmarks.ruler.fit.Draft`.
    """

    def __init__(
        self,
        head: str,
        tail: str,
        pool: Pool,
        order: NDArray[np.intp],
        hidden: Sequence[tuple[float, str]],
        answers: Sequence[str],
        depth: int | None,
    ) -> None:
        self.answers = answers
        self.depth = depth
        self.joint = pool.joint
        self.most = len(order)
        self._head, self._tail, self._pool, self._order = head, tail, pool, order
        self._hidden = sorted(hidden, key=lambda one: one[0])
        self._sums = np.concatenate(([0.0], np.cumsum(pool.costs[order])))

    def cost(self, number: int) -> float:
        """Return the tokens of the first pieces."""
        return float(self._sums[number])

    def text(self, number: int, padding: str) -> str:
        """Return the prompt; what is hidden at a depth of 1 is behind the padding."""
        pieces = [self._pool.pieces[place] for place in self._order[:number]]
        depths = [depth * self._sums[number] for depth, _ in self._hidden]
        places = np.searchsorted(self._sums[: number + 1], depths)
        if padding:
            pieces.append(padding)
            places[[depth == 1 for depth, _ in self._hidden]] = number + 1
        for place, (_, text) in reversed(list(zip(places, self._hidden, strict=True))):
            pieces.insert(int(place), text)
        return f"{self._head}\n\n{self.joint.join(pieces)}\n\n{self._tail}"
