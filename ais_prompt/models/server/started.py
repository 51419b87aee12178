"""The servers of a run: those that it starts, and those that another process started for all its shards.

`StartedServers` starts each server when its model is first asked, and stops all at the end of the run. A server that
several processes share is announced in the run folder: ``servers/<digest>/<host>_<pid>_<number>.json`` has its address.
Only the process that started it writes the file: it makes it, touches it as a heartbeat, and removes it at the end. The
digest is that of the server's options, so that models with different servers have different lists.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from msgspec import Struct, json, to_builtins

from ais_prompt.errors import ModelError
from ais_prompt.models.server.gpus import GpuPool, visible_gpus
from ais_prompt.models.server.instance import POLL_SECONDS, ServerInstance
from ais_prompt.models.server.server_options import ServerToStart
from ais_prompt.store import safe_name, write_json_atomic
from ais_prompt.terminal import waiting
from ais_prompt.types import SILENCE, Failure
from ais_prompt.utils import counted, text_digest

logger = logging.getLogger(__name__)
T = TypeVar("T")
LOOK_SECONDS: Final = 2.0
"""Seconds between two looks at the list."""
STARTING_VERB: Final = "serve"
"""The verb that starts the servers that shards share, whichever extension brings it."""


class StartedServer:
    """The instances of a server, and the GPUs that they have.

    Attributes:
        instances: its processes, the replicas of a model.
        gpus: ids of the GPUs of all instances.
        users: models that ask it at present; without one it may be stopped for another server.
        error: why it could not be started; None if it could.
    """

    def __init__(self, instances: Sequence[ServerInstance], gpus: Sequence[str]) -> None:
        self.instances = instances
        for instance in instances:
            instance.others = [other for other in instances if other is not instance]
        self.gpus = gpus
        self.users = 1
        self._turn = threading.Lock()
        self._is_ready = False
        self.error: ModelError | None = None

    async def start(self) -> None:
        """Start all instances, and wait until they are ready.

        Raises:
            ModelError: one cannot be started, now or at the first attempt. It is not tried twice in a run.
        """
        async with held(self._turn):
            # Failed before: its other models get the same error at once.
            if self.error is not None:
                raise ModelError(self.error.what, where=self.error.where, fix=self.error.fix)
            # Ready: it was started for another model.
            if self._is_ready:
                return
            try:
                async with asyncio.TaskGroup() as group:
                    for instance in self.instances:
                        group.create_task(instance.start())
            except BaseExceptionGroup as failed:
                error = failed.exceptions[0]
                self.error = error if isinstance(error, ModelError) else None
                # The other replicas are stopped too, so that another server can have their GPUs.
                await asyncio.to_thread(self.stop)
                raise error from None
            self._is_ready = True

    def ask_to_stop(self) -> None:
        """Ask all instances to stop, without waiting."""
        for instance in self.instances:
            instance.stop()

    def stop(self) -> None:
        """Stop all instances, and wait until they are gone."""
        self.ask_to_stop()
        for instance in self.instances:
            instance.wait()


class StartedServers:
    """The servers of a run. They stop with the ``with`` block, or when another server needs the GPUs of an idle one.

    It may be used from several threads and event loops.

    Args:
        logs: folder of their logs.
        announced: where the shared servers of the run are announced; None if this process starts those too.

    Attributes:
        gpus: the ids of all GPUs.
    """

    def __init__(self, logs: Path, announced: Path | None = None) -> None:
        self.announced = announced
        self._logs = logs
        self.gpus: Sequence[str] = visible_gpus()
        self._pool = GpuPool(self.gpus)
        self._turn = threading.Lock()
        self._waiting: list[object] = []
        self._servers: dict[str, StartedServer] = {}

    def replicas(self, server: ServerToStart) -> int:
        """Return how many instances of a server are started."""
        return server.replicas(len(self.gpus))

    async def use(self, server: ServerToStart, name: str) -> Sequence[ServerInstance]:
        """Return the instances of a server, which is started if it does not run. `leave` it after the last request.

        Waits until enough GPUs are free: a server has its own.

        Args:
            server: what is started.
            name: of the model, for messages and the log.

        Raises:
            ModelError: it cannot be started.
        """
        # Waiting for GPUs, unless the server runs already.
        started = await self._in_turn(
            lambda: self._reserved(server, name), f"waiting for free GPUs for the server of {name}"
        )
        try:
            # Starting, or waiting for the start that another model has begun.
            await started.start()
        except BaseException:
            # It did not start: the GPUs stay with it until another server needs them.
            await self.leave(server)
            raise
        return started.instances

    async def leave(self, server: ServerToStart) -> None:
        """End the use of a server by a model. It stays up, unless another server needs its GPUs."""
        async with held(self._turn):
            self._servers[server.key].users -= 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # All are asked first: each takes seconds to end, and they do so beside each other.
        for server in self._servers.values():
            server.ask_to_stop()
        for server in self._servers.values():
            server.stop()

    async def take_gpus(self, number: int) -> Sequence[str] | None:
        """Wait for so many free GPUs, and take them; None on a machine without any.

        Raises:
            ModelError: this machine has fewer.
        """
        if not self.gpus:
            return None
        if number > len(self.gpus):
            what = f"{number} GPUs are needed, and this machine shows {len(self.gpus)}"
            raise ModelError(what, fix="set run_cfg=dict(num_gpus=...) lower")
        return await self._in_turn(lambda: self._free_gpus(number), f"waiting for {counted(number, 'free GPU')}")

    async def give_gpus_back(self, gpus: Sequence[str]) -> None:
        """Give back GPUs from `take_gpus`."""
        async with held(self._turn):
            self._pool.give_back(gpus)

    async def _in_turn(self, attempt: Callable[[], Awaitable[T | None]], description: str) -> T:
        """Attempt something until it succeeds, in the order of the calls. Show the description while waiting."""
        ticket = object()
        self._waiting.append(ticket)
        try:
            with waiting(description) as tick:
                while True:
                    async with held(self._turn):
                        if self._waiting[0] is ticket and (found := await attempt()) is not None:
                            return found
                    await asyncio.sleep(POLL_SECONDS)
                    tick()
        finally:
            self._waiting.remove(ticket)

    async def _reserved(self, server: ServerToStart, name: str) -> StartedServer | None:
        """Return a server that has its GPUs, with one more user; None if others are using the GPUs that it needs."""
        # It runs already, or is starting: one more model uses it.
        if (found := self._servers.get(server.key)) is not None:
            found.users += 1
            return found
        each, number = server.gpus_each(len(self.gpus)), self.replicas(server)
        if (gpus := await self._free_gpus(each * number)) is None:
            return None
        # It has its GPUs. `StartedServer.start` starts it, outside of the turn: that may take minutes.
        instances = []
        for index in range(number):
            own = gpus[index * each : (index + 1) * each] if self.gpus else None
            title = name if number == 1 else f"{name}-{index}"
            instances.append(ServerInstance(server, own, self._logs / f"{safe_name(title)}.log", title))
        self._servers[server.key] = StartedServer(instances, gpus)
        return self._servers[server.key]

    async def _free_gpus(self, number: int) -> Sequence[str] | None:
        """Take free GPUs, for which idle servers are stopped; None if there are not enough."""
        while (gpus := self._pool.take(number)) is None:
            idle = next((key for key, other in self._servers.items() if not other.users and other.gpus), None)
            if idle is None:
                return None
            stopped = self._servers[idle]
            await asyncio.to_thread(stopped.stop)
            self._pool.give_back(stopped.gpus)
            stopped.gpus = ()
            if stopped.error is None:  # one that failed is kept, so that it is not tried again
                del self._servers[idle]
        return gpus


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
        """Touch the announcement: the server is still there."""
        with suppress(OSError):  # the disk may be back the next time
            os.utime(self._path)

    def withdraw(self) -> None:
        """Remove the announcement: the server is gone."""
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
            fix=f"start some with `aisprompt {STARTING_VERB} CONFIG -r RUN`, and go on with the same command",
        )

    async def watched(self, failure: Failure) -> Failure:
        """Return the failure of a request; a fatal one if no server is left."""
        error = self.error
        return failure if error is None else Failure("server_ended", error.what, fatal=True, where=error.where)

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
        with waiting(f"waiting for a server of {self._name}, which `aisprompt {STARTING_VERB}` starts") as tick:
            # The list may be on a cluster file system, where reading it takes long: not on the event loop.
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


@asynccontextmanager
async def held(turn: threading.Lock) -> AsyncIterator[None]:
    """Let one coroutine work at a time, whatever event loop it belongs to: wait for the turn, and hold it."""
    while not turn.acquire(blocking=False):
        await asyncio.sleep(POLL_SECONDS)
    try:
        yield
    finally:
        turn.release()
