"""Log-probabilities of tokens, each row of a padded batch computed on its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ais_prompt.models.huggingface.scoring import Row

_PIECE: Final = 1024
"""Places that are looked at together: each has a row of the whole vocabulary in float32."""


def log_probs_of_batch(network: Any, rows: Sequence[Row], pad: int) -> list[list[float]]:
    """What the rows want of a network, in nats; computed in one batch.

    Padding stands on the right, where no token of a causal model can see it, so a row's values do not depend on what
    else is in the batch.

    Args:
        network: a causal language model of transformers.
        rows: any number of them; memory grows with it.
        pad: a token id to fill up short rows with.
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


def wanted_log_probs(logits: Any, places: Any, tokens: Sequence[int]) -> list[float]:
    """Log-probability in nats of each token at its place, computed in float32.

    Args:
        logits: shape (..., vocabulary).
        places: index of the leading dimensions of ``logits``, one place for each token.
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
    """How far a log-probability may lie from the plain one where work is shared, in nats; in half precision more."""
    return 1e-3 if str(network.dtype) in ("torch.float32", "torch.float64") else 0.1
