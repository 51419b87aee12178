"""Score finished tasks in a worker process while other tasks are still asked.

The event loop that asks is not held up. `BackgroundScoring` decides which task is scored when, and where: in a
`ScoringProcess`, or in this process when nothing is asked any more. A `ScoreCall` goes to the process, which runs
`answer`. `Scored` comes back, and is read with `read_values`, since user-defined parts may have written it.
"""

from __future__ import annotations

import io
import logging
import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.config import Surroundings
from ais_prompt.engine import error_of
from ais_prompt.errors import AisPromptError, DataError, PartError
from ais_prompt.evaluators import JudgedBatchEvaluator
from ais_prompt.plan import Task
from ais_prompt.processes import Worker, WorkerDied, serve
from ais_prompt.registry import EVALUATORS, INFERENCERS, POSTPROCESSORS, PartRegistry
from ais_prompt.scoring.answers import scorer_of
from ais_prompt.scoring.batch_scorer import answers_of
from ais_prompt.scoring.score import isolation_of
from ais_prompt.scoring.unchanged import is_of_program, score_what_changed
from ais_prompt.store import RunFolder, read_predictions
from ais_prompt.terminal import ROOT, Advance, Facts, OnceFilter, shown_on
from ais_prompt.types import PartSpec, Prediction, SampleScore, Score, TaskSpec
from ais_prompt.utils import part_types

if TYPE_CHECKING:
    from ais_prompt.judges import Question, Replies

logger = logging.getLogger(__name__)

START_DELAY: Final = 1.0
"""Seconds from the first finished task to the start of a worker: a short run does without one."""


class AnsweredTask(Struct, frozen=True):
    """A task whose answers are there.

    Attributes:
        task: which one.
        asked, stopped_of, earlier: as for `score_what_changed`.
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
        self._risky = set[str]()  # a part that scores the task may end the process
        for task in tasks:
            with suppress(AisPromptError):  # reported when the task is scored
                if has_own_parts(task.spec):
                    self._risky.add(task.name)
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
                found = self._reader.do(ScoreCall(task.spec, self._folder, for_judge=True))
            if found.error is not None:
                raise found.error
            if not found.unresolved:
                return found.questions
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
                call = ScoreCall(
                    answered.task.spec,
                    self._folder,
                    answered.asked,
                    answered.stopped_of,
                    answered.earlier,
                    audits=self._audits,
                )
                found = self._process.do(call)
                for level, name, text in found.log:
                    logging.getLogger(name).log(level, "%s", text)
                self._keep(answered, found)
            # Over: no risky task waits, and none can come.
            elif self._over.is_set():
                return


_STOPPED: Final = "the run is stopped"


class ScoringProcess:
    """A worker process that scores, for one thread at a time. Only `stop` may be called from another one.

    Args:
        config: of the run, resolved.

    Attributes:
        ready: whether the process runs and takes calls.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.ready = False
        self._config = config
        self._worker: Worker | None = None
        self._is_over = False
        self._lock = threading.Lock()

    def start(self) -> str:
        """Start the process, or another one after its end. Return why it cannot be used, or an empty text."""
        try:
            with self._lock:
                if self._is_over:
                    return _STOPPED
                self._worker = Worker("ais_prompt.scoring.worker")
            found: Scored | None = self._call(Surroundings.here(self._config))
        except (OSError, WorkerDied) as error:
            return str(error)
        self.ready = found is None
        return found.unresolved if found else ""

    def do(self, call: ScoreCall) -> Scored:
        """Score a task or read its answers there, and return what came of it.

        A task that ended the process has an error: it is not tried in this process, which it would end as well.
        """
        if not self.ready and (why := self.start()):
            return Scored(unresolved=why)
        try:
            found: Scored = self._call(replace(call, parts=parts_of(call.task)))
        except WorkerDied as error:
            self.ready = False
            if self._is_over:  # the end of the process is no fault of the task
                return Scored(unresolved=_STOPPED)
            doing, part = ("read the answers of", "postprocessor") if call.for_judge else ("scored", "evaluator")
            what = f"the process that {doing} this task ended: {error}"
            return Scored(error=PartError(what, fix=f"fix the {part}, then `aisprompt score RUN`"))
        except Exception as error:  # a part that is not found, or a value that cannot be sent
            return Scored(unresolved=f"{type(error).__name__}: {error}")
        return found

    def _call(self, value: Any) -> Any:
        assert self._worker is not None  # it was started
        return read_values(self._worker.call(pickle.dumps(value)))

    def stop(self) -> None:
        """End the process at once."""
        with self._lock:
            self._is_over = True
            if self._worker is not None:
                self._worker.stop()


class ScoreCall(Struct, frozen=True):
    """A task to be scored, or to be read for a judge.

    Attributes:
        task, folder, asked, stopped_of, earlier, audits: as for `score_what_changed`.
        parts: where the caller finds the parts of its own, see `parts_of`; `ScoringProcess.do` puts them in.
        for_judge: whether to return what a judge is asked, in place of scores.
    """

    task: TaskSpec
    folder: RunFolder
    asked: int | None = None
    stopped_of: int | None = None
    earlier: str = ""
    parts: Sequence[str] = ()
    audits: bool = False
    for_judge: bool = False


class Scored(Struct, frozen=True):
    """What came of scoring a task.

    Attributes:
        scores: none if there was an error.
        isolation: how the programs of its answers were kept apart from the machine; None if none were run.
        stamp: of `scoring_stamp`.
        error: why it could not be scored.
        log: level, logger and text of each message.
        unresolved: why its parts cannot be used in this process; nothing was done then.
        questions: to a judge, in place of scores.
    """

    scores: Sequence[Score] = ()
    isolation: str | None = None
    stamp: str = ""
    error: AisPromptError | None = None
    log: Sequence[tuple[int, str, str]] = ()
    unresolved: str = ""
    questions: Sequence[Question] = ()


def parts_of(task: TaskSpec) -> list[str]:
    """Return ``module:name`` of every part that scores a task.

    Raises:
        AisPromptError: there is no such part.
    """
    named: list[tuple[PartRegistry, PartSpec | None]] = [(INFERENCERS, task.dataset.infer.inferencer)]
    for spec in task.dataset.eval.by_evaluator:
        named += [(EVALUATORS, spec.evaluator)]
        named += [(POSTPROCESSORS, part) for part in (spec.pred_postprocessor, spec.dataset_postprocessor)]
    parts = [registry.get(part.type) for registry, part in named if part is not None]
    return [f"{part.__module__}:{getattr(part, '__qualname__', type(part).__qualname__)}" for part in parts]


def has_own_parts(task: TaskSpec) -> bool:
    """Return whether a part that scores a task is not one of ours: it may end the process that it works in.

    Parts within parts count as well, such as the ``rule_evaluator`` of a cascade.

    Raises:
        AisPromptError: there is no such part.
    """
    each = task.dataset.eval.by_evaluator
    scoring = [part for one in each for part in (one.evaluator, one.pred_postprocessor, one.dataset_postprocessor)]
    types = (kind for part in scoring if part for kind in (part.type, *part_types(part.args)))
    return not all(map(is_of_program, types))


def answer(message: bytes) -> bytes:
    """Answer one call: `Surroundings` first, then a task to score, or one whose answers are to be read."""
    return pickle.dumps(_answer(message))


def _answer(message: bytes) -> Scored | None:
    try:
        call: Surroundings | ScoreCall = pickle.loads(message)
        if isinstance(call, Surroundings):
            call.enter()
            return None
        if parts_of(call.task) != call.parts:
            raise RuntimeError("a part has changed in a new process")
        task = Task.of(call.task)
        for one in task.dataset.scorings:  # the parts that score
            _ = (one.evaluator, one.answer_of, one.gold_of, one.has_turns)
    except Exception as error:  # such as a value of a class that is not found here
        return Scored(unresolved=f"{type(error).__name__}: {error}")
    if call.for_judge:
        try:
            return Scored(questions=answers_to_judge(task, call.folder))
        except Exception as error:
            return Scored(error=error_of(error))
    with _collected() as log, shown_on(_hidden):
        try:
            scores, stamp = score_what_changed(
                task, call.folder, call.asked, call.stopped_of, earlier=call.earlier, audits=call.audits
            )
            return Scored(scores, isolation_of(task.dataset), stamp, log=log)
        except Exception as error:
            return Scored(error=error_of(error), log=log)


@contextmanager
def _hidden(description: str, total: int | None, unit: str, facts: Facts | None = None) -> Iterator[Advance]:  # noqa: ARG001
    """Show no progress: the terminal belongs to the parent."""
    yield lambda _count: None


class _Collector(logging.Handler):
    """Collects level, logger and text of what is logged about one task; the parent writes it."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[tuple[int, str, str]] = []
        self.addFilter(OnceFilter())

    def emit(self, record: logging.LogRecord) -> None:
        self.log.append((record.levelno, record.name, self.format(record)))


@contextmanager
def _collected() -> Iterator[list[tuple[int, str, str]]]:
    handler = _Collector()
    ROOT.addHandler(handler)
    if ROOT.level != logging.INFO:  # setting it lets all loggers forget what they log, which takes long
        ROOT.setLevel(logging.INFO)
    try:
        yield handler.log
    finally:
        ROOT.removeHandler(handler)


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


def answers_to_judge(task: Task, folder: RunFolder) -> list[Question]:
    """Return what the judge is asked, in the order of the samples. Equal answers to one question come once.

    Args:
        task: whose answers are judged.
        folder: of the run, with its predictions.

    Raises:
        AisPromptError: the predictions cannot be read, or a part cannot be made.
    """
    from ais_prompt.judges import Question, Rivals, fields_of_questions, reference_answer_of

    if isinstance(evaluator := task.dataset.evaluator, JudgedBatchEvaluator):
        return _of_batches(task, evaluator, folder)
    noted: dict[str, Question] = {}
    judge = task.spec.dataset.eval.judge
    references = judge.reference_answers if judge is not None else None
    rivals = Rivals(task, folder) if references is not None and references.models else None
    reference = reference_answer_of(task, folder) if references is not None and rivals is None else None

    def note(sample: SampleScore, prediction: Prediction) -> list[Replies]:
        if rivals is not None:
            noted.update((one.id, one) for one in rivals.questions(sample, prediction))
            return []
        for name, fields in fields_of_questions(sample, prediction, reference, task.dataset.evaluator):
            noted[name] = Question(name, sample.sample_id, fields, sample.gold)
        return []

    scorer = None
    path = folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr)
    for prediction in read_predictions(path, with_prompts=task.dataset.has_turns):
        scorer = scorer or scorer_of(task, prediction, note)
        assert scorer is not None  # there is an evaluator, which needs a judge
        with suppress(DataError, PartError):  # raised again when the sample is scored
            scorer.score(prediction)
    return sorted(noted.values(), key=lambda one: one.round)


def _of_batches(task: Task, evaluator: JudgedBatchEvaluator, folder: RunFolder) -> list[Question]:
    """Return the questions of an evaluator that scores all answers together, each once."""
    from ais_prompt.judges import Question, batch_question_id

    path = folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr)
    first = next(read_predictions(path, with_prompts=False), None)
    found: dict[str, Question] = {}
    for answers in answers_of(task, evaluator, first, read_predictions(path)) if first else ():
        for question in evaluator.questions(answers.batch):
            sample = answers.ids[question.answer]
            name = batch_question_id(sample, question)
            found.setdefault(name, Question(name, sample, question.fields))
    return list(found.values())


if __name__ == "__main__":
    # Calls are values of the module's classes, not of those of `__main__`.
    from ais_prompt.scoring import worker

    serve(worker.answer)
