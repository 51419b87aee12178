"""Compute the next tokens of a batch with ``generate`` of transformers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ais_prompt.models.huggingface.ends import NotANumber, PauseAtEnd, Stops, StopTexts, completion_of, end_tokens
from ais_prompt.models.huggingface.library import cache_for_generate, quiet
from ais_prompt.types import Completion, Decoding


class Steps:
    """Calls ``generate`` for one decoding.

    Args:
        network: a causal language model of transformers.
        tokenizer: its tokenizer.
        decoding: how prompts are answered.
        options: of ``generate``, without end tokens and number of new tokens.
        think_tags: of the model; thoughts do not end at stop texts.
        seed: seed of the sampling; None uses the random state of the process.
    """

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        decoding: Decoding,
        options: Mapping[str, Any],
        *,
        think_tags: tuple[str, str] | None,
        seed: int | None,
    ) -> None:
        self._network = network
        self._pad = tokenizer.pad_token_id
        self._options = options
        self._seed = seed
        self._ends = end_tokens(network, tokenizer, decoding)
        self._stops = Stops(tokenizer, decoding.stop, think_tags)

    def completion(self, prompt: Sequence[int], new: Sequence[int]) -> Completion:
        """Return the completion of a prompt, from the tokens of its answer."""
        return completion_of(self._stops, prompt, new, self._ends)

    def padded(self, rows: Sequence[Sequence[int]]) -> dict[str, Any]:
        """Return ``input_ids`` and ``attention_mask`` of rows of token ids, padded on the left."""
        import torch

        width, device = max(map(len, rows)), self._network.device
        ids = [[self._pad] * (width - len(row)) + list(row) for row in rows]
        mask = [[0] * (width - len(row)) + [1] * len(row) for row in rows]
        return {
            "input_ids": torch.tensor(ids, device=device),
            "attention_mask": torch.tensor(mask, device=device),
        }

    def to_the_end(self, batch: Mapping[str, Any], most: int) -> tuple[list[list[int]], set[int]]:
        """Compute answers until all rows have ended.

        Args:
            batch: inputs of the network, padded on the left.
            most: most tokens of an answer.

        Returns:
            The new tokens of each row, of equal length, and the numbers of the rows with NaN.
        """
        rows, width = batch["input_ids"].shape
        not_a_number = NotANumber()
        criteria = [StopTexts(self._stops, [width] * rows)] if self._stops.texts else None
        return self._generate(batch, None, most, criteria, not_a_number), not_a_number.rows()

    def to_the_next_end(
        self, batch: Mapping[str, Any], begins: Sequence[int], cache: Any, most: int
    ) -> tuple[list[list[int]], list[bool], set[int]]:
        """Compute tokens until one of the rows has ended.

        Args:
            batch: inputs of the network, padded on the left.
            begins: the column in which the answer of each row begins, or will begin.
            cache: keys and values of the first columns, to which those of all others are added; those of the last new
                token are not computed.
            most: most new tokens.

        Returns:
            The new tokens of each row, of equal length, which rows have ended, and the numbers of the rows with NaN.
        """
        not_a_number = NotANumber()
        texts = StopTexts(self._stops, begins) if self._stops.texts else None
        pause = PauseAtEnd(self._ends, texts, not_a_number)
        new = self._generate(batch, cache, most, [pause], not_a_number)
        return new, pause.ended.tolist(), not_a_number.rows()

    def _generate(
        self, batch: Mapping[str, Any], cache: Any, most: int, criteria: Any, not_a_number: NotANumber
    ) -> list[list[int]]:
        with quiet(), _seeded(self._network.device, self._seed):
            output = self._network.generate(
                **batch,
                **self._options,
                max_new_tokens=most,
                eos_token_id=sorted(self._ends) or None,
                pad_token_id=self._pad,
                stopping_criteria=criteria,
                logits_processor=[not_a_number],
                **cache_for_generate(cache),
            )
        if self._seed is not None:
            self._seed += 1  # the next call draws other random numbers
        new: list[list[int]] = output[:, batch["input_ids"].shape[1] :].tolist()
        return new


@contextmanager
def _seeded(device: Any, seed: int | None) -> Iterator[None]:
    """Draw random numbers from a seed, and restore the random state of the process."""
    import torch

    if seed is None:
        yield
        return
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield
