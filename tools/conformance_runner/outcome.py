"""What comes out of a case: values by key, and the stage at which it ended if it did."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from ais_prompt.errors import AisPromptError

Outcome: TypeAlias = dict[str, Any]
"""``prompts``, ``final``, ... as the target names them; ``error`` holds ``stage`` and ``message`` if there is one."""


class Stopped(Exception):  # no Error: it is how a case ends, and may be what is wanted
    """A case came to a clear error.

    Attributes:
        stage: where, in the words of the cases: construct, reader, retrieve, model, ice, prompt, parse, messages, ...
    """

    def __init__(self, stage: str, error: AisPromptError) -> None:
        super().__init__(str(error))
        self.stage = stage


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Name the stage of the errors of the body."""
    try:
        yield
    except AisPromptError as error:
        raise Stopped(name, error) from error


@contextmanager
def ending_in(outcome: Outcome) -> Iterator[None]:
    """Note in the outcome how the body ended, if it ended early."""
    try:
        yield
    except Stopped as stopped:
        outcome["error"] = {"stage": stopped.stage, "message": str(stopped)}
