"""Log-probabilities of rows with common beginnings, each beginning computed once.

Rows that begin alike form a tree of tokens. Its trunk, which all rows share (the in-context examples), is computed
once into a key/value cache. The branches are computed in packs: the nodes of many rows stand one after the other in a
single row without padding, each at the position of its depth, and each sees its ancestors only::

    rows    Q : 1 + 1 = ? A : 2    trunk       Q
            Q : 1 + 1 = ? A : 3    pack        : 1 + 1 = ? A : 2 3 2 + 2 = ? A : 4
            Q : 2 + 2 = ? A : 4    positions   1 2 3 4 5 6 7 8 9 9 2 3 4 5 6 7 8 9

So the labels of a sample share their question too, and nothing is computed twice within a pack.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from ais_prompt.models.huggingface.library import cache_for_forward
from ais_prompt.models.huggingface.log_probs import Row, wanted_log_probs
from ais_prompt.models.likelihood import common_length

PACK_TOKENS: Final = 512
"""Most tokens of one forward pass, unless a single branch has more. It limits the memory."""

Tokens: TypeAlias = tuple[int, ...]
Found: TypeAlias = dict[tuple[Tokens, int, int], float]
"""Tokens of a row, position p, token t → log-probability of t after the tokens up to p, in nats."""


def log_probs_of_tree(network: Any, rows: Sequence[Row], cache_tokens: int) -> Iterator[tuple[int, list[float]]]:
    """Compute the requested log-probabilities of rows in nats.

    Args:
        network: a causal language model of transformers that takes a mask and positions.
        rows: at least one, in any order.
        cache_tokens: most tokens of the trunk that are kept in the cache.

    Yields:
        Numbers of rows and their log-probabilities, pack after pack.
    """
    wanted: dict[Tokens, set[tuple[int, int]]] = {}
    numbers: dict[Tokens, list[int]] = {}
    for number, row in enumerate(rows):
        wanted.setdefault(row.tokens, set()).update(row.wanted)
        numbers.setdefault(row.tokens, []).append(number)
    texts = sorted(wanted)
    # The last common token belongs to the packs, so that each pack predicts the first tokens of its branches.
    common = max(common_length(texts[0], texts[-1]) - 1, 0)
    trunk = texts[0][: min(common, cache_tokens)]
    # The token after one of the trunk is the same in all rows, so it is requested and found under the trunk itself.
    wanted[trunk] = {wish for wishes in wanted.values() for wish in wishes if wish[0] < len(trunk)}
    reader = _Reader(network)
    of_trunk = reader.read_trunk(trunk, wanted[trunk])
    for pack in _packs(texts, len(trunk)):
        found = of_trunk | reader.read_pack(pack, len(trunk), wanted)
        for text in pack.paths:
            for number in numbers[text]:
                places = ((trunk if at < len(trunk) else text, at, token) for at, token in rows[number].wanted)
                yield number, [found[place] for place in places]


class _Pack(Struct):
    """A tree of tokens in depth-first order.

    Attributes:
        tokens, positions: token and position of each node.
        ends: for each node the next node that is not below it.
        paths: the tokens of a row → its nodes from the trunk on.
    """

    tokens: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    paths: dict[Tokens, list[int]] = field(default_factory=dict)

    def add(self, text: Tokens, path: list[int], trunk: int) -> None:
        """Add a row; ``path`` are the nodes that it shares with the previous row."""
        first = len(self.tokens)
        new = range(first, first + len(text) - trunk - len(path))
        self.tokens += text[trunk + len(path) :]
        self.positions += range(trunk + len(path), len(text))
        self.ends += [0 for _ in new]
        self.paths[text] = [*path, *new]
        for node in self.paths[text]:
            self.ends[node] = len(self.tokens)


def _packs(texts: Sequence[Tokens], trunk: int) -> Iterator[_Pack]:
    """Cut rows into packs. Their lexicographic order is depth-first order."""
    pack = _Pack()
    before: Tokens = ()
    for text in texts:
        common = max(common_length(before, text), trunk)
        if pack.tokens and len(pack.tokens) + len(text) - common > PACK_TOKENS:
            yield pack
            pack, common = _Pack(), trunk
        pack.add(text, pack.paths[before][: common - trunk] if common > trunk else [], trunk)
        before = text
    yield pack


class _Reader:
    """Passes tokens through a network, first the trunk, then the packs."""

    def __init__(self, network: Any) -> None:
        self._network = network
        self._cache: Any = None
        self._keeps_logits = "logits_to_keep" in inspect.signature(network.forward).parameters

    def read_trunk(self, trunk: Tokens, wanted: Iterable[tuple[int, int]]) -> Found:
        """Fill the cache with the trunk, block by block, and return its requested log-probabilities."""
        from transformers import DynamicCache

        found: Found = {}
        if trunk:
            self._cache = DynamicCache(config=self._network.config)
        for start in range(0, len(trunk), PACK_TOKENS):
            block = trunk[start : start + PACK_TOKENS]
            positions = range(start, start + len(block))
            inside = [(position, token) for position, token in wanted if position in positions]
            places, tokens = [position - start for position, _ in inside], [token for _, token in inside]
            values = self._pass(block, positions, None, places, tokens)
            found |= {(trunk, *wish): value for wish, value in zip(inside, values, strict=True)}
        return found

    def read_pack(self, pack: _Pack, trunk: int, wanted: Mapping[Tokens, Iterable[tuple[int, int]]]) -> Found:
        """Return the requested log-probabilities of a pack beyond the trunk; the cache is unchanged."""
        pairs = [
            (text, position, token) for text in pack.paths for position, token in wanted[text] if position >= trunk
        ]
        nodes = [pack.paths[text][position - trunk] for text, position, _ in pairs]
        values = self._pass(pack.tokens, pack.positions, self._mask(pack), nodes, [token for _, _, token in pairs])
        if self._cache is not None:
            self._cache.crop(-len(pack.tokens))
        return dict(zip(pairs, values, strict=True))

    def _pass(
        self, tokens: Sequence[int], positions: Sequence[int], mask: Any, places: Sequence[int], wanted: Sequence[int]
    ) -> list[float]:
        """Compute the log-probability of each requested token after the token at its place, in nats."""
        import torch

        device = self._network.device
        kept = sorted({*places} or {0})
        at = {place: number for number, place in enumerate(kept)}
        options = {"logits_to_keep": torch.tensor(kept, device=device)} if self._keeps_logits else {}
        with torch.inference_mode():
            logits = self._network(
                input_ids=torch.tensor([tokens], device=device),
                attention_mask=mask,
                position_ids=torch.tensor([positions], device=device),
                use_cache=self._cache is not None,
                **cache_for_forward(self._network, self._cache),
                **options,
            ).logits[0]
        return wanted_log_probs(logits, ([at[place] if options else place for place in places],), wanted)

    def _mask(self, pack: _Pack) -> Any:
        """Make the attention mask: 0 for the trunk, the ancestors and the node itself, the least number for all others.

        Returns:
            Shape (1, 1, nodes, trunk + nodes).
        """
        import torch

        device, dtype = self._network.device, self._network.dtype
        node = torch.arange(len(pack.tokens), device=device)
        is_below = (node[:, None] >= node) & (node[:, None] < torch.tensor(pack.ends, device=device))
        cached = 0 if self._cache is None else self._cache.get_seq_length()
        mask = torch.zeros(len(node), cached + len(node), dtype=dtype, device=device)
        mask[:, cached:].masked_fill_(~is_below, torch.finfo(dtype).min)
        return mask[None, None]
