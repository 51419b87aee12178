"""Keys and values of earlier texts, kept for texts with the same beginning.

Reuse keys and values of earlier prompts in generation: shots of all samples, turns of a dialogue.

The rows of a batch are padded on the left. So their known columns end where the row with the most new tokens has its
first new token::

    known             new
    . . . Q A Q A Q A Q A Q     a dialogue, its last answer and its next question
    . . . . . . Q A Q A . Q     another dialogue
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.models.completions import common_length
from ais_prompt.models.huggingface.library import cache_for_forward, cache_for_generate, first_line, quiet
from ais_prompt.models.huggingface.likelihood import tolerance

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


class CachedPrefix(Struct, frozen=True):
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

    def longest(self, tokens: Tokens) -> CachedPrefix | None:
        """Find the longest known beginning of a text; None if not even its first token is known."""
        # In lexicographic order no text has more in common with this one than its neighbours.
        place = bisect_left(self._sorted, tokens)
        neighbours = self._sorted[max(place - 1, 0) : place + 1]
        length, best = max(((common_length(known, tokens), known) for known in neighbours), default=(0, ()))
        if length == 0:
            return None
        block, row = self._rows[best]
        self._blocks.move_to_end(block)
        return CachedPrefix(block, row, length)

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


WORTH: Final = 32
"""Fewest known columns that are reused; fewer are computed again in the same time."""


class Reuse:
    """Makes caches for batches from the keys and values of earlier batches.

    Args:
        network: a causal language model of transformers whose caches can be cut and joined; see `reuse_of`.
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

        The last column is never known, since the network must predict the token after it. None if the rows are so short
        that a cache of the library is as fast.
        """
        from ais_prompt.models.huggingface.growing import growing_cache

        width = max(map(len, rows))
        if width <= WORTH:
            return None
        self._read_trunk(rows)
        found = [self._known.longest(row[:-1]) for row in rows]
        new = max(len(row) - (one.length if one else 0) for row, one in zip(rows, found, strict=True))
        known = width - new
        if known < WORTH:
            return growing_cache(self._network.config)
        # Of a short row, these columns have only a part of its known tokens, or only padding.
        parts = [
            replace(one, length=known - (width - len(row))) if one and width - len(row) < known else None
            for row, one in zip(rows, found, strict=True)
        ]
        return growing_cache(self._network.config, _left_padded(parts))

    def keep(self, rows: Sequence[Tokens], answers: Sequence[Tokens], cache: Any) -> None:
        """Keep a batch of left-padded prompts with their answers, which ``generate`` has put into the cache."""
        width, columns = max(map(len, rows)), cache.get_seq_length()
        starts = [width - len(row) for row in rows]
        # The last token of the longest answer was generated, but its keys and values were not computed.
        texts = [(row + answer)[: columns - start] for row, answer, start in zip(rows, answers, starts, strict=True)]
        self._keep(texts, starts, cache, cache.layers[0].capacity)

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
        self._keep([trunk], [0], cache, len(trunk))

    def _keep(self, texts: Sequence[Tokens], starts: Sequence[int], cache: Any, columns: int) -> None:
        layers = [(layer.keys, layer.values) for layer in cache.layers]
        self._known.keep(Block(texts, starts, layers, columns))


def _left_padded(parts: Sequence[CachedPrefix | None]) -> list[tuple[Any, Any]]:
    """Return keys and values of the parts, by layer; each of shape (rows, heads, longest part, head dimension)."""
    from torch.nn.utils.rnn import pad_sequence

    some = next(part for part in parts if part)
    filled = [part or replace(some, length=0) for part in parts]

    def column(layer: int, kind: int) -> Any:
        rows = [_tensor(part.block.layers[layer][kind], part) for part in filled]
        return pad_sequence(rows, batch_first=True, padding_side="left").transpose(1, 2)

    return [(column(layer, 0), column(layer, 1)) for layer in range(len(some.block.layers))]


def _tensor(states: Any, part: CachedPrefix) -> Any:
    """Return the states of a part, shape (length, heads, head dimension)."""
    start = part.block.starts[part.row]
    return states[part.row, :, start : start + part.length].transpose(0, 1)


logger = logging.getLogger(__name__)

_TRUNK: Final = tuple(range(1, WORTH + 3))
_PROMPTS: Final = ((*_TRUNK, 40, 41, 42), (*_TRUNK, 50))
_FURTHER: Final = ((*_PROMPTS[0], 43), (*_PROMPTS[1], 51, 52))
"""The inputs of the trial: prompts with a common beginning, then dialogues that continue them."""


def reuse_of(network: Any, options: Mapping[str, Any], limit: int) -> Reuse | None:
    """Return the reuse for a network; None, after a warning, if the network does not allow it.

    Whether its caches can be cut and joined is looked up where the config says so, and tried on a few tokens.

    Args:
        network: a causal language model of transformers.
        options: options of ``generate``, besides the model's ``generation_config.json``.
        limit: most tokens that are kept; 0 turns reuse off.
    """
    if limit == 0:
        return None
    if reason := _other_way_of_generating(network, options) or _other_cache(network) or _trial(network):
        logger.warning("every prompt is computed from its beginning, nothing is reused: %s", reason)
        return None
    return Reuse(network, limit)


def _other_way_of_generating(network: Any, options: Mapping[str, Any]) -> str:
    """Return why ``generate`` takes no cache; empty if it does."""
    config = deepcopy(network.generation_config)
    config.update(**options)
    mode = str(config.get_generation_mode().value)
    if mode not in ("greedy_search", "sample"):
        return f"answers are generated by {mode}"
    if config.use_cache is False:
        return "use_cache is False"
    return f"cache_implementation is {config.cache_implementation!r}" if config.cache_implementation else ""


def _other_cache(network: Any) -> str:
    """Return which layers keep more or less than the keys and values of all tokens; empty if none."""
    from transformers import DynamicCache
    from transformers.cache_utils import DynamicLayer

    try:
        layers = DynamicCache(config=network.config).layers
    except Exception as error:  # a config may lack what a cache needs
        return first_line(error)
    others = sorted({type(layer).__name__ for layer in layers if type(layer) is not DynamicLayer})
    return f"its cache has layers of the kind {', '.join(others)}" if others else ""


def _trial(network: Any) -> str:
    """Return why reuse fails on a few tokens; empty if it works."""
    size = network.config.get_text_config().vocab_size
    reuse = Reuse(network, limit=1000)
    worst = 0.0
    try:
        for prompts in (_PROMPTS, _FURTHER):
            rows = [tuple(token % size for token in prompt) for prompt in prompts]
            cache = reuse.cache_for(rows)
            assert cache.get_seq_length() >= WORTH
            plain, reused = _next_log_probs(network, rows, None), _next_log_probs(network, rows, cache)
            reuse.keep(rows, [()] * len(rows), cache)
            likeliest = plain.argmax(-1, keepdim=True)
            worst = max(worst, (plain - reused).gather(-1, likeliest).abs().max().item())
    except Exception as error:  # networks can raise anything
        return first_line(error)
    return f"log-probabilities would change by {worst:.2g} nats" if worst > tolerance(network) else ""


def _next_log_probs(network: Any, rows: Sequence[Tokens], cache: Any) -> Any:
    """Compute the log-probabilities of the token after each row, in nats, shape (rows, vocabulary)."""
    import torch

    width = max(map(len, rows))
    padded = [(0,) * (width - len(row)) + row for row in rows]
    mask = [(0,) * (width - len(row)) + (1,) * len(row) for row in rows]
    with quiet():
        output = network.generate(
            input_ids=torch.tensor(padded, device=network.device),
            attention_mask=torch.tensor(mask, device=network.device),
            **cache_for_generate(cache),
            pad_token_id=0,
            max_new_tokens=1,
            do_sample=False,
            output_logits=True,
            return_dict_in_generate=True,
        )
    return output.logits[0].float().log_softmax(-1)
