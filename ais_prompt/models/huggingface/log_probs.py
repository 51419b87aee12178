"""Log-likelihood queries as rows of tokens, their log-probabilities in a network, and completions from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from typing import Any, Final, TypeAlias

from msgspec import Struct

from ais_prompt.models.likelihood import NO_TOKENS, common_length, likelihood_completion, measured_bytes
from ais_prompt.models.tokens.tokenizer import decode, encode
from ais_prompt.types import Completion, Failure, Likelihood, LikelihoodQuery, Usage

Encode: TypeAlias = Callable[[str], list[int]]
"""Tokenize a prompt, with the special tokens that the network gets."""


class Row(Struct, frozen=True):
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
        usage = Usage(len(self.tokens) + (not self.is_choice), 0)
        if self.is_choice:
            return likelihood_completion(Likelihood(0.0, 0, 0, 0, tuple(log_probs)), usage, seconds)
        nll = -fsum(log_probs)
        return likelihood_completion(
            Likelihood(nll, len(log_probs), self.all_tokens, self.bytes, merged=self.merged), usage, seconds
        )


def query_row(prompt: str, query: LikelihoodQuery, tokenizer: Any, encode_prompt: Encode) -> Row | Failure:
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
        return _text_row(tokens, 1, len(tokens), measured_bytes(prompt, decode(tokenizer, tokens[:1])))
    before, tokens = encode_prompt(prompt), encode_prompt(prompt + query.continuation)
    # A tokenizer may merge the end of the prompt and the beginning of the continuation into one token. All tokens after
    # those that both texts have in common count then, so that no token of the continuation is lost.
    common = common_length(before, tokens)
    start = max(common, 1)
    length = len(query.continuation.encode("utf-8", "surrogatepass"))
    return _text_row(tokens, start, len(tokens) - start, length, merged=common < len(before))


def _text_row(tokens: Sequence[int], start: int, all_tokens: int, length: int, merged: bool = False) -> Row | Failure:
    wanted = tuple((position - 1, tokens[position]) for position in range(start, len(tokens)))
    if not length or not wanted:
        assert NO_TOKENS.failure is not None
        return NO_TOKENS.failure
    return Row(tuple(tokens[:-1]), wanted, all_tokens, length, merged)


def _choice_row(tokens: Sequence[int], choices: Sequence[str], tokenizer: Any) -> Row | Failure:
    ids = [encode(tokenizer, choice, add_special_tokens=False) for choice in choices]
    for choice, of_choice in zip(choices, ids, strict=True):
        if len(of_choice) != 1:
            words = f"the choice {choice!r} is {len(of_choice)} tokens long; only single tokens can be compared"
            return Failure("long_choice", words, fatal=True)
    if not tokens:
        return Failure("empty_prompt", "the prompt has no tokens")
    return Row(tuple(tokens), tuple((len(tokens) - 1, token) for [token] in ids), is_choice=True)


_PIECE: Final = 1024
"""Number of places computed together: each has a row of the whole vocabulary in float32."""


def log_probs_of_batch(network: Any, rows: Sequence[Row], pad: int) -> list[list[float]]:
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
