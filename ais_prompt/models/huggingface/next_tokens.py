"""Compute the next tokens of a batch with ``generate`` of transformers, up to where an answer ends.

An answer ends at an end token, at a stop text outside of thoughts, or where the network computes NaN.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from msgspec import Struct

from ais_prompt.models.huggingface.library import cache_for_generate, quiet
from ais_prompt.models.model_options import first_stop
from ais_prompt.models.thoughts import answer_start
from ais_prompt.models.tokenizer import CONTEXT_TOKENS, continuation
from ais_prompt.types import Completion, Decoding, Failure, Usage

NOT_A_NUMBER: Final = Failure("not_a_number", "the model computed NaN instead of the next token's probabilities")


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
        self._pad: int = tokenizer.pad_token_id
        self._options = options
        self._seed = seed
        self._ends = end_tokens(network, tokenizer, decoding)
        self._stops = Stops(tokenizer, decoding.stop, think_tags)

    def completion(self, prompt: Sequence[int], new: Sequence[int]) -> Completion:
        """Return the completion of a prompt, from the tokens of its answer."""
        return completion_of(self._stops, prompt, new, self._ends)

    def padded(self, rows: Sequence[Sequence[int]]) -> dict[str, Any]:
        """Return ``input_ids`` and ``attention_mask`` of rows of token ids, padded on the left."""
        return left_padded(rows, self._pad, self._network.device)

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


def left_padded(rows: Sequence[Sequence[int]], pad: int, device: Any) -> dict[str, Any]:
    """Return ``input_ids`` and ``attention_mask`` of rows of token ids, padded on the left with a token."""
    import torch

    width = max(map(len, rows))
    ids = [[pad] * (width - len(row)) + list(row) for row in rows]
    mask = [[0] * (width - len(row)) + [1] * len(row) for row in rows]
    return {"input_ids": torch.tensor(ids, device=device), "attention_mask": torch.tensor(mask, device=device)}


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


def end_tokens(network: Any, tokenizer: Any, decoding: Decoding) -> set[int]:
    """Return the ids that end an answer: those of the model, its tokenizer, its options and the dataset."""
    ends: set[int] = set()
    for given in (
        network.generation_config.eos_token_id,
        tokenizer.eos_token_id,
        decoding.extra.get("eos_token_id"),
        decoding.stop_tokens,
    ):
        ends.update([given] if isinstance(given, int) else given or ())
    return ends


class NotANumber:
    """Logits processor for ``generate`` that changes nothing and remembers the rows with NaN.

    Attributes:
        seen: whether each row has had NaN, shape (rows,) of bool; None at the beginning.
    """

    def __init__(self) -> None:
        self.seen: Any = None

    def __call__(self, _input_ids: Any, scores: Any) -> Any:
        """Check the logits of the next token, shape (rows, vocabulary)."""
        found = scores.amax(-1).isnan()
        self.seen = found if self.seen is None else self.seen | found
        return scores

    def rows(self) -> set[int]:
        """Return the numbers of the rows with NaN."""
        return set() if self.seen is None else set(self.seen.nonzero()[:, 0].tolist())


class Stops(Struct, frozen=True):
    """Finds stop texts in answers, and not in the thoughts before them.

    Attributes:
        tokenizer: a Hugging Face tokenizer.
        texts: the stop texts, none of them empty.
        think_tags: of the model.
    """

    tokenizer: Any
    texts: tuple[str, ...]
    think_tags: tuple[str, str] | None = None

    def text(self, prompt: Sequence[int], new: Sequence[int]) -> str:
        """Return the text of the tokens after a prompt."""
        return continuation(self.tokenizer, prompt, new)

    def first(self, prompt: Sequence[int], text: str) -> int | None:
        """Return the position of the first stop text in the text after a prompt; None if there is none."""
        if first_stop(text, self.texts) is None:
            return None
        end = self.tokenizer.decode(list(prompt[-2 * CONTEXT_TOKENS :]))  # a chat template may open the thoughts there
        return first_stop(text, self.texts, answer_start(text, end, self.think_tags))


class StopTexts:
    """Stopping criterion for ``generate``: a row is done once its new text has a stop text.

    transformers has its own, `StopStringCriteria`. It also matches texts that begin in the prompt, and its table over
    the whole vocabulary costs more than decoding the last few tokens of each row.

    Args:
        stops: finds the stop texts.
        begins: the column in which the answer of each row begins.
    """

    def __init__(self, stops: Stops, begins: Sequence[int]) -> None:
        self.stops = stops
        self.begins = begins
        # A token has at least one byte, so a stop text that was just completed is within this many tokens.
        self.window = max((len(word.encode()) for word in stops.texts), default=0) + CONTEXT_TOKENS

    def __call__(self, input_ids: Any, _scores: Any, **_options: Any) -> Any:
        """Return which rows are done: (rows, tokens) → (rows,) of bool."""
        import torch

        tails = self.stops.tokenizer.batch_decode(
            input_ids[:, -self.window :], skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        rows = zip(input_ids, tails, self.begins, strict=True)
        done = [self._is_done(row, tail, begin) for row, tail, begin in rows]
        return torch.tensor(done, dtype=torch.bool, device=input_ids.device)

    def _is_done(self, row: Any, tail: str, begin: int) -> bool:
        # The tail can reach into the prompt, so a stop text in it may not be part of the answer.
        if first_stop(tail, self.stops.texts) is None:
            return False
        ids = row.tolist()
        prompt = ids[:begin]
        return self.stops.first(prompt, self.stops.text(prompt, ids[begin:])) is not None


class PauseAtEnd:
    """Stopping criterion for ``generate``: all rows pause as soon as one has ended.

    Args:
        ends: ids that end an answer.
        stop_texts: finds stop texts in the answers; None if there are none.
        not_a_number: knows the rows that have failed.

    Attributes:
        ended: which rows have ended, shape (rows,) of bool.
    """

    def __init__(self, ends: Iterable[int], stop_texts: StopTexts | None, not_a_number: NotANumber) -> None:
        self._ends = sorted(ends)
        self._stop_texts = stop_texts
        self._not_a_number = not_a_number
        self.ended: Any = None

    def __call__(self, input_ids: Any, scores: Any, **_options: Any) -> Any:
        """Return whether a row has ended, for each row: (rows, tokens) → (rows,) of bool."""
        import torch

        ended = torch.isin(input_ids[:, -1], torch.tensor(self._ends, device=input_ids.device))
        ended = ended | self._not_a_number.seen
        self.ended = ended | self._stop_texts(input_ids, scores) if self._stop_texts else ended
        return self.ended.any().expand(len(input_ids))


def completion_of(stops: Stops, prompt: Sequence[int], new: Sequence[int], ends: set[int]) -> Completion:
    """Make the completion of one row of the output; tokens after an end token or a stop text are padding."""
    end = next((position for position, token in enumerate(new) if token in ends), None)
    tokens = new[:end]
    text = stops.text(prompt, tokens)
    cut = stops.first(prompt, text)
    if cut is not None:
        count = tokens_until_stop(stops, prompt, tokens)
        return Completion(text[:cut], "stop", Usage(len(prompt), count))
    if end is not None:
        return Completion(text, "stop", Usage(len(prompt), end + 1))
    return Completion(text, "length", Usage(len(prompt), len(new)))


def tokens_until_stop(stops: Stops, prompt: Sequence[int], new: Sequence[int]) -> int:
    """Return the smallest number of ``new`` tokens whose text has a stop text; their number if none has."""

    def stopped(count: int) -> bool:
        return stops.first(prompt, stops.text(prompt, new[:count])) is not None

    return bisect.bisect_left(range(len(new)), True, key=stopped)
