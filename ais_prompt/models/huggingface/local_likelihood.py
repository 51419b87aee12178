"""Log-likelihoods with a loaded network: queries as rows of tokens, their log-probabilities, and completions from them.

`query_row` makes the row of a query, `LikelihoodComputer` computes rows, `TokenRow.completion` makes the completion.
Rows are computed in padded batches (`log_probs_of_batch`), or with their common beginnings computed once
(`log_probs_of_tree`) if the network allows it, which a trial on a few tokens shows.

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
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from ais_prompt.models.huggingface.library import bisect_on_failure, cache_for_forward, first_line, free_accelerator
from ais_prompt.models.likelihood_completions import NO_TOKENS, common_length, likelihood_completion, measured_bytes
from ais_prompt.models.tokenizer import decode, encode
from ais_prompt.types import Completion, Failure, Likelihood, LikelihoodQuery, Usage

logger = logging.getLogger(__name__)
Encode: TypeAlias = Callable[[str], list[int]]
"""Tokenize a prompt, with the special tokens that the network gets."""
Tokens: TypeAlias = tuple[int, ...]
PositionLogProbs: TypeAlias = dict[tuple[Tokens, int, int], float]
"""Tokens of a row, position p, token t → log-probability of t after the tokens up to p, in nats."""
PACK_TOKENS: Final = 512
"""Most tokens of one forward pass, unless a single branch has more. It limits the memory."""
_PIECE: Final = 1024
"""Number of places computed together: each has a row of the whole vocabulary in float32."""


class TokenRow(Struct, frozen=True):
    """The input of a network, and the log-probabilities that are requested of it.

    The last token of a text is predicted only and not part of the input. So texts that differ in their last token are
    one row with several requested tokens.

    Attributes:
        tokens: input ids from the beginning of the text; at least one.
        wanted: pairs of position p and token t: the log-probability of t after ``tokens[: p + 1]``.
        all_tokens, bytes, merged: as in `Likelihood`.
        is_choice: whether the requested tokens are choices, not a text.
    """

    tokens: tuple[int, ...]
    wanted: tuple[tuple[int, int], ...]
    all_tokens: int = 0
    bytes: int = 0
    merged: bool = False
    is_choice: bool = False

    def completion(self, log_probs: Sequence[float], seconds: float) -> Completion:
        """Return the completion, from the requested log-probabilities in nats."""
        if self.is_choice:
            found = Likelihood(0.0, 0, 0, 0, tuple(log_probs))
        else:
            found = Likelihood(-fsum(log_probs), len(log_probs), self.all_tokens, self.bytes, merged=self.merged)
        return likelihood_completion(found, Usage(len(self.tokens) + (not self.is_choice), 0), seconds)


def query_row(prompt: str, query: LikelihoodQuery, tokenizer: Any, encode_prompt: Encode) -> TokenRow | Failure:
    """Return the row of a log-likelihood query, or the failure of one that cannot be computed.

    Args:
        prompt: the text before the continuation or the choices, or the whole text.
        query: what is computed.
        tokenizer: a Hugging Face tokenizer; choices are tokenised alone, without special tokens.
        encode_prompt: tokenises everything else.
    """
    if query.choices:
        return _choice_row(encode_prompt(prompt), query.choices, tokenizer)
    if query.continuation is None:
        tokens = encode_prompt(prompt)
        first = decode(tokenizer, tokens[:1], skip_special_tokens=False)  # a chat template writes one at the beginning
        return _text_row(tokens, 1, len(tokens), measured_bytes(prompt, first))
    before, tokens = encode_prompt(prompt), encode_prompt(prompt + query.continuation)
    # A tokenizer may merge the end of the prompt and the beginning of the continuation into one token. All tokens after
    # those that both texts have in common count then, so that no token of the continuation is lost.
    common = common_length(before, tokens)
    start = max(common, 1)
    # Without a prompt, and without BOS, the first token of the continuation has no likelihood.
    first = "" if common else decode(tokenizer, tokens[:1], skip_special_tokens=False)
    length = measured_bytes(query.continuation, first)
    return _text_row(tokens, start, len(tokens) - start, length, merged=common < len(before))


def _text_row(
    tokens: Sequence[int], start: int, all_tokens: int, length: int, merged: bool = False
) -> TokenRow | Failure:
    wanted = tuple((position - 1, tokens[position]) for position in range(start, len(tokens)))
    if not length or not wanted:
        assert NO_TOKENS.failure is not None
        return NO_TOKENS.failure
    return TokenRow(tuple(tokens[:-1]), wanted, all_tokens, length, merged)


def _choice_row(tokens: Sequence[int], choices: Sequence[str], tokenizer: Any) -> TokenRow | Failure:
    ids = [encode(tokenizer, choice, add_special_tokens=False) for choice in choices]
    for choice, of_choice in zip(choices, ids, strict=True):
        if len(of_choice) != 1:
            words = f"the choice {choice!r} is {len(of_choice)} tokens long; only single tokens can be compared"
            return Failure("long_choice", words, fatal=True)
    if not tokens:
        return Failure("empty_prompt", "the prompt has no tokens")
    return TokenRow(tuple(tokens), tuple((len(tokens) - 1, token) for [token] in ids), is_choice=True)


class LikelihoodComputer:
    """Computes log-probabilities of rows.

    Args:
        network: a causal language model of transformers.
        pad: token id of the padding.
        batch_size: rows in one batch, if common beginnings are not shared.
        cache_tokens: most tokens of a common beginning that are kept; 0 shares none.
    """

    def __init__(self, network: Any, pad: int, *, batch_size: int, cache_tokens: int) -> None:
        self._network = network
        self._pad = pad
        self._batch_size = batch_size
        self._cache_tokens = cache_tokens
        self._shares = cache_tokens > 0
        if self._shares and (reason := _obstacle(network.config) or self._trial()):
            logger.info("common beginnings of texts cannot be shared, each is computed anew: %s", reason)
            self._shares = False

    def log_probs(self, rows: Sequence[TokenRow]) -> Iterator[tuple[int, list[float] | Failure]]:
        """Yield numbers of rows and their log-probabilities in nats, or their failures, in the order of computation."""
        waiting = dict(enumerate(rows))
        if self._shares and rows:
            try:
                for number, values in log_probs_of_tree(self._network, rows, self._cache_tokens):
                    del waiting[number]
                    yield number, values
            except (IndexError, RuntimeError, ValueError) as error:
                logger.info("computing this time without shared beginnings: %s", first_line(error))
        if waiting:
            free_accelerator()
        # Batches of similar length, for little padding.
        order = sorted(waiting, key=lambda number: len(waiting[number].tokens), reverse=True)
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            answers = bisect_on_failure([waiting[number] for number in batch], self._plain, kind="scoring")
            yield from zip(batch, answers, strict=True)

    def _plain(self, rows: Sequence[TokenRow]) -> list[list[float]]:
        return log_probs_of_batch(self._network, rows, self._pad)

    def _trial(self) -> str:
        """Return why sharing fails on a few tokens; empty if it works."""
        size = self._network.config.get_text_config().vocab_size
        texts = [(1, 2, 3, 4, 5), (1, 2, 3, 6, 7, 8), (1, 2, 3, 6, 9)]
        tokens = [tuple(token % size for token in text) for text in texts]
        rows = [TokenRow(text[:-1], tuple(enumerate(text[1:]))) for text in tokens]
        try:
            shared = [values for _, values in sorted(log_probs_of_tree(self._network, rows, self._cache_tokens))]
            plain = self._plain(rows)
        except Exception as error:  # networks can raise anything
            return first_line(error)
        worst = max(
            abs(a - b) for one, other in zip(shared, plain, strict=True) for a, b in zip(one, other, strict=True)
        )
        if worst > tolerance(self._network):
            return f"the values would change by {worst:.2g} nats"
        return ""


def _obstacle(config: Any) -> str:
    """Return why sharing is impossible whatever a short trial shows; empty if it may be possible."""
    attention = getattr(config, "_attn_implementation", None)
    if attention not in ("eager", "sdpa"):
        return f"its attention ({attention}) takes no mask of our own"
    text = config.get_text_config()
    kinds = set(getattr(text, "layer_types", None) or ())
    if kinds - {"full_attention"}:
        return f"it has layers of the kind {', '.join(sorted(kinds - {'full_attention'}))}"
    if not kinds and getattr(text, "sliding_window", None):
        return "its attention slides over the text"
    return ""


def log_probs_of_batch(network: Any, rows: Sequence[TokenRow], pad: int) -> list[list[float]]:
    """Compute the requested log-probabilities of rows in nats, in one batch.

    Padding is on the right, where no token of a causal model sees it, so the values of a row do not depend on the rest
    of the batch.

    Args:
        network: a causal language model of transformers.
        rows: any number; memory grows with it.
        pad: token id of the padding.
    """
    import torch

    width = max(len(row.tokens) for row in rows)
    padded = [[*row.tokens, *[pad] * (width - len(row.tokens))] for row in rows]
    mask = [[1] * len(row.tokens) + [0] * (width - len(row.tokens)) for row in rows]
    with torch.inference_mode():
        logits = network(
            input_ids=torch.tensor(padded, device=network.device),
            attention_mask=torch.tensor(mask, device=network.device),
            use_cache=False,
        ).logits
        numbers = [number for number, row in enumerate(rows) for _ in row.wanted]
        positions = [position for row in rows for position, _ in row.wanted]
        tokens = [token for row in rows for _, token in row.wanted]
        values = iter(wanted_log_probs(logits, (numbers, positions), tokens))
    return [[next(values) for _ in row.wanted] for row in rows]


def log_probs_of_tree(network: Any, rows: Sequence[TokenRow], cache_tokens: int) -> Iterator[tuple[int, list[float]]]:
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


class _Reader:
    """Passes tokens through a network, first the trunk, then the packs."""

    def __init__(self, network: Any) -> None:
        self._network = network
        self._cache: Any = None
        self._keeps_logits = "logits_to_keep" in inspect.signature(network.forward).parameters

    def read_trunk(self, trunk: Tokens, wanted: Iterable[tuple[int, int]]) -> PositionLogProbs:
        """Fill the cache with the trunk, block by block, and return its requested log-probabilities."""
        from transformers import DynamicCache

        found: PositionLogProbs = {}
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

    def read_pack(
        self, pack: _Pack, trunk: int, wanted: Mapping[Tokens, Iterable[tuple[int, int]]]
    ) -> PositionLogProbs:
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


def wanted_log_probs(logits: Any, places: Any, tokens: Sequence[int]) -> list[float]:
    """Compute the log-probability in nats of each token at its place, in float32.

    Args:
        logits: shape (..., vocabulary).
        places: index into the leading dimensions of ``logits``, one place for each token.
        tokens: ids.
    """
    import torch

    found: list[float] = []
    for start in range(0, len(tokens), _PIECE):
        piece = slice(start, start + _PIECE)
        chosen = logits[tuple(index[piece] for index in places)].float()
        ids = torch.tensor(tokens[piece], device=chosen.device)
        found += (chosen.gather(-1, ids[:, None])[:, 0] - chosen.logsumexp(-1)).tolist()
    return found


def tolerance(network: Any) -> float:
    """Return the allowed error of a log-probability with shared computations, in nats; larger in half precision."""
    return 1e-3 if str(network.dtype) in ("torch.float32", "torch.float64") else 0.1
