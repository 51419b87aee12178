"""Generate answers with a loaded network, reusing the keys and values of earlier prompts where possible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ais_prompt.models.huggingface.cache.reuse import reuse_of
from ais_prompt.models.huggingface.generation import StopTexts, completion_of, end_tokens, generation_options
from ais_prompt.models.huggingface.library import cache_for_generate, quiet
from ais_prompt.types import Completion, Decoding, Failure


class Generator:
    """Answers batches of prompts.

    Greedy answers in float32 depend neither on the rest of the batch nor on earlier prompts. Sampled answers do; the
    same batch with the same seed has the same answers.

    Args:
        network: a causal language model of transformers.
        tokenizer: its tokenizer.
        options: options of ``generate`` for all batches.
        cache_tokens: most tokens of earlier prompts and answers that are kept; 0 computes every prompt anew.
    """

    def __init__(self, network: Any, tokenizer: Any, options: Mapping[str, Any], *, cache_tokens: int) -> None:
        self._network = network
        self._tokenizer = tokenizer
        self._reuse = reuse_of(network, options, cache_tokens)

    def answer(self, rows: Sequence[Sequence[int]], decoding: Decoding, seed: int | None) -> list[Completion]:
        """Answer prompts in one padded batch.

        Args:
            rows: token ids of each prompt, none empty.
            decoding: how all prompts are answered.
            seed: seed of the sampling; None uses the random state of the process.

        Returns:
            One completion a row, in order, without ``seconds``.

        Raises:
            IndexError, RuntimeError, ValueError: the network cannot answer them, or memory runs out.
        """
        try:
            return self._answer([tuple(row) for row in rows], decoding, seed)
        except RuntimeError:
            if self._reuse:
                self._reuse.forget()  # free all memory for a retry
            raise

    def answer_media(
        self, rows: Sequence[Sequence[int]], inputs: Any, decoding: Decoding, seed: int | None
    ) -> list[Completion]:
        """Answer prompts with media in one batch.

        Nothing is reused, neither here nor for later texts: equal tokens may mean different images, and some networks
        remember where in the prompt the images were.

        Args:
            rows: token ids of each prompt, without padding.
            inputs: the same prompts from a processor of transformers, padded on the left.
            decoding, seed: as in `answer`.

        Returns:
            As `answer`.

        Raises:
            IndexError, RuntimeError, ValueError: as `answer`.
        """
        self._reuse = None
        batch = inputs.to(self._network.device, dtype=self._network.dtype)
        return self._generate([tuple(row) for row in rows], batch, None, decoding, seed)

    def _answer(self, rows: Sequence[tuple[int, ...]], decoding: Decoding, seed: int | None) -> list[Completion]:
        batch = _left_padded(self._tokenizer, rows, self._network.device)
        return self._generate(rows, batch, self._reuse.cache_for(rows) if self._reuse else None, decoding, seed)

    def _generate(
        self,
        rows: Sequence[tuple[int, ...]],
        batch: Mapping[str, Any],
        cache: Any,
        decoding: Decoding,
        seed: int | None,
    ) -> list[Completion]:
        width = batch["input_ids"].shape[1]
        ends = end_tokens(self._network, self._tokenizer, decoding)
        not_a_number = NotANumber()
        with quiet(), _seeded(self._network.device, seed):
            output = self._network.generate(
                **batch,
                **generation_options(decoding),
                eos_token_id=sorted(ends) or None,
                pad_token_id=self._tokenizer.pad_token_id,
                stopping_criteria=[StopTexts(self._tokenizer, width, decoding.stop)] if decoding.stop else None,
                logits_processor=[not_a_number],
                **cache_for_generate(cache),
            )
        answers = [tuple(new) for new in output[:, width:].tolist()]
        completions = [
            completion_of(self._tokenizer, row, new, ends, decoding.stop)
            for row, new in zip(rows, answers, strict=True)
        ]
        broken = not_a_number.rows()
        if self._reuse and cache is not None and not broken:
            said = zip(answers, completions, strict=True)
            self._reuse.keep(rows, [new[: completion.usage.completion_tokens] for new, completion in said], cache)
        return [Completion(failure=NOT_A_NUMBER) if row in broken else one for row, one in enumerate(completions)]


def _left_padded(tokenizer: Any, rows: Sequence[Sequence[int]], device: Any) -> dict[str, Any]:
    """Return ``input_ids`` and ``attention_mask`` of rows of token ids; shape (rows, longest row) each."""
    with quiet():
        batch = tokenizer.pad({"input_ids": [list(row) for row in rows]}, padding_side="left", return_tensors="pt")
    return {name: batch[name].to(device) for name in ("input_ids", "attention_mask")}


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


NOT_A_NUMBER: Final = Failure("not_a_number", "the model computed NaN instead of the next token's probabilities")


class NotANumber:
    """Logits processor for ``generate`` that changes nothing and remembers the rows with NaN."""

    def __init__(self) -> None:
        self._seen: Any = None

    def __call__(self, _input_ids: Any, scores: Any) -> Any:
        """Check the logits of the next token, shape (rows, vocabulary)."""
        found = scores.amax(-1).isnan()
        self._seen = found if self._seen is None else self._seen | found
        return scores

    def rows(self) -> set[int]:
        """Return the numbers of the rows with NaN."""
        return set() if self._seen is None else set(self._seen.nonzero()[:, 0].tolist())
