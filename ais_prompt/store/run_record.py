"""Write ``config.py`` and ``run.json`` of a run folder: what was run, with which versions, when, and how it ended."""

from __future__ import annotations

import difflib
import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

from msgspec import to_builtins

from ais_prompt.errors import StoreError
from ais_prompt.processes import Termination, interruption
from ais_prompt.store.disk import reading, replacing
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.results import write_json_atomic
from ais_prompt.store.runs import SCHEMA_VERSION, next_number, note_made_here, read_run_file
from ais_prompt.types import Speed, TaskFacts, TaskSpec, Used
from ais_prompt.utils import digest, versions

WRITING_SHARE: Final = 200
"""Times as long as writing the record takes, the next writing waits."""
logger = logging.getLogger(__name__)

RunStatus: TypeAlias = Literal["running", "finished", "failed", "interrupted", "preempted", "partial", "paused"]


class RunRecord:
    """The record of one run. Each command that works in the folder is a session.

    A session that was killed stays ``running`` in the file. One that asks writes its config when it begins, so that it
    can be resumed; another one when it ends, so that the config of the run is the one that its scores were made with.

    Attributes:
        changes: lines of the config that differ from the session before, ``-`` before and ``+`` now.
        moved: ``abbr`` of each model that the last session asked at another address → that address.
        addresses: every address that earlier sessions are known to have used.
    """

    def __init__(
        self,
        folder: RunFolder,
        config: str,
        command: str,
        addresses: Mapping[str, str] | None = None,
        *,
        asks: bool = False,
        notes: Sequence[str] = (),
        trusted: bool = True,
    ) -> None:
        """Prepare a session; `begin` writes it.

        Args:
            folder: the run folder, new or old.
            config: the resolved config as text, without secrets.
            command: the command line, without secrets.
            addresses: ``abbr`` of each model that is served → its address, without secrets.
            asks: whether the session makes predictions: those of earlier sessions no longer count as complete.
            notes: differences in the meaning of a config of another program.
            trusted: whether this user named the config or made the run; else the ``config.py`` of the folder stays.

        Raises:
            StoreError: the folder cannot be written, or its ``run.json`` is broken or of a later version.
        """
        self._folder = folder
        self._trusted = trusted
        keeps_config = not trusted and folder.config_file.exists()
        self.changes = [] if keeps_config else _changes(folder, config)
        self._config: str | None = None if keeps_config else config
        self._asks = asks
        self._before: Mapping[str, Any] | None = None
        before: dict[str, Any] = {"run_number": next_number(folder)}
        if folder.run_file.exists():
            before = read_run_file(folder)
            self._before = before
        asked = list(addresses_of(before))
        self.addresses = list(dict.fromkeys(address for _, address in asked))
        last = dict(asked)
        self.moved = {abbr: last[abbr] for abbr, now in (addresses or {}).items() if last.get(abbr, now) != now}
        self._session: dict[str, Any] = {"status": "running", "command": command, "started": _now(), "ended": None}
        if addresses:
            self._session["addresses"] = dict(addresses)
        if asks:
            self._session["done"] = []
        if notes:
            self._session["notes"] = list(notes)
        self._values: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "run_number": before.get("run_number", 0),
            "status": "running",
            "sessions": [*before.get("sessions", []), self._session],
            "config_digest": digest(config),
            "versions": versions(),
            "tasks": before.get("tasks", {}),
            "stamps": dict(before.get("stamps", {})),
        }
        self._used_before = Used.from_json(before.get("used", {}))
        if "used" in before:
            self._values["used"] = before["used"]
        self._next_write = 0.0

    def begin(self) -> RunRecord:
        """Write that the session is running, and return the record.

        Raises:
            StoreError: the folder cannot be written.
        """
        if self._asks:
            self._write_config()
        self._write()
        return self

    def add_task(self, task: TaskSpec, facts: TaskFacts, *, done: bool = True) -> None:
        """Record the facts of a task. A session that sent no request keeps the speed and body of the one before.

        Args:
            task: the task.
            facts: its facts.
            done: whether its inference is complete.
        """
        if done:
            self._session.setdefault("done", []).append(task.name)
        before = self._values["tasks"].get(task.name, {})
        kept = {name: before[name] for name in ("speed", "first_body") if name in before}
        self._values["tasks"][task.name] = kept | facts.to_json()
        self._write_at_times(at_once=facts.of is not None)

    def add_isolation(self, task: TaskSpec, isolation: str) -> None:
        """Record how the programs of a task's answers were isolated in this session."""
        self._session.setdefault("isolation", {})[task.name] = isolation
        self._write_at_times()

    def add_stamp(self, task: TaskSpec, stamp: str) -> None:
        """Record what decided the scores of a task; an empty stamp if that is not known."""
        self._values["stamps"].pop(task.name, None)
        if stamp:
            self._values["stamps"][task.name] = stamp

    def stamp(self, task: TaskSpec) -> str:
        """Return the record of `add_stamp`; empty if there is none."""
        return str(self._values["stamps"].get(task.name, ""))

    def note_used(self, used: Used) -> None:
        """Record the usage of this session so far, and of all sessions."""
        self._session["used"] = to_builtins(used)
        self._values["used"] = to_builtins(self._used_before + used)

    @property
    def isolation(self) -> dict[str, str]:
        """Task → the record of `add_isolation` in this session."""
        return dict(self._session.get("isolation", {}))

    def unfinished(self, tasks: Iterable[TaskSpec]) -> list[str]:
        """Return the names of the tasks whose inference is not complete."""
        done = done_tasks(self._values)
        return [task.name for task in tasks if task.name not in done]

    def finish(self, status: RunStatus) -> None:
        """End the session."""
        self._values["status"] = self._session["status"] = status
        self._session["ended"] = _now()
        self._write_config()
        self._write()

    @property
    def asked_nothing(self) -> bool:
        """Whether the session only scores or shows, and no judge was asked so far."""
        return not self._asks and not self._session.get("used", {}).get("requests")

    def withdraw(self) -> None:
        """Forget a session that asked nothing and scored nothing: the record and the config are as before.

        Raises:
            StoreError: the folder cannot be written.
        """
        if self._before is None:
            self._folder.run_file.unlink(missing_ok=True)
        else:
            write_json_atomic(self._folder.run_file, self._before)

    def samples(self, task: TaskSpec) -> int | None:
        """Return the number of questions of a task that were asked; None if its inference was never complete."""
        samples: int | None = self._values["tasks"].get(task.name, {}).get("samples")
        return samples

    def stopped_of(self, task: TaskSpec) -> int | None:
        """Return the number of questions in the dataset of a task of which not all were asked; None for other tasks."""
        of: int | None = self._values["tasks"].get(task.name, {}).get("of")
        return of

    def unanswered(self, task: TaskSpec) -> int:
        """Return the number of samples of a task without an answer; 0 if its inference was never complete."""
        return int(self._values["tasks"].get(task.name, {}).get("failed", 0))

    def speeds(self, tasks: Iterable[TaskSpec]) -> dict[str, Speed]:
        """Return task → speed of its served model in the last session that asked it."""
        noted = {task.name: self._values["tasks"].get(task.name, {}).get("speed") for task in tasks}
        return {name: Speed.from_json(values) for name, values in noted.items() if values}

    def _write_at_times(self, *, at_once: bool = False) -> None:
        """Write the record, but not so often that a run of many tasks spends its time on it; `finish` writes the rest.

        A kill can lose facts that the next session finds again. ``at_once`` is for others.
        """
        if at_once or time.monotonic() >= self._next_write:
            started = time.monotonic()
            self._write()
            self._next_write = time.monotonic() + WRITING_SHARE * (time.monotonic() - started)

    def _write_config(self) -> None:
        """Write the config, once."""
        if self._config is not None:
            write_config(self._folder, self._config, trusted=self._trusted)
            self._config = None

    def _write(self) -> None:
        write_json_atomic(self._folder.run_file, self._values)


def write_config(folder: RunFolder, config: str, *, trusted: bool = True) -> None:
    """Write ``config.py``, and note that this user made the run unless it is a run of others.

    Raises:
        StoreError: the folder cannot be written.
    """
    with replacing(folder.config_file) as stream:
        stream.write(config.encode("utf-8", "backslashreplace"))
    if trusted:
        note_made_here(folder, folder.config_file.read_bytes())  # the written file has no secrets


def done_tasks(record: Mapping[str, Any]) -> set[str]:
    """Return the names of the tasks whose inference is complete, from a record of `read_run_file`.

    A session that asks begins with none, because the config may have changed. Earlier versions did not record sessions.
    """
    asking = [session["done"] for session in record.get("sessions", []) if "done" in session]
    return set(asking[-1] if asking else record.get("tasks", {}))


def _now() -> str:
    """Return the time in UTC with its offset, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def addresses_of(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield ``abbr`` and address of each model in each session, oldest first; version 1 has them by task."""
    for name, facts in record.get("tasks", {}).items():
        if address := facts.get("model", {}).get("base_url"):
            yield name.rpartition("/")[0], address
    for session in record.get("sessions", []):
        yield from session.get("addresses", {}).items()


def _changes(folder: RunFolder, config: str) -> list[str]:
    if not folder.config_file.exists():
        return []
    with reading(folder.config_file, fix="start a new run without -r"):
        before = folder.config_file.read_text("utf-8", "replace")
    lines = difflib.unified_diff(before.splitlines(), config.splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


@contextmanager
def recorded(record: RunRecord, folder: RunFolder, *, fix: str | None = None) -> Iterator[None]:
    """Begin a session, and record that the body was interrupted, preempted or failed. The body records its own success.

    Args:
        record: of the run.
        folder: of the run.
        fix: what to do after an interruption; None says how to resume.

    Raises:
        Interrupted: in place of Ctrl-C.
        Terminated: in place of a signal of a batch system.
    """
    try:
        record.begin()  # here: a signal right after it must not leave the session as running
        yield
    except KeyboardInterrupt as stop:
        record.finish("preempted" if isinstance(stop, Termination) else "interrupted")
        # -r names the folder that the shards share
        run = folder.run_of_shard.root if folder.shard_file.exists() else folder.root
        raise interruption(
            stop,
            "stopped; every answer so far is kept",
            where=str(folder.root),
            fix=fix or f"resume with the same command and -r {run.name}; scores so far: aisprompt score {run}",
        ) from None
    except BaseException:
        logger.info("session failed", exc_info=True)
        with suppress(StoreError):  # the exception says more
            if record.asked_nothing:
                record.withdraw()
            else:
                record.finish("failed")
        raise
