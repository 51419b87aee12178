"""What a task tells about its progress; `ais_prompt.report` shows it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from ais_prompt.types import Completion


class Progress(Protocol):
    """Told by a task while it works."""

    def advance(self, failed: bool = False) -> None:
        """One more sample is done."""

    def answered(self, completion: Completion) -> None:
        """One more request has come to its end."""

    def note(self, text: str) -> None:
        """Something that the user should know now."""


class OpenProgress(Protocol):
    """Opens the progress of one task."""

    def __call__(self, name: str, total: int, done: int) -> AbstractContextManager[Progress]:
        """The task has ``total`` samples, ``done`` of them finished by an earlier run."""


class _Silent:
    """Shows nothing."""

    def advance(self, failed: bool = False) -> None: ...

    def answered(self, completion: Completion) -> None: ...

    def note(self, text: str) -> None: ...


@contextmanager
def silent_progress(name: str, total: int, done: int) -> Iterator[Progress]:  # noqa: ARG001
    """Show nothing of a task."""
    yield _Silent()
