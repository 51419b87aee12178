"""What a load has done so far, for the terminal and for `aisprompt view`: ``<dataset>_live.json`` while it runs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from msgspec import Struct, to_builtins

from ais_prompt.store import replacing, writing
from ais_prompt.utils import encode_plain

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
