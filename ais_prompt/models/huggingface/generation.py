"""Generate answers with a loaded network: how batches are formed, and options of ``generate`` in transformers.

What a network allows is tried on a few tokens: rows beside each other (`why_alone`), and rows that are put into a cache
and taken out again (`why_not_joined`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from time import perf_counter
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.models.huggingface.continuous import ContinuousBatch
from ais_prompt.models.huggingface.library import bisect_on_failure, cache_for_generate, first_line, quiet
from ais_prompt.models.huggingface.local_likelihood import tolerance
from ais_prompt.models.huggingface.next_tokens import NOT_A_NUMBER, Steps, left_padded
from ais_prompt.models.huggingface.reuse import WORTH, CachedPrefix, Reuse, Tokens, block_of
from ais_prompt.types import Completion, Decoding, Failure

logger = logging.getLogger(__name__)
_SAMPLING_OPTIONS: Final = ("temperature", "top_p", "top_k", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")
TAKEN_OPTIONS: Final = {
    "max_new_tokens": "use max_out_len",
    "max_length": "use max_out_len and max_seq_len",
    "stop_strings": "use stop_words or sampling.stop",
    "num_return_sequences": "use n of GenInferencer",
    "return_dict_in_generate": "leave it out",
}
"""Options of ``generate`` that the program sets itself → what to write instead."""


class Generator:
    """Answers prompts in batches.

    Greedy answers in float32 depend neither on the rest of the batch nor on earlier prompts. Sampled answers do; the
    same prompts with the same seed have the same answers.

    Rows that end make room for further prompts (`ContinuousBatch`) if the network and the options allow it. Otherwise a
    batch is computed until all of its rows have ended, and each prompt alone if other prompts would change its answer.

    Args:
        network: a causal language model of transformers.
        tokenizer: its tokenizer.
        options: options of ``generate`` for all batches.
        think_tags: of the model; thoughts do not end at stop texts.
        batch_size: prompts in one batch at most.
        cache_tokens: most tokens of earlier prompts and answers that are kept; 0 computes every prompt anew.
    """

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        options: Mapping[str, Any],
        *,
        think_tags: tuple[str, str] | None = None,
        batch_size: int,
        cache_tokens: int,
    ) -> None:
        self._think_tags = think_tags
        self._network = network
        self._tokenizer = tokenizer
        self._batch_size = batch_size
        self._reuse: Reuse | None = None
        reason = why_not_joined(network, options)
        if not reason:
            self._reuse = Reuse(network, cache_tokens)
            return
        logger.info("every batch is computed until its last answer ends, and nothing is reused: %s", reason)
        if batch_size > 1 and (reason := why_alone(network)):
            logger.warning("the model is asked one prompt at a time, others beside it change its answers: %s", reason)
            self._batch_size = 1

    def answers(
        self, rows: Sequence[Sequence[int]], decoding: Decoding, seed: int | None
    ) -> Iterator[tuple[int, Completion]]:
        """Answer prompts.

        Args:
            rows: token ids of each prompt, none empty; any number.
            decoding: how all prompts are answered.
            seed: seed of the sampling; None uses the random state of the process.

        Yields:
            Numbers of rows and their completions, each as soon as it has ended. A row that the network cannot answer
            has a failure.
        """
        steps = self._steps(decoding, seed)
        prompts = [tuple(row) for row in rows]
        if self._reuse:
            batch = ContinuousBatch(
                self._network,
                self._reuse,
                steps,
                prompts,
                batch_size=self._batch_size,
                max_out_len=decoding.max_out_len,
            )
            for row in batch.answers():
                if row.failure:
                    yield row.number, Completion(failure=row.failure)
                else:
                    yield row.number, replace(steps.completion(row.prompt, row.new), seconds=row.seconds)
            return

        def work(rows: Sequence[Tokens]) -> list[Completion]:
            return self._complete(steps, decoding, rows, steps.padded(rows))

        for start in range(0, len(prompts), self._batch_size):
            batch_rows = prompts[start : start + self._batch_size]
            for number, outcome in enumerate(bisect_on_failure(batch_rows, work, kind="generation"), start):
                yield number, Completion(failure=outcome) if isinstance(outcome, Failure) else outcome

    def answer_media(
        self, rows: Sequence[Sequence[int]], inputs: Any, decoding: Decoding, seed: int | None
    ) -> list[Completion]:
        """Answer prompts with media in one batch.

        Nothing is reused, neither here nor for later texts: equal tokens may mean different images, and some networks
        remember where in the prompt the images were.

        Args:
            rows: token ids of each prompt, without padding.
            inputs: the same prompts from a processor of transformers, padded on the left.
            decoding, seed: as in `answers`.

        Raises:
            IndexError, RuntimeError, ValueError: the network cannot answer them, or memory runs out.
        """
        self._reuse = None
        batch = inputs.to(self._network.device, dtype=self._network.dtype)
        return self._complete(self._steps(decoding, seed), decoding, rows, batch)

    def _steps(self, decoding: Decoding, seed: int | None) -> Steps:
        options = generation_options(decoding)
        return Steps(self._network, self._tokenizer, decoding, options, think_tags=self._think_tags, seed=seed)

    def _complete(
        self, steps: Steps, decoding: Decoding, rows: Sequence[Sequence[int]], batch: Mapping[str, Any]
    ) -> list[Completion]:
        started = perf_counter()
        answers, broken = steps.to_the_end(batch, decoding.max_out_len)
        seconds = perf_counter() - started
        return [
            Completion(failure=NOT_A_NUMBER)
            if number in broken
            else replace(steps.completion(row, new), seconds=seconds)
            for number, (row, new) in enumerate(zip(rows, answers, strict=True))
        ]


def is_sampling(options: Mapping[str, Any]) -> bool:
    """Whether these options of ``generate`` sample. ``do_sample`` decides, but temperature 0 is always greedy."""
    if options.get("temperature") == 0:
        return False
    asked = any(options.get(name) is not None for name in _SAMPLING_OPTIONS)
    return bool(options.get("do_sample", asked))


def without_sampling(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that greedy decoding uses."""
    return {name: value for name, value in options.items() if name not in (*_SAMPLING_OPTIONS, "do_sample")}


def generation_options(decoding: Decoding) -> dict[str, Any]:
    """Return the arguments of ``generate``, but for end tokens and the number of new tokens.

    Sampling options that are not given have the default of the model's ``generation_config.json``, or else of the
    library. Greedy decoding has none: the library applies them with ``do_sample`` only.
    """
    asked: dict[str, Any] = {"temperature": decoding.temperature, "top_p": decoding.top_p, **decoding.extra}
    options = {name: value for name, value in asked.items() if value is not None and name != "eos_token_id"}
    sampling = is_sampling(options)
    return {**(options if sampling else without_sampling(options)), "do_sample": sampling}


_TRUNK: Final = tuple(range(1, WORTH + 3))
_PROMPTS: Final = ((*_TRUNK, 40, 41, 42), (*_TRUNK, 50))
_FURTHER: Final = ((*_PROMPTS[0], 43), (*_PROMPTS[1], 51, 52))
"""The inputs: prompts with a common beginning, then dialogues that continue them."""
_OF_WHOLE_ANSWERS: Final = (
    "begin_suppress_tokens",
    "encoder_no_repeat_ngram_size",
    "encoder_repetition_penalty",
    "exponential_decay_length_penalty",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "guidance_scale",
    "max_time",
    "min_length",
    "min_new_tokens",
    "watermarking_config",
)
"""Options that depend on where the prompt ends, or on the time: an answer must come from one call of ``generate``."""


def why_not_joined(network: Any, options: Mapping[str, Any]) -> str:
    """Return why rows cannot be put into the cache of other rows and taken out again; empty if they can.

    Args:
        network: a causal language model of transformers.
        options: options of ``generate``, besides the model's ``generation_config.json``.
    """
    return _other_way_of_generating(network, options) or _other_cache(network) or _trial(network)


def why_alone(network: Any) -> str:
    """Return why an answer depends on the prompts beside it in a padded batch; empty if it does not.

    A network without an attention mask computes the padding of short prompts as if it were text.
    """
    rows = _rows(network, _PROMPTS)
    try:
        return _change(network, _alone(network, rows), _next_log_probs(network, rows, None))
    except Exception as error:  # networks can raise anything
        return first_line(error)


def _other_way_of_generating(network: Any, options: Mapping[str, Any]) -> str:
    """Return why ``generate`` takes no cache, or must compute whole answers; empty if neither holds."""
    config = deepcopy(network.generation_config)
    config.update(**options)
    mode = str(config.get_generation_mode().value)
    if mode not in ("greedy_search", "sample"):
        return f"answers are generated by {mode}"
    if config.use_cache is False:
        return "use_cache is False"
    if config.cache_implementation:
        return f"cache_implementation is {config.cache_implementation!r}"
    return next((f"{name} is {value!r}" for name in _OF_WHOLE_ANSWERS if (value := getattr(config, name, None))), "")


def _other_cache(network: Any) -> str:
    """Return which layers keep more or less than the keys and values of all tokens; empty if none."""
    from transformers import DynamicCache
    from transformers.cache_utils import DynamicLayer

    try:
        layers = DynamicCache(config=network.config).layers
    except Exception as error:  # a config may lack what a cache needs
        return first_line(error)
    others = sorted({type(layer).__name__ for layer in layers if type(layer) is not DynamicLayer})
    return f"its cache has layers of the kind {', '.join(others)}" if others else ""


def _trial(network: Any) -> str:
    """Return why joined rows fail on a few tokens; empty if they work."""
    reuse = Reuse(network, limit=1000)
    try:
        for prompts in (_PROMPTS, _FURTHER):
            rows = _rows(network, prompts)
            cache = reuse.cache_for(rows)
            assert cache.get_seq_length() >= WORTH
            if reason := _change(network, _alone(network, rows), _next_log_probs(network, rows, cache)):
                return reason
            block = block_of(rows, cache)
            for number, row in enumerate(rows):
                reuse.keep(CachedPrefix(block, number, len(row)))
    except Exception as error:  # networks can raise anything
        return first_line(error)
    return ""


def _rows(network: Any, prompts: Sequence[Tokens]) -> list[Tokens]:
    size = network.config.get_text_config().vocab_size
    return [tuple(token % size for token in prompt) for prompt in prompts]


def _change(network: Any, alone: Any, together: Any) -> str:
    """Return by how much log-probabilities differ, shape (rows, vocabulary) each; empty if it is no more than noise."""
    likeliest = alone.argmax(-1, keepdim=True)
    worst = (alone - together).gather(-1, likeliest).abs().max().item()
    return "" if worst <= tolerance(network) else f"log-probabilities would change by {worst:.2g} nats"


def _alone(network: Any, rows: Sequence[Tokens]) -> Any:
    import torch

    return torch.cat([_next_log_probs(network, [row], None) for row in rows])


def _next_log_probs(network: Any, rows: Sequence[Tokens], cache: Any) -> Any:
    """Compute the log-probabilities of the token after each row, in nats, shape (rows, vocabulary)."""
    with quiet():
        output = network.generate(
            **left_padded(rows, 0, network.device),
            **cache_for_generate(cache),
            pad_token_id=0,
            max_new_tokens=1,
            num_beams=1,
            do_sample=False,
            output_logits=True,
            return_dict_in_generate=True,
        )
    return output.logits[0].float().log_softmax(-1)
