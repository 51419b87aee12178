"""Name the samples that a run waits for when nothing has been answered for minutes."""

from __future__ import annotations

import logging
import threading
import time
from types import TracebackType
from typing import Self

from ais_prompt.engine.infer import ROWS_NAMED, TaskJob
from ais_prompt.utils import counted, listed

logger = logging.getLogger(__name__)
STANDSTILL_SECONDS = 300.0
"""Time without an answer after which a run says what it waits for."""


class Standstill:
    """Look at the jobs of a run now and then, in a thread of its own: an application may block any other.

    Args:
        seconds: time without an answer after which one line names the samples of each job that waits; None for
            `STANDSTILL_SECONDS`.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._seconds = STANDSTILL_SECONDS if seconds is None else seconds
        self._jobs: dict[TaskJob, float] = {}  # job → its last change that was told of
        self._lock = threading.Lock()
        self._over = threading.Event()

    def watch(self, job: TaskJob) -> None:
        """Look at a job from now on. It may be called in any thread."""
        with self._lock:
            self._jobs[job] = 0.0

    def leave(self, job: TaskJob) -> None:
        """Look at a job no more."""
        with self._lock:
            self._jobs.pop(job, None)

    def look(self, now: float) -> None:
        """Warn of each job that has conversations under way and got no answer for so long, once in a standstill."""
        with self._lock:
            stands = [
                job
                for job, told in self._jobs.items()
                if job.waits_for() and now - job.last_change >= self._seconds and told != job.last_change
            ]
            self._jobs |= {job: job.last_change for job in stands}
        for job in stands:
            logger.warning(
                "[%s] no answer for %s; waiting for the rows %s. Ctrl-C and -r keep the answers so far",
                job.task.name,
                counted(int(now - job.last_change) // 60, "minute"),
                listed(job.waits_for(), ROWS_NAMED),
            )

    def __enter__(self) -> Self:
        threading.Thread(target=self._run, name="aisprompt-standstill", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()

    def _run(self) -> None:
        while not self._over.wait(self._seconds / 10):
            self.look(time.monotonic())
