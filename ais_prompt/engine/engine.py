"""Ask all jobs of a run: served models side by side on one event loop, local models beside them in this thread.

`run_local` hands each job to where its model is. Local models are asked by `ais_prompt.engine.memory`. `Engine` has the
event loop, in a thread of its own, with an `Endpoint` for each server, or several at one address. The jobs of all its
models share its places.

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

The functions at the end ask one request: of a model, or of an agent, whose steps are requests to its model.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, cast

from msgspec import Struct, field

from ais_prompt.engine.conversations import is_for_model
from ais_prompt.engine.failures import ends_run, error_of, fault_of, is_of_endpoint, is_of_model
from ais_prompt.engine.job import Standstill, TaskJob
from ais_prompt.engine.memory import InMemory, close
from ais_prompt.errors import AisPromptError, InternalError, ModelError, PartError, Paused
from ais_prompt.inferencers import RunningConversation, ends_task, failure_of, without_secrets
from ais_prompt.models import AgentModel, AsyncModel, BatchModel, GathersRequests, Model, attempts_sent, endpoint_of
from ais_prompt.parts import part_class
from ais_prompt.processes import call_in_loop, in_thread
from ais_prompt.types import Completion, Failure, Request

if TYPE_CHECKING:
    from ais_prompt.engine.workers import ModelWorkers

READY: Final = 2
"""Jobs that are ready at a time: the next job is opened while the first is asked."""
UNDER_WAY: Final = 64
"""Jobs that are open at a time, the slow answers of the last jobs included; each has files open."""
ALONE_SECONDS: Final = 4.0
"""Seconds for which the first request of an endpoint is alone: a wrong key or a dead server is known by then."""
PASSED: Final = 32
"""Conversations that start without waiting, until other work has its turn; some are answered already."""
logger = logging.getLogger(__name__)

Ended: TypeAlias = Callable[[TaskJob, AisPromptError | None], None]
"""Called in any thread when a job is over, with the error that ended it, or None."""
JobEnded: TypeAlias = Callable[[TaskJob, AisPromptError | None], Iterable[TaskJob]]
"""Called in any thread when a job is over, with the error that ended it, or None.

Returns the jobs that it leads to, such as the questions to a judge. They start before jobs that are still waiting."""


def run_local(jobs: Sequence[TaskJob], ended: JobEnded, workers: ModelWorkers | None = None) -> None:
    """Ask all jobs; a job that cannot go on does not stop the others.

    A model in memory is closed before the next one is loaded, so that two of them never share a device.

    Args:
        jobs: in the order in which they are to start, all jobs of a model together.
        ended: called when a job is over.
        workers: compute local models; None to compute in this process.

    Raises:
        StoreError: answers can no longer be written down.
    """
    served: dict[int, Model] = {}
    rows = _RowsInUse(jobs)

    def submit(job: TaskJob, *, first: bool = False) -> None:
        try:
            model = job.model
            is_served = isinstance(model, AsyncModel) and not isinstance(model, BatchModel)  # reads its attributes
            if not isinstance(model, GathersRequests):
                standstill.watch(job)
        except AisPromptError as error:
            over(job, error)
            return
        if is_served:
            served[id(model)] = model
            engine.submit(job, first=first)
        else:
            local.add(job)

    def over(job: TaskJob, error: AisPromptError | None) -> None:
        # Rows are kept for the jobs that follow before they are released for the job that is over.
        standstill.leave(job)
        following = list(ended(job, error))
        rows.keep(following)
        for next_job in following:
            submit(next_job, first=True)
        rows.release(job)

    local = InMemory(workers, over)
    standstill = Standstill()
    try:
        with standstill, Engine(over) as engine:
            for job in jobs:
                submit(job)
            local.ask(lambda: engine.wait(local.has_jobs))
    finally:
        for model in served.values():
            close(model)


class Engine:
    """Asks served models, on an event loop in a thread of its own.

    It passes through these states:

        idle      there was no job yet, and there is no thread
        asking    its thread runs the loop, which belongs to it alone; each endpoint begins with its first job
        ending    the ``with`` block is over: the thread ends when every job is over or, if the block raised, at once
        failed    `_error` says why, and every thread that submits or waits raises it

    Args:
        ended: called in any thread when a job is over, with the error that ended it, or None.
    """

    def __init__(self, ended: Ended) -> None:
        self._ended = ended
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asking: asyncio.Task[None] | None = None
        self._endpoints: dict[str, Endpoint] = {}  # this and the names belong to the event loop's thread
        self._names: dict[int, str] = {}  # id of a model → its endpoint
        self._left = 0
        self._changed = threading.Condition()
        self._until: Callable[[], bool] = lambda: False
        self._error: BaseException | None = None

    def submit(self, job: TaskJob, *, first: bool = False) -> None:
        """Ask a job, after those of the same endpoint that were submitted before. Can be called in any thread.

        Args:
            job: the job.
            first: start its conversations before those of any job that was submitted without this.

        Raises:
            AisPromptError: the engine has failed.
        """
        with self._changed:
            self._raise_error()
            self._left += 1
            # idle → asking
            if self._thread is None:
                started = threading.Event()
                self._thread = threading.Thread(target=self._run, args=[started], name="aisprompt-engine", daemon=True)
                self._thread.start()
                started.wait()
                self._raise_error()
        assert self._loop is not None
        # Endpoints belong to the thread of the loop alone, and need no locks. If the loop has failed, `wait` says so.
        call_in_loop(self._loop, self._take, job, first)

    def wait(self, until: Callable[[], bool] = lambda: False) -> None:
        """Wait until every job is over.

        Args:
            until: ends the waiting early; looked at whenever a job is over.

        Raises:
            AisPromptError: answers can no longer be written down, or something unforeseen ended all jobs.
        """
        with self._changed:
            self._until = until
            self._changed.wait_for(self._has_waited)
            self._raise_error()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._thread is None or self._loop is None or self._asking is None:  # idle
            return
        # asking → ending
        call_in_loop(self._loop, self._over.set if error is None else self._asking.cancel)
        self._thread.join()
        if error is None:
            self._raise_error()

    def _run(self, started: threading.Event) -> None:
        try:
            asyncio.run(self._ask(started))
        except asyncio.CancelledError:  # by the end of the ``with`` block
            pass
        except BaseException as error:  # asking → failed
            self._error = error
        finally:
            started.set()  # also if the loop cannot be made; `submit`, which waits for it, has the lock
            with self._changed:
                # Stopped with jobs left: the threads that wait for them must wake.
                if self._left and self._error is None:
                    self._error = InternalError("asking was stopped")
                self._changed.notify_all()

    async def _ask(self, started: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._asking = asyncio.current_task()
        self._over = asyncio.Event()
        async with _task_group() as self._group:
            started.set()
            # Endpoints begin with their first job (`_take`), and end when no job can come any more.
            await self._over.wait()
            for endpoint in self._endpoints.values():
                endpoint.finish()

    def _take(self, job: TaskJob, first: bool) -> None:
        model = job.model
        # Models at one address share an endpoint, and its places.
        if id(model) not in self._names:
            try:
                self._names[id(model)] = endpoint_of(model)
            except AisPromptError:  # a user-defined model that cannot say, or there is no key; its tasks will tell
                self._names[id(model)] = f"model {id(model)}"
        name = self._names[id(model)]
        # The first job of an endpoint begins it.
        if name not in self._endpoints:
            self._endpoints[name] = Endpoint(self._job_ended)
            self._group.create_task(self._endpoints[name].run())
        self._endpoints[name].submit(job, first=first)

    def _job_ended(self, job: TaskJob, error: AisPromptError | None) -> None:
        self._ended(job, error)
        with self._changed:
            self._left -= 1
            if self._has_waited():  # else the thread that waits would wake for each of a thousand jobs
                self._changed.notify_all()

    def _has_waited(self) -> bool:
        return not self._left or self._error is not None or self._until()

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error


class _RowsInUse:
    """Releases the rows of a dataset when the last job that needs them is over."""

    def __init__(self, jobs: Iterable[TaskJob]) -> None:
        self._jobs: Counter[int] = Counter()  # id of the dataset → jobs that need it
        self._lock = threading.Lock()
        self.keep(jobs)

    def keep(self, jobs: Iterable[TaskJob]) -> None:
        with self._lock:
            self._jobs.update(id(dataset) for job in jobs for dataset in job.datasets)

    def release(self, job: TaskJob) -> None:
        with self._lock:
            for dataset in job.datasets:
                self._jobs[id(dataset)] -= 1
                if not self._jobs[id(dataset)]:
                    dataset.release()


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
            async with _task_group() as self._group:
                # Over when no job is in any state, and `finish` says that none will follow.
                while not self._finishing or self._first or self._waiting or self._opening or self._under_way:
                    self._changed.clear()
                    self._open_next()
                    self._start_conversations()
                    self._close_ended()
                    await self._changed.wait()
                    await asyncio.sleep(0)  # the event may be set already, and requests need their turn
        finally:
            for entry in self._under_way:
                if not entry.closing:
                    entry.job.abandon(asyncio.CancelledError())
            for opened in self._models.values():
                try:
                    await opened.model.aclose()
                except PartError as error:  # the answers are there already
                    logger.warning("%s", "\n  ".join(error.lines()))

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
            entry = _OpenJob(job, opened, is_first)
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
            agent = model if isinstance(model, AgentModel) else None
            self._models[id(model)] = _OpenModel(model, agent, self._hear)
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
                    async with _task_group() as group:
                        for request in requests:
                            group.create_task(self._answer(entry, conversation, request))
                else:
                    await self._answer(entry, conversation, requests[0])
            entry.job.finished(conversation)
        except Exception as error:
            self._end(entry, error)
            self._doubt(entry.opened, error)

    async def _answer(self, entry: _OpenJob, conversation: RunningConversation, request: Request) -> None:
        """Ask one request, or run its program, and record what comes of it."""
        job, opened = entry.job, entry.opened
        async with job.claimed(request) as completion:
            if completion is None:
                # A program or a tool: the inferencer runs it, beside the requests.
                if not is_for_model(request):
                    completion = await in_thread(partial(job.perform, request))
                else:
                    if not self._heard:
                        asyncio.get_running_loop().call_later(ALONE_SECONDS, self._hear)
                    if opened.agent is None:
                        completion = await _complete(opened, opened.model, request, job)
                    else:
                        completion = await _asked_agent(opened, opened.agent, request, job, conversation.row)
                completion = job.record(request, without_secrets(completion))
            conversation.answer(request, completion)

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


class _OpenModel(Struct, eq=False):
    """A model that is open.

    Attributes:
        model: the model.
        agent: the model, if it is an agent; else None.
        hear: lets other requests follow the first one.
        most: conversations that it may have at a time.
        asking: those that are under way.
        failure: the failure of its last request; None if that was answered.
        answers: whether it has answered a request since it last ended a job.
        has_answered: whether it has ever answered.
    """

    model: AsyncModel
    agent: AgentModel | None
    hear: Callable[[], None]
    most: int = 0
    asking: int = 0
    failure: Failure | None = None
    answers: bool = False
    has_answered: bool = False


class _OpenJob(Struct, eq=False):
    """A job that is open.

    Attributes:
        job: the job.
        opened: its model.
        is_first: whether its conversations start before those of other jobs.
        conversations: those that are under way.
        error: the error that ended the job; None without an error.
        has_begun: whether its first conversation has started.
        closing: whether its files are being closed.
    """

    job: TaskJob
    opened: _OpenModel
    is_first: bool
    conversations: set[asyncio.Task[None]] = field(default_factory=set)
    error: AisPromptError | None = None
    has_begun: bool = False
    closing: bool = False


@asynccontextmanager
async def _task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """Wait for all tasks of the group; the first error cancels the others, and is raised alone."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def _asked_agent(
    opened: _OpenModel, agent: AgentModel, request: Request, job: TaskJob, row: int | None
) -> Completion:
    """Return the answer of an agent; its steps are requests to its model, each recorded for itself."""
    job.admit(0)
    completion = await _contained(agent, job, agent.answer, request, _Asker(opened, agent.asked, job, row))
    opened.hear()
    return completion


class _Asker:
    """Asks the model of an agent, as `ais_prompt.models.Asker`. What an earlier session recorded is not asked again."""

    def __init__(self, opened: _OpenModel, asked: AsyncModel, job: TaskJob, row: int | None) -> None:
        self.price = job.task.spec.model.price
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
