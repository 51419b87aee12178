"""What a task tells about its progress; `ais_prompt.report` shows it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol


class Progress(Protocol):
    """Told by a task while it works."""

    def advance(self, failed: bool = False) -> None:
        """One more sample is done."""

    def note(self, text: str) -> None:
        """Something that the user should know now."""


class OpenProgress(Protocol):
    """Opens the progress of one task."""

    def __call__(self, name: str, total: int, done: int = 0) -> AbstractContextManager[Progress]:
        """The task has ``total`` samples, ``done`` of them finished by an earlier run."""
