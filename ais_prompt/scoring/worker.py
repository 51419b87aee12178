"""Score tasks in a process of its own (`ais_prompt.processes.Worker`), while the parent asks models.

Calls and replies are the values below. The process runs `answer`; its parent has a `ScoringProcess`, and reads what
comes back with `read_values`, since user-defined parts may have written it.
"""

from __future__ import annotations

import io
import logging
import pickle
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

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
_STOPPED: Final = "the run is stopped"


class ScoreCall(Struct, frozen=True):
    """A task to be scored.

    Attributes:
        task, folder, asked, stopped_of, earlier, audits: as for `score_what_changed`.
        parts: where the caller finds the parts of its own, see `parts_of`; `ScoringProcess.do` puts them in.
    """

    task: TaskSpec
    folder: RunFolder
    asked: int | None
    stopped_of: int | None
    earlier: str = ""
    parts: Sequence[str] = ()
    audits: bool = False


class Scored(Struct, frozen=True):
    """What came of scoring a task.

    Attributes:
        scores: none if there was an error.
        isolation: how the programs of its answers were kept apart from the machine; None if none were run.
        stamp: of `scoring_stamp`.
        error: why it could not be scored.
        log: level, logger and text of each message.
        unresolved: why its parts cannot be used in this process; nothing was done then.
    """

    scores: Sequence[Score] = ()
    isolation: str | None = None
    stamp: str = ""
    error: AisPromptError | None = None
    log: Sequence[tuple[int, str, str]] = ()
    unresolved: str = ""


class ToJudgeCall(Struct, frozen=True):
    """A task whose answers a judge is to rate; its attributes are those of `ScoreCall`."""

    task: TaskSpec
    folder: RunFolder
    parts: Sequence[str] = ()


class ToJudge(Struct, frozen=True):
    """What a judge is asked about the answers of a task."""

    answers: Sequence[Question]


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


def is_risky(task: Task) -> bool:
    """Return whether a part that scores a task may end the process; False if that cannot be known yet."""
    try:
        return has_own_parts(task.spec)
    except AisPromptError:  # reported when the task is scored
        return False


def answer(message: bytes) -> bytes:
    """Answer one call: `Surroundings` first, then a task to score, or one whose answers are to be read."""
    return pickle.dumps(_answer(message))


def _answer(message: bytes) -> Scored | ToJudge | None:
    try:
        call: Surroundings | ScoreCall | ToJudgeCall = pickle.loads(message)
    except Exception as error:  # a value of a class that is not found here
        return Scored(unresolved=f"{type(error).__name__}: {error}")
    if isinstance(call, Surroundings):
        try:
            call.enter()
        except Exception as error:
            return Scored(unresolved=f"{type(error).__name__}: {error}")
        return None
    return _to_judge(call) if isinstance(call, ToJudgeCall) else _score(call)


def _built(spec: TaskSpec, parts: Sequence[str]) -> Task:
    """Return a task with the parts that score it; raise an error if they are not those of the parent."""
    if parts_of(spec) != parts:
        raise RuntimeError("a part has changed in a new process")
    task = Task.of(spec)
    for one in task.dataset.scorings:
        _ = (one.evaluator, one.answer_of, one.gold_of, one.has_turns)
    return task


def _to_judge(call: ToJudgeCall) -> Scored | ToJudge:
    try:
        task = _built(call.task, call.parts)
    except Exception as error:
        return Scored(unresolved=f"{type(error).__name__}: {error}")
    try:
        return ToJudge(answers_to_judge(task, call.folder))
    except Exception as error:
        return Scored(error=error_of(error))


def _score(call: ScoreCall) -> Scored:
    try:
        task = _built(call.task, call.parts)
    except Exception as error:
        return Scored(unresolved=f"{type(error).__name__}: {error}")
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

    def do(self, call: ScoreCall | ToJudgeCall) -> Scored | ToJudge:
        """Score a task or read its answers there, and return what came of it.

        A task that ended the process has an error: it is not tried in this process, which it would end as well.
        """
        if not self.ready and (why := self.start()):
            return Scored(unresolved=why)
        try:
            found: Scored | ToJudge = self._call(replace(call, parts=parts_of(call.task)))
        except WorkerDied as error:
            self.ready = False
            if self._is_over:  # the end of the process is no fault of the task
                return Scored(unresolved=_STOPPED)
            doing, part = _SUSPECTS[type(call)]
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


_SUSPECTS: Final = {ScoreCall: ("scored", "evaluator"), ToJudgeCall: ("read the answers of", "postprocessor")}
"""Kind of a call → what the process did, and the part that may have ended it."""


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
