"""Ask a batch model, such as one in this process's memory: one task after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from ais_prompt.engine.job import Job
from ais_prompt.errors import ModelError
from ais_prompt.inferencers import RunningConversation
from ais_prompt.inferencers.containment import ends_task, failure_of
from ais_prompt.inferencers.secrets import without_secrets
from ais_prompt.models.base import BatchModel, LikelihoodModel
from ais_prompt.types import Completion, LikelihoodQuery, Request

_ONE_EACH: Final = "return one completion for each request, in their order"
WINDOW = 16
"""Conversations of a batch model that are open at a time, in batches: enough to put prompts of like length together."""


def ask_in_batches(job: Job, model: BatchModel) -> None:
    """Hold all conversations of a job to their end.

    Raises:
        Paused: the budget is used up.
        ModelError: the model cannot be used, or every request fails in the same way.
    """
    window: list[RunningConversation] = []
    loaded = False
    while True:
        if len(window) < model.batch_size:
            window += _admit(job, model.batch_size * WINDOW - len(window))
        if not window:
            return
        if not loaded:
            model.load()
            loaded = True
        batch = _next_batch(window, model.batch_size)
        batch = batch[: job.admit(len(batch))]
        for number, completion in _answers(model, [request for _, request in batch]):
            conversation, request = batch[number]
            completion = without_secrets(completion)
            job.record(request, completion)
            conversation.answer(request, completion)
            if conversation.prediction is not None:
                job.finished(conversation)
        window = [conversation for conversation in window if conversation.prediction is None]


def _answers(model: BatchModel, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
    """Yield numbers of requests and their completions, one for each request.

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
                    f"{type(model).__name__} answered request {number} of {len(requests)} unasked or twice",
                    fix=_ONE_EACH,
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
        raise ModelError(f"{type(model).__name__} answered {answered} of {len(requests)} requests", fix=_ONE_EACH)


def _ask(model: BatchModel, requests: Sequence[Request]) -> Iterable[tuple[int, Completion]]:
    """Return numbers of requests and their completions, in the order in which they are found."""
    if not isinstance(requests[0].decoding, LikelihoodQuery):
        return enumerate(model.generate(requests))
    if not isinstance(model, LikelihoodModel):
        raise ModelError(
            f"{type(model).__name__} cannot tell how likely a text is",
            fix="use a model that can, or an inferencer that generates",
        )
    return model.log_likelihoods(requests)


def _admit(job: Job, places: int) -> list[RunningConversation]:
    """Return the next conversations that still have something to ask; those that are over only pass by."""
    admitted: list[RunningConversation] = []
    while len(admitted) < places and (conversation := job.next()):
        if conversation.prediction is None:
            admitted.append(conversation)
        else:
            job.finished(conversation)
    return admitted


def _next_batch(window: Sequence[RunningConversation], size: int) -> list[tuple[RunningConversation, Request]]:
    """Return the open requests that are asked next.

    Texts to be scored are asked in a batch of the whole window, in order: what their prompts have in common is found
    there. Prompts to be continued are asked in a batch of one decoding. Conversations that are under way come first,
    since the model may still have in memory what they have said; then long prompts, so that little is padded.
    """
    waiting = [(conversation, request) for conversation in window for request in conversation.open_requests()]
    to_score = [pair for pair in waiting if isinstance(pair[1].decoding, LikelihoodQuery)]
    if to_score:
        return to_score[: size * WINDOW]
    waiting.sort(key=lambda pair: (-pair[1].turn, -len(pair[1].prompt)))
    decoding = waiting[0][1].decoding
    return list(islice((pair for pair in waiting if pair[1].decoding == decoding), size))
