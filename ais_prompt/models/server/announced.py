"""Servers that several processes share: who started them announces them in the run folder, and shards read the list.

``servers/<digest>/<host>_<pid>_<number>.json`` has the address of one server. Only the process that started it writes
the file: it makes it, touches it as a heartbeat, and removes it at the end. The digest is that of the server's options,
so that models with different servers have different lists.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct, json, to_builtins

from ais_prompt.errors import ModelError
from ais_prompt.models.server.options import ServerToStart
from ais_prompt.models.transport import Reply, Sink, Transport
from ais_prompt.store.layout import safe_name
from ais_prompt.store.results import write_json_atomic
from ais_prompt.store.shards import SILENCE
from ais_prompt.types import Failure
from ais_prompt.utils.digest import text_digest
from ais_prompt.utils.progress import waiting

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 2.0
"""Seconds between two looks at the list."""


class Announcement(Struct, frozen=True):
    """One server, as it is announced.

    Attributes:
        address: for requests, up to the version.
        host: the machine that it runs on.
        pid: the process that started it.
    """

    address: str
    host: str
    pid: int


class AnnouncedServer:
    """Announces one server until `withdraw`.

    Args:
        folder: of the announcements of a run.
        server: what was started.
        address: for requests.
        number: of the server among those that this process announces.

    Raises:
        StoreError: it cannot be written.
    """

    def __init__(self, folder: Path, server: ServerToStart, address: str, number: int) -> None:
        host, pid = socket.gethostname(), os.getpid()
        self._path = list_of(folder, server) / f"{safe_name(host)}_{pid}_{number}.json"
        write_json_atomic(self._path, to_builtins(Announcement(address, host, pid)))

    def beat(self) -> None:
        """Say that the server is still there."""
        with suppress(OSError):  # the disk may be back the next time
            os.utime(self._path)

    def withdraw(self) -> None:
        """Say that the server is gone."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def list_of(folder: Path, server: ServerToStart) -> Path:
    """Return the folder with the announcements of equal servers."""
    return folder / text_digest(server.key, 16)


def announced(folder: Path) -> list[Announcement]:
    """Return the servers in a list whose heartbeat has not stopped."""
    return [one for one, silence in announcements(folder) if silence < SILENCE]


def announcements(folder: Path) -> list[tuple[Announcement, float]]:
    """Return each server in a list, and the seconds since its last heartbeat."""
    found = []
    with suppress(OSError):
        for path in sorted(folder.glob("*.json")):
            with suppress(OSError, ValueError):  # it was just withdrawn
                silence = time.time() - path.stat().st_mtime
                found.append((json.decode(path.read_bytes(), type=Announcement), silence))
    return found


class SharedServers:
    """The list of servers that a model may ask, as it changes.

    Args:
        folder: of the announcements of a run.
        server: what others have started, or will start.
        name: of the model, for messages.

    Attributes:
        addresses: of the servers that are announced, or else of those that were announced last.
    """

    def __init__(self, folder: Path, server: ServerToStart, name: str) -> None:
        self.addresses: Sequence[str] = ()
        self._list = list_of(folder, server)
        self._patience = server.options.start_timeout
        self._name = name
        self._seen = time.monotonic()

    @property
    def error(self) -> ModelError | None:
        """Why no server can be asked: none has been announced for ``start_timeout`` seconds; None as long as it can."""
        if time.monotonic() - self._seen < self._patience:
            return None
        return ModelError(
            f"no server of {self._name} has been announced for {self._patience:g} s",
            where=str(self._list),
            fix="start some with `aisprompt serve CONFIG -r RUN`, and go on with the same command",
        )

    def look(self) -> bool:
        """Read the list, and return whether other servers are announced than before."""
        if not (found := tuple(one.address for one in announced(self._list))):
            return False
        self._seen = time.monotonic()
        is_new, self.addresses = found != self.addresses, found
        return is_new

    async def wait(self) -> None:
        """Wait until a server is announced.

        Raises:
            ModelError: none is, for ``start_timeout`` seconds.
        """
        self._seen = time.monotonic()
        with waiting(f"waiting for a server of {self._name}, which `aisprompt serve` starts") as tick:
            while not await asyncio.to_thread(self.look) and not self.addresses:
                if self.error is not None:
                    raise self.error
                await asyncio.sleep(LOOK_SECONDS)
                tick()

    async def follow(self, changed: Callable[[], None]) -> None:
        """Call something whenever the list changes, until the task is cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if await asyncio.to_thread(self.look):
                logger.info("the servers of %s are now %s", self._name, ", ".join(self.addresses))
                changed()


class SharedTransport:
    """Sends requests to a server that is announced. When none is announced any more, failures are final.

    Args:
        transport: sends the requests.
        servers: the list.
    """

    def __init__(self, transport: Transport, servers: SharedServers) -> None:
        self._transport = transport
        self._servers = servers

    async def send(self, method: str, path: str, body: bytes | None, sink: Sink | None) -> Reply | Failure:
        """As `Transport.send`; a fatal failure if no server is left."""
        reply = await self._transport.send(method, path, body, sink)
        if isinstance(reply, Failure) and (error := self._servers.error) is not None:
            return Failure("server_ended", error.what, fatal=True, where=error.where)
        return reply

    async def close(self) -> None:
        """As `Transport.close`."""
        await self._transport.close()
