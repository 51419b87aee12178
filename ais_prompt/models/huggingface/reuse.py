"""Keys and values of rows: joined to caches, and kept for later texts that begin alike (shots, turns of a dialogue).

`PrefixCache` keeps the keys and values of earlier texts and finds the longest known beginning of a text. `Reuse` makes
the cache for a batch of prompts from them, and `joined` a cache from rows of any caches.

The rows of a batch are padded on the left. So their known columns end where the row with the most new tokens has its
first new token::

    known             new
    . . . Q A Q A Q A Q A Q     a dialogue, its last answer and its next question
    . . . . . . Q A Q A . Q     another dialogue
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.models.huggingface.library import cache_for_forward
from ais_prompt.models.likelihood_completions import common_length

Tokens: TypeAlias = tuple[int, ...]
WORTH: Final = 32
"""Fewest known columns that are reused; fewer are computed again in the same time."""


class Reuse:
    """Makes caches for batches from the keys and values of earlier texts.

    Args:
        network: a causal language model of transformers whose caches can be cut and joined; see
            `ais_prompt.models.huggingface.generation`.
        limit: most tokens that are kept.
    """

    def __init__(self, network: Any, limit: int) -> None:
        self._network = network
        self._limit = limit
        self.forget()

    def forget(self) -> None:
        """Free all memory."""
        self._known = PrefixCache(self._limit)

    def cache_for(self, rows: Sequence[Tokens]) -> Any:
        """Return a cache for ``generate`` with the columns of a left-padded batch that are known in all rows.

        The last column is never known, since the network must predict the token after it.
        """
        from ais_prompt.models.huggingface.growing import growing_cache

        width = max(map(len, rows))
        self._read_trunk(rows)
        found = [self._known.longest(row[:-1]) for row in rows]
        new = max(len(row) - (one.length if one else 0) for row, one in zip(rows, found, strict=True))
        known = width - new
        some = next((one for one in found if one), None)
        if some is None or known < WORTH:
            return growing_cache(self._network.config)
        # Of a short row, these columns have only a part of its known tokens, or only padding.
        lengths = [known - (width - len(row)) for row in rows]
        parts = [
            replace(one, length=length) if one and length > 0 else replace(some, length=0)
            for one, length in zip(found, lengths, strict=True)
        ]
        return joined(self._network.config, parts)

    def keep(self, part: CachedPrefix, *, worth: int = 1) -> None:
        """Keep a copy of the keys and values of a row, if it fits into the limit and ``worth`` tokens are new."""
        known = self._known.longest(part.text)
        if part.length > self._limit or part.length - (known.length if known else 0) < worth:
            return
        depth = len(part.block.layers)
        layers = [tuple(states.clone()[None] for states in part.states(layer)) for layer in range(depth)]
        self._known.keep(Block([part.text], layers))

    def _read_trunk(self, rows: Sequence[Tokens]) -> None:
        """Compute the common beginning of a batch once, if it is new, and not once for each row."""
        import torch
        from transformers import DynamicCache

        first, last = min(rows), max(rows)
        trunk = first[: min(common_length(first, last), len(first) - 1, self._limit)]
        if len(rows) == 1 or len(trunk) < WORTH:
            return
        found = self._known.longest(trunk)
        if found and len(trunk) - found.length < WORTH:
            return
        cache = DynamicCache(config=self._network.config)
        tokens = torch.tensor([trunk], device=self._network.device)
        with torch.inference_mode():
            base = self._network.base_model
            base(input_ids=tokens, use_cache=True, **cache_for_forward(base, cache))
        self._known.keep(block_of([trunk], cache))


def joined(config: Any, parts: Sequence[CachedPrefix], *, consume: bool = False) -> Any:
    """Return a cache with a row for each part, padded on the left.

    Args:
        config: of the network.
        parts: at least one of them not empty.
        consume: empty the blocks of the parts on the way, so that little is in memory twice.
    """
    from ais_prompt.models.huggingface.growing import growing_cache

    cache = growing_cache(config)
    for number, layer in enumerate(cache.layers):
        layer.fill([part.states(number) for part in parts])
        for part in parts if consume else ():
            part.block.layers[number] = None
    return cache


def shared_lengths(texts: Sequence[Tokens]) -> list[int]:
    """Return for each text how many tokens from its beginning on it has in common with any other text, at most."""
    order = sorted(range(len(texts)), key=texts.__getitem__)
    lengths = [0] * len(texts)
    for one, other in pairwise(order):  # no text has more in common with others than with its neighbours
        common = common_length(texts[one], texts[other])
        lengths[one], lengths[other] = max(lengths[one], common), common
    return lengths


class PrefixCache:
    """Blocks of one text each. The least recently used block is dropped first.

    Args:
        limit: most tokens of all blocks together.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._blocks: OrderedDict[Tokens, Block] = OrderedDict()  # the least recently used first
        self._sorted: list[Tokens] = []

    def longest(self, tokens: Tokens) -> CachedPrefix | None:
        """Find the longest known beginning of a text; None if not even its first token is known."""
        # In lexicographic order no text has more in common with this one than its neighbours.
        place = bisect_left(self._sorted, tokens)
        neighbours = self._sorted[max(place - 1, 0) : place + 1]
        length, best = max(((common_length(known, tokens), known) for known in neighbours), default=(0, ()))
        if length == 0:
            return None
        self._blocks.move_to_end(best)
        return CachedPrefix(self._blocks[best], 0, length)

    def keep(self, block: Block) -> None:
        """Keep a block, if it fits into the limit."""
        [text] = block.texts
        if len(text) > self._limit:
            return
        if text not in self._blocks:
            insort(self._sorted, text)
        self._blocks[text] = block
        self._blocks.move_to_end(text)
        while sum(map(len, self._blocks)) > self._limit:
            dropped, _ = self._blocks.popitem(last=False)
            del self._sorted[bisect_left(self._sorted, dropped)]


class Block(Struct, frozen=True, eq=False):
    """Keys and values of texts. Each text ends in the last column.

    Attributes:
        texts: token ids of each row.
        layers: keys and values of each layer, each a tensor of shape (rows, heads, columns, head dimension).
    """

    texts: Sequence[Tokens]
    layers: list[Any]


def block_of(texts: Sequence[Tokens], cache: Any) -> Block:
    """Return the block of the texts in a cache."""
    return Block(texts, [(layer.keys, layer.values) for layer in cache.layers])


class CachedPrefix(Struct, frozen=True):
    """The place of the beginning of a text: its first ``length`` tokens in a row of a block."""

    block: Block
    row: int
    length: int

    @property
    def text(self) -> Tokens:
        """The tokens of the beginning."""
        return self.block.texts[self.row][: self.length]

    def states(self, layer: int) -> tuple[Any, Any]:
        """Return its keys and values in a layer, shape (heads, length, head dimension) each."""
        keys, values = self.block.layers[layer]
        start = keys.shape[2] - len(self.block.texts[self.row])
        columns = slice(start, start + self.length)
        return keys[self.row, :, columns], values[self.row, :, columns]
