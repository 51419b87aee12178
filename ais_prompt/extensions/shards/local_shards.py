"""Shards as processes of this machine, each with GPUs of its own."""

from __future__ import annotations

import os
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models import GpuPool, check_at_least, gpu_variable, visible_gpus
from ais_prompt.plan import ShardWork
from ais_prompt.processes import module_environment
from ais_prompt.registry import RUNNERS
from ais_prompt.types import Shard

STOP_SECONDS: Final = 45.0
"""Time that shards have to end after SIGTERM: their servers have 10 seconds of it. Then SIGKILL ends them."""


@RUNNERS.register_module()
class LocalRunner:
    """Starts each shard as a process of this machine, as many at a time as there is room for.

    Args:
        num_shards: number of shards; None for as many as the partitioner makes groups, or as run at a time.
        max_num_workers: shards that run at a time. None for as many as the GPUs allow, or as this machine has CPUs.
        num_gpus: GPUs of each shard; None for those of the model that has most (``run_cfg``).
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
        num_gpus: int | None = None,
        restarts: int = 2,
    ) -> None:
        check_at_least(1, num_shards=num_shards, max_num_workers=max_num_workers)
        check_at_least(0, num_gpus=num_gpus, restarts=restarts)
        self.restarts = restarts
        self._num_shards = num_shards
        self._max_num_workers = max_num_workers
        self._num_gpus = num_gpus
        self._gpus = visible_gpus()
        self._pool = GpuPool(self._gpus)
        self._waiting: deque[tuple[ShardWork, Shard]] = deque()
        self._running: dict[Shard, tuple[subprocess.Popen[bytes], tuple[str, ...]]] = {}
        self._gone: dict[Shard, int | None] = {}

    def count(self, work: ShardWork) -> int:
        """Return the number of shards."""
        return self._num_shards or work.num_groups or self._at_a_time(work)

    def preflight(self) -> None:
        """Do nothing: there is always this machine."""

    def preview(self, work: ShardWork, count: int) -> str:
        """Return the command of each shard."""
        gpus = f", each with {each} GPUs" if (each := self._gpus_each(work)) else ""
        return "\n".join([f"# {self._at_a_time(work)} at a time{gpus}", *work.commands(count)])

    def start(self, work: ShardWork, shards: Sequence[Shard]) -> None:
        """Start shards, or let them wait until others have ended.

        Raises:
            ConfigError: there are fewer GPUs than one shard needs.
            ModelError: no process can be started.
        """
        for shard in shards:
            self._gone.pop(shard, None)
            self._waiting.append((work, shard))
        self._start_waiting()

    def gone(self) -> Mapping[Shard, int | None]:
        """Return the shards that have ended; start others in their place."""
        for shard, (process, gpus) in list(self._running.items()):
            if (code := process.poll()) is not None:
                self._gone[shard] = code
                self._pool.give_back(gpus)
                del self._running[shard]
        self._start_waiting()
        return dict(self._gone)

    def stop(self) -> None:
        """Stop all processes: SIGTERM, and SIGKILL for those that have not ended after `STOP_SECONDS`."""
        self._waiting.clear()
        processes = [process for process, _ in self._running.values()]
        for process in processes:
            process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
                continue
            process.kill()
            process.wait()

    def _start_waiting(self) -> None:
        while self._waiting and len(self._running) < self._at_a_time(self._waiting[0][0]):
            work, shard = self._waiting.popleft()
            gpus = self._pool.take(self._gpus_each(work)) or ()
            log = work.log(shard)
            # A session of its own: Ctrl-C in a terminal reaches this process, which then stops the shards.
            own = {"PYTHONUNBUFFERED": "1"} | ({gpu_variable(): ",".join(gpus)} if gpus else {})
            try:
                log.parent.mkdir(parents=True, exist_ok=True)
                with log.open("ab") as output:
                    process = subprocess.Popen(
                        work.command(shard),
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        env={**module_environment(), **own},
                        start_new_session=True,
                    )
            except OSError as error:
                what = f"shard {shard} cannot be started: {error}"
                raise ModelError(what, where=str(log), fix="free memory or processes, and go on with -r") from error
            self._running[shard] = process, gpus

    def _gpus_each(self, work: ShardWork) -> int:
        """Return the GPUs of each shard; 0 on a machine without any."""
        each = work.num_gpus if self._num_gpus is None else self._num_gpus
        return each if self._gpus else 0

    def _at_a_time(self, work: ShardWork) -> int:
        each = self._gpus_each(work)
        if each > len(self._gpus):
            raise ConfigError(
                f"each shard needs {each} GPUs, and this machine shows {len(self._gpus)}",
                where="runner",
                fix="set run_cfg=dict(num_gpus=...) of the model lower, or num_gpus of the runner",
            )
        room = len(self._gpus) // each if each else self._max_num_workers or os.cpu_count() or 1
        return min(room, self._max_num_workers or room)
