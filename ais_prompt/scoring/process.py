"""The worker processes that score (`ais_prompt.scoring.worker`), as their parent sees them.

Replies are pickles. A pickle names classes and functions, and reading it calls them; and a process that runs code of
others may write any pickle. So only frozen values of this package and plain ones are read (`read_values`).
"""

from __future__ import annotations

import io
import logging
import pickle
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from ais_prompt.config.custom_imports import Surroundings
from ais_prompt.errors import AisPromptError, PartError
from ais_prompt.plan.plan import Task
from ais_prompt.scoring.judges.verdicts import Question
from ais_prompt.scoring.worker import Scored, ToJudge, ToJudgeCall, parts_of
from ais_prompt.store.layout import RunFolder
from ais_prompt.utils.worker import Worker, WorkerDied

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
                self._worker = Worker("ais_prompt.scoring.worker")
            found: Scored | None = self.call(Surroundings.here(self._config))
        except (OSError, WorkerDied) as error:
            return str(error)
        return found.unresolved if found else ""

    def call(self, value: Any) -> Any:
        """Send a call of `ais_prompt.scoring.worker`, and return the reply.

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


def read_values(content: bytes) -> Any:
    """Read a pickle.

    Raises:
        pickle.UnpicklingError: it names something that is no plain value.
        Exception: it is no pickle.
    """
    return _Values(io.BytesIO(content)).load()


class _Values(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name in _PLAIN.get(module, ()) or (module, name) in _REBUILD:
            return super().find_class(module, name)
        if module.startswith("ais_prompt."):
            found = super().find_class(module, name)
            if isinstance(found, type) and issubclass(found, (msgspec.Struct, AisPromptError)):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no plain value")
