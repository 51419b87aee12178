"""Options of ``generate`` in transformers, where an answer ends, and completions from its output."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import ConfigError
from ais_prompt.models.flat_options import EXTRA
from ais_prompt.models.tokens.tokenizer import CONTEXT_TOKENS, continuation
from ais_prompt.types import Completion, Decoding, Usage

_SAMPLING_OPTIONS: Final = ("temperature", "top_p", "top_k", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")
_TAKEN_OPTIONS: Final = {
    "max_new_tokens": "use max_out_len",
    "max_length": "use max_out_len and max_seq_len",
    "stop_strings": "use stop_words or sampling.stop",
    "num_return_sequences": "use n of GenInferencer",
    "return_dict_in_generate": "leave it out",
}
"""Options of ``generate`` that the program sets itself → what to write instead."""


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


def completion_of(
    tokenizer: Any, prompt: Sequence[int], new: Sequence[int], ends: set[int], stop: Sequence[str]
) -> Completion:
    """Make the completion of one row of the output; tokens after an end token or a stop text are padding."""
    end = next((position for position, token in enumerate(new) if token in ends), None)
    tokens = new[:end]
    text = continuation(tokenizer, prompt, tokens)
    cut = first_stop(text, stop)
    if cut is not None:
        count = tokens_until_stop(tokenizer, prompt, tokens, stop)
        return Completion(text[:cut], "stop", Usage(len(prompt), count))
    if end is not None:
        return Completion(text, "stop", Usage(len(prompt), end + 1))
    return Completion(text, "length", Usage(len(prompt), len(new)))


def first_stop(text: str, stop: Sequence[str]) -> int | None:
    """Return the position of the earliest stop text; None if there is none."""
    return min((position for word in stop if (position := text.find(word)) >= 0), default=None)


def tokens_until_stop(tokenizer: Any, prompt: Sequence[int], new: Sequence[int], stop: Sequence[str]) -> int:
    """Return the smallest number of ``new`` tokens whose text has a stop text; their number if none has."""

    def stopped(count: int) -> bool:
        return first_stop(continuation(tokenizer, prompt, new[:count]), stop) is not None

    return bisect.bisect_left(range(len(new)), True, key=stopped)


class StopTexts:
    """Stopping criterion for ``generate``: a row is done once its new text has a stop text.

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
        # A token has at least one byte, so a stop text that was just completed is within this many tokens.
        self.window = max((len(word.encode()) for word in stop), default=0) + CONTEXT_TOKENS

    def __call__(self, input_ids: Any, _scores: Any, **_options: Any) -> Any:
        """Return which rows are done: (rows, tokens) → (rows,) of bool."""
        import torch

        tails = self.tokenizer.batch_decode(
            input_ids[:, -self.window :], skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        done = [self._is_done(row, tail) for row, tail in zip(input_ids, tails, strict=True)]
        return torch.tensor(done, dtype=torch.bool, device=input_ids.device)

    def _is_done(self, row: Any, tail: str) -> bool:
        # The tail can reach into the prompt, so a stop text in it may not be part of the answer.
        if first_stop(tail, self.stop) is None:
            return False
        ids = row.tolist()
        text = continuation(self.tokenizer, ids[: self.width], ids[self.width :])
        return first_stop(text, self.stop) is not None
