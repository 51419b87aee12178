"""Ask models in memory: one job after the other in this thread, and with workers several at a time."""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable

from ais_prompt.engine.alone import ask_alone
from ais_prompt.engine.failures import ends_run, error_of
from ais_prompt.engine.infer import TaskJob
from ais_prompt.engine.job import Job
from ais_prompt.engine.workers import ModelWorkers
from ais_prompt.errors import AisPromptError, PartError
from ais_prompt.models.base import Model

logger = logging.getLogger(__name__)


class InMemory:
    """Asks jobs of models in memory. A model is closed before its thread loads the next one.

    Args:
        workers: compute beside each other; None to compute in this process.
        over: called in any thread when a job is over.
    """

    def __init__(self, workers: ModelWorkers | None, over: Callable[[Job, AisPromptError | None], None]) -> None:
        self._workers = workers
        self._over = over
        self._jobs: deque[TaskJob] = deque()
        self._asked: Counter[int] = Counter()  # id of the model → threads that ask it
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
                if (job := self._next(model)) is None:
                    if self._workers:  # what is waited for may need the GPUs
                        self._leave(model)
                        model = None
                    wait()
                    if (job := self._next(model)) is None:
                        return
                if job.model is not model:
                    self._leave(model)
                model = job.model
                self._over(job, _ended_with(job))
        finally:
            self._leave(model)

    def _next(self, model: Model | None) -> TaskJob | None:
        """Take the next job: of the same model, of one that no other thread asks, or of any."""
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


def _ended_with(job: TaskJob) -> AisPromptError | None:
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


def close(model: Model) -> None:
    """Close a model. Its answers are there already, so that nothing it raises matters to them."""
    try:
        model.close()
    except PartError as error:
        logger.warning("%s", "\n  ".join(error.lines()))
