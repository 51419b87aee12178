"""Parts of the report that are made while models are still asked: by the process that has just scored a task."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import Final, Self

from msgspec import Struct

from ais_prompt.report.html.overview import TaskOverview
from ais_prompt.report.html.run_files import ShownTask
from ais_prompt.report.html.task_parts import write_parts
from ais_prompt.store.layout import RunFolder
from ais_prompt.types import TaskSpec

MOST_SAMPLES: Final = 100_000
"""Maximum number of samples in one report, about 40 MB; of more, some of each task are in it, evenly spaced."""


IN_MEMORY: Final = 8 << 20
"""Bytes of parts beyond which they are kept on the disk."""


class TaskPart(Struct, frozen=True):
    """What the report has of one task.

    Attributes:
        task: which one.
        overview: of all its samples.
        pieces: name and content of each part, as `ais_prompt.report.html.task_parts.TaskSamples` writes them.
    """

    task: ShownTask
    overview: TaskOverview
    pieces: Sequence[tuple[str, str]]


class PreparedParts:
    """Keeps what was made of tasks after their scores, many of them on the disk, until the report is written.

    Args:
        folder: of the run.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._overviews: dict[ShownTask, TaskOverview] = {}
        self._starts: dict[ShownTask, int] = {}
        self._samples = 0
        self._is_full = False
        self._stream = SpooledTemporaryFile[bytes](IN_MEMORY, dir=str(folder.root))  # closed at the exit

    def maker(self, task: TaskSpec) -> Callable[[], TaskPart | None] | None:
        """Return what makes the part of a scored task, in any process; None if there is no room for more."""
        if self._is_full or self._samples > MOST_SAMPLES:
            return None
        return partial(make_part, ShownTask(task.model.abbr, task.dataset.abbr, task.is_scored), self._folder)

    def receive(self, part: TaskPart | None) -> None:
        """Keep a part. If there is no room on the disk, none is kept, and the report makes all of them."""
        if part is None or self._is_full:
            return
        self._starts[part.task] = self._stream.tell()
        self._overviews[part.task] = part.overview
        self._samples += part.overview.samples
        try:
            pickle.dump(part.pieces, self._stream)
            self._stream.flush()
        except OSError:
            self._is_full = True
            self._starts.clear()
            self._overviews.clear()

    def part_of(self, task: ShownTask) -> TaskPart | None:
        """Return the part of a task; None if there is none."""
        if task not in self._starts:
            return None
        self._stream.seek(self._starts[task])
        return TaskPart(task, self._overviews[task], pickle.load(self._stream))

    def samples_of(self, task: ShownTask) -> int | None:
        """Return how many samples a task has; None if there is no part of it."""
        return self._overviews[task].samples if task in self._overviews else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(OSError):  # what waits for a disk that is full
            self._stream.close()


def make_part(task: ShownTask, folder: RunFolder) -> TaskPart | None:
    """Make the part of a task from its files; None if they cannot be read, which the report will tell."""
    pieces: list[tuple[str, str]] = []
    overview = write_parts(task, folder, lambda name, content: pieces.append((name, content)))
    return None if overview.values["trouble"] else TaskPart(task, overview, pieces)
