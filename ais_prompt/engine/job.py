"""The protocol of a job, which the engine works on: the conversations of one task, from the first to the last."""

from __future__ import annotations

from typing import Protocol

from ais_prompt.inferencers import RunningConversation
from ais_prompt.models import Model
from ais_prompt.types import Completion, Request


class Job(Protocol):
    """A task to be asked. Nothing is opened before `open`, so that a thousand of them cost no memory.

    `open`, `conclude`, `close` and `abandon` may take long and are called in any thread, one at a time; all else is
    called where the model is asked.

    Attributes:
        model: the model that is asked.
    """

    @property
    def model(self) -> Model: ...

    def open(self) -> None:
        """Read the data, open the files, and read the earlier answers.

        Raises:
            AisPromptError: the task cannot be asked; nothing is left open.
        """

    def begin(self) -> None:
        """Show that the first conversation is about to start."""

    def next(self) -> RunningConversation | None:
        """Start the next conversation; None if there is no other. One that is over already is only passed on.

        Raises:
            AisPromptError: the task cannot go on.
        """

    def admit(self, count: int) -> int:
        """Return how many requests may be sent now: at least one, and at most ``count``; `record` follows for each.

        Raises:
            Paused: none may; those that are under way are finished.
        """

    def record(self, request: Request, completion: Completion) -> Completion:
        """Write an answer or a failure down, and return what the conversation goes on with.

        Raises:
            Paused: the provider's quota is used up; nothing is written then.
            AisPromptError: the task cannot go on.
        """

    def cancelled(self, attempts: int) -> None:
        """Count a request that was sent so often and is not waited for: an error has ended the task."""

    def finished(self, conversation: RunningConversation) -> None:
        """Note the end of a conversation.

        Raises:
            AisPromptError: the task cannot go on.
        """

    def conclude(self) -> None:
        """Write the predictions after the last conversation. `close` follows, or `abandon` if this raises.

        Raises:
            AisPromptError: the task failed after all.
        """

    def close(self) -> None:
        """Close the files of a task that is concluded.

        Raises:
            AisPromptError: the disk did not take all of them.
        """

    def abandon(self, error: BaseException) -> None:
        """Close the files of a task that failed or was stopped; its answers are kept."""
