"""What became of the samples of a task: counts of those that are over, and what the user should know of them."""

from __future__ import annotations

import logging
from typing import Final

from ais_prompt.engine.asked_rows import NO_VALUE
from ais_prompt.engine.meters import Progress
from ais_prompt.engine.signs import Signs
from ais_prompt.errors import DataError, PartError
from ais_prompt.inferencers import RAISED, RETRY_HINT, UNUSABLE_ROW
from ais_prompt.plan import Task
from ais_prompt.types import Completion, Decoding, Failure, Prediction, Request

logger = logging.getLogger(__name__)

GAPS_NAMED: Final = 5
"""Most rows that cannot be asked that are named while a task runs; the predictions name all."""
PILOT: Final = 20
MOST_CUT: Final = 0.05
"""Of the first so many answers, the share of truncated ones from which on the task warns."""
_LONG_TASK: Final = 10 * PILOT
"""Samples of a task from which on that warning comes in time."""


class TaskSession:
    """Counts the samples of a task that are over.

    Attributes:
        samples: how many are over.
        failed, shortened: samples without an answer, and with fewer examples than were retrieved.
        redacted: samples whose answers repeat a secret.
        raised, first_raised: samples that failed because a part raised, and the failure of the first.
        unusable, first_unusable: samples that failed because their rows cannot be asked, and the failure of the first.
        progress: shows what the user should know; None before the task is shown, when no sample has failed.
    """

    def __init__(self, task: Task) -> None:
        self.samples = 0
        self.failed = 0
        self.shortened = 0
        self.redacted = 0
        self.raised = 0
        self.first_raised: Failure | None = None
        self.unusable = 0
        self.first_unusable: Failure | None = None
        self._gaps = 0
        self._seen = 0
        self._cut = 0
        self._task = task
        self.progress: Progress | None = None
        self._signs = Signs(task)

    def add(self, prediction: Prediction) -> None:
        """Count a sample that is over."""
        self.samples += 1
        if prediction.failed:
            self.failed += 1
            self._note_failures(prediction)
        self.redacted += any(completion.redacted for completion in prediction.completions)
        self.shortened += prediction.shots_used < self._task.shots_retrieved(prediction.index)

    def see(self, request: Request, completion: Completion) -> None:
        """Count a generated answer, and warn after the first answers if many are truncated."""
        self._signs.see(request, completion)
        if completion.failure is not None or not isinstance(request.decoding, Decoding) or self._seen == PILOT:
            return
        self._seen += 1
        self._cut += completion.truncated
        if self._seen < PILOT or self._cut <= MOST_CUT * PILOT:
            return
        if (self._task.dataset.size or _LONG_TASK) >= _LONG_TASK:  # the end of a short task says so too
            self._note(
                f"[{self._task.name}] {self._cut} of the first {PILOT} answers were cut at "
                f"max_out_len={request.decoding.max_out_len}; set a larger max_out_len, or ask the truncated ones "
                "again after the run: -r --retry-truncated max_out_len=N"
            )

    def tell_end(self) -> None:
        """Tell the user about a task whose last conversation is over.

        Raises:
            PartError: a part raised for every sample.
            DataError: no row can be asked.
        """
        name = self._task.name
        if self.redacted:
            self._note(
                f"[{name}] the answers to {self.redacted} samples repeat a secret; it is stored and scored as ***, and "
                "`redacted` in the predictions says where"
            )
        for note in self._signs.notes():
            self._note(f"[{name}] {note}")
        self._tell_raised()
        if self.first_unusable and self.unusable == self.samples:
            raise DataError(self.first_unusable.message, where=self.first_unusable.where, fix=RETRY_HINT)
        if self.shortened:
            self._note(
                f"[{name}] {self.shortened} of {self.samples} prompts show fewer examples than retrieved, to keep to "
                f"max_seq_len={self._task.model.max_seq_len}; shots_used in the predictions says how many"
            )

    def _note(self, text: str) -> None:
        assert self.progress is not None  # the task is shown
        self.progress.note(text)

    def _tell_raised(self) -> None:
        """Warn of samples that failed because a part raised.

        Raises:
            PartError: all of them did.
        """
        if self.first_raised is None:
            return
        error = PartError(self.first_raised.message, where=self.first_raised.where, fix=RETRY_HINT)
        if self.raised == self.samples:
            raise error
        what = f"{self.raised} of {self.samples} samples failed because a part raised; the first:"
        logger.warning("[%s] %s\n  %s", self._task.name, what, "\n  ".join(error.lines()))

    def _note_failures(self, prediction: Prediction) -> None:
        """Name the first rows that cannot be asked, and count the samples for which a part raised."""
        failures = [completion.failure for completion in prediction.completions if completion.failure]
        if failures[0].kind in (NO_VALUE, UNUSABLE_ROW) and self._gaps < GAPS_NAMED:
            self._gaps += 1
            self._note(f"not asked: {failures[0].message}")
        if failures[0].kind == UNUSABLE_ROW:
            self.unusable += 1
            self.first_unusable = self.first_unusable or failures[0]
        if raised := next((failure for failure in failures if failure.kind == RAISED), None):
            self.raised += 1
            self.first_raised = self.first_raised or raised
