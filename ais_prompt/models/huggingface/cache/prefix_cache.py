"""Keys and values of earlier texts, kept for texts with the same beginning."""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from ais_prompt.models.likelihood import common_length

Tokens: TypeAlias = tuple[int, ...]


class Block(Struct, frozen=True, eq=False):
    """Keys and values of the texts of one batch.

    Attributes:
        texts: token ids of each row.
        starts: the column in which each text begins, after the padding.
        layers: keys and values of each layer, each a tensor of shape (rows, heads, columns, head dimension).
        columns: columns of each row in memory, used or not.
    """

    texts: Sequence[Tokens]
    starts: Sequence[int]
    layers: Sequence[tuple[Any, Any]]
    columns: int

    @property
    def size(self) -> int:
        """Tokens in memory, padding included."""
        return len(self.texts) * self.columns


class Found(Struct, frozen=True):
    """The place of the beginning of a text: its first ``length`` tokens in a row of a block."""

    block: Block
    row: int
    length: int


class PrefixCache:
    """Blocks of texts. The least recently used block is dropped first.

    Args:
        limit: most tokens of all blocks together.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._blocks: OrderedDict[Block, None] = OrderedDict()  # the least recently used first
        self._rows: dict[Tokens, tuple[Block, int]] = {}
        self._sorted: list[Tokens] = []

    def longest(self, tokens: Tokens) -> Found | None:
        """Find the longest known beginning of a text; None if not even its first token is known."""
        # In lexicographic order no text has more in common with this one than its neighbours.
        place = bisect_left(self._sorted, tokens)
        neighbours = self._sorted[max(place - 1, 0) : place + 1]
        length, best = max(((common_length(known, tokens), known) for known in neighbours), default=(0, ()))
        if length == 0:
            return None
        block, row = self._rows[best]
        self._blocks.move_to_end(block)
        return Found(block, row, length)

    def keep(self, block: Block) -> None:
        """Keep a block, if it fits into the limit."""
        if block.size > self._limit:
            return
        self._blocks[block] = None
        for row, text in enumerate(block.texts):
            if text not in self._rows:
                self._sorted.insert(bisect_left(self._sorted, text), text)
            self._rows[text] = block, row
        while sum(block.size for block in self._blocks) > self._limit:
            self._drop(next(iter(self._blocks)))

    def _drop(self, block: Block) -> None:
        del self._blocks[block]
        for text in block.texts:
            # A later block may have the same text.
            if text in self._rows and self._rows[text][0] is block:
                del self._rows[text]
                del self._sorted[bisect_left(self._sorted, text)]
