"""Ask in this process: served models side by side, models in its memory one after the other."""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from ais_prompt.engine.alone import ask_alone
from ais_prompt.engine.engine import Engine
from ais_prompt.engine.failures import ends_run, error_of
from ais_prompt.engine.infer import TaskJob
from ais_prompt.engine.job import Job
from ais_prompt.errors import AisPromptError, PartError
from ais_prompt.models.base import AsyncModel, BatchModel, Model

logger = logging.getLogger(__name__)

Ended: TypeAlias = Callable[[TaskJob, AisPromptError | None], Iterable[TaskJob]]
"""Called in any thread when a job is over, with the error that ended it, or None.

Returns the jobs that it leads to, such as the questions to a judge. They start before jobs that are still waiting."""


def run_local(jobs: Sequence[TaskJob], ended: Ended) -> None:
    """Ask all jobs; one that cannot go on does not stop the others.

    A model in this process's memory is closed before the next one is loaded, so that two of them never share a device.

    Args:
        jobs: in the order in which they are to start, all jobs of a model together.
        ended: called when a job is over.

    Raises:
        StoreError: answers can no longer be written down.
    """
    local: deque[TaskJob] = deque()
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
            local.append(job)

    def over(job: Job, error: AisPromptError | None) -> None:
        assert isinstance(job, TaskJob)
        following = list(ended(job, error))
        rows.keep(following)
        for next_job in following:
            submit(next_job, first=True)
        rows.release(job)

    try:
        with Engine(over) as engine:
            for job in jobs:
                submit(job)
            _ask_here(local, lambda: engine.wait(lambda: bool(local)), over)
    finally:
        for model in served.values():
            _close(model)


def _ask_here(
    local: deque[TaskJob], wait: Callable[[], None], over: Callable[[Job, AisPromptError | None], None]
) -> None:
    """Ask local models, until nothing is asked elsewhere that could lead to more jobs for them.

    Args:
        local: the jobs; others are added while this works.
        wait: returns when there is a job, or none can come.
        over: called when a job is over.
    """
    model: Model | None = None
    try:
        while True:
            if not local:
                wait()
            if not local:
                return
            job = next((job for job in list(local) if job.model is model), local[0])
            local.remove(job)
            if model is not None and job.model is not model:
                _close(model)
            model = job.model
            over(job, _ask(job))
    finally:
        if model is not None:
            _close(model)


def _ask(job: TaskJob) -> AisPromptError | None:
    """Ask a job, and return the error that ended it.

    Raises:
        StoreError: answers can no longer be written down.
    """
    try:
        ask_alone(job)
    except Exception as error:
        if ends_run(error):
            raise
        return error_of(error)
    return None


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


def _close(model: Model) -> None:
    """Close a model. Its answers are there already, so that nothing it raises matters to them."""
    try:
        model.close()
    except PartError as error:
        logger.warning("%s", "\n  ".join(error.lines()))
