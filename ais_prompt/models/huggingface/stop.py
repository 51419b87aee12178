"""Stop texts: where an answer ends, and ending a batch once all its answers are there."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Any

from ais_prompt.models.tokens.tokenizer import CONTEXT_TOKENS, continuation


def first_stop(text: str, stop: Sequence[str]) -> int | None:
    """Position of the earliest stop text; None if there is none."""
    return min((position for word in stop if (position := text.find(word)) >= 0), default=None)


def tokens_until_stop(tokenizer: Any, prompt: Sequence[int], new: Sequence[int], stop: Sequence[str]) -> int:
    """Fewest of the ``new`` tokens whose text holds a stop text; all of them if none does."""

    def stopped(count: int) -> bool:
        return first_stop(continuation(tokenizer, prompt, new[:count]), stop) is not None

    return bisect.bisect_left(range(len(new)), True, key=stopped)


class StopTexts:
    """Stopping criterion for ``generate``: a row is done once its new text holds a stop text.

    transformers has its own, `StopStringCriteria`. It also matches texts that begin in the prompt, and its table over
    the whole vocabulary costs more than decoding the last few tokens of each row.

    Args:
        tokenizer: a Hugging Face tokenizer.
        width: tokens of the padded prompts, the same for all rows.
        stop: the stop texts, none of them empty.
    """

    def __init__(self, tokenizer: Any, width: int, stop: Sequence[str]) -> None:
        self.tokenizer = tokenizer
        self.width = width
        self.stop = stop
        # A token holds at least one byte, so a stop text that was just completed lies within so many tokens.
        self.window = max((len(word.encode()) for word in stop), default=0) + CONTEXT_TOKENS

    def __call__(self, input_ids: Any, _scores: Any, **_options: Any) -> Any:
        """Which rows are done: (rows, tokens) → (rows,) of bool."""
        import torch

        tails = self.tokenizer.batch_decode(
            input_ids[:, -self.window :], skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        done = [self._is_done(row, tail) for row, tail in zip(input_ids, tails, strict=True)]
        return torch.tensor(done, dtype=torch.bool, device=input_ids.device)

    def _is_done(self, row: Any, tail: str) -> bool:
        # The tail can reach into the prompt, so it only says which rows are worth a full look.
        if first_stop(tail, self.stop) is None:
            return False
        ids = row.tolist()
        text = continuation(self.tokenizer, ids[: self.width], ids[self.width :])
        return first_stop(text, self.stop) is not None
