"""Ask one endpoint: a server, or several at one address. The jobs of all its models share its places.

One loop (`Endpoint.run`) makes all decisions: which job is opened, which conversation starts, which job is closed. It
looks again whenever something has changed. A job passes through these states, in this order:

    waiting       submitted; nothing of it is in memory
    opening       a thread reads its data and its earlier answers; one job at a time
    ready         it has conversations to start, and they start while the model has room for them
    running out   its last conversation has started; those of the next job start beside it, so that slow answers hold
                  up no other job
    closing       its last conversation is over; a thread writes its predictions and closes its files
    over          reported to the engine

An error takes a job from any state straight to closing, as soon as its conversations have been cancelled. A paused job
finishes its requests first. An error that is true of a model (a wrong key, a model that the server does not have) ends
all of its jobs: those that are open are cancelled, and those that wait are over without being opened.

The functions below `Endpoint` ask one request: of a model, or of an agent, whose steps are requests to its model.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final, TypeAlias, cast

from ais_prompt.engine.conversations import is_for_model
from ais_prompt.engine.failures import ends_run, error_of, fault_of, is_of_endpoint, is_of_model
from ais_prompt.engine.job import TaskJob
from ais_prompt.errors import AisPromptError, ModelError, PartError, Paused
from ais_prompt.inferencers import RunningConversation, ends_task, failure_of, without_secrets
from ais_prompt.models import AgentModel, AsyncModel, GathersRequests, attempts_sent
from ais_prompt.parts import part_class
from ais_prompt.processes import in_thread
from ais_prompt.types import Completion, Failure, Request

Ended: TypeAlias = Callable[[TaskJob, AisPromptError | None], None]
"""Called in any thread when a job is over, with the error that ended it, or None."""
READY: Final = 2
"""Jobs that are ready at a time: the next job is opened while the first is asked."""
UNDER_WAY: Final = 64
"""Jobs that are open at a time, the slow answers of the last jobs included; each has files open."""
ALONE_SECONDS: Final = 4.0
"""Seconds for which the first request of an endpoint is alone: a wrong key or a dead server is known by then."""
PASSED: Final = 32
"""Conversations that start without waiting, until other work has its turn; some are answered already."""
logger = logging.getLogger(__name__)


class Endpoint:
    """Asks an endpoint, as long as an event loop runs.

    Models at one address share its places: there are as many as the model with the highest ``max_concurrency`` has, and
    each model keeps to its own number.

    Args:
        ended: called when a job is over.
    """

    def __init__(self, ended: Ended) -> None:
        self._ended = ended
        self._first: deque[TaskJob] = deque()
        self._waiting: deque[TaskJob] = deque()
        self._opening = False
        self._ready: list[_OpenJob] = []  # in the order in which their conversations start
        self._under_way: list[_OpenJob] = []  # ready, running out or closing
        self._finishing = False
        self._changed = asyncio.Event()
        self._group = asyncio.TaskGroup()
        self._models: dict[int, _OpenModel] = {}  # by the id of the model
        self._unusable: dict[int, AisPromptError] = {}  # id of a model → why none of its jobs can be asked
        self._refuses: AisPromptError | None = None  # why no job of any model can be asked
        self._heard = False  # whether the first request has ended, or is too slow to wait for

    def submit(self, job: TaskJob, *, first: bool = False) -> None:
        """Ask a job after those that were submitted before.

        Args:
            job: the job.
            first: start its conversations before those of any job that was submitted without this.
        """
        (self._first if first else self._waiting).append(job)
        self._changed.set()

    def finish(self) -> None:
        """Let `run` come to its end when every job is over."""
        self._finishing = True
        self._changed.set()

    async def run(self) -> None:
        """Ask until `finish` was called and every job is over.

        Raises:
            StoreError: answers can no longer be written down.
        """
        try:
            async with self._group:
                # Over when no job is in any state, and `finish` says that none will follow.
                while not self._finishing or self._first or self._waiting or self._opening or self._under_way:
                    self._changed.clear()
                    self._open_next()
                    self._start_conversations()
                    self._close_ended()
                    await self._changed.wait()
                    await asyncio.sleep(0)  # the event may be set already, and requests need their turn
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            for entry in self._under_way:
                if not entry.closing:
                    entry.job.abandon(asyncio.CancelledError())
            for opened in self._models.values():
                await _close_model(opened.model)

    # waiting → opening: one job at a time, so that few datasets are in memory before they are asked

    def _open_next(self) -> None:
        """Open the next job, shortly before its first conversation starts."""
        if self._opening or len(self._under_way) >= UNDER_WAY:
            return
        if self._first:  # however many are ready: nothing may start before them
            jobs = self._first
        elif self._waiting and len(self._ready) < READY:
            jobs = self._waiting
        else:
            return
        self._opening = True
        self._group.create_task(self._open(jobs.popleft(), is_first=jobs is self._first))

    # opening → ready, or over if the job cannot be asked

    async def _open(self, job: TaskJob, *, is_first: bool) -> None:
        try:
            if not self._error_of(job):
                await in_thread(job.open)
                opened = await self._open_model(cast("AsyncModel", job.model))
            if unusable := self._error_of(job):  # perhaps since a moment ago
                raise unusable.with_traceback(None)
        except BaseException as error:
            job.abandon(error)
            if not isinstance(error, Exception) or ends_run(error):  # Ctrl-C, or a full disk: all jobs end
                raise
            await in_thread(partial(self._ended, job, error_of(error)))
        else:
            entry = _OpenJob(job, opened, is_first=is_first)
            self._ready.append(entry)
            self._ready.sort(key=lambda entry: not entry.is_first)
            self._under_way.append(entry)
        self._opening = False
        self._changed.set()

    def _error_of(self, job: TaskJob) -> AisPromptError | None:
        return self._refuses or self._unusable.get(id(job.model))

    async def _open_model(self, model: AsyncModel) -> _OpenModel:
        if id(model) not in self._models:
            try:
                await model.open()
            except ModelError as error:  # its server does not start, for none of its jobs
                self._unusable[id(model)] = error
                raise
            self._models[id(model)] = _OpenModel(model, self._hear)
            self._heard = self._heard or isinstance(model, GathersRequests)  # it sends no request alone
        opened = self._models[id(model)]
        opened.most = model.max_concurrency  # grows with the servers that share its work
        return opened

    # ready → running out: until the job has no further conversation

    def _start_conversations(self) -> None:
        """Start conversations where there is room for them, those of the first job first."""
        for entry in tuple(self._ready):
            try:
                self._start_conversations_of(entry)
            except Exception as error:
                self._end(entry, error)

    def _start_conversations_of(self, entry: _OpenJob) -> None:
        passed = 0
        while self._has_room(entry.opened):
            if not entry.has_begun:
                entry.has_begun = True  # its progress is shown from now on, not while it only waits for room
                entry.job.begin()
            conversation = entry.job.next()
            if conversation is None:  # running out
                self._ready.remove(entry)
                self._changed.set()
                return
            if conversation.open_requests():
                asking = self._group.create_task(self._ask(entry, conversation))
                entry.conversations.add(asking)
                entry.opened.asking += 1
                asking.add_done_callback(partial(self._leave, entry))
            else:
                entry.job.finished(conversation)  # answered before, to its end
            passed += 1
            if passed == PASSED:  # the loop comes back after requests had their turn
                self._changed.set()
                return

    def _has_room(self, opened: _OpenModel) -> bool:
        models = self._models.values()
        if not self._heard:
            return not any(model.asking for model in models)
        places = max(model.most for model in models)
        return opened.asking < opened.most and sum(model.asking for model in models) < places

    async def _ask(self, entry: _OpenJob, conversation: RunningConversation) -> None:
        """Ask one conversation to its end: each answer decides what is asked next."""
        try:
            while requests := conversation.open_requests():
                if len(requests) > 1 and isinstance(entry.opened.model, GathersRequests):
                    await _all_of([self._answer(entry, conversation, request) for request in requests])
                else:
                    await self._answer(entry, conversation, requests[0])
            entry.job.finished(conversation)
        except Exception as error:
            self._end(entry, error)
            self._doubt(entry.opened, error)

    async def _answer(self, entry: _OpenJob, conversation: RunningConversation, request: Request) -> None:
        async with entry.job.claimed(request) as known:
            conversation.answer(request, known or await self._completion(entry, conversation, request))

    async def _completion(self, entry: _OpenJob, conversation: RunningConversation, request: Request) -> Completion:
        """Ask one request, or run its program, and record what comes of it."""
        job, opened = entry.job, entry.opened
        # A program or a tool: the inferencer runs it, beside the requests.
        if not is_for_model(request):
            completion = await in_thread(partial(job.perform, request))
        else:
            if not self._heard:
                asyncio.get_running_loop().call_later(ALONE_SECONDS, self._hear)
            # An agent: its steps are requests to its model, which are admitted and recorded each for itself.
            if opened.agent is not None:
                job.admit(0)
                asker = _Asker(opened, opened.agent.asked, job, conversation.row)
                completion = await _contained(opened.agent, job, opened.agent.answer, request, asker)
                self._hear()
            else:
                completion = await _complete(opened, opened.model, request, job)
        return job.record(request, without_secrets(completion))

    def _hear(self) -> None:
        """Let other requests follow the first one."""
        if not self._heard:
            self._heard = True
            self._changed.set()

    def _doubt(self, opened: _OpenModel, error: Exception | None) -> None:
        """End all jobs of a model that ended a job with a failure of its own, unless it has answered since the last.

        A gateway may forbid a single prompt, or refuse a key for a moment. Then one job is enough. An endpoint that has
        never answered, and refuses the key or cannot be reached, ends the jobs of all its models.
        """
        if not isinstance(error, ModelError) or opened.failure is None or not is_of_model(opened.failure):
            return
        if opened.answers:
            opened.answers = False
            return
        self._unusable[id(opened.model)] = error
        if is_of_endpoint(opened.failure) and not any(model.has_answered for model in self._models.values()):
            self._refuses = error
        for entry in self._under_way:
            if (entry.opened is opened or self._refuses) and not entry.closing:
                self._end(entry, error)

    def _leave(self, entry: _OpenJob, conversation: asyncio.Task[None]) -> None:
        """Free the place of a conversation that is over or was cancelled."""
        entry.conversations.discard(conversation)
        entry.opened.asking -= 1
        self._changed.set()

    def _end(self, entry: _OpenJob, error: Exception) -> None:
        """End one job with an error. Its other conversations are cancelled; a paused job finishes their requests.

        Raises:
            StoreError: a full disk is full for all jobs.
        """
        if ends_run(error):
            raise error
        if entry.error is not None:  # the first error counts; the others follow from it
            return
        entry.error = error_of(error)
        if entry in self._ready:
            self._ready.remove(entry)
        self._changed.set()
        if not isinstance(error, Paused):
            for conversation in entry.conversations:
                if conversation is not asyncio.current_task():
                    conversation.cancel()

    # running out → closing: after the last conversation, or when all are cancelled by an error

    def _close_ended(self) -> None:
        """Close the jobs that have no conversation any more."""
        for entry in self._under_way:
            if not (entry.closing or entry.conversations or entry in self._ready):
                entry.closing = True
                self._group.create_task(self._close(entry))

    # closing → over: in a thread, since writing the predictions takes long

    async def _close(self, entry: _OpenJob) -> None:
        error = await in_thread(partial(self._conclude, entry.job, entry.error))
        self._under_way.remove(entry)
        if entry.error is None:  # a job with few requests, all of which failed
            self._doubt(entry.opened, error)
        self._changed.set()

    def _conclude(self, job: TaskJob, error: AisPromptError | None) -> AisPromptError | None:
        """Write the predictions of a job, close its files, report it, and return the error that ended it.

        Raises:
            StoreError: a full disk is full for all jobs.
        """
        error = error or fault_of(job.conclude)
        if error is not None:
            job.abandon(error)
        else:
            error = fault_of(job.close)
        self._ended(job, error)
        return error


class _OpenModel:
    """A model that is open.

    Attributes:
        agent: the model, if it is an agent; else None.
        most: conversations that it may have at a time.
        asking: those that are under way.
        failure: the failure of its last request; None if that was answered.
        answers: whether it has answered a request since it last ended a job.
        has_answered: whether it has ever answered.
        hear: lets other requests follow the first one.
    """

    def __init__(self, model: AsyncModel, hear: Callable[[], None]) -> None:
        self.model = model
        self.agent = model if isinstance(model, AgentModel) else None
        self.hear = hear
        self.most = 0
        self.asking = 0
        self.failure: Failure | None = None
        self.answers = False
        self.has_answered = False


class _OpenJob:
    """A job that is open.

    Attributes:
        opened: its model.
        is_first: whether its conversations start before those of other jobs.
        conversations: those that are under way.
        error: the error that ended the job; None without an error.
        has_begun: whether its first conversation has started.
        closing: whether its files are being closed.
    """

    def __init__(self, job: TaskJob, opened: _OpenModel, *, is_first: bool) -> None:
        self.job = job
        self.opened = opened
        self.is_first = is_first
        self.conversations: set[asyncio.Task[None]] = set()
        self.error: AisPromptError | None = None
        self.has_begun = False
        self.closing = False


async def _close_model(model: AsyncModel) -> None:
    try:
        await model.aclose()
    except PartError as error:  # the answers are there already
        logger.warning("%s", "\n  ".join(error.lines()))


async def _all_of(asking: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Wait for all of them; the first error cancels the others."""
    try:
        async with asyncio.TaskGroup() as group:
            for one in asking:
                group.create_task(one)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


class _Asker:
    """Asks the model of an agent, as `ais_prompt.models.Asker`. What an earlier session recorded is not asked again."""

    def __init__(self, opened: _OpenModel, asked: AsyncModel, job: TaskJob, row: int | None) -> None:
        self.price = job.price
        self.row = {} if row is None else job.task.data.test[row].fields
        self._opened = opened
        self._asked = asked
        self._job = job

    async def __call__(self, request: Request) -> Completion:
        if (found := self._job.recall_step(request)) is not None:
            return found
        completion = await _complete(self._opened, self._asked, request, self._job)
        return self._job.record(request, without_secrets(completion))


async def _complete(opened: _OpenModel, model: AsyncModel, request: Request, job: TaskJob) -> Completion:
    """Return the answer of a model, that of an agent included, and note what it says about the model."""
    job.admit(1)
    completion = await _contained(model, job, model.complete, request)
    opened.hear()
    opened.failure = completion.failure
    if completion.failure is None:
        opened.answers = opened.has_answered = True
    return completion


async def _contained(
    model: AsyncModel, job: TaskJob, ask: Callable[..., Awaitable[Completion]], *arguments: Any
) -> Completion:
    """Return the answer of a model; in place of what it raises about one request, a failure."""
    try:
        return await ask(*arguments)
    except asyncio.CancelledError as cancelled:
        asking = asyncio.current_task()
        if asking is None or not asking.cancelling():  # nothing here cancelled it: a time limit of a library
            return Completion(failure=failure_of(cancelled, part_class(model).__name__))
        job.cancelled(attempts_sent(cancelled))  # an error has ended the job
        raise
    except Exception as error:
        if ends_task(error):
            raise
        return Completion(failure=failure_of(error, part_class(model).__name__))
