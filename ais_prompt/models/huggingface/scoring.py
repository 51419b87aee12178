"""Log-likelihood queries as rows of tokens, their log-probabilities in a network, and completions from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from typing import Any, Final, TypeAlias

from msgspec import Struct

from ais_prompt.models.likelihood import NO_TOKENS, common_length, scored
from ais_prompt.models.tokens.tokenizer import encode
from ais_prompt.types import Completion, Failure, Likelihood, LikelihoodQuery, Usage

Encode: TypeAlias = Callable[[str], list[int]]
"""A prompt to token ids, special tokens as the network is given them."""


class Row(Struct, frozen=True):
    """What a network is given, and what is wanted of it.

    The last token of a text is not given to it, only predicted: texts that differ in their last token are one row of
    tokens with several wishes.

    Attributes:
        tokens: ids, none of them missing at the front; at least one.
        wanted: pairs of position p and token t: how likely is t after ``tokens[: p + 1]``?
        all_tokens, bytes, merged: as in `Likelihood`.
        is_choice: the wanted tokens are choices and not a text.
    """

    tokens: tuple[int, ...]
    wanted: tuple[tuple[int, int], ...]
    all_tokens: int = 0
    bytes: int = 0
    merged: bool = False
    is_choice: bool = False

    def completion(self, log_probs: Sequence[float], seconds: float) -> Completion:
        """The answer, from the wanted log-probabilities in nats."""
        usage = Usage(len(self.tokens) + (not self.is_choice), 0)
        if self.is_choice:
            return scored(Likelihood(0.0, 0, 0, 0, tuple(log_probs)), usage, seconds)
        nll = -fsum(log_probs)
        return scored(Likelihood(nll, len(log_probs), self.all_tokens, self.bytes, merged=self.merged), usage, seconds)


def scoring_row(prompt: str, scoring: LikelihoodQuery, tokenizer: Any, encode_prompt: Encode) -> Row | Failure:
    """The row of a request, or why it cannot be scored.

    Args:
        prompt: the text before the continuation or the choices, or the text to be scored.
        scoring: what is scored.
        tokenizer: a Hugging Face tokenizer; choices are tokenised on their own, without special tokens.
        encode_prompt: tokenises everything else.
    """
    if scoring.choices:
        return _choice_row(encode_prompt(prompt), scoring.choices, tokenizer)
    if scoring.continuation is None:
        tokens = encode_prompt(prompt)
        return _text_row(tokens, 1, len(tokens), prompt)
    before, tokens = encode_prompt(prompt), encode_prompt(prompt + scoring.continuation)
    # A tokenizer may join the end of the prompt with the beginning of the continuation to one token. The likelihood of
    # what follows the tokens that both have in common is then right, and no token of the continuation is lost.
    common = common_length(before, tokens)
    start = max(common, 1)
    return _text_row(tokens, start, len(tokens) - start, scoring.continuation, merged=common < len(before))


def _text_row(tokens: Sequence[int], start: int, all_tokens: int, text: str, merged: bool = False) -> Row | Failure:
    wanted = tuple((position - 1, tokens[position]) for position in range(start, len(tokens)))
    if not text or not wanted:
        assert NO_TOKENS.failure is not None
        return NO_TOKENS.failure
    return Row(tuple(tokens[:-1]), wanted, all_tokens, len(text.encode("utf-8", "surrogatepass")), merged)


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
