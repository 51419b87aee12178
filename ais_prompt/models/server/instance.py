"""One process of a server: start it behind a watchdog, wait until it is ready, and start it again if it crashes.

`ServerInstance` is in one of these states:

    made ── start ──► starting ── ready_path answers 200 ──► ready ── stop ──► stopped
                         │                                     │
                         │ it ends, or is late                 │ a request fails, and the process has ended
                         ▼                                     ▼
                       error                               restarting ── `RESTARTS` used up, or it fails ──► gone
                                                               └── ready again

A request that finds its server crashed starts the restart, or waits for the one that is under way.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from ais_prompt.errors import ModelError, StoreError
from ais_prompt.models.server.clean_log import first_line
from ais_prompt.models.server.gpus import gpu_variable
from ais_prompt.models.server.server_options import HOST, ServerToStart
from ais_prompt.models.transport.base import Reply, Server, read_client
from ais_prompt.processes import GRACE_SECONDS, module_command, module_environment, watched
from ais_prompt.secrets import SECRETS
from ais_prompt.store import replacing
from ais_prompt.terminal import waiting
from ais_prompt.types import Failure
from ais_prompt.utils import last_lines

logger = logging.getLogger(__name__)
POLL_SECONDS: Final = 0.1
HEALTH_SECONDS: Final = 5.0
"""Timeout of one question whether a server is ready."""
ENDING_SECONDS: Final = 1.0
"""A broken connection may mean that the server crashes: its process is given so long to end."""
RESTARTS: Final = 1
"""How often a server that crashes is started again."""


class ServerInstance:
    """One process of a server. A crash is answered with a restart on the same port, `RESTARTS` times.

    Args:
        server: what is started.
        gpus: the ids of its GPUs; None leaves the choice to the environment.
        log: file for its output.
        name: for messages.

    Attributes:
        others: the other replicas of its model.
    """

    def __init__(self, server: ServerToStart, gpus: Sequence[str] | None, log: Path, name: str) -> None:
        self.others: Sequence[ServerInstance] = ()
        self._server = server
        self._gpus = gpus
        self._log = log
        self._name = name
        with socket.socket() as free:  # a port that nothing listens on at present
            free.bind((HOST, 0))
            self._port: int = free.getsockname()[1]
        self._restarts = 0
        self._restarting: asyncio.Task[None] | None = None
        self._error: ModelError | None = None
        self._process: GuardedProcess | None = None

    @property
    def base_url(self) -> str:
        """The address for requests."""
        return f"http://{HOST}:{self._port}/v1"

    @property
    def shared_url(self) -> str:
        """The address for requests from other machines."""
        return f"http://{self._server.host}:{self._port}/v1"

    @property
    def has_ended(self) -> bool:
        """Whether its process has ended, so that `watched` starts it again."""
        return self._process is not None and self._process.ending() is not None

    @property
    def is_gone(self) -> bool:
        """Whether it crashed more often than it is started again."""
        return self._error is not None

    async def start(self) -> None:
        """Start it, and wait until it is ready.

        Raises:
            ModelError: it ended, or is not ready in time.
        """
        self._process = self._started()
        started = time.monotonic()
        try:
            log = "/".join(self._log.parts[-3:])
            with waiting(f"starting the server of {self._name} (see {log})") as tick:
                await self._wait_until_ready(self._process, tick)
        except BaseException:
            self._process.stop()
            raise
        logger.info("the server of %s is ready after %.1f s", self._name, time.monotonic() - started)

    async def watched(self, failure: Failure) -> Failure:
        """Return the failure of a request, after a restart if it failed because the server crashed.

        The failure is fatal if the server is gone for good.
        """
        process = self._process
        # Ready: the request failed for a reason of its own.
        if failure.kind not in ("unreachable", "connection") or process is None or not await _ends(process):
            return failure
        # Crashed: the first request that sees it begins the restart, the others find it under way.
        if self._restarting is None and self._error is None and self._process is process:
            self._restarting = asyncio.create_task(self._restart(process))
        if self._restarting is not None:
            await asyncio.shield(self._restarting)  # the deadline of a request ends no restart
        # Gone for good. The failure is fatal only if no other replica can take the request.
        if self._error is not None and all(other.is_gone for other in self.others):
            return Failure("server_ended", self._error.what, fatal=True, where=self._error.where)
        if self._error is not None:
            return Failure("unreachable", self._error.what)
        # Ready again. This kind costs no retry: it is an outage, which is over.
        return Failure("unreachable", f"the server of {self._name} crashed, and was started again")

    def stop(self) -> None:
        """Ask it to stop, without waiting."""
        if self._process is not None:
            self._process.stop()

    def wait(self) -> None:
        """Wait for its end after `stop`, and remove the secrets from its log."""
        if self._process is None:
            return
        self._process.wait()
        self._process = None
        with suppress(OSError, StoreError):  # a log that cannot be written ends no run
            content = self._log.read_bytes()
            if SECRETS.hide_in_bytes(content) != content:
                with replacing(self._log) as stream:
                    stream.write(content)

    def _started(self) -> GuardedProcess:
        server = self._server
        words = [word.replace("{port}", str(self._port)) for word in server.words(len(self._gpus or ()))]
        words[0] = server.program() or words[0]
        own = server.environment()
        if self._gpus is not None:
            own = {gpu_variable(): ",".join(self._gpus), **own}
        logger.info("starting the server of %s: %s", self._name, server.shown)
        try:
            return GuardedProcess(words, own, self._log)
        except OSError as error:
            what = f"the server of {self._name} cannot be started: {error}"
            fix = "run its command by hand to see what is missing"
            raise ModelError(what, where=str(self._log), fix=fix) from error

    async def _wait_until_ready(self, process: GuardedProcess, tick: Callable[[], None]) -> None:
        options, started = self._server.options, time.monotonic()
        transport = read_client("aiohttp").open(Server(f"http://{HOST}:{self._port}", {}, None, "", HEALTH_SECONDS))
        try:
            while True:
                reply = await transport.send("GET", options.ready_path, None, None)
                # Looked at before the reply: another program may answer on the port of a server that has ended.
                if (ending := process.ending()) is not None:
                    raise self._failed(f"the server of {self._name} ended before it was ready ({ending})")
                if isinstance(reply, Reply) and reply.status == 200:
                    return
                if time.monotonic() - started > options.start_timeout:
                    raise self._failed(f"the server of {self._name} is not ready after {options.start_timeout:g} s")
                tick()
                await asyncio.sleep(POLL_SECONDS)
        finally:
            await transport.close()

    async def _restart(self, process: GuardedProcess) -> None:
        what = f"the server of {self._name} crashed ({process.ending()})"
        # Gone: it crashed again.
        if self._restarts >= RESTARTS:
            self._error = self._failed(f"{what} again after a restart")
            logger.warning("%s again, and is not started any more", what)
            self._restarting = None
            return
        # Restarting, on the same port: the address in the requests stays right.
        self._restarts += 1
        logger.warning("%s, and is started again; its log: %s", what, self._log)
        # What the crashed process left behind holds the port or the GPUs.
        process.stop()
        try:
            await self.start()
        except ModelError as error:
            self._error = error
        finally:
            self._restarting = None

    def _failed(self, what: str) -> ModelError:
        """Return an error with the last lines of the log."""
        lines = self._process.last_lines() if self._process is not None else []
        shown = "".join(f"\n    {line}" for line in lines) or " nothing"
        return ModelError(
            f"{what}; the last lines of its log:{shown}",
            where=str(self._log),
            fix=f"try the command by hand, correct `server`, and go on with -r: {self._server.shown}",
        )


async def _ends(process: GuardedProcess) -> bool:
    """Return whether a server has ended, or does so now."""
    deadline = time.monotonic() + ENDING_SECONDS
    while process.ending() is None:
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(POLL_SECONDS)
    return True


class GuardedProcess:
    """A server that runs from the construction on, until it ends or is stopped.

    Args:
        words: the command.
        environment: its variables besides those of this program.
        log: file to which its output is appended, without secrets.

    Raises:
        OSError: the log cannot be written, or no process can be started.
    """

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log = log
        with log.open("ab") as file:
            self._log_start = file.tell()
        # Sessions of their own: Ctrl-C in a terminal reaches this program, which then stops the server.
        self._logging = subprocess.Popen(
            [*module_command("ais_prompt.models.server.clean_log"), str(log)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=module_environment(),
            start_new_session=True,
        )
        assert self._logging.stdin is not None
        with self._logging.stdin as output:  # then the server alone holds it, and its end is that of the log
            output.write(first_line())
            output.flush()
            self._watchdog = subprocess.Popen(
                watched(words),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                start_new_session=True,
            )

    def ending(self) -> str | None:
        """Return how it ended, such as ``exit code 1``; None while it runs."""
        code = self._watchdog.poll()
        if code is None:
            return None
        return f"killed by signal {code - 128}" if code > 128 else f"exit code {abs(code)}"

    def last_lines(self) -> list[str]:
        """Return the last lines of its output, without secrets."""
        if self.ending() is not None:
            self._wait_for_log()
        return last_lines(self.log, self._log_start)

    def stop(self) -> None:
        """Ask it to stop, without waiting."""
        if self._watchdog.stdin is not None:
            self._watchdog.stdin.close()

    def wait(self) -> None:
        """Wait until a server that was asked to stop is gone, with everything that it started."""
        try:
            self._watchdog.wait(timeout=4 * GRACE_SECONDS)
        except subprocess.TimeoutExpired:  # a process that no signal ends: it waits for a device
            self._watchdog.kill()
        self._wait_for_log()

    def _wait_for_log(self) -> None:
        with suppress(subprocess.TimeoutExpired):  # a process that no signal ends holds the output open
            self._logging.wait(timeout=GRACE_SECONDS)
