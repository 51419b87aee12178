"""Ask one endpoint: a server, or one async model.

The conversations of all its tasks share its places. When a task has no more conversations to start, those of the next
one are started, so that slow answers hold nothing up but themselves.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, cast

from ais_prompt.engine.failures import ends_run, error_of
from ais_prompt.engine.job import Job
from ais_prompt.engine.threads import FileThreads
from ais_prompt.errors import AisPromptError, PartError, Paused
from ais_prompt.inferencers import RunningConversation
from ais_prompt.inferencers.containment import ends_task, failure_of
from ais_prompt.inferencers.secrets import without_secrets
from ais_prompt.models.base import AsyncModel
from ais_prompt.types import Completion, Request

logger = logging.getLogger(__name__)

Ended: TypeAlias = Callable[[Job, AisPromptError | None], None]
"""Called in any thread when a job is over, with the error that ended it, or None."""

READY: Final = 2
"""Tasks with conversations to start that are open at a time: the next one is made ready while one is asked."""
SMALL_TASKS: Final = 32
"""Small tasks that are prepared together, at most."""
GATHER_SECONDS: Final = 0.1
"""Seconds in which tasks that are over gather, to be closed together, while others are asked."""
UNDER_WAY: Final = 64
"""Tasks that are open at a time, the slow answers of the last ones included; each has files open."""
PASSED: Final = 32
"""Conversations that were answered before and pass without waiting, until others have their turn."""


class Endpoint:
    """Asks an endpoint, as long as an event loop runs.

    Files are read and written in threads, of several small tasks together. What is quick is done in the loop's thread:
    two threads would hand Python's lock to each other at every system call, which takes longer than the work itself.

    Models at one address share its places: there are as many as the model with the highest ``max_concurrency`` has, and
    each model keeps to its own number.

    Args:
        ended: called when a job is over.
    """

    def __init__(self, ended: Ended) -> None:
        self._ended = ended
        self._first: deque[Job] = deque()
        self._waiting: deque[Job] = deque()
        self._ready: list[_UnderWay] = []  # with conversations to start, in order
        self._under_way: list[_UnderWay] = []
        self._over: list[_UnderWay] = []  # to be closed
        self._opening = False
        self._finishing = False
        self._broken = False
        self._changed = asyncio.Event()  # for what opens jobs
        self._idle: deque[asyncio.Future[None]] = deque()  # one for each place that waits for a conversation
        self._group = asyncio.TaskGroup()
        self._threads = FileThreads()
        self._places = 0
        self._passed = 0
        self._models: dict[int, _OpenModel] = {}  # by the id of the model

    def submit(self, job: Job, *, first: bool = False) -> None:
        """Ask a job after those that were submitted before.

        Args:
            job: what is asked.
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
                self._group.create_task(self._open_jobs())
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            self._broken = True
            for entry in self._under_way:
                if not entry.ending or entry in self._over:
                    entry.job.abandon(asyncio.CancelledError())
            self._threads.close()
            for opened in self._models.values():
                await _close(opened.model)

    async def _open_jobs(self) -> None:
        """Open the jobs in order, each shortly before its first conversation starts."""
        while True:
            while (jobs := self._openable()) is None:
                if self._finishing and not (self._first or self._waiting):
                    self._wake_all()
                    return
                self._changed.clear()
                await self._changed.wait()
            self._opening = True
            is_first = jobs is self._first
            together = _next_together(jobs, min(SMALL_TASKS, UNDER_WAY - len(self._under_way)))
            faults = await self._threads.run(lambda: [_fault_of(job.prepare) for job in together])  # noqa: B023
            for job, error in zip(together, faults, strict=True):
                await self._make_ready(job, error, is_first=is_first)
                self._wake()
            self._opening = False
            self._wake()

    async def _make_ready(self, job: Job, error: Exception | None, *, is_first: bool) -> None:
        """Open a job, and let its conversations start; or report why it cannot be asked."""
        try:
            if error is not None:
                job.abandon(error)
                raise error
            opened = await self._open(job, cast("AsyncModel", job.model))
        except Exception as fault:
            await self._report(job, error_of(fault))
            return
        entry = _UnderWay(job, opened, is_first=is_first)
        self._ready.append(entry)
        self._ready.sort(key=lambda entry: not entry.is_first)
        self._under_way.append(entry)
        for _ in range(self._places, opened.most):
            self._group.create_task(self._hold_conversations())
        self._places = max(self._places, opened.most)

    def _openable(self) -> deque[Job] | None:
        """Return the queue whose next job may be opened now; None if none may."""
        if len(self._under_way) >= UNDER_WAY:
            return None
        if self._first:
            return self._first
        return self._waiting if self._waiting and len(self._ready) < READY else None

    async def _open(self, job: Job, model: AsyncModel) -> _OpenModel:
        """Open a job, and its model if that is not open yet."""
        try:
            if job.opens_quickly:
                job.open()
            else:
                await self._threads.run(job.open)
            if id(model) not in self._models:
                await model.open()
                self._models[id(model)] = _OpenModel(model)
            opened = self._models[id(model)]
            opened.most = model.max_concurrency  # grows with the servers that share its work
            return opened
        except BaseException as error:
            job.abandon(error)
            raise

    async def _hold_conversations(self) -> None:
        """Be one place: hold one conversation after the other."""
        this = cast("asyncio.Task[None]", asyncio.current_task())
        while (started := await self._next()) is not None:
            entry, conversation = started
            entry.places.add(this)
            entry.opened.asking += 1
            try:
                await self._hold(entry.job, entry.opened.model, conversation)
            except asyncio.CancelledError:
                if entry.error is None or isinstance(entry.error, Paused) or this.uncancel():
                    self._broken = True  # everything is stopped, not only this task
                    raise
            except Paused as error:
                self._pause(entry, error)
            except Exception as error:
                self._fail(entry, error, this)
            finally:
                entry.places.discard(this)
                entry.opened.asking -= 1
                if not entry.places:
                    self._end_if_over(entry)

    async def _hold(self, job: Job, model: AsyncModel, conversation: RunningConversation) -> None:
        if not (requests := conversation.open_requests()):
            self._passed += 1
            if self._passed % PASSED == 0:
                await asyncio.sleep(0)
        while requests:
            job.admit(1)
            request = requests[0]
            completion = without_secrets(await _complete(model, request))
            job.record(request, completion)
            conversation.answer(request, completion)
            requests = conversation.open_requests()
        job.finished(conversation)

    async def _next(self) -> tuple[_UnderWay, RunningConversation] | None:
        """Return the next conversation, when there is one to be held; None after the last one of all."""
        while (started := self._take()) is None:
            if self._finishing and not (self._first or self._waiting or self._opening or self._ready):
                self._wake_all()
                return None
            idle = asyncio.get_running_loop().create_future()
            self._idle.append(idle)
            await idle
        self._wake()  # where there is one conversation there may be more
        return started

    def _wake(self) -> None:
        """Let one idle place look for a conversation; most of them would find none if all of them looked."""
        while self._idle:
            idle = self._idle.popleft()
            if not idle.done():
                idle.set_result(None)
                return

    def _wake_all(self) -> None:
        while self._idle:
            self._wake()

    def _take(self) -> tuple[_UnderWay, RunningConversation] | None:
        for entry in tuple(self._ready):
            if entry.opened.asking >= entry.opened.most:
                continue
            try:
                if not entry.has_begun:
                    entry.has_begun = True
                    entry.job.begin()
                conversation = entry.job.next()
            except Exception as error:
                self._fail(entry, error)
                conversation = None
            if conversation is not None:
                return entry, conversation
            if entry in self._ready:
                self._ready.remove(entry)
            self._changed.set()
            self._end_if_over(entry)
        return None

    def _fail(self, entry: _UnderWay, error: Exception, this: asyncio.Task[None] | None = None) -> None:
        """End one task; its other conversations are broken off.

        Raises:
            StoreError: a full disk is full for all tasks.
        """
        if ends_run(error):
            self._broken = True
            raise error
        if entry.error is not None:
            return
        entry.error = error_of(error)
        if entry in self._ready:
            self._ready.remove(entry)
            self._changed.set()
        for place in entry.places:
            if place is not this:
                place.cancel()

    def _pause(self, entry: _UnderWay, error: Paused) -> None:
        """End one task when the requests that are under way have ended."""
        entry.error = entry.error or error
        if entry in self._ready:
            self._ready.remove(entry)
            self._changed.set()

    def _end_if_over(self, entry: _UnderWay) -> None:
        if entry.places or entry.ending or entry in self._ready or self._broken:
            return
        entry.ending = True
        self._over.append(entry)
        if len(self._over) == 1:
            self._group.create_task(self._end())

    async def _end(self) -> None:
        """Close the tasks that are over, and with them those that come to their end in the next moment."""
        if self._ready:
            await asyncio.sleep(GATHER_SECONDS)
        for entry in self._over:
            if entry.error is None and entry.job.concludes_quickly:
                self._attempt(entry, entry.job.conclude)
                entry.is_concluded = True
        over, self._over = self._over, []
        await self._threads.run(lambda: self._close(over))
        for entry in over:
            self._under_way.remove(entry)
        self._changed.set()

    def _close(self, over: Sequence[_UnderWay]) -> None:
        for entry in over:
            if entry.error is None and not entry.is_concluded:
                self._attempt(entry, entry.job.conclude)
            if entry.error is None:
                self._attempt(entry, entry.job.close)
            else:
                entry.job.abandon(entry.error)
            self._ended(entry.job, entry.error)

    def _attempt(self, entry: _UnderWay, action: Callable[[], None]) -> None:
        """Do something for a task; an error ends it.

        Raises:
            StoreError: a full disk is full for all tasks.
        """
        if (fault := _fault_of(action)) is not None:
            if ends_run(fault):
                raise fault
            entry.error = error_of(fault)

    async def _report(self, job: Job, error: AisPromptError) -> None:
        """Report a job that could not be opened."""
        if ends_run(error):
            raise error
        await self._threads.run(lambda: self._ended(job, error))


class _OpenModel:
    """A model that is open.

    Attributes:
        most: conversations that it may have at a time.
        asking: those that are under way.
    """

    def __init__(self, model: AsyncModel) -> None:
        self.model = model
        self.most = 0
        self.asking = 0


class _UnderWay:
    """A job that is open.

    Attributes:
        opened: its model.
        is_first: whether its conversations start before those of other jobs.
        places: those that hold its conversations in this moment.
        error: what ended it; None if nothing did.
        ending: whether its files are being closed.
        is_concluded: whether its predictions are written.
    """

    def __init__(self, job: Job, opened: _OpenModel, *, is_first: bool) -> None:
        self.job = job
        self.opened = opened
        self.is_first = is_first
        self.places: set[asyncio.Task[None]] = set()
        self.error: AisPromptError | None = None
        self.has_begun = False
        self.ending = False
        self.is_concluded = False


def _next_together(jobs: deque[Job], most: int) -> list[Job]:
    """Take the next job from a queue, and the small ones after it if it is small too, ``most`` in all."""
    together = [jobs.popleft()]
    while together[0].is_small and jobs and jobs[0].is_small and len(together) < most:
        together.append(jobs.popleft())
    return together


def _fault_of(action: Callable[[], None]) -> Exception | None:
    """Do something, and return what it raises in place of raising it."""
    try:
        action()
    except Exception as fault:
        return fault
    return None


async def _close(model: AsyncModel) -> None:
    try:
        await model.aclose()
    except PartError as error:  # the answers are there already
        logger.warning("%s", "\n  ".join(error.lines()))


async def _complete(model: AsyncModel, request: Request) -> Completion:
    """Return the answer of a model, or the failure that it raises in place of returning it."""
    try:
        return await model.complete(request)
    except Exception as error:
        if ends_task(error):
            raise
        return Completion(failure=failure_of(error, type(model).__name__))
