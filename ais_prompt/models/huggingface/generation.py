"""What generation is asked for, as options of transformers, and what comes of it, as completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import ConfigError
from ais_prompt.models.flat_options import EXTRA
from ais_prompt.models.huggingface.stop import first_stop, tokens_until_stop
from ais_prompt.models.tokens.tokenizer import continuation
from ais_prompt.types import Completion, Decoding, Usage

_SAMPLING_OPTIONS: Final = ("temperature", "top_p", "top_k", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")
_TAKEN_OPTIONS: Final = {
    "max_new_tokens": "use max_out_len",
    "max_length": "use max_out_len and max_seq_len",
    "stop_strings": "use stop_words or sampling.stop",
    "num_return_sequences": "use n of GenInferencer",
    "return_dict_in_generate": "leave it out",
}
"""Generation options that this class sets itself, and what to write in their place."""


def refuse_taken_options(options: Mapping[str, Any], *, where: str) -> None:
    """See that ``generation_kwargs`` hold nothing that has an argument of its own.

    Raises:
        ConfigError: they do.
    """
    for name in options:
        if name in _TAKEN_OPTIONS:
            raise ConfigError(f"{EXTRA} must not hold {name!r}", where=where, fix=_TAKEN_OPTIONS[name])


def is_sampling(options: Mapping[str, Any]) -> bool:
    """Do these generation options ask for sampling? ``do_sample`` decides, but temperature 0 is always greedy."""
    if options.get("temperature") == 0:
        return False
    asked = any(options.get(name) is not None for name in _SAMPLING_OPTIONS)
    return bool(options.get("do_sample", asked))


def without_sampling(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that still mean something to greedy decoding."""
    return {name: value for name, value in options.items() if name not in (*_SAMPLING_OPTIONS, "do_sample")}


def end_tokens(network: Any, tokenizer: Any, decoding: Decoding) -> set[int]:
    """Ids that end an answer: those of the model, of its tokenizer, of ``generation_kwargs`` and of the dataset."""
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
    """Arguments of ``generate``.

    Where a sampling option is not given, the model's ``generation_config.json`` and then the library's own default
    count. Greedy decoding has none: the library applies them with ``do_sample`` only.
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
    """Read one row of the output: what follows an end token or a stop text is padding."""
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
