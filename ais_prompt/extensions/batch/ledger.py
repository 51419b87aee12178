"""The record of the batches of a model: what each asks, where it is, and what came of it.

One JSON object a line in ``batches/MODEL.jsonl``. Each is on the disk before the next step is taken, so a process may
end at any moment:

    prepared     the ids of its requests; after this line it may be at the provider, or may not
    submitted    the id that the provider gave it
    looked       how many of its requests were done at a look
    fetched      its answers are in ``batches/MODEL/BATCH.jsonl``
    over         nothing more is to come: its answers are in the journals, or it was lost
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from ais_prompt.store import RunFolder, reading, replacing, safe_name, writing
from ais_prompt.utils import counted, decode_own, encode_plain, open_in_folder, read_objects

State: TypeAlias = Literal["prepared", "submitted", "fetched", "over"]
FOLDER: Final = "batches"


class Flight(Struct, eq=False):
    """One batch.

    Attributes:
        name: our name of it, which the provider keeps in its metadata where it can.
        ids: ``custom_id`` of each request.
        at: when it was prepared, in UTC.
        state: see the top of this file.
        id: at the provider; empty before it is submitted.
        done: requests that were done at the last look.
        end: how it ended, in words.
    """

    name: str
    ids: Sequence[str]
    at: datetime
    state: State = "prepared"
    id: str = ""
    done: int = 0
    end: str = ""


class Ledger:
    """The batches of one model in a run folder. One process at a time writes it.

    Args:
        path: of the file; it need not exist.

    Attributes:
        flights: batches of earlier sessions and of this one, by our name.

    Raises:
        StoreError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.flights: dict[str, Flight] = {}
        if path.exists():
            with reading(path, fix="repair the disk"), path.open("rb") as lines:
                for line in lines:
                    self._read(line)

    @property
    def under_way(self) -> list[Flight]:
        """The batches that may be at the provider, and those whose answers may not be in the journals yet."""
        return [flight for flight in self.flights.values() if flight.state != "over"]

    def answers_file(self, flight: Flight) -> Path:
        """Return where the fetched answers of a batch are."""
        return self.path.with_suffix("") / f"{flight.name}.jsonl"

    def prepare(self, ids: Sequence[str]) -> Flight:
        """Record a batch that is about to be submitted."""
        now = datetime.now(UTC)
        flight = Flight(f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}", ids, now)
        self._write(flight, ids=list(ids), at=now.isoformat())
        self.flights[flight.name] = flight
        return flight

    def submitted(self, flight: Flight, batch_id: str) -> None:
        """Record the id of a batch at the provider."""
        flight.state, flight.id = "submitted", batch_id
        self._write(flight, id=batch_id)

    def looked(self, flight: Flight, done: int) -> None:
        """Record how many requests of a batch are done, if that has changed."""
        if done != flight.done:
            flight.done = done
            self._write(flight, synced=False, done=done)

    def fetched(self, flight: Flight, lines: Iterator[bytes]) -> None:
        """Keep the answers of a batch, without secrets."""
        with replacing(self.answers_file(flight), json=True) as stream:
            stream.writelines(lines)
        flight.state = "fetched"
        self._write(flight)

    def over(self, flight: Flight, end: str) -> None:
        """Record that nothing more is to come of a batch, and forget what it asked."""
        flight.state, flight.end, flight.ids = "over", end, ()
        self._write(flight, end=end)
        self.answers_file(flight).unlink(missing_ok=True)

    def answers(self, flight: Flight) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the fetched answers of a batch by their ids.

        Raises:
            StoreError: the file cannot be read.
        """
        path = self.answers_file(flight)
        with reading(path, fix="remove it: the answers are fetched again"), path.open("rb") as lines:
            for _, line in read_objects(lines, str(path)):
                yield str(line.get("custom_id")), line

    def _write(self, flight: Flight, *, synced: bool = True, **values: Any) -> None:
        line = encode_plain({"batch": flight.name, "state": flight.state, **values})
        with writing(self.path):
            descriptor = open_in_folder(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                # The end of a process may have left half a line.
                size = os.fstat(descriptor).st_size
                torn = b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""
                os.write(descriptor, torn + line)
                if synced:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _read(self, line: bytes) -> None:
        try:
            values = decode_own(line)
            name, state = values["batch"], values["state"]
            flight = self.flights.get(name) or Flight(name, values["ids"], datetime.fromisoformat(values["at"]))
        except (ValueError, KeyError, TypeError):
            return  # half a line: the step after it was not taken
        self.flights[name] = flight
        flight.state = state
        flight.id = values.get("id", flight.id)
        flight.done = values.get("done", flight.done)
        flight.end = values.get("end", flight.end)
        if state == "over":
            flight.ids = ()


def batches(number: int) -> str:
    """Return a number of batches in words."""
    return f"{number:,} batch{'' if number == 1 else 'es'}"


def ledger_of(folder: RunFolder, abbr: str) -> Path:
    """Return the file of the batches of a model."""
    return folder.root / FOLDER / f"{safe_name(abbr)}.jsonl"


def open_batches(folder: RunFolder, but: Collection[Path] = ()) -> dict[str, int]:
    """Return the models that have batches under way, and how many.

    Args:
        folder: of the run.
        but: files of models that are left out.
    """
    files = [path for path in sorted((folder.root / FOLDER).glob("*.jsonl")) if path not in but]
    counts = {path.stem: len(Ledger(path).under_way) for path in files}
    return {name: count for name, count in counts.items() if count}


_SAID: Final = {
    "prepared": "may be submitted: the next session looks for it",
    "submitted": "in flight",
    "fetched": "fetched, and not yet in the journal",
}


def status_lines(folder: RunFolder) -> list[str]:
    """Return a line for each batch of a run, with what was known at the last look; see `STEPS`."""
    lines = []
    for path in sorted((folder.root / FOLDER).glob("*.jsonl")):
        for flight in Ledger(path).flights.values():
            if flight.state == "over":
                what = f"over: {flight.end}"
            else:
                known = f", {flight.done:,} done at the last look" if flight.state == "submitted" else ""
                what = f"{_SAID[flight.state]}, {counted(len(flight.ids), 'request')}{known}"
            lines.append(f"{path.stem}  batch {flight.id or flight.name} of {flight.at:%Y-%m-%d %H:%M} UTC  {what}")
    return [*lines, ""] if lines else []
