"""Score finished tasks while other tasks are still being asked, without holding up the event loop that asks."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

from ais_prompt.errors import AisPromptError, PartError
from ais_prompt.plan.plan import Task
from ais_prompt.scoring.judge import AnsweredTask
from ais_prompt.scoring.worker import ScoreCall, Scored, Surroundings, has_own_parts, parts_of
from ais_prompt.store.layout import RunFolder
from ais_prompt.utils.worker import Worker, WorkerDied

logger = logging.getLogger(__name__)

START_DELAY: Final = 1.0
"""Seconds from the first finished task to the start of a worker: a short run does without one."""


class BackgroundScoring:
    """Scores in a worker process while models are asked, and the rest afterwards.

    Afterwards, tasks with shipped parts alone are scored in this process. User-defined parts may end the process that
    they work in (``os._exit``, a fault in a C library), so their tasks are left to the worker. Only parts that a new
    process does not find, such as a class of a notebook, are used in this process all the same.

    Args:
        folder: of the run.
        config: of the run, resolved.
        tasks: those that will be scored.
    """

    def __init__(self, folder: RunFolder, config: Mapping[str, Any], tasks: Sequence[Task]) -> None:
        self._folder = folder
        self._config = config
        self._risky = {task.name for task in tasks if _is_risky(task)}
        self._waiting: deque[AnsweredTask] = deque()
        self._left: list[AnsweredTask] = []
        self._scored: dict[str, Scored] = {}
        self._now = ""  # the task that is being scored
        self._changed = threading.Condition()
        self._over = threading.Event()
        self._stopping = False
        self._ready = False  # whether there is a worker that takes tasks
        self._thread: threading.Thread | None = None
        self._worker: Worker | None = None
        if self._risky:
            self._start_thread()

    def submit(self, answered: AnsweredTask, *, is_last: bool) -> None:
        """Score a task, from any thread.

        Args:
            answered: the task.
            is_last: whether no other task is being asked, so that it may as well be scored here.
        """
        with self._changed:
            self._waiting.append(answered)
            if self._thread is None and not is_last:
                self._start_thread()
            self._changed.notify_all()

    def doing(self) -> str:
        """Return which task is being scored and how many wait, for progress displays; empty if there is none."""
        with self._changed:
            waiting = len(self._waiting)
            if not self._now:
                return ""
            return self._now + (f" · {waiting} more to score" if waiting else "")

    def finish(self, score_here: Callable[[AnsweredTask], Scored]) -> dict[str, Scored]:
        """Score what is left, when nothing is asked any more, and return what came of each task.

        Args:
            score_here: scores a task in this process.
        """
        with self._changed:
            self._over.set()
            self._changed.notify_all()
            worker = self._worker
        if worker is not None and not (self._ready or self._risky):
            worker.stop()
        while answered := self._next(risky=False):
            self._keep(answered, score_here(answered))
        if self._thread is not None:
            self._thread.join()
        for answered in [*self._left, *self._waiting]:
            self._scored[answered.task.name] = score_here(answered)
        return self._scored

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._changed:
            self._stopping = True
            self._over.set()
            self._waiting.clear()
            worker = self._worker
            self._changed.notify_all()
        if worker is not None:
            worker.stop()

    def _start_thread(self) -> None:
        self._thread = threading.Thread(target=self._work, name="aisprompt-scoring", daemon=True)
        self._thread.start()

    def _next(self, *, risky: bool) -> AnsweredTask | None:
        """Take the next task that was submitted, of one kind; None if there is none."""
        with self._changed:
            found = next((task for task in self._waiting if (task.task.name in self._risky) is risky), None)
            if found is not None:
                self._waiting.remove(found)
                self._now = found.task.name
            return found

    def _keep(self, answered: AnsweredTask, scored: Scored) -> None:
        with self._changed:
            self._now = ""
            if scored.unresolved:
                logger.info("[%s] is scored after the asking: %s", answered.task.name, scored.unresolved)
                self._left.append(answered)
            else:
                self._scored[answered.task.name] = scored

    def _work(self) -> None:
        """Hand one task after the other to a worker: all while models are asked, then those that may end a process."""
        if not self._risky and self._over.wait(START_DELAY):
            return
        self._ready = self._started()
        while self._ready:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._over.is_set())
            answered = self._next(risky=True) or (None if self._over.is_set() else self._next(risky=False))
            if answered is not None:
                self._keep(answered, self._score_in_worker(answered))
            elif self._over.is_set():
                return

    def _started(self) -> bool:
        """Start a worker; False if it cannot be used, so that everything is scored at the end."""
        try:
            worker = Worker("ais_prompt.scoring.worker")
            with self._changed:
                self._worker = worker
            found = worker.call(Surroundings.here(self._config))
        except (OSError, WorkerDied) as error:
            if not self._over.is_set():
                logger.info("tasks are scored after the asking: %s", error)
            return False
        if found is not None:
            logger.info("tasks are scored after the asking: %s", found.unresolved)
            return False
        return True

    def _score_in_worker(self, answered: AnsweredTask) -> Scored:
        assert self._worker is not None
        try:
            parts = parts_of(answered.task.spec)
            call = ScoreCall(answered.task.spec, self._folder, answered.asked, answered.stopped_of, parts)
            scored: Scored = self._worker.call(call)
        except WorkerDied as error:
            if self._stopping:
                return Scored(unresolved="the run is stopped")
            return self._after_death(error)
        except Exception as error:  # a part that is not found, or a value that cannot be sent
            return Scored(unresolved=f"{type(error).__name__}: {error}")
        for level, name, text in scored.log:
            logging.getLogger(name).log(level, "%s", text)
        return scored

    def _after_death(self, error: WorkerDied) -> Scored:
        """A task whose scoring ended the worker is not scored in this process, which it would end as well."""
        self._ready = self._started()
        what = f"the process that scored this task ended: {error}"
        return Scored(error=PartError(what, fix="fix the evaluator, then `aisprompt score RUN`"))


def _is_risky(task: Task) -> bool:
    try:
        return has_own_parts(task.spec)
    except AisPromptError:  # told when the task is scored
        return False
