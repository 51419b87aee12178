"""A cache of keys and values with spare room: a new token does not copy all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

ROOM: Final = 32
"""Most spare columns for new tokens. Capacities are multiples of it, so that freed memory fits again."""


class GrowingLayer(DynamicLayer):  # type: ignore[misc]  # transformers is not typed
    """Keys and values of one layer, the first columns of larger tensors. It can only be appended to.

    `DynamicLayer` makes new tensors for every token, which takes longer than the network with long prompts.
    """

    keys: Any
    values: Any

    def __init__(self) -> None:
        super().__init__()
        self._buffers: list[Any] = []

    @property
    def capacity(self) -> int:
        """Columns in memory."""
        return self._buffers[0].shape[2] if self._buffers else 0

    def fill(self, rows: Sequence[tuple[Any, Any]]) -> None:
        """Begin with keys and values of rows, each of shape (heads, columns, head dimension); pad them on the left."""
        columns = max(keys.shape[1] for keys, _ in rows)
        self.lazy_initialization(*rows[0])
        self._buffers = [_left_padded(states, columns) for states in zip(*rows, strict=True)]
        self.keys, self.values = (buffer[:, :, :columns] for buffer in self._buffers)

    def update(self, key_states: Any, value_states: Any, *_args: Any, **_options: Any) -> tuple[Any, Any]:
        """Append states of shape (rows, heads, new columns, head dimension), and return all columns."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        old = self.get_seq_length()
        columns = old + key_states.shape[2]
        if columns > self.capacity:
            self._buffers = [
                _larger(known, states, old, _capacity(columns))
                for known, states in ((self.keys, key_states), (self.values, value_states))
            ]
        for buffer, states in zip(self._buffers, (key_states, value_states), strict=True):
            buffer[:, :, old:columns] = states
        self.keys, self.values = (buffer[:, :, :columns] for buffer in self._buffers)
        return self.keys, self.values


def growing_cache(config: Any) -> DynamicCache:
    """Make an empty cache for a network with full attention."""
    cache = DynamicCache(config=config)
    cache.layers = [GrowingLayer() for _ in cache.layers]
    return cache


def _capacity(columns: int) -> int:
    return (columns // ROOM + 1) * ROOM


def _larger(known: Any, states: Any, old: int, columns: int) -> Any:
    rows, heads, _, dimension = states.shape
    buffer = states.new_empty(rows, heads, columns, dimension)
    if old:
        buffer[:, :, :old] = known
    return buffer


def _left_padded(rows: Sequence[Any], columns: int) -> Any:
    heads, _, dimension = rows[0].shape
    # Zeros: a NaN would go through the attention even where the mask hides it.
    buffer = rows[0].new_zeros(len(rows), heads, _capacity(columns), dimension)
    for row, states in zip(buffer, rows, strict=True):
        row[:, columns - states.shape[1] : columns] = states
    return buffer
