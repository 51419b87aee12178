"""The watches of a run that may stop early: those of user-defined parts score in a worker process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Self

from ais_prompt.plan import Task
from ais_prompt.scoring.background import ScoringProcess
from ais_prompt.scoring.early_stop import GateWatch
from ais_prompt.scoring.score_worker import Scored, WatchCall, is_risky, parts_of
from ais_prompt.types import Gate, Prediction, SummaryGroup
from ais_prompt.utils import WorkerDied

logger = logging.getLogger(__name__)


class Watches:
    """Makes the watch of each task.

    Shipped parts score at once. A user-defined part may be slow, or end its process, so its answers are scored in a
    worker, and the task stops a moment later. A part that ends the worker is never decided: every sample is asked.

    Args:
        gates, groups: as for `GateWatch`.
        config: of the run, resolved.
    """

    def __init__(self, gates: Sequence[Gate], groups: Sequence[SummaryGroup], config: Mapping[str, Any]) -> None:
        self._gates = gates
        self._groups = groups
        self._process = ScoringProcess(config)
        self._answers: SimpleQueue[tuple[GateWatch, Prediction] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._is_over = False

    def of(self, task: Task, total: int) -> GateWatch | WatchElsewhere:
        """Return the watch of a task with so many samples."""
        watch = GateWatch(self._gates, self._groups, task, total)
        if not (watch.possible and is_risky(task)):
            return watch
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="aisprompt-watch", daemon=True)
            self._thread.start()
        return WatchElsewhere(watch, self._answers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._is_over = True
        self._answers.put(None)
        self._process.stop()

    def _work(self) -> None:
        why = self._process.start()
        while (first := self._answers.get()) is not None and not self._is_over:
            # All that waits goes in one call: the worker sees more answers at a time if it is behind.
            for watch, answers in groupby([first, *self._waiting()], itemgetter(0)):
                predictions = [prediction for _, prediction in answers]
                if watch.possible and not watch.decided:
                    self._look(watch, predictions, why)

    def _waiting(self) -> list[tuple[GateWatch, Prediction]]:
        found = []
        try:
            while (answer := self._answers.get_nowait()) is not None:
                found.append(answer)
            self._answers.put(None)
        except Empty:
            pass
        return found

    def _look(self, watch: GateWatch, predictions: Sequence[Prediction], why: str) -> None:
        """Let a watch see predictions; ``why`` says why there is no worker."""
        spec = watch.task.spec
        try:
            call = WatchCall(spec, parts_of(spec), predictions)
            found = Scored(unresolved=why) if why else self._process.call(call)
        except WorkerDied as error:
            logger.info(
                "[%s] every sample is asked: the process that looked at its answers ended: %s", spec.name, error
            )
            # The part ended the worker. Nothing is decided by it any more, and other tasks get a new worker.
            watch.give_up()
            self._process.start()
            return
        except Exception as error:  # a part that is not found, or a value that cannot be sent
            found = Scored(unresolved=f"{type(error).__name__}: {error}")
        if not isinstance(found, Scored):
            for seen in found:
                watch.take(seen)
        # Its parts exist in this process only, such as a class of a notebook: they are used here.
        elif found.unresolved:
            for prediction in predictions:
                watch.see(prediction)
        else:
            watch.give_up()


class WatchElsewhere:
    """The watch of a task whose answers are scored in another process.

    Args:
        watch: decides.
        answers: takes what it is to see.
    """

    def __init__(self, watch: GateWatch, answers: SimpleQueue[tuple[GateWatch, Prediction] | None]) -> None:
        self._watch = watch
        self._answers = answers

    @property
    def decided(self) -> bool:
        """Whether enough was asked."""
        return self._watch.decided

    def see(self, prediction: Prediction) -> None:
        """One more prediction; what comes of it is known later."""
        if self._watch.possible and not self._watch.decided:
            self._answers.put((self._watch, prediction))
