"""Hold conversations with a model without a run folder: for benchmarks, conformance cases and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

from ais_prompt.engine import FailureWatch
from ais_prompt.inferencers import RunningConversation
from ais_prompt.models import Model
from ais_prompt.types import Completion, Request
from tests.support.asking import ask_alone


def drive(
    model: Model,
    conversations: Iterator[RunningConversation],
    record: Callable[[Request, Completion], None],
    finished: Callable[[RunningConversation], None],
    *,
    has_answered: bool = False,
) -> None:
    """Hold all conversations to their end.

    Args:
        model: a batch model or an async model.
        conversations: made when they are asked for; those that are over already are only reported.
        record: called with every completion, failures included.
        finished: called with every conversation that is over.
        has_answered: whether the model has answered earlier requests of this work, so that it is known to be usable.

    Raises:
        ModelError: the model cannot be used, or every request fails in the same way.
    """
    watch = FailureWatch(has_answered=has_answered)
    job: Any = _Conversations(model, conversations, record, watch, finished)
    ask_alone(job)


class _Conversations:
    """What the engine calls of a `TaskJob`, without files."""

    def __init__(
        self,
        model: Model,
        conversations: Iterator[RunningConversation],
        record: Callable[[Request, Completion], None],
        watch: FailureWatch,
        finished: Callable[[RunningConversation], None],
    ) -> None:
        self.model = model
        self._conversations = conversations
        self._record = record
        self._watch = watch
        self._finished = finished

    def open(self) -> None: ...

    def begin(self) -> None: ...

    def next(self) -> RunningConversation | None:
        return next(self._conversations, None)

    def admit(self, count: int) -> int:
        """Let every request be sent."""
        return count

    def claimed(self, request: Request) -> AbstractAsyncContextManager[None]:  # noqa: ARG002
        """Yield None: no other task has the answer."""
        return nullcontext()

    def record(self, request: Request, completion: Completion) -> Completion:
        self._record(request, completion)
        self._watch.check(completion)
        return completion

    def cancelled(self, attempts: int) -> None: ...

    def finished(self, conversation: RunningConversation) -> None:
        self._finished(conversation)

    def conclude(self) -> None:
        self._watch.conclude()

    def close(self) -> None: ...

    def abandon(self, error: BaseException) -> None: ...
