"""Ask a model about the conversations of one task, and come back when the last one is over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from ais_prompt.engine.batches import ask_in_batches
from ais_prompt.engine.endpoint import Endpoint
from ais_prompt.engine.failures import FailureWatch, Record
from ais_prompt.engine.job import Job
from ais_prompt.errors import AisPromptError, ModelError
from ais_prompt.inferencers import RunningConversation
from ais_prompt.models.base import AsyncModel, BatchModel, Model
from ais_prompt.types import Completion, Request
from ais_prompt.utils.garbage import fewer_collections


def ask_alone(job: Job) -> None:
    """Ask all of one job in this thread, whatever kind of model it asks.

    Raises:
        AisPromptError: the task failed; its files are closed.
    """
    if isinstance(job.model, AsyncModel) and not isinstance(job.model, BatchModel):
        _ask_served(job)
        return
    job.open()
    try:
        if not isinstance(job.model, BatchModel):
            raise ModelError(f"{type(job.model).__name__} answers neither batches nor single requests")
        job.begin()
        ask_in_batches(job, job.model)
    except BaseException as error:
        job.abandon(error)
        raise
    job.close()


def _ask_served(job: Job) -> None:
    errors: list[AisPromptError] = []

    def ended(_: Job, error: AisPromptError | None) -> None:
        if error is not None:
            errors.append(error)

    async def ask() -> None:
        endpoint = Endpoint(ended)
        endpoint.submit(job)
        endpoint.finish()
        await endpoint.run()

    with fewer_collections():
        asyncio.run(ask())
    if errors:
        raise errors[0]


def drive(
    model: Model,
    conversations: Iterator[RunningConversation],
    record: Record,
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
    ask_alone(_Conversations(model, conversations, FailureWatch(record, has_answered), finished))


class _Conversations:
    """A job without files."""

    def __init__(
        self,
        model: Model,
        conversations: Iterator[RunningConversation],
        watch: FailureWatch,
        finished: Callable[[RunningConversation], None],
    ) -> None:
        self.model = model
        self._conversations = conversations
        self._watch = watch
        self._finished = finished

    def open(self) -> None: ...

    def begin(self) -> None: ...

    def next(self) -> RunningConversation | None:
        return next(self._conversations, None)

    def record(self, request: Request, completion: Completion) -> None:
        self._watch(request, completion)

    def finished(self, conversation: RunningConversation) -> None:
        self._finished(conversation)

    def close(self) -> None:
        self._watch.conclude()

    def abandon(self, error: BaseException) -> None: ...
