"""Generation that goes on from what the network has read before: shots of all samples, turns of a dialogue.

The rows of a batch are padded on the left, so what is known of them can be cut off straight, where the row with the
most new tokens begins to be new::

    known             new
    . . . Q A Q A Q A Q A Q     a dialogue, its last answer and its next question
    . . . . . . Q A Q A . Q     another one
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.models.huggingface.cache.prefix_cache import Block, Found, PrefixCache, Tokens
from ais_prompt.models.likelihood import common_length

WORTH: Final = 32
"""Fewest known columns that are put together from memory; fewer are read again in the same time."""


class Reuse:
    """Caches for batches, filled with what was read for batches before.

    Args:
        network: a causal language model of transformers whose caches can be cut and put together; see `hf_reuse_trial`.
        limit: most tokens that are kept.
    """

    def __init__(self, network: Any, limit: int) -> None:
        self._network = network
        self._limit = limit
        self.forget()

    def forget(self) -> None:
        """Free the memory of all that was read."""
        self._known = PrefixCache(self._limit)

    def cache_for(self, rows: Sequence[Tokens]) -> Any:
        """A cache that ``generate`` can go on from, with the columns of a left-padded batch that are known in all rows.

        The last column is never among them, since what follows it is to be predicted. None if the rows are so short
        that a cache of the library's own is as fast.
        """
        from ais_prompt.models.huggingface.cache.growing import growing_cache

        width = max(map(len, rows))
        if width <= WORTH:
            return None
        self._read_trunk(rows)
        found = [self._known.longest(row[:-1]) for row in rows]
        new = max(len(row) - (one.length if one else 0) for row, one in zip(rows, found, strict=True))
        known = width - new
        if known < WORTH:
            return growing_cache(self._network.config)
        # Of a short row, these columns hold less than is known of it, or padding only.
        parts = [
            replace(one, length=known - (width - len(row))) if one and width - len(row) < known else None
            for row, one in zip(rows, found, strict=True)
        ]
        return growing_cache(self._network.config, _left_padded(parts))

    def keep(self, rows: Sequence[Tokens], answers: Sequence[Tokens], cache: Any) -> None:
        """Remember a batch of left-padded prompts with their answers, which ``generate`` has put into the cache."""
        width, columns = max(map(len, rows)), cache.get_seq_length()
        starts = [width - len(row) for row in rows]
        # The last token of the longest answer was written, but not read.
        texts = [(row + answer)[: columns - start] for row, answer, start in zip(rows, answers, starts, strict=True)]
        self._keep(texts, starts, cache, cache.layers[0].capacity)

    def _read_trunk(self, rows: Sequence[Tokens]) -> None:
        """Read what all rows of a batch begin with once, if it is new, and not once for each row."""
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
            self._network.base_model(input_ids=tokens, past_key_values=cache, use_cache=True)
        self._keep([trunk], [0], cache, len(trunk))

    def _keep(self, texts: Sequence[Tokens], starts: Sequence[int], cache: Any, columns: int) -> None:
        layers = [(layer.keys, layer.values) for layer in cache.layers]
        self._known.keep(Block(texts, starts, layers, columns))


def _left_padded(parts: Sequence[Found | None]) -> list[tuple[Any, Any]]:
    """Keys and values of what was found, by layer; each of shape (rows, heads, longest part, head dimension)."""
    from torch.nn.utils.rnn import pad_sequence

    some = next(part for part in parts if part)
    filled = [part or replace(some, length=0) for part in parts]

    def column(layer: int, kind: int) -> Any:
        rows = [_tensor(part.block.layers[layer][kind], part) for part in filled]
        return pad_sequence(rows, batch_first=True, padding_side="left").transpose(1, 2)

    return [(column(layer, 0), column(layer, 1)) for layer in range(len(some.block.layers))]


def _tensor(states: Any, part: Found) -> Any:
    """The part's own states, shape (length, heads, head dimension)."""
    start = part.block.starts[part.row]
    return states[part.row, :, start : start + part.length].transpose(0, 1)
