"""The contract of logs of other tools: how an extension says that it reads a format, and what comes out.

A format either yields records, of which a run folder is made that has the log's own scores; or it makes a run folder by
itself, as for a tool whose config says how answers are scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

from ais_prompt.store.layout import RunFolder
from ais_prompt.types import LoggedTask, Score


class Log(Protocol):
    """What may be a log."""

    @property
    def path(self) -> Path:
        """The file or folder that a user has named."""


class LogFormat(NamedTuple):
    """A format of logs, which a manifest names (`ais_prompt.extension.Extension.logs`).

    Attributes:
        name: of the tool.
        recognizes: whether a path is, or holds, a log in this format, by its content.
        read: reads the tasks of a log that it recognizes.
        make_run: makes the run folder in place of ``read``; takes the log, the `ais_prompt.config.Options` with the
            options of the user, the command for the record, and ``scored``: whether the run folder needs scores.
    """

    name: str
    recognizes: Callable[[Any], bool]
    read: Callable[[Any], Iterator[LoggedTask]] | None = None
    make_run: Callable[..., ImportedLog] | None = None


class ImportedTask(Struct, frozen=True, kw_only=True):
    """One task of a log.

    Attributes:
        name: of the task, ``model/dataset``.
        samples: number of questions.
        failed: questions without an answer.
        scores: those in the run folder, the main metric first; empty if it has none.
        reported: metric → the score that the tool reports.
    """

    name: str
    samples: int
    failed: int
    scores: Sequence[Score] = ()
    reported: Mapping[str, float]


class ImportedLog(Struct, frozen=True):
    """A log that was made a run folder.

    Attributes:
        folder: the run folder.
        tasks: those with answers.
        notes: what was left out, or means something else here.
        is_scored: whether scores came along; else ``aisprompt score`` makes them.
    """

    folder: RunFolder
    tasks: Sequence[ImportedTask]
    notes: Sequence[str]
    is_scored: bool = True
