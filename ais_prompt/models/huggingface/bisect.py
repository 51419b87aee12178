"""Work of a network that is repeated in halves when it fails, so that a bad row fails alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ais_prompt.models.huggingface.library import first_line
from ais_prompt.types import Failure

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def in_halves(
    items: Sequence[Item], work: Callable[[Sequence[Item]], Sequence[Answer]], *, kind: str
) -> list[Answer | Failure]:
    """The answers to all items; those that cannot be had, even alone, are failures.

    Args:
        items: any number.
        work: answers items in one batch, in order.
        kind: kind of the failures that are not for want of memory.
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
    # Outside of `except`, so that the traceback no longer holds the failed batch's memory.
    free_accelerator()
    if len(items) == 1:
        return [failure]
    half = len(items) // 2
    return in_halves(items[:half], work, kind=kind) + in_halves(items[half:], work, kind=kind)


def free_accelerator() -> None:
    """Give back the memory that is no longer used."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
