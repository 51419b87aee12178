"""Shards as tasks of a Ray cluster. Ray finds the nodes; the run folder says what the shards have done."""

from __future__ import annotations

import logging
import math
import os
import re
import signal
import socket
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models import check_at_least
from ais_prompt.plan import ShardWork
from ais_prompt.processes import GRACE_SECONDS, module_command, module_environment, watched
from ais_prompt.registry import RUNNERS
from ais_prompt.types import Shard
from ais_prompt.utils import require

logger = logging.getLogger(__name__)

STOP_SECONDS: Final = GRACE_SECONDS + 5.0
"""Time that shards have to end when the run is stopped."""
CONNECT_SECONDS: Final = 10.0
"""Time for a connection to the head of the cluster."""
_HOST_AND_PORT: Final = re.compile(r"([^/:@]+):(\d+)$")
_LOOK_SECONDS: Final = 0.5
"""Seconds between two moments at which a task notices that it is cancelled."""
_SIGNAL: Final = 128
"""The exit code of a process that signal n ended is n more than this, in a shell and in the watchdog."""


@RUNNERS.register_module()
class RayRunner:
    """Starts each shard as one task of a Ray cluster, on any node that has room.

    The nodes need the same Python environment, and the working directory and the run folder at the same path. A shard
    whose node is lost is started again on another one.

    Args:
        num_shards: number of shards; None for as many as the partitioner makes groups.
        max_num_workers: shards that run at a time; None for as many as the cluster has room for.
        address: of the cluster. None for the one of ``RAY_ADDRESS``, or that runs on this machine; ``local`` starts one
            of this machine alone, for a trial.
        num_cpus: CPUs of each shard.
        num_gpus: GPUs of each shard; None for those of the model that has most (``run_cfg``).
        resources: other resources of each shard, as the nodes name them: ``{'H100': 1}``.
        variables: names of environment variables that shards get from this process, such as ``OPENAI_API_KEY``.
        restarts: how often a shard that dies is started again.

    Raises:
        ConfigError: a number is too small.
    """

    poll_seconds = 0.5
    sees_processes = True

    def __init__(
        self,
        num_shards: int | None = None,
        max_num_workers: int | None = None,
        address: str | None = None,
        num_cpus: int = 1,
        num_gpus: int | None = None,
        resources: Mapping[str, float] | None = None,
        variables: Sequence[str] = (),
        restarts: int = 3,
    ) -> None:
        check_at_least(1, num_shards=num_shards, max_num_workers=max_num_workers)
        check_at_least(0, num_cpus=num_cpus, num_gpus=num_gpus, restarts=restarts)
        self.restarts = restarts
        self._num_shards = num_shards
        self._max_num_workers = max_num_workers or math.inf
        self._address = address
        self._num_cpus = num_cpus
        self._num_gpus = num_gpus
        self._resources = dict(resources or {})
        self._variables = list(variables)
        self._waiting: deque[tuple[ShardWork, Shard]] = deque()
        self._tasks: dict[Shard, Any] = {}
        self._gone: dict[Shard, int | None] = {}

    def count(self, work: ShardWork) -> int:
        """Return the number of shards.

        Raises:
            ConfigError: it is not known.
        """
        return work.count(self._num_shards)

    def preflight(self) -> None:
        """Connect to the cluster.

        Raises:
            ModelError: there is none.
        """
        ray = _ray()
        if ray.is_initialized():
            return
        address = self._address or os.environ.get("RAY_ADDRESS") or "auto"
        handler = signal.getsignal(signal.SIGTERM)
        try:
            if where := _HOST_AND_PORT.search(address):  # Ray itself would try for minutes
                socket.create_connection((where[1], int(where[2])), timeout=CONNECT_SECONDS).close()
            ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelError(
                f"there is no Ray cluster at {address!r}: {error}",
                where="runner",
                fix="start one with `ray start --head`, or set runner.address",
            ) from None
        with suppress(ValueError):  # only the main thread may, and only there Ray has set its own
            signal.signal(signal.SIGTERM, handler)

    def preview(self, work: ShardWork, count: int) -> str:
        """Return the command of each shard, and what it needs of a node."""
        needs = ", ".join(f"{name}={value}" for name, value in self._needs(work).items())
        head = f"# Ray tasks, {min(count, self._max_num_workers)} at a time, each with {needs}"
        return "\n".join([head, *work.commands(count)])

    def start(self, work: ShardWork, shards: Sequence[Shard]) -> None:
        """Hand shards to the cluster, or let them wait until others have ended.

        Raises:
            ConfigError: a variable that shards should get is not set.
            ModelError: there is no cluster.
        """
        self.preflight()
        self._warn_of_missing(work)
        for shard in shards:
            self._gone.pop(shard, None)
            self._waiting.append((work, shard))
        self._start_waiting()

    def gone(self) -> Mapping[Shard, int | None]:
        """Return the shards that have ended, or whose node was lost; start others in their place."""
        ray = _ray()
        shards = {task: shard for shard, task in self._tasks.items()}
        ended, _ = ray.wait(list(shards), num_returns=len(shards), timeout=0) if shards else ([], [])
        for task in ended:
            shard = shards[task]
            try:
                self._gone[shard] = ray.get(task)
            except ray.exceptions.RayError as error:
                logger.warning("shard %s: %s", shard, str(error).partition("\n")[0])
                self._gone[shard] = None
            del self._tasks[shard]
        self._start_waiting()
        return dict(self._gone)

    def stop(self) -> None:
        """Stop all shards, and wait for `STOP_SECONDS` at most until they have ended."""
        ray = _ray()
        self._waiting.clear()
        tasks = list(self._tasks.values())
        for task in tasks:
            ray.cancel(task)
        if tasks:
            ray.wait(tasks, num_returns=len(tasks), timeout=STOP_SECONDS)

    def _start_waiting(self) -> None:
        while self._waiting and len(self._tasks) < self._max_num_workers:
            work, shard = self._waiting.popleft()
            # Not retried by Ray: the run folder says whether there is anything left to ask.
            task = (
                _ray()
                .remote(_ask)
                .options(**self._needs(work), max_retries=0, scheduling_strategy="SPREAD", name=f"{work.name} {shard}")
            )
            self._tasks[shard] = task.remote(
                work.arguments(shard), str(Path.cwd()), str(work.log(shard)), self._environment()
            )

    def _needs(self, work: ShardWork) -> dict[str, Any]:
        gpus = work.num_gpus if self._num_gpus is None else self._num_gpus
        needs: dict[str, Any] = {"num_cpus": self._num_cpus, "num_gpus": gpus}
        return needs | ({"resources": self._resources} if self._resources else {})

    def _environment(self) -> dict[str, str]:
        if missing := [name for name in self._variables if name not in os.environ]:
            raise ConfigError(f"the variable {missing[0]} is not set", where="runner.variables", fix="export it")
        return {name: os.environ[name] for name in self._variables}

    def _warn_of_missing(self, work: ShardWork) -> None:
        """Warn if no node has what a shard needs. It may join later, so the shards wait."""
        needs = {"CPU": self._num_cpus, "GPU": self._needs(work)["num_gpus"], **self._resources}
        nodes = [node["Resources"] for node in _ray().nodes() if node["Alive"]]
        if not any(all(node.get(name, 0) >= value for name, value in needs.items()) for node in nodes):
            wanted = ", ".join(f"{value:g} {name}" for name, value in needs.items() if value)
            logger.warning("no node of the Ray cluster has %s: the shards wait until one joins", wanted)


def _ask(arguments: Sequence[str], folder: str, log: str, variables: Mapping[str, str]) -> int:
    """Ask one shard on a node, and return its exit code, -n if signal n ended it.

    The shard is a process of its own, which ends with this one: the watchdog sees that its standard input is closed.
    """
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    with Path(log).open("ab") as output:
        process = subprocess.Popen(
            watched([*module_command("ais_prompt"), *arguments]),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**module_environment(), "PYTHONUNBUFFERED": "1", **variables},
        )
    assert process.stdin is not None
    try:
        while True:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(_LOOK_SECONDS)
                return code if code <= _SIGNAL else _SIGNAL - code
    finally:  # cancelled
        process.stdin.close()
        process.wait()


def _ray() -> Any:
    return require("ray", extra="ray", why="RayRunner")
