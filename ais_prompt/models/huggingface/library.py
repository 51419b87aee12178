"""Call transformers and torch: quietly, with one clear error, and again in halves where a batch fails."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from ais_prompt.errors import AisPromptError, ModelError
from ais_prompt.types import Failure
from ais_prompt.utils.hub import lookup


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the warnings and progress bars of transformers, and restore its settings afterwards."""
    # Without torch, which tokenizers do not need, the import itself warns that models are not available.
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def cache_for_forward(network: Any, cache: Any) -> dict[str, Any]:
    """Return a cache as the argument of a network: ``cache`` from transformers 5.24 on, ``past_key_values`` before."""
    return {_cache_name(network.forward): cache}


def cache_for_generate(cache: Any) -> dict[str, Any]:
    """Return a cache as the argument of ``generate``, as `cache_for_forward` does."""
    from transformers import GenerationMixin

    # `generate` itself takes any arguments.
    return {_cache_name(GenerationMixin.prepare_inputs_for_generation): cache}


def _cache_name(call: Callable[..., Any]) -> str:
    return "cache" if "cache" in inspect.signature(call).parameters else "past_key_values"


@contextmanager
def loading(what: str, path: str, *, local: bool) -> Iterator[None]:
    """Turn every error while ``what`` is loaded from ``path`` into a `ModelError`.

    The library, its Rust parts and pickled files raise nearly every exception there is, bare `Exception` included.
    """
    try:
        with quiet(), nullcontext() if local else lookup(path):
            yield
    except AisPromptError:
        raise
    except Exception as error:
        if local:
            fix = "check that the folder is a complete model saved with save_pretrained()"
        else:
            fix = "check the hub id and the connection, or give the path of a folder"
        raise ModelError(f"cannot load the {what}: {first_line(error)}", where=path, fix=fix) from error


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, or its class if the message is empty."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


Item = TypeVar("Item")
Answer = TypeVar("Answer")


def bisect_on_failure(
    items: Sequence[Item], work: Callable[[Sequence[Item]], Sequence[Answer]], *, kind: str
) -> list[Answer | Failure]:
    """Return the answers to all items. A batch that fails is split in halves, so that a bad item fails alone.

    Args:
        items: any number.
        work: answers items in one batch, in order.
        kind: kind of the failures that are not out of memory.
    """
    import torch

    if not items:
        return []
    try:
        return list(work(items))
    except torch.OutOfMemoryError as error:
        failure = Failure("out_of_memory", first_line(error))
    except (IndexError, RuntimeError, ValueError) as error:
        failure = Failure(kind, first_line(error))
    # Outside of `except`, where the traceback would keep the memory of the failed batch.
    free_accelerator()
    if len(items) == 1:
        return [failure]
    half = len(items) // 2
    return bisect_on_failure(items[:half], work, kind=kind) + bisect_on_failure(items[half:], work, kind=kind)


def free_accelerator() -> None:
    """Free unused memory of the accelerator."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
