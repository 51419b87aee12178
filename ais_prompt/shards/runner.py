"""Start the shards of a run, follow them, and start those again that died.

A `Runner` starts shards. Their progress is read from the run folder, never from the runner.
"""

from __future__ import annotations

import logging
import shlex
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from ais_prompt.errors import ConfigError
from ais_prompt.processes import module_command
from ais_prompt.shards.shard_folders import ShardFolder, list_shard_folders
from ais_prompt.store import RunFolder
from ais_prompt.terminal import tracking
from ais_prompt.types import Shard

logger = logging.getLogger(__name__)
ENDED: Final = ("finished", "failed", "paused")
"""States of a shard that is not started again: it asked everything it could."""
_STOPPED: Final = (143, 130)
"""Exit codes of a shard that was stopped before its end."""


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


def run_shards(runner: Runner, work: ShardWork, count: int) -> dict[Shard, str]:
    """Start all shards, and return when none of them is under way.

    A shard that another runner has started, and that is still running, is followed and not started.

    Args:
        runner: starts them; it is stopped if this is interrupted.
        work: the shards to start.
        count: how many shards there are.

    Returns:
        Each shard that did not come to its end → how it ended, in words.

    Raises:
        AisPromptError: the runner cannot start them.
    """
    follower = _Follower(runner, work, count)
    try:
        with tracking(f"shards of {work.name}", count, "shards") as advance:
            while follower.left:
                before = len(follower.left)
                follower.look()
                advance(before - len(follower.left))
                if follower.left:
                    time.sleep(runner.poll_seconds)
    except BaseException:
        runner.stop()
        raise
    return follower.unfinished


class _Follower:
    """The state of each shard.

    Attributes:
        left: shards that have not ended.
        unfinished: shards that ended before everything was asked → how.
    """

    def __init__(self, runner: Runner, work: ShardWork, count: int) -> None:
        self._runner = runner
        self._work = work
        self._starts: Counter[Shard] = Counter()
        # Sessions of the past say nothing about this one, unless they still run.
        self._past = {one.folder.root for one in list_shard_folders(work.folder) if one.state != "running"}
        self.left = [Shard(index, count) for index in range(count)]
        self.unfinished: dict[Shard, str] = {}

    def look(self) -> None:
        """Read the run folder; start the shards that have to be started."""
        # The runner first: a shard that ended after its answer is seen the next time.
        gone = self._runner.gone()
        found = list_shard_folders(self._work.folder)
        sessions = {one.shard: one for one in found if one.folder.root not in self._past}
        to_start = [shard for shard in list(self.left) if self._must_start(shard, sessions.get(shard), gone)]
        if to_start:
            self._starts.update(to_start)
            self._runner.start(self._work, to_start)

    def _must_start(self, shard: Shard, session: ShardFolder | None, gone: Mapping[Shard, int | None]) -> bool:
        state = session.state if session else "missing"
        is_certain = self._runner.sees_processes
        if not self._starts[shard] and state == "running":  # by somebody else
            return False
        if state in ENDED and (shard in gone or not is_certain or not self._starts[shard]):
            self._end(shard, _how(state, gone.get(shard)) if state == "failed" else "")
            return False
        if not self._starts[shard]:
            return True
        if shard not in gone or (state == "running" and not is_certain):
            return False
        code, how = gone[shard], _how(state, gone[shard])
        if (code is None or code < 0 or code in _STOPPED) and self._starts[shard] <= self._runner.restarts:
            logger.warning("shard %s is started again: %s", shard, how)
            return True
        self._end(shard, how)
        return False

    def _end(self, shard: Shard, how: str) -> None:
        self.left.remove(shard)
        if how:
            self.unfinished[shard] = how


def _how(state: str, code: int | None) -> str:
    """Return how a shard ended, in words."""
    return state if code is None else f"killed by signal {-code}" if code < 0 else f"exit code {code}"
