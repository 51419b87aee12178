"""Follow runs that are not finished: their state, their progress, and their scores so far."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from ais_prompt.checks.stored import stored_spec
from ais_prompt.errors import ConfigError, StoreError
from ais_prompt.report.web.run_files import newest_scores, status_of, summary_of, time_of_summary
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.runs import read_run_file

SHORTEST_PAUSE: Final = 2.0
"""Seconds between two scorings of a run."""
PAUSE_SHARE: Final = 5
"""A pause is at least this many times as long as the scoring before it, so that the run keeps the machine."""

Rescore = Callable[[RunFolder], None]
"""Scores what a run has answered so far, into its ``partial`` folder."""


class RunState(Struct, frozen=True):
    """The state of a run.

    Attributes:
        status: ``running``; ``interrupted``, also after a kill; or as in ``run.json``.
        answered: samples with scores so far.
        samples: samples of these tasks in all.
        requests: requests answered so far.
        version: changes with the scores.
        pending: why a run that is running is not scored; else empty.
        is_due: whether a run that is running has answers to score; the page asks for that.
    """

    status: str
    answered: int
    samples: int
    requests: int
    version: int
    pending: str = ""
    is_due: bool = False


class LiveRun:
    """One run.

    Args:
        folder: of the run.
        rescore: None never scores it.
    """

    def __init__(self, folder: RunFolder, rescore: Rescore | None = None) -> None:
        self.folder = folder
        self._rescore = rescore
        self._counted: dict[Path, tuple[int, int]] = {}  # journal → bytes read, and lines in them
        self._scored_requests = -1
        self._next_scoring = 0.0
        self._scoring = threading.Lock()

    def state(self) -> RunState:
        """Return the state now. Nothing is scored.

        Raises:
            StoreError: ``run.json`` cannot be read.
        """
        record = read_run_file(self.folder)
        status = status_of(self.folder, record)
        requests = self._requests()
        pending, is_due = "", False
        if status == "running" and self._rescore:
            if self._needs_judge:
                pending = f"a judge has to be asked for the scores: aisprompt score {self.folder.root}"
            else:
                is_due = requests != self._scored_requests and time.monotonic() >= self._next_scoring
        answered, samples = _progress(self.folder)
        return RunState(
            status, answered, samples, requests, time_of_summary(newest_scores(self.folder)), pending, is_due
        )

    def score(self) -> None:
        """Score what the run has answered so far, and return when that is done, or at once if it is being done."""
        if self._rescore is None or not self._scoring.acquire(blocking=False):
            return
        requests, started = self._requests(), time.monotonic()
        try:
            self._rescore(self.folder)
        finally:
            self._scored_requests = requests
            self._next_scoring = time.monotonic() + max(SHORTEST_PAUSE, PAUSE_SHARE * (time.monotonic() - started))
            self._scoring.release()

    @cached_property
    def _needs_judge(self) -> bool:
        """Whether scoring asks a judge, which costs money; no module that the config names is imported to know it."""
        with suppress(ConfigError):  # a config that cannot be read is not scored either
            return any(dataset.eval.judge for dataset in stored_spec(self.folder, as_of_others=True).datasets)
        return False

    def _requests(self) -> int:
        """Count the lines of the journals; only what was added is read."""
        total = 0
        for path in self.folder.root.glob("journal/*/*.jsonl"):
            done, lines = self._counted.get(path, (0, 0))
            with suppress(OSError), path.open("rb") as stream:
                stream.seek(done)
                while part := stream.read(1 << 20):
                    done, lines = done + len(part), lines + part.count(b"\n")
            self._counted[path] = done, lines
            total += lines
        return total


def _progress(folder: RunFolder) -> tuple[int, int]:
    """Return samples with scores, and samples in all, of the newest scores."""
    tasks: dict[tuple[str, str], tuple[int, int]] = {}
    with suppress(StoreError):
        scores = newest_scores(folder)
        for row in summary_of(scores):
            if row.n is not None and scores.predictions(row.model, row.dataset).exists():  # no average
                per_sample = row.repeats or 1
                tasks.setdefault((row.model, row.dataset), (row.n // per_sample, (row.of or row.n) // per_sample))
    return sum(done for done, _ in tasks.values()), sum(of for _, of in tasks.values())


def state_json(state: RunState) -> dict[str, Any]:
    """Return a state as JSON values; the version as text, since browsers round such numbers."""
    return {name: getattr(state, name) for name in state.__struct_fields__} | {"version": str(state.version)}
