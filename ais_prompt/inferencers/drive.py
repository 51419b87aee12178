"""Holds many conversations with a model at once, and writes every answer down as it comes.

Memory does not grow with the number of samples: conversations are started as they are needed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from ais_prompt.errors import AisPromptError, ModelError, PartError
from ais_prompt.inferencers.containment import ends_task, failure_of
from ais_prompt.inferencers.running_conversation import RunningConversation
from ais_prompt.inferencers.secrets import without_secrets
from ais_prompt.models.base import AsyncModel, BatchModel, LikelihoodModel, Model
from ais_prompt.types import Completion, Failure, LikelihoodQuery, Request
from ais_prompt.utils.garbage import fewer_collections

logger = logging.getLogger(__name__)

WINDOW = 16
"""Conversations of a batch model that are open at a time, in batches: enough to put prompts of like length together."""

PATIENCE = 10
"""Failures of one kind, with no answer before them, after which a model is given up."""

Record: TypeAlias = Callable[[Request, Completion], None]
"""Writes an answer down before anything else happens with it."""


def drive(
    model: Model,
    dialogues: Iterator[RunningConversation],
    record: Record,
    finished: Callable[[RunningConversation], None],
    *,
    has_answered: bool = False,
) -> None:
    """Hold all dialogues to their end.

    Args:
        model: a batch model or an async model.
        dialogues: made when they are asked for; those that are over already are only reported.
        record: called with every completion, failures included.
        finished: called with every dialogue that is over.
        has_answered: whether the model has answered earlier requests of this work, so that it is known to be usable.

    Raises:
        ModelError: the model cannot be used, or every request fails in the same way.
    """
    watched = _Watch(record, has_answered)
    if isinstance(model, BatchModel):
        _drive_batches(model, dialogues, watched, finished)
    elif isinstance(model, AsyncModel):
        with fewer_collections():
            asyncio.run(_drive_concurrently(model, dialogues, watched, finished))
    else:
        raise ModelError(f"{type(model).__name__} answers neither batches nor single requests")
    watched.conclude()


class _Watch:
    """Records completions, and gives the model up when asking on makes no sense."""

    def __init__(self, record: Record, has_answered: bool) -> None:
        self._record = record
        self._has_answered = has_answered
        self._answered = False
        self._failures: list[str] = []
        self._last: Failure | None = None

    def __call__(self, request: Request, completion: Completion) -> None:
        self._record(request, completion)
        failure = completion.failure
        if failure is None:
            self._answered = True
            return
        self._failures.append(failure.kind)
        self._last = failure
        if failure.fatal:
            what = f"every request would fail: {failure.kind}: {failure.message}"
            raise ModelError(what, where=failure.where, fix=RETRY_HINT)
        if len(self._failures) >= PATIENCE:
            self.conclude()

    def conclude(self) -> None:
        """Give the model up if it has failed in one way only, and never answered.

        Earlier answers speak for the model, and against the samples that are left; but not for a server that is down.
        """
        kinds = set(self._failures)
        usable = self._answered or (self._has_answered and kinds != {"unreachable"})
        if self._last is not None and not usable and len(kinds) == 1:
            number = "the only request" if len(self._failures) == 1 else f"all {len(self._failures)} requests so far"
            what = f"{number} failed: {self._last.kind}: {self._last.message}"
            raise ModelError(what, where=self._last.where, fix=RETRY_HINT)


RETRY_HINT = "fix the cause and go on with `-r`: what was answered is kept"


def _drive_batches(
    model: BatchModel,
    dialogues: Iterator[RunningConversation],
    record: Record,
    finished: Callable[[RunningConversation], None],
) -> None:
    window: list[RunningConversation] = []
    loaded = False
    while True:
        if len(window) < model.batch_size:
            window += _admit(dialogues, model.batch_size * WINDOW - len(window), finished)
        if not window:
            return
        if not loaded:
            model.load()
            loaded = True
        batch = _next_batch(window, model.batch_size)
        for number, completion in _answers(model, [request for _, request in batch]):
            dialogue, request = batch[number]
            completion = without_secrets(completion)
            record(request, completion)
            dialogue.answer(request, completion)
            if dialogue.prediction is not None:
                finished(dialogue)
        window = [dialogue for dialogue in window if dialogue.prediction is None]


def _answers(model: BatchModel, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
    """Numbers of requests and their completions, one for each request.

    If the model raises, the requests that have no answer yet are asked one by one: a prompt that it cannot answer costs
    no other sample.

    Raises:
        ModelError: it cannot be used, or gives too many answers or too few.
    """
    left = set(range(len(requests)))
    try:
        for number, completion in _ask(model, requests):
            if number not in left:
                raise ModelError(
                    f"{type(model).__name__} answered request {number} of {len(requests)} unasked or twice"
                )
            left.remove(number)
            yield number, completion
    except Exception as error:
        if ends_task(error):
            raise
        if len(requests) == 1:
            yield 0, Completion(failure=failure_of(error, type(model).__name__))
            return
        for number in sorted(left):
            for _, completion in _answers(model, [requests[number]]):
                yield number, completion
        return
    if left:
        answered = len(requests) - len(left)
        raise ModelError(f"{type(model).__name__} answered {answered} of {len(requests)} requests")


def _ask(model: BatchModel, requests: Sequence[Request]) -> Iterable[tuple[int, Completion]]:
    """Numbers of requests and their completions, in the order in which they are found."""
    if not isinstance(requests[0].decoding, LikelihoodQuery):
        return enumerate(model.generate(requests))
    if not isinstance(model, LikelihoodModel):
        raise ModelError(
            f"{type(model).__name__} cannot tell how likely a text is",
            fix="use a model that can, or an inferencer that generates",
        )
    return model.log_likelihoods(requests)


def _admit(
    dialogues: Iterator[RunningConversation], places: int, finished: Callable[[RunningConversation], None]
) -> list[RunningConversation]:
    """The next dialogues that still have something to ask; those that are over already only pass by."""
    admitted: list[RunningConversation] = []
    while len(admitted) < places and (dialogue := next(dialogues, None)):
        if dialogue.prediction is None:
            admitted.append(dialogue)
        else:
            finished(dialogue)
    return admitted


def _next_batch(window: Sequence[RunningConversation], size: int) -> list[tuple[RunningConversation, Request]]:
    """The open requests that are asked next.

    Texts to be scored are asked in a batch of the whole window, in order: what their prompts have in common is found
    there. Prompts to be continued are asked in a batch of one decoding. Dialogues that are under way come first, since
    the model may still have in memory what they have said; then long prompts, so that little is padded.
    """
    waiting = [(dialogue, request) for dialogue in window for request in dialogue.open_requests()]
    to_score = [pair for pair in waiting if isinstance(pair[1].decoding, LikelihoodQuery)]
    if to_score:
        return to_score[: size * WINDOW]
    waiting.sort(key=lambda pair: (-pair[1].turn, -len(pair[1].prompt)))
    decoding = waiting[0][1].decoding
    return list(islice((pair for pair in waiting if pair[1].decoding == decoding), size))


async def _drive_concurrently(
    model: AsyncModel,
    dialogues: Iterator[RunningConversation],
    record: Record,
    finished: Callable[[RunningConversation], None],
) -> None:
    async def work() -> None:
        for dialogue in dialogues:  # shared by all workers: each takes the next one
            while requests := dialogue.open_requests():
                completion = without_secrets(await _complete(model, requests[0]))
                record(requests[0], completion)
                dialogue.answer(requests[0], completion)
            finished(dialogue)

    await model.open()
    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(model.max_concurrency):
                workers.create_task(work())
    except* (AisPromptError, MemoryError) as group:
        raise group.exceptions[0] from None
    finally:
        try:
            await model.aclose()
        except PartError as error:  # the answers are there already
            logger.warning("%s", "\n  ".join(error.lines()))


async def _complete(model: AsyncModel, request: Request) -> Completion:
    """The answer of a model, or the failure that it raises in place of returning it."""
    try:
        return await model.complete(request)
    except Exception as error:
        if ends_task(error):
            raise
        return Completion(failure=failure_of(error, type(model).__name__))
