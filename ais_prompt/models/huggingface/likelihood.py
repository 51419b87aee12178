"""Compute log-probabilities of rows with a loaded network, common beginnings once where possible."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ais_prompt.models.huggingface.cache.prefixes import log_probs_of_tree
from ais_prompt.models.huggingface.library import bisect_on_failure, first_line, free_accelerator
from ais_prompt.models.huggingface.log_probs import Row, log_probs_of_batch, tolerance
from ais_prompt.types import Failure

logger = logging.getLogger(__name__)


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
        self._shares = cache_tokens > 0 and self._can_share()

    def log_probs(self, rows: Sequence[Row]) -> Iterator[tuple[int, list[float] | Failure]]:
        """Yield numbers of rows and their log-probabilities in nats, or their failures, in the order of computation."""
        waiting = dict(enumerate(rows))
        if self._shares and rows:
            try:
                for number, values in log_probs_of_tree(self._network, rows, self._cache_tokens):
                    del waiting[number]
                    yield number, values
            except (IndexError, RuntimeError, ValueError) as error:
                logger.warning("computing this time without shared beginnings: %s", first_line(error))
        if waiting:
            free_accelerator()
        yield from self._one_by_one(waiting)

    def _one_by_one(self, rows: Mapping[int, Row]) -> Iterator[tuple[int, list[float] | Failure]]:
        """Compute rows in batches of similar length, for little padding."""
        order = sorted(rows, key=lambda number: len(rows[number].tokens), reverse=True)
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            answers = bisect_on_failure([rows[number] for number in batch], self._plain, kind="scoring")
            yield from zip(batch, answers, strict=True)

    def _plain(self, rows: Sequence[Row]) -> list[list[float]]:
        return log_probs_of_batch(self._network, rows, self._pad)

    def _can_share(self) -> bool:
        """Try whether the network returns the same values if rows share their beginning."""
        reason = _obstacle(self._network.config) or self._trial()
        if reason:
            logger.warning("common beginnings of texts cannot be shared, each is computed anew: %s", reason)
        return not reason

    def _trial(self) -> str:
        """Return why sharing fails on a few tokens; empty if it works."""
        size = self._network.config.get_text_config().vocab_size
        texts = [(1, 2, 3, 4, 5), (1, 2, 3, 6, 7, 8), (1, 2, 3, 6, 9)]
        tokens = [tuple(token % size for token in text) for text in texts]
        rows = [Row(text[:-1], tuple(enumerate(text[1:]))) for text in tokens]
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
