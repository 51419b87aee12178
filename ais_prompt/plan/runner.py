"""What starts the processes that each ask a part of a run: its protocol, and the work it gets."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from ais_prompt.errors import ConfigError
from ais_prompt.processes import module_command
from ais_prompt.store import RunFolder
from ais_prompt.types import Shard


class ShardWork(Struct, frozen=True):
    """The shards of a run, for a runner to start.

    Attributes:
        folder: the run folder that they share; its path is absolute.
        name: of the config, for the names of jobs.
        words: the arguments of ``aisprompt`` that name the config, without those that are the shard's own.
        num_gpus: GPUs that each shard needs; 0 if no model computes on this side of a server.
        num_groups: groups of tasks that the partitioner makes, each for one shard; 0 without a partitioner.
    """

    folder: RunFolder
    name: str
    words: tuple[str, ...]
    num_gpus: int = 0
    num_groups: int = 0

    def count(self, num_shards: int | None) -> int:
        """Return the number of shards: what the runner says, or else as many as the partitioner makes groups.

        Raises:
            ConfigError: neither says it.
        """
        if not (found := num_shards or self.num_groups):
            raise ConfigError("the number of shards is not known", where="runner", fix="add num_shards to the runner")
        return found

    def arguments(self, shard: Shard | str) -> list[str]:
        """Return the arguments of ``aisprompt`` for one shard, such as ``3/8`` or ``auto/8``."""
        return [*self.words, "-r", str(self.folder.root), "-m", "infer", "--shard", str(shard)]

    def command(self, shard: Shard) -> list[str]:
        """Return the command of one shard in this environment of Python."""
        return [*module_command("ais_prompt"), *self.arguments(shard)]

    def commands(self, count: int) -> list[str]:
        """Return the commands of all shards, as a shell takes them."""
        return [shlex.join(self.command(Shard(index, count))) for index in range(count)]

    def log(self, shard: Shard | str) -> Path:
        """Return the file for the output of a shard; ``*/8`` has the pattern of the files of all shards."""
        return self.folder.logs / "shards" / f"{str(shard).replace('/', '-of-')}.log"


class Runner(Protocol):
    """Starts shards on this machine or elsewhere.

    Attributes:
        restarts: how often a shard that dies is started again.
        poll_seconds: seconds between two looks at the run folder.
        sees_processes: whether `gone` is certain. A scheduler can be wrong: then a shard counts as dead after a minute
            without a heartbeat, and as done as soon as the run folder shows it.
    """

    restarts: int
    poll_seconds: float
    sees_processes: bool

    def count(self, work: ShardWork) -> int:
        """Return the number of shards of a run.

        Raises:
            ConfigError: it is not known.
        """

    def preflight(self) -> None:
        """See whether shards can be started from this machine, before a run folder is made.

        Raises:
            ModelError: they cannot.
        """

    def preview(self, work: ShardWork, count: int) -> str:
        """Return the commands or the script that `start` would use, for people. Nothing is started."""

    def start(self, work: ShardWork, shards: Sequence[Shard]) -> None:
        """Start shards, or let them wait for their turn. It is called again for those that died.

        Raises:
            ConfigError: they can never be started.
            ModelError: they cannot be started now.
        """

    def gone(self) -> Mapping[Shard, int | None]:
        """Return the shards that were started, and now neither run nor wait.

        Each has its exit code, -n if signal n ended it; None if the runner does not know it.
        """

    def stop(self) -> None:
        """Stop everything that was started, and wait for its end where that is possible."""
