"""Read a run folder for the report: summary, tabs of extensions, and the progress of a run that is not finished."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec import Struct

from ais_prompt.errors import AisPromptError, StoreError
from ais_prompt.extension import import_object
from ais_prompt.plan import stored_spec
from ais_prompt.scoring import Row
from ais_prompt.steps import extensions
from ais_prompt.store import (
    RunFolder,
    check_shape,
    read_run_file,
    reading,
    safe_name,
    try_file_lock,
)
from ais_prompt.types import RunSpec
from ais_prompt.utils import decode

if TYPE_CHECKING:
    from ais_prompt.evaluators import AsksInParts

logger = logging.getLogger(__name__)

FIX: Final = "make the summary again: give the run's command again with -m viz -r"
SHORTEST_PAUSE: Final = 2.0
"""Seconds between two scorings of a run."""
PAUSE_SHARE: Final = 5
"""A pause is at least this many times as long as the scoring before it, so that the run keeps the machine."""
FAILED: Final = ("error", "no answer", "no value")
"""How the note of a task begins that has no score because something went wrong."""
Rescore = Callable[[RunFolder], None]
"""Scores what a run has answered so far, into its ``partial`` folder."""


class ShownTask(Struct, frozen=True):
    """A task whose samples the report shows.

    Attributes:
        model, dataset: their ``abbr``.
        scored: True if it has scores, and a results file of the same session.
    """

    model: str
    dataset: str
    scored: bool


def newest_scores(folder: RunFolder) -> RunFolder:
    """Return the folder with the newest scores of a run: those so far if it is not finished, where there are any."""
    partial = time_of_summary(folder.partial)
    return folder.partial if partial and partial >= time_of_summary(folder) else folder


def has_scores(folder: RunFolder) -> bool:
    """Return whether a run has a summary, of all its samples or of those so far."""
    return time_of_summary(newest_scores(folder)) > 0


def status_of(folder: RunFolder, record: Mapping[str, Any]) -> str:
    """Return the status of a run: ``running`` if a process writes its folder; a killed run's record still says so."""
    with suppress(OSError, StoreError):
        if folder.writer_lock_file.exists():
            with try_file_lock(folder.writer_lock_file) as is_free:
                if not is_free:
                    return "running"
    recorded = str(record.get("status", ""))
    return "interrupted" if recorded == "running" else recorded


def time_of_summary(folder: RunFolder) -> int:
    """Return when the summary was written, in nanoseconds since 1970; 0 if there is none."""
    with suppress(OSError):
        return (folder.summary_dir / "summary.json").stat().st_mtime_ns
    return 0


def summary_of(folder: RunFolder) -> list[Row]:
    """Read the rows of the summary.

    Raises:
        StoreError: the run has no summary yet, or it is broken.
    """
    path = folder.summary_dir / "summary.json"
    with reading(path, FIX):
        content = path.read_bytes()
    try:
        rows = decode(content.decode())
    except ValueError as error:
        raise StoreError(f"the file is not JSON: {error}", where=str(path), fix=FIX) from None
    try:
        return [Row.from_json(row) for row in check_shape(rows, list[dict[str, Any]])]
    except ValueError as error:
        raise StoreError(f"the file is not a summary: {error}", where=str(path), fix=FIX) from None


def groups_of(folder: RunFolder) -> list[dict[str, Any]]:
    """Return the groups of datasets of a run, each with ``name`` and ``members``; none if its config cannot be read."""
    spec = _spec_of(folder)
    groups = () if spec is None else spec.summary.groups
    return [{"name": group.name, "members": [entry.name for entry in group.subsets]} for group in groups]


def asking_in_parts(folder: RunFolder) -> dict[str, dict[str, AsksInParts]]:
    """Return dataset → folder of an evaluator that asks judges in parts, see `Judgement.evaluator` → the evaluator.

    Those that cannot be built are left out, and so are all if the config cannot be read.
    """
    found: dict[str, dict[str, AsksInParts]] = {}
    spec = _spec_of(folder)
    for task in () if spec is None else spec.tasks:
        for one in (scoring for scoring in task.dataset.eval.by_evaluator if scoring.judge is not None):
            from ais_prompt.judges import evaluator_in_parts

            with suppress(AisPromptError):
                if (evaluator := evaluator_in_parts(one.evaluator)) is not None:
                    found.setdefault(task.dataset.abbr, {})[safe_name(one.name) if one.name else ""] = evaluator
    return found


def _spec_of(folder: RunFolder) -> RunSpec | None:
    """Return what the config of a run says; None if it cannot be read."""
    with suppress(AisPromptError):  # no module that the config names is imported
        return stored_spec(folder.whole, as_of_others=True)
    return None


def is_average(row: Row, folder: RunFolder) -> bool:
    """Return whether a row of the summary is of a group of datasets."""
    if row.score is None:
        return row.note.startswith("no average")
    return not folder.predictions(row.model, row.dataset).exists()


def shown_tasks(folder: RunFolder, rows: Sequence[Row]) -> list[ShownTask]:
    """Return the tasks of a summary that have predictions; averages and tasks that failed early have none."""
    tasks: dict[tuple[str, str], ShownTask] = {}
    for row in rows:
        task = ShownTask(row.model, row.dataset, row.metric is not None)
        if folder.predictions(task.model, task.dataset).exists():
            tasks.setdefault((task.model, task.dataset), task)
    return list(tasks.values())


class ReportTab(NamedTuple):
    """What the pages show of a run that has the files of a tab. Its scripts add the tab, see ``assets/further.js``.

    Attributes:
        data: (run folder) → JSON values, which the report has beside its own.
        line: (run folder) → values of the line in the list of runs.
        version: (run folder) → when the newest file was written, in nanoseconds since 1970; 0 if there is nothing to
            show yet.
        live: (run folder) → what goes on in a run that is running; None if that is nothing.
        is_scored: whether the tab is beside scores: the answers so far are scored while the run lasts.
    """

    data: Callable[[RunFolder], Mapping[str, Any]]
    line: Callable[[RunFolder], Mapping[str, Any]]
    version: Callable[[RunFolder], int]
    live: Callable[[RunFolder], Mapping[str, Any] | None]
    is_scored: bool = True


def tabs_of(folder: RunFolder) -> dict[str, ReportTab]:
    """Return the tabs of a run, by name; no other tab is imported.

    Args:
        folder: of the run, or of the scores of one that is not finished.
    """
    run = folder.whole.root
    entries = {name: entry for one in extensions() for name, entry in one.tabs.items()}
    return {
        name: import_object(entry.home)
        for name, entry in entries.items()
        if any(any(run.glob(pattern)) for pattern in entry.files)
    }


def further_data(folder: RunFolder) -> dict[str, Any]:
    """Return the data of all tabs of a run. A tab beside scores that cannot be read is left out.

    Raises:
        StoreError: a file of a run without scores cannot be read.
    """
    found: dict[str, Any] = {}
    for name, tab in tabs_of(folder).items():
        try:
            found |= tab.data(folder.whole)
        except AisPromptError as error:
            if not tab.is_scored:
                raise
            logger.warning("the report has no tab %r: %s", name, error)
    return found


def time_of_tabs(folder: RunFolder) -> int:
    """Return when the newest file of a tab was written, in nanoseconds since 1970; 0 if there is none."""
    return max((tab.version(folder.whole) for tab in tabs_of(folder).values()), default=0)


class RunState(Struct, frozen=True):
    """The state of a run.

    Attributes:
        status: ``running``; ``interrupted``, also after a kill; or as in ``run.json``.
        answered: samples with scores so far.
        samples: samples of these tasks in all.
        requests: requests answered so far.
        version: changes with the scores and the files of further tabs.
        pending: why a run that is running is not scored; else empty.
        is_due: whether a run that is running has answers to score; the page asks for that.
        tabs: tab of an extension → what goes on in a run that is running; without those that have nothing to say.
    """

    status: str
    answered: int
    samples: int
    requests: int
    version: int
    pending: str = ""
    is_due: bool = False
    tabs: Mapping[str, Mapping[str, Any]] = {}


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
        tabs = tabs_of(self.folder) if status == "running" else {}
        if status == "running" and self._rescore and all(tab.is_scored for tab in tabs.values()):
            if self._needs_judge:
                pending = f"a judge has to be asked for the scores: aisprompt score {self.folder.root}"
            else:
                is_due = requests != self._scored_requests and time.monotonic() >= self._next_scoring
        answered, samples = _progress(self.folder)
        version = time_of_summary(newest_scores(self.folder)) + time_of_tabs(self.folder)
        live = {name: found for name, tab in tabs.items() if (found := tab.live(self.folder)) is not None}
        return RunState(status, answered, samples, requests, version, pending, is_due, live)

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
        spec = _spec_of(self.folder)  # a config that cannot be read is not scored either
        return spec is not None and any(one.judge for dataset in spec.datasets for one in dataset.eval.by_evaluator)

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
