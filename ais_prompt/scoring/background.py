"""Score finished tasks in a worker process while other tasks are still asked.

The event loop that asks is not held up. `BackgroundScoring` decides which task is scored when; `ScoringProcess` and
`AnswerReader` are the worker processes (`ais_prompt.scoring.score_worker`), as their parent sees them.
"""

from __future__ import annotations

import io
import logging
import pickle
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

import msgspec
from msgspec import Struct

from ais_prompt.config import Surroundings
from ais_prompt.errors import AisPromptError, PartError
from ais_prompt.judges import Question
from ais_prompt.plan import Task
from ais_prompt.scoring.score_worker import (
    ScoreCall,
    Scored,
    ToJudge,
    ToJudgeCall,
    answers_to_judge,
    is_risky,
    parts_of,
)
from ais_prompt.store import RunFolder
from ais_prompt.utils import Worker, WorkerDied

logger = logging.getLogger(__name__)

START_DELAY: Final = 1.0
"""Seconds from the first finished task to the start of a worker: a short run does without one."""

_PLAIN: Final = {
    "array": {"_array_reconstructor", "array"},
    "builtins": {"bytearray", "complex", "frozenset", "range", "set", "slice"},
    "collections": {"OrderedDict", "Counter", "deque"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "pathlib": {"PosixPath", "PurePosixPath"},
    "uuid": {"UUID"},
}
"""Module → its classes, and functions for them, that do nothing but hold values."""

_REBUILD: Final = {("ais_prompt.errors", "_rebuild"), ("msgspec._utils", "rebuild"), ("msgspec._core", "rebuild")}
"""Functions that call a class with values; the class is one of those that may be read."""


class AnsweredTask(Struct, frozen=True):
    """A task whose answers are there.

    Attributes:
        task: which one.
        asked, stopped_of: as for `ais_prompt.scoring.score.score_task`.
    """

    task: Task
    asked: int | None
    stopped_of: int | None

    @property
    def needs_judge(self) -> bool:
        """Whether judges have to be asked before it can be scored."""
        return bool(self.task.dataset.judges) and not self.task.spec.is_reference


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
        self._stopping = False  # the run failed or was interrupted: the end of the worker is no fault of a task
        self._ready = False  # whether there is a worker that takes tasks
        self._thread: threading.Thread | None = None
        self._process = ScoringProcess(config)
        self._reader = AnswerReader(folder, config)
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
        if task.name in self._risky and (found := self._reader.read(task)) is not None:
            return found
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
        if not (self._ready or self._risky):
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
            self._stopping = True
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
        self._start()
        while self._ready:
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

    def _start(self) -> None:
        why = self._process.start()
        self._ready = not why
        if why and not self._over.is_set():
            logger.info("tasks are scored after the asking: %s", why)

    def _score_in_worker(self, answered: AnsweredTask) -> Scored:
        spec = answered.task.spec
        try:
            call = ScoreCall(spec, self._folder, answered.asked, answered.stopped_of, parts_of(spec), self._audits)
            found: Scored = self._process.call(call)
        except WorkerDied as error:
            if self._stopping:
                return Scored(unresolved="the run is stopped")
            # A task whose scoring ended the worker is not scored in this process, which it would end as well.
            self._start()
            what = f"the process that scored this task ended: {error}"
            return Scored(error=PartError(what, fix="fix the evaluator, then `aisprompt score RUN`"))
        except Exception as error:  # a part that is not found, or a value that cannot be sent
            return Scored(unresolved=f"{type(error).__name__}: {error}")
        for level, name, text in found.log:
            logging.getLogger(name).log(level, "%s", text)
        return found


class ScoringProcess:
    """A worker process that scores, for one thread. Only `stop` may be called from another one.

    Args:
        config: of the run, resolved.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config
        self._worker: Worker | None = None
        self._is_over = False
        self._lock = threading.Lock()

    def start(self) -> str:
        """Start the process, or another one after its end. Return why it cannot be used, or an empty text."""
        try:
            with self._lock:
                if self._is_over:
                    return "the run is stopped"
                self._worker = Worker("ais_prompt.scoring.score_worker")
            found: Scored | None = self.call(Surroundings.here(self._config))
        except (OSError, WorkerDied) as error:
            return str(error)
        return found.unresolved if found else ""

    def call(self, value: Any) -> Any:
        """Send a call of `ais_prompt.scoring.score_worker`, and return the reply.

        Raises:
            WorkerDied: the process has ended.
            Exception: the value cannot be sent, or has parts that are not read here.
        """
        assert self._worker is not None  # it was started
        return read_values(self._worker.call(pickle.dumps(value)))

    def stop(self) -> None:
        """End the process at once."""
        with self._lock:
            self._is_over = True
            if self._worker is not None:
                self._worker.stop()


class AnswerReader:
    """Reads the answers that judges rate with parts that may end their process, in a process of its own.

    Args:
        folder: of the run.
        config: of the run, resolved.
    """

    def __init__(self, folder: RunFolder, config: Mapping[str, Any]) -> None:
        self._folder = folder
        self._process = ScoringProcess(config)
        self._ready = False
        self._lock = threading.Lock()

    def read(self, task: Task) -> Sequence[Question] | None:
        """Return what a judge is asked about a task, in any thread; None if its parts are not found there.

        Raises:
            AisPromptError: they cannot be read, or a part ended the process.
        """
        with self._lock:
            if not self._ready and (why := self._process.start()):
                logger.info("[%s] its answers are read in this process: %s", task.name, why)
                return None
            self._ready = True
            found = self._read(task)
        if isinstance(found, ToJudge):
            return found.answers
        if found.error is not None:
            raise found.error
        logger.info("[%s] its answers are read in this process: %s", task.name, found.unresolved)
        return None

    def stop(self) -> None:
        """End the process at once."""
        self._process.stop()

    def _read(self, task: Task) -> ToJudge | Scored:
        try:
            found: ToJudge | Scored = self._process.call(ToJudgeCall(task.spec, self._folder, parts_of(task.spec)))
        except WorkerDied as error:
            self._ready = False
            what = f"the process that read the answers of this task ended: {error}"
            return Scored(error=PartError(what, fix="fix the postprocessor, then `aisprompt score RUN`"))
        except Exception as error:  # a part that is not found, or a value that cannot be sent
            return Scored(unresolved=f"{type(error).__name__}: {error}")
        return found


class _Values(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        # Versions of Python keep a class in different private modules: `pathlib.Path` is of `pathlib._local` in 3.13.
        public, _, private = module.partition("._")
        if private and public in _PLAIN:
            module = public
        if name in _PLAIN.get(module, ()) or (module, name) in _REBUILD:
            return super().find_class(module, name)
        if module.startswith("ais_prompt."):
            found = super().find_class(module, name)
            if isinstance(found, type) and issubclass(found, (msgspec.Struct, AisPromptError)):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no plain value")


def read_values(content: bytes) -> Any:
    """Read a pickle.

    Raises:
        pickle.UnpicklingError: it names something that is no plain value.
        Exception: it is no pickle.
    """
    return _Values(io.BytesIO(content)).load()
