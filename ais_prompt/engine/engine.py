"""Ask all jobs of a run: served models side by side on one event loop, local models beside them in this thread.

`run_local` hands each job to where its model is. `Engine` has the event loop, in a thread of its own, with an
`ais_prompt.engine.endpoint.Endpoint` for each server. Local models are asked by `ais_prompt.engine.memory`; one is
closed before the next one is loaded.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeAlias

from ais_prompt.engine.endpoint import Ended, Endpoint
from ais_prompt.engine.job import Standstill, TaskJob
from ais_prompt.engine.memory import InMemory, close
from ais_prompt.errors import AisPromptError, InternalError
from ais_prompt.models import AsyncModel, BatchModel, GathersRequests, Model, endpoint_of
from ais_prompt.processes import call_in_loop

if TYPE_CHECKING:
    from ais_prompt.engine.workers import ModelWorkers

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
        self._endpoints: dict[str, Endpoint] = {}  # these members and the next two belong to the event loop's thread
        self._names: dict[int, str] = {}  # id of a model → its endpoint
        self._group = asyncio.TaskGroup()
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
        if self._thread is None or self._loop is None:  # idle
            return
        # asking → ending
        call_in_loop(self._loop, self._over.set if error is None else self._stop)
        self._thread.join()
        if error is None:
            self._raise_error()

    def _run(self, started: threading.Event) -> None:
        try:
            asyncio.run(self._ask(started))
        except asyncio.CancelledError:  # by `_stop`
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
        try:
            async with self._group:
                started.set()
                # Endpoints begin with their first job (`_take`), and end when no job can come any more.
                await self._over.wait()
                for endpoint in self._endpoints.values():
                    endpoint.finish()
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None

    def _take(self, job: TaskJob, first: bool) -> None:
        model = job.model
        # Models at one address share an endpoint, and its places.
        if id(model) not in self._names:
            self._names[id(model)] = _endpoint_of(model)
        name = self._names[id(model)]
        # The first job of an endpoint begins it.
        if name not in self._endpoints:
            self._endpoints[name] = Endpoint(self._job_ended)
            self._group.create_task(self._endpoints[name].run())
        self._endpoints[name].submit(job, first=first)

    def _stop(self) -> None:
        assert self._asking is not None
        self._asking.cancel()

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


def _endpoint_of(model: Model) -> str:
    try:
        return endpoint_of(model)
    except AisPromptError:  # a user-defined model that cannot say, or there is no key; its tasks will tell
        return f"model {id(model)}"
