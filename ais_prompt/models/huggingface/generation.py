"""Generate answers with a loaded network: options of ``generate`` in transformers, where an answer ends, completions.

`Generator` answers batches and reuses the keys and values of earlier prompts where possible.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from msgspec import Struct

from ais_prompt.errors import ConfigError
from ais_prompt.models.flat_options import EXTRA
from ais_prompt.models.huggingface.library import cache_for_generate, quiet
from ais_prompt.models.huggingface.reuse import reuse_of
from ais_prompt.models.model_options import first_stop
from ais_prompt.models.thoughts import answer_start
from ais_prompt.models.tokenizer import CONTEXT_TOKENS, continuation
from ais_prompt.types import Completion, Decoding, Failure, Usage

_SAMPLING_OPTIONS: Final = ("temperature", "top_p", "top_k", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")
_TAKEN_OPTIONS: Final = {
    "max_new_tokens": "use max_out_len",
    "max_length": "use max_out_len and max_seq_len",
    "stop_strings": "use stop_words or sampling.stop",
    "num_return_sequences": "use n of GenInferencer",
    "return_dict_in_generate": "leave it out",
}
"""Options of ``generate`` that the program sets itself → what to write instead."""
NOT_A_NUMBER: Final = Failure("not_a_number", "the model computed NaN instead of the next token's probabilities")


class Generator:
    """Answers batches of prompts.

    Greedy answers in float32 depend neither on the rest of the batch nor on earlier prompts. Sampled answers do; the
    same batch with the same seed has the same answers.

    Args:
        network: a causal language model of transformers.
        tokenizer: its tokenizer.
        options: options of ``generate`` for all batches.
        think_tags: of the model; thoughts do not end at stop texts.
        cache_tokens: most tokens of earlier prompts and answers that are kept; 0 computes every prompt anew.
    """

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        options: Mapping[str, Any],
        *,
        think_tags: tuple[str, str] | None = None,
        cache_tokens: int,
    ) -> None:
        self._think_tags = think_tags
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
        stops = Stops(self._tokenizer, decoding.stop, self._think_tags)
        not_a_number = NotANumber()
        with quiet(), _seeded(self._network.device, seed):
            output = self._network.generate(
                **batch,
                **generation_options(decoding),
                eos_token_id=sorted(ends) or None,
                pad_token_id=self._tokenizer.pad_token_id,
                stopping_criteria=[StopTexts(stops, width)] if decoding.stop else None,
                logits_processor=[not_a_number],
                **cache_for_generate(cache),
            )
        answers = [tuple(new) for new in output[:, width:].tolist()]
        completions = [completion_of(stops, row, new, ends) for row, new in zip(rows, answers, strict=True)]
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
        width: tokens of the padded prompts, the same for all rows.
    """

    def __init__(self, stops: Stops, width: int) -> None:
        self.stops = stops
        self.width = width
        # A token has at least one byte, so a stop text that was just completed is within this many tokens.
        self.window = max((len(word.encode()) for word in stops.texts), default=0) + CONTEXT_TOKENS

    def __call__(self, input_ids: Any, _scores: Any, **_options: Any) -> Any:
        """Return which rows are done: (rows, tokens) → (rows,) of bool."""
        import torch

        tails = self.stops.tokenizer.batch_decode(
            input_ids[:, -self.window :], skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        done = [self._is_done(row, tail) for row, tail in zip(input_ids, tails, strict=True)]
        return torch.tensor(done, dtype=torch.bool, device=input_ids.device)

    def _is_done(self, row: Any, tail: str) -> bool:
        # The tail can reach into the prompt, so a stop text in it may not be part of the answer.
        if first_stop(tail, self.stops.texts) is None:
            return False
        ids = row.tolist()
        prompt = ids[: self.width]
        return self.stops.first(prompt, self.stops.text(prompt, ids[self.width :])) is not None


def refuse_taken_options(options: Mapping[str, Any], *, where: str) -> None:
    """Refuse further options that have an option of their own.

    Raises:
        ConfigError: there is one.
    """
    for name in options:
        if name in _TAKEN_OPTIONS:
            raise ConfigError(f"{EXTRA} must not hold {name!r}", where=where, fix=_TAKEN_OPTIONS[name])


def is_sampling(options: Mapping[str, Any]) -> bool:
    """Whether these options of ``generate`` sample. ``do_sample`` decides, but temperature 0 is always greedy."""
    if options.get("temperature") == 0:
        return False
    asked = any(options.get(name) is not None for name in _SAMPLING_OPTIONS)
    return bool(options.get("do_sample", asked))


def without_sampling(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that greedy decoding uses."""
    return {name: value for name, value in options.items() if name not in (*_SAMPLING_OPTIONS, "do_sample")}


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


def generation_options(decoding: Decoding) -> dict[str, Any]:
    """Return the arguments of ``generate``.

    Sampling options that are not given have the default of the model's ``generation_config.json``, or else of the
    library. Greedy decoding has none: the library applies them with ``do_sample`` only.
    """
    asked: dict[str, Any] = {"temperature": decoding.temperature, "top_p": decoding.top_p, **decoding.extra}
    options = {name: value for name, value in asked.items() if value is not None and name != "eos_token_id"}
    sampling = is_sampling(options)
    return {
        **(options if sampling else without_sampling(options)),
        "do_sample": sampling,
        "max_new_tokens": decoding.max_out_len,
    }


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
