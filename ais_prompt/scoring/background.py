"""Score finished tasks in a worker process while other tasks are still asked.

The event loop that asks is not held up. `BackgroundScoring` decides which task is scored when, and where: in a worker
process (`ais_prompt.scoring.worker`), or in this process when nothing is asked any more.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from msgspec import Struct

from ais_prompt.plan import Task
from ais_prompt.scoring.worker import (
    ScoreCall,
    Scored,
    ScoringProcess,
    ToJudge,
    ToJudgeCall,
    answers_to_judge,
    is_risky,
)
from ais_prompt.store import RunFolder

if TYPE_CHECKING:
    from ais_prompt.judges import Question

logger = logging.getLogger(__name__)

START_DELAY: Final = 1.0
"""Seconds from the first finished task to the start of a worker: a short run does without one."""


class AnsweredTask(Struct, frozen=True):
    """A task whose answers are there.

    Attributes:
        task: which one.
        asked, stopped_of, earlier: as for `ais_prompt.scoring.unchanged.score_what_changed`.
    """

    task: Task
    asked: int | None
    stopped_of: int | None
    earlier: str = ""

    @property
    def needs_judge(self) -> bool:
        """Whether judges have to be asked before it can be scored."""
        return any(scoring.dataset.judges for scoring in self.task.scorings)


class BackgroundScoring:
    """Scores in a worker process while models are asked, and the rest afterwards.

    Afterwards, tasks with shipped parts alone are scored in this process. User-defined parts may end the process that
    they work in (``os._exit``, a fault in a C library), so their tasks are left to the worker. Only parts that a new
    process does not find, such as a class of a notebook, are used in this process all the same.

    Args:
        folder: of the run.
        config: of the run, resolved.
        tasks: those that will be scored.
        audits: as for `score_task`.
    """

    def __init__(
        self, folder: RunFolder, config: Mapping[str, Any], tasks: Sequence[Task], *, audits: bool = False
    ) -> None:
        self._folder = folder
        self._audits = audits
        self._risky = {task.name for task in tasks if is_risky(task)}
        # A task moves from `_waiting` to `_now`, and from there to `_scored`, or to `_left` if the worker does not find
        # its parts: `finish` scores the tasks that are left.
        self._waiting: deque[AnsweredTask] = deque()
        self._left: list[AnsweredTask] = []
        self._scored: dict[str, Scored] = {}
        self._now = ""  # the name of the task that is being scored
        self._changed = threading.Condition()
        self._over = threading.Event()  # nothing is asked any more
        self._thread: threading.Thread | None = None
        self._process = ScoringProcess(config)
        self._reader = ScoringProcess(config)  # for judges: they must not wait until a task is scored
        self._reading = threading.Lock()
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

    def answers_to_judge(self, task: Task) -> Sequence[Question]:
        """Return what a judge is asked about the answers of a task, in any thread.

        Raises:
            AisPromptError: they cannot be read, or a part ended the process that read them.
        """
        if task.name in self._risky:
            with self._reading:
                found = self._reader.do(ToJudgeCall(task.spec, self._folder))
            if isinstance(found, ToJudge):
                return found.answers
            if found.error is not None:
                raise found.error
            logger.info("[%s] its answers are read in this process: %s", task.name, found.unresolved)
        return answers_to_judge(task, self._folder)

    def doing(self) -> str:
        """Return which task is being scored and how many wait, for progress displays; empty if there is none."""
        with self._changed:
            more = len(self._waiting)
            return self._now + (f" · {more} more to score" if more and self._now else "")

    def finish(self, score_here: Callable[[AnsweredTask], Scored]) -> dict[str, Scored]:
        """Score what is left, when nothing is asked any more, and return what came of each task.

        Args:
            score_here: scores a task in this process.
        """
        with self._changed:
            self._over.set()
            self._changed.notify_all()
        # The worker is still starting, and would be ready too late to help.
        if not (self._process.ready or self._risky):
            self._process.stop()
        while answered := self._take(risky=False):
            self._keep(answered, score_here(answered))
        if self._thread is not None:
            self._thread.join()
        for left in [*self._left, *self._waiting]:
            self._scored[left.task.name] = score_here(left)
        return self._scored

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._changed:
            self._over.set()
            self._waiting.clear()
            self._changed.notify_all()
        self._process.stop()
        self._reader.stop()

    def _start_thread(self) -> None:
        self._thread = threading.Thread(target=self._work, name="aisprompt-scoring", daemon=True)
        self._thread.start()

    def _take(self, *, risky: bool) -> AnsweredTask | None:
        """Take the next task of one kind; None if none waits."""
        with self._changed:
            for answered in self._waiting:
                if (answered.task.name in self._risky) is risky:
                    self._waiting.remove(answered)
                    self._now = answered.task.name
                    return answered
            return None

    def _keep(self, answered: AnsweredTask, scored: Scored) -> None:
        with self._changed:
            self._now = ""
            if scored.unresolved:
                logger.info("[%s] is scored after the asking: %s", answered.task.name, scored.unresolved)
                self._left.append(answered)
            else:
                self._scored[answered.task.name] = scored

    def _work(self) -> None:
        """Hand tasks to a worker: all while models are asked, then those that may end a process."""
        # Not started: a short run ends before a worker would pay.
        if not self._risky and self._over.wait(START_DELAY):
            return
        if why := self._process.start():
            if not self._over.is_set():
                logger.info("tasks are scored after the asking: %s", why)
            return
        while True:
            # Idle: wait for a task, or for the end of the asking.
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._over.is_set())
            # After the asking, `finish` scores tasks with shipped parts in this process instead.
            answered = self._take(risky=True) or (None if self._over.is_set() else self._take(risky=False))
            if answered:
                self._keep(answered, self._score_in_worker(answered))
            # Over: no risky task waits, and none can come.
            elif self._over.is_set():
                return

    def _score_in_worker(self, answered: AnsweredTask) -> Scored:
        call = ScoreCall(
            answered.task.spec,
            self._folder,
            answered.asked,
            answered.stopped_of,
            answered.earlier,
            audits=self._audits,
        )
        found = self._process.do(call)
        assert isinstance(found, Scored)
        for level, name, text in found.log:
            logging.getLogger(name).log(level, "%s", text)
        return found
