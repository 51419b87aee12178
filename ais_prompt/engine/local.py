"""Ask all jobs of a run: served models side by side, local models beside them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from ais_prompt.engine.engine import Engine
from ais_prompt.engine.in_memory import InMemory, close
from ais_prompt.engine.infer import TaskJob
from ais_prompt.engine.job import Job
from ais_prompt.engine.workers import ModelWorkers
from ais_prompt.errors import AisPromptError
from ais_prompt.models.base import AsyncModel, BatchModel, Model

JobEnded: TypeAlias = Callable[[TaskJob, AisPromptError | None], Iterable[TaskJob]]
"""Called in any thread when a job is over, with the error that ended it, or None.

Returns the jobs that it leads to, such as the questions to a judge. They start before jobs that are still waiting."""


def run_local(jobs: Sequence[TaskJob], ended: JobEnded, workers: ModelWorkers | None = None) -> None:
    """Ask all jobs; one that cannot go on does not stop the others.

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
        except AisPromptError as error:
            over(job, error)
            return
        if is_served:
            served[id(model)] = model
            engine.submit(job, first=first)
        else:
            local.add(job)

    def over(job: Job, error: AisPromptError | None) -> None:
        assert isinstance(job, TaskJob)
        following = list(ended(job, error))
        rows.keep(following)
        for next_job in following:
            submit(next_job, first=True)
        rows.release(job)

    local = InMemory(workers, over)
    try:
        with Engine(over) as engine:
            for job in jobs:
                submit(job)
            local.ask(lambda: engine.wait(local.has_jobs))
    finally:
        for model in served.values():
            close(model)


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
