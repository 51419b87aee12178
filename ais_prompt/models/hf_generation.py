"""One batch through a network: padded prompts in, completions out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ais_prompt.models.hf_library import quiet
from ais_prompt.models.hf_stop import StopTexts, first_stop, tokens_until_stop
from ais_prompt.models.hf_tokenizer import continuation
from ais_prompt.types import Completion, Decoding, Usage

_SAMPLING_OPTIONS: Final = ("temperature", "top_p", "top_k", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")


def is_sampling(options: Mapping[str, Any]) -> bool:
    """Do these generation options ask for sampling? ``do_sample`` decides, but temperature 0 is always greedy."""
    if options.get("temperature") == 0:
        return False
    asked = any(options.get(name) is not None for name in _SAMPLING_OPTIONS)
    return bool(options.get("do_sample", asked))


def without_sampling(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that still mean something to greedy decoding."""
    return {name: value for name, value in options.items() if name not in (*_SAMPLING_OPTIONS, "do_sample")}


def left_padded(tokenizer: Any, rows: Sequence[Sequence[int]], device: Any) -> dict[str, Any]:
    """``input_ids`` and ``attention_mask`` of rows of token ids; shape (rows, longest row) each."""
    with quiet():
        batch = tokenizer.pad({"input_ids": list(rows)}, padding_side="left", return_tensors="pt")
    return {name: batch[name].to(device) for name in ("input_ids", "attention_mask")}


def generate_batch(
    network: Any, tokenizer: Any, rows: Sequence[Sequence[int]], decoding: Decoding, seed: int | None
) -> list[Completion]:
    """Answer prompts in one padded batch.

    Greedy answers in float32 do not depend on what else is in the batch. Sampled ones do; the same batch with the
    same ``seed`` gives the same answers.

    Args:
        network: a causal language model of transformers.
        tokenizer: its tokenizer.
        rows: token ids of each prompt, none empty.
        decoding: how all of them are answered.
        seed: seed of the sampling; None takes the process's own random numbers.

    Returns:
        One completion a row, in order, without ``seconds``.
    """
    batch = left_padded(tokenizer, rows, network.device)
    width = batch["input_ids"].shape[1]
    ends = end_tokens(network, tokenizer, decoding)
    with quiet(), _seeded(network.device, seed):
        output = network.generate(
            **batch,
            **_generation_options(decoding),
            eos_token_id=sorted(ends) or None,
            pad_token_id=tokenizer.pad_token_id,
            stopping_criteria=[StopTexts(tokenizer, width, decoding.stop)] if decoding.stop else None,
        )
    answers = output[:, width:].tolist()
    return [_completion(tokenizer, row, new, ends, decoding.stop) for row, new in zip(rows, answers, strict=True)]


def end_tokens(network: Any, tokenizer: Any, decoding: Decoding) -> set[int]:
    """Ids that end an answer: those of the model, of its tokenizer, of ``generation_kwargs`` and of the data set."""
    ends: set[int] = set()
    for given in (
        network.generation_config.eos_token_id,
        tokenizer.eos_token_id,
        decoding.extra.get("eos_token_id"),
        decoding.stop_tokens,
    ):
        ends.update([given] if isinstance(given, int) else given or ())
    return ends


def _generation_options(decoding: Decoding) -> dict[str, Any]:
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


def _completion(
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


@contextmanager
def _seeded(device: Any, seed: int | None) -> Iterator[None]:
    """Draw random numbers from a seed, and leave the process's own as they were."""
    import torch

    if seed is None:
        yield
        return
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield
