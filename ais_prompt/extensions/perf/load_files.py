"""The files of a load in a run folder: its plan and schedule, its exchanges, and its counts while it runs.

``performances/<model>/<dataset>_schedule.jsonl`` is written before the first request. It has the `LoadPlan` in its
first line, a line for each request that is planned, and at the end what the client did (`ClientFacts`), which an
interrupted process may not have written. With the journal, these files are all that the tables of a load are computed
from. ``<dataset>_live.json`` is there while the load runs, for the terminal and for `aisprompt view`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, ValidationError, convert, to_builtins
from msgspec.structs import replace

from ais_prompt.errors import StoreError
from ais_prompt.extensions.perf.counters import ServerCounters
from ais_prompt.extensions.perf.driver import ClientFacts
from ais_prompt.extensions.perf.exchange import Exchange
from ais_prompt.extensions.perf.probe import LoadProbe
from ais_prompt.extensions.perf.schedule import Schedule
from ais_prompt.secrets import SECRETS
from ais_prompt.store import reading, replacing, writing
from ais_prompt.utils import decode_own, encode_plain, open_regular

logger = logging.getLogger(__name__)
_FIX = "measure again, with a new run"


class LoadPlan(Struct, frozen=True):
    """What a load is going to do.

    Attributes:
        schedule: when requests are due.
        sample_ids: the rows, in the order of asking; after the last one they begin again.
        max_concurrency: the places that the config gives the model, whether the load keeps to them or not.
        seed: of the intervals, and of unique prompts.
        warmups: requests before the load, whose prompts are their own.
        unique: whether every prompt begins with a line of its own.
        ignores_eos: whether the server is asked for answers of full length.
        shared_prefix: share of the prompts' text that earlier prompts begin with, as a prefix cache sees it.
        timeout: seconds after which a request fails; None in loads of earlier versions.
        duration: no turn starts after so many seconds; None for no limit.
        grace: requests in flight so many seconds later are cut.
        probe: whether a request for one token is sent beside the load each second.
    """

    schedule: Schedule
    sample_ids: Sequence[str]
    max_concurrency: int
    seed: int = 0
    warmups: int = 0
    unique: bool = False
    ignores_eos: bool = False
    shared_prefix: float = 0.0
    timeout: float | None = None
    duration: float | None = None
    grace: float = 0.0
    probe: bool = False


class StoredLoad(Struct, frozen=True):
    """A load as it is stored.

    Attributes:
        plan: of the load.
        exchanges: its requests, in the order in which they ended.
        client: what the client did; None if its process was killed.
        first_body: the body of the first request, with long texts cut; None if nothing was sent.
        counters: what each server counted, as far as it says.
        probes: requests for one token beside the load, in the order in which they ended.
    """

    plan: LoadPlan
    exchanges: Sequence[Exchange]
    client: ClientFacts | None
    first_body: Any = None
    counters: Sequence[ServerCounters] = ()
    probes: Sequence[LoadProbe] = ()


class _End(Struct, frozen=True):
    """The last line of a schedule."""

    client: ClientFacts | None = None
    first_body: Any = None
    counters: Sequence[ServerCounters] = ()
    probes: Sequence[LoadProbe] = ()


def write_plan(path: Path, plan: LoadPlan) -> None:
    """Write the plan and the schedule of a load.

    Raises:
        StoreError: the disk does not take it.
    """
    head = to_builtins(replace(plan, schedule=replace(plan.schedule, due=()), sample_ids=()))
    with replacing(path, json=True) as stream:
        stream.write(encode_plain(head))
        for due, sample_id in zip_longest(plan.schedule.due, plan.sample_ids):
            stream.write(encode_plain({"due": None if due is None else round(due, 6), "sample_id": sample_id}))


def add_client(
    path: Path,
    client: ClientFacts,
    first_body: Any,
    counters: Sequence[ServerCounters],
    probes: Sequence[LoadProbe] = (),
) -> None:
    """Add what client and servers did, and the body of the first request, to the schedule of a load that is over.

    Raises:
        StoreError: the disk does not take it.
    """
    line = encode_plain(to_builtins(_End(client, first_body, counters, probes)))
    with writing(path), path.open("ab") as stream:
        stream.write(SECRETS.hide_in_json(line))


def read_load(schedule: Path, journal: Path) -> StoredLoad:
    """Read a load.

    Raises:
        ConfigError: the run has measured no such load.
        StoreError: a file cannot be read, or is broken.
    """
    plan, rest = _read_plan(schedule)
    exchanges = []
    with reading(journal, fix=_FIX), open_regular(journal) as lines:
        for line in lines:
            try:
                exchange = Exchange.from_line(line)
            except ValueError:  # the last line of a process that was killed
                logger.warning("%s: a line cannot be read and is left out", journal)
                continue
            if exchange is not None:
                exchanges.append(exchange)
    return StoredLoad(plan, exchanges, rest.client, rest.first_body, rest.counters, rest.probes)


def _read_plan(path: Path) -> tuple[LoadPlan, _End]:
    """Return the plan of a load, and what was added when it was over."""
    absent = "this run has measured no such load"
    with reading(path, fix="measure it: -m perf without -r", absent=absent), open_regular(path) as lines:
        try:
            values: list[dict[str, Any]] = [decode_own(line) for line in lines]
            head, rest = convert(values[0], LoadPlan), values[1:]
            end = convert(rest.pop(), _End) if rest and "client" in rest[-1] else _End()
            due = [row["due"] for row in rest if row["due"] is not None]
            sample_ids = [row["sample_id"] for row in rest if row["sample_id"] is not None]
        except (ValueError, KeyError, TypeError, IndexError, ValidationError) as error:
            raise StoreError(f"the schedule cannot be read: {error}", where=str(path), fix=_FIX) from None
    plan = replace(head, schedule=replace(head.schedule, due=due), sample_ids=sample_ids)
    return plan, end


ENDING: Final = "_live.json"
INTERVAL: Final = 1.0
"""Seconds between two states of the file."""


class LoadProgress(Struct, frozen=True):
    """The counts of a load.

    Attributes:
        task: ``model/dataset``.
        requests: how many are planned; None if the server decides that, or if dialogues make more of them.
        sent, in_flight, answered, failed: how many there are.
        per_second: requests that ended in the last second, or since the last state.
    """

    task: str
    requests: int | None
    sent: int
    in_flight: int
    answered: int
    failed: int
    per_second: float

    def __str__(self) -> str:
        """Return the counts as words for a terminal."""
        of = "" if self.requests is None else f" of {self.requests:,}"
        counts = f"{self.in_flight:,} in flight · {self.answered:,} answered · {self.failed:,} failed"
        return f"{self.sent:,}{of} sent · {counts} · {self.per_second:.3g}/s"


class LoadCounter:
    """Counts requests, and writes the counts to a file once a second. `sent` is called by the thread that sends.

    Args:
        path: the file; it is there while the load runs.
        task: ``model/dataset``.
        requests: how many are planned; None if the server decides that.
    """

    def __init__(self, path: Path, task: str, requests: int | None) -> None:
        self._path = path
        self._sent = self._answered = self._failed = 0
        self._written, self._ended = time.monotonic(), 0
        self.progress = LoadProgress(task, requests, 0, 0, 0, 0, 0.0)

    def sent(self) -> None:
        """Count a request that is sent."""
        self._sent += 1

    def ended(self, *, failed: bool) -> None:
        """Count an answer or a failure."""
        self._failed += failed
        self._answered += not failed

    @property
    def wait(self) -> float:
        """Seconds until the file is due."""
        return max(self._written + INTERVAL - time.monotonic(), 0.0)

    def write(self) -> None:
        """Write the file.

        Raises:
            StoreError: the disk does not take it.
        """
        ended, now = self._answered + self._failed, time.monotonic()
        sent = max(self._sent, ended)
        per_second = (ended - self._ended) / max(now - self._written, 1e-3)
        task, planned = self.progress.task, self.progress.requests
        requests = None if planned is not None and sent > planned else planned
        self.progress = LoadProgress(
            task, requests, sent, sent - ended, self._answered, self._failed, round(per_second, 3)
        )
        self._written, self._ended = now, ended
        with replacing(self._path, json=True, restorable=True) as stream:
            stream.write(encode_plain(to_builtins(self.progress)))

    def close(self) -> None:
        """Remove the file."""
        with writing(self._path):
            self._path.unlink(missing_ok=True)
