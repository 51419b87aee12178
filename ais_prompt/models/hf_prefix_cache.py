"""Keys and values of texts that a network has read, kept for texts that begin like them."""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, TypeAlias

from ais_prompt.models.likelihood import common_length

Tokens: TypeAlias = tuple[int, ...]
Layers: TypeAlias = Sequence[tuple[Any, Any]]
"""Keys and values of each layer; each a tensor of shape (heads, tokens, head dimension)."""


class PrefixCache:
    """Texts and their keys and values. Those that were not used for the longest time are given up first.

    Args:
        limit: most tokens that are kept, all texts together.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._layers: OrderedDict[Tokens, Layers] = OrderedDict()  # the least recently used first
        self._sorted: list[Tokens] = []
        self._size = 0

    def longest(self, tokens: Tokens) -> tuple[int, Layers]:
        """How many tokens of a text are known at its beginning, and the keys and values of a text that has them."""
        # In lexicographic order nothing has more in common with a text than its neighbours.
        place = bisect_left(self._sorted, tokens)
        neighbours = self._sorted[max(place - 1, 0) : place + 1]
        lengths = [common_length(known, tokens) for known in neighbours]
        length = max(lengths, default=0)
        if length == 0:
            return 0, ()
        best = neighbours[lengths.index(length)]
        self._layers.move_to_end(best)
        return length, self._layers[best]

    def keep(self, tokens: Tokens, layers: Layers) -> None:
        """Remember a text, if there is room for it at all."""
        if not tokens or len(tokens) > self._limit:
            return
        if tokens not in self._layers:
            self._sorted.insert(bisect_left(self._sorted, tokens), tokens)
            self._size += len(tokens)
        self._layers[tokens] = layers
        self._layers.move_to_end(tokens)
        while self._size > self._limit:
            self._give_up(next(iter(self._layers)))

    def _give_up(self, tokens: Tokens) -> None:
        del self._layers[tokens]
        del self._sorted[bisect_left(self._sorted, tokens)]
        self._size -= len(tokens)
