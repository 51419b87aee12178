"""Ask models in memory: one job after the other in this thread, and with workers several at a time.

With workers the models are in the memory of other processes (`ais_prompt.engine.workers`). A batch model gets batches
of requests from up to `WINDOW` batches of open conversations.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

from ais_prompt.engine.conversations import is_for_model
from ais_prompt.engine.failures import error_of, fault_of
from ais_prompt.engine.job import TaskJob
from ais_prompt.errors import AisPromptError, ModelError, PartError
from ais_prompt.inferencers import RunningConversation, ends_task, failure_of, without_secrets
from ais_prompt.models import BatchModel, LikelihoodModel, Model, YieldsAnswers
from ais_prompt.parts import part_class
from ais_prompt.types import Completion, LikelihoodQuery, Request

if TYPE_CHECKING:
    from ais_prompt.engine.workers import ModelWorkers

logger = logging.getLogger(__name__)
_ONE_EACH: Final = "return one completion for each request, in their order"
WINDOW = 16
"""Conversations of a batch model that are open at a time, in batches: enough to put prompts of like length together."""


class InMemory:
    """Asks jobs of models in memory. A model is closed before its thread loads the next one.

    Args:
        workers: compute beside each other; None to compute in this process.
        over: called in any thread when a job is over.
    """

    def __init__(self, workers: ModelWorkers | None, over: Callable[[TaskJob, AisPromptError | None], None]) -> None:
        self._workers = workers
        self._over = over
        self._jobs: deque[TaskJob] = deque()
        self._asked: Counter[int] = Counter()  # id of the model → threads that ask it
        self._unusable: dict[int, AisPromptError] = {}  # id of a model → why it cannot be loaded
        self._lock = threading.Lock()
        self._error: BaseException | None = None

    def add(self, job: TaskJob) -> None:
        """Ask a job too, from any thread."""
        self._jobs.append(job)

    def has_jobs(self) -> bool:
        """Return whether jobs wait."""
        return bool(self._jobs)

    def ask(self, wait: Callable[[], None]) -> None:
        """Ask until there are no more jobs.

        Args:
            wait: returns when there is a job, or when nothing that is asked elsewhere can lead to one.

        Raises:
            StoreError: answers can no longer be written down.
        """
        number = 0
        if self._workers:
            self._workers.expect(len(self._jobs))
            number = self._workers.number - 1
        beside = [threading.Thread(target=self._ask_beside, name="aisprompt-local") for _ in range(number)]
        for thread in beside:
            thread.start()

        def wait_for_all() -> None:
            for thread in beside:
                thread.join()
            if self._error is not None:
                raise self._error
            wait()

        try:
            self._ask_jobs(wait_for_all)
        except BaseException:
            self._jobs.clear()
            if self._workers:
                self._workers.stop()
            for thread in beside:
                thread.join()
            raise

    def _ask_beside(self) -> None:
        try:
            self._ask_jobs(lambda: None)
        except BaseException as error:  # raised again by the main thread
            self._error = error
            self._jobs.clear()

    def _ask_jobs(self, wait: Callable[[], None]) -> None:
        model: Model | None = None
        try:
            while True:
                # Out of jobs: those that are asked elsewhere may lead to others, such as the questions to a judge.
                if (job := self._next(model)) is None:
                    if self._workers:  # the awaited jobs may need the GPUs
                        self._leave(model)
                        model = None
                    wait()
                    if (job := self._next(model)) is None:
                        return
                # Another model: the model before is closed first, so that two never share the memory of a device.
                if job.model is not model:
                    self._leave(model)
                model = job.model
                # Jobs of a model that cannot be loaded are over at once.
                if unusable := self._unusable.get(id(model)):
                    job.abandon(unusable)
                    self._over(job, unusable)
                else:
                    self._over(job, fault_of(partial(ask_in_memory, job, self._load)))
        finally:
            self._leave(model)

    def _load(self, model: BatchModel) -> None:
        try:
            model.load()
        except Exception as error:
            self._unusable[id(model)] = error_of(error)
            raise

    def _next(self, model: Model | None) -> TaskJob | None:
        """Take the next job: of the same model, of a model that no other thread asks, or of any."""
        with self._lock:
            jobs = list(self._jobs)
            same = (job for job in jobs if job.model is model)
            free = (job for job in jobs if not self._asked[id(job.model)])
            job = next(same, None) or next(free, None) or next(iter(jobs), None)
            if job is not None:
                self._jobs.remove(job)
                self._asked[id(job.model)] += job.model is not model
            return job

    def _leave(self, model: Model | None) -> None:
        """Close a model that this thread asked."""
        if model is not None:
            with self._lock:
                self._asked[id(model)] -= 1
            close(model)


def ask_in_memory(job: TaskJob, load: Callable[[BatchModel], None]) -> None:
    """Ask one job in this thread.

    Args:
        job: the job.
        load: loads its model.

    Raises:
        AisPromptError: the task failed; its files are closed.
    """
    job.open()
    try:
        if not isinstance(job.model, BatchModel):
            raise ModelError(
                f"{type(job.model).__name__} answers neither batches nor single requests",
                fix="give it a method generate (a batch) or complete (one request)",
            )
        job.begin()
        ask_in_batches(job, job.model, load)
        job.conclude()
    except BaseException as error:
        job.abandon(error)
        raise
    job.close()


def ask_in_batches(job: TaskJob, model: BatchModel, load: Callable[[BatchModel], None]) -> None:
    """Hold all conversations of a job to their end.

    Raises:
        Paused: the budget is used up.
        ModelError: the model cannot be used, or every request fails in the same way.
    """
    window: list[RunningConversation] = []
    loaded = False
    while True:
        # Filled up, when less than a batch is left: conversations that are answered in memory only pass by.
        if len(window) < model.batch_size:
            window += _admit(job, model.batch_size * WINDOW - len(window))
        if not window:
            return
        # Loaded with the first batch: a resumed job that is answered already needs no model.
        if not loaded:
            load(model)
            loaded = True
        batch = _next_batch(window, model)
        asks_model = is_for_model(batch[0][1])
        batch = batch[: job.admit(len(batch))] if asks_model else batch
        requests = [request for _, request in batch]
        for number, completion in _answers(model, requests) if asks_model else enumerate(map(job.perform, requests)):
            conversation, request = batch[number]
            completion = without_secrets(completion)
            conversation.answer(request, job.record(request, completion))
            if conversation.prediction is not None:
                job.finished(conversation)
        window = [conversation for conversation in window if conversation.prediction is None]


def close(model: Model) -> None:
    """Close a model. Its answers are there already, so that nothing it raises matters to them."""
    try:
        model.close()
    except PartError as error:
        logger.warning("%s", "\n  ".join(error.lines()))


def _answers(model: BatchModel, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
    """Yield numbers of requests and their completions, one for each request.

    If the model raises, the requests that have no answer yet are asked alone: a prompt that it cannot answer costs
    no other sample.

    Raises:
        ModelError: it cannot be used, or gives too many answers or too few.
    """
    left = set(range(len(requests)))
    try:
        for number, completion in _ask(model, requests):
            if number not in left:
                raise ModelError(
                    f"{part_class(model).__name__} answered request {number} of {len(requests)} unasked or twice",
                    fix=_ONE_EACH,
                )
            left.remove(number)
            yield number, completion
    except Exception as error:
        if ends_task(error):
            raise
        if len(requests) == 1:
            yield 0, Completion(failure=failure_of(error, part_class(model).__name__))
            return
        # The batch raised. Its requests are asked alone, and those that raise again fail as samples.
        for number in sorted(left):
            for _, completion in _answers(model, [requests[number]]):
                yield number, completion
        return
    if left:
        answered = len(requests) - len(left)
        raise ModelError(f"{part_class(model).__name__} answered {answered} of {len(requests)} requests", fix=_ONE_EACH)


def _ask(model: BatchModel, requests: Sequence[Request]) -> Iterable[tuple[int, Completion]]:
    """Return numbers of requests and their completions, in the order in which they are found."""
    if not isinstance(requests[0].decoding, LikelihoodQuery):
        return (
            model.generate_each(requests) if isinstance(model, YieldsAnswers) else enumerate(model.generate(requests))
        )
    if not isinstance(model, LikelihoodModel):
        raise ModelError(
            f"{part_class(model).__name__} cannot tell how likely a text is",
            fix="use a model that can, or an inferencer that generates",
        )
    return model.log_likelihoods(requests)


def _admit(job: TaskJob, places: int) -> list[RunningConversation]:
    """Return the next conversations that still have something to ask; those that are over only pass by."""
    admitted: list[RunningConversation] = []
    while len(admitted) < places and (conversation := job.next()):
        if conversation.prediction is None:
            admitted.append(conversation)
        else:
            job.finished(conversation)
    return admitted


def _next_batch(window: Sequence[RunningConversation], model: BatchModel) -> list[tuple[RunningConversation, Request]]:
    """Return the open requests that are asked next.

    Texts to be scored are asked in a batch of the whole window, in order: the prefixes that their prompts share are
    found there. Prompts to be continued are asked in a batch of one decoding, first turns in a batch of the whole
    window too if the model yields each answer as soon as it has ended. Conversations that are under way come first, not
    more than the model may still have in memory; then long prompts, so that little is padded.
    """
    waiting = [(conversation, request) for conversation in window for request in conversation.open_requests()]
    to_score = [pair for pair in waiting if isinstance(pair[1].decoding, LikelihoodQuery)]
    if to_score:
        return to_score[: model.batch_size * WINDOW]
    waiting.sort(key=lambda pair: (-pair[1].turn, -len(pair[1].prompt)))
    decoding = waiting[0][1].decoding
    takes_all = isinstance(model, YieldsAnswers) and waiting[0][1].turn == 0
    size = model.batch_size * (WINDOW if takes_all else 1)
    return list(islice((pair for pair in waiting if pair[1].decoding == decoding), size))
