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

from ais_prompt.models.hf_prefix_cache import Layers, PrefixCache, Tokens
from ais_prompt.models.likelihood import common_length

WORTH: Final = 16
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

        The last column is never among them, since what follows it is to be predicted.
        """
        from transformers import DynamicCache

        self._read_trunk(rows)
        found = [self._known.longest(row[:-1]) for row in rows]
        width = max(map(len, rows))
        columns = width - max(len(row) - length for row, (length, _) in zip(rows, found, strict=True))
        if columns < WORTH:
            return DynamicCache(config=self._network.config)
        # A row so short that these columns are all padding takes nothing of the layers, so any will do.
        some = next(layers for _, layers in found if layers)
        lengths = [max(columns - (width - len(row)), 0) for row in rows]
        parts = [(layers or some, length) for (_, layers), length in zip(found, lengths, strict=True)]
        return DynamicCache(_left_padded(parts), config=self._network.config)

    def keep(self, rows: Sequence[Tokens], answers: Sequence[Tokens], cache: Any) -> None:
        """Remember a batch of left-padded prompts with their answers, which ``generate`` has put into the cache."""
        width = max(map(len, rows))
        for number, (row, answer) in enumerate(zip(rows, answers, strict=True)):
            start = width - len(row)
            # The last token of an answer was written, but not read.
            text = (row + answer)[: cache.get_seq_length() - start]
            self._keep(text, cache, number, start)

    def _read_trunk(self, rows: Sequence[Tokens]) -> None:
        """Read what all rows of a batch begin with once, if it is new, and not once for each row."""
        import torch
        from transformers import DynamicCache

        first, last = min(rows), max(rows)
        trunk = first[: min(common_length(first, last), len(first) - 1, self._limit)]
        if len(rows) == 1 or len(trunk) - self._known.longest(trunk)[0] < WORTH:
            return
        cache = DynamicCache(config=self._network.config)
        tokens = torch.tensor([trunk], device=self._network.device)
        with torch.inference_mode():
            self._network.base_model(input_ids=tokens, past_key_values=cache, use_cache=True)
        self._keep(trunk, cache, 0, 0)

    def _keep(self, text: Tokens, cache: Any, row: int, start: int) -> None:
        # Cloned, since a slice would hold the memory of the whole batch.
        block = (row, slice(None), slice(start, start + len(text)))
        self._known.keep(text, [(layer.keys[block].clone(), layer.values[block].clone()) for layer in cache.layers])


def _left_padded(parts: Sequence[tuple[Layers, int]]) -> list[tuple[Any, Any]]:
    """Keys and values of the first tokens of each row, shape (rows, heads, most tokens, head dimension), by layer."""
    from torch.nn.utils.rnn import pad_sequence

    def column(layer: int, kind: int) -> Any:
        rows = [layers[layer][kind][:, :length].transpose(0, 1) for layers, length in parts]
        return pad_sequence(rows, batch_first=True, padding_side="left").transpose(1, 2)

    return [(column(layer, 0), column(layer, 1)) for layer in range(len(parts[0][0]))]
