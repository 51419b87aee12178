"""Start the shards of a run, follow them, and start those again that died.

A `Runner` starts shards. Their progress is read from the run folder, never from the runner.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Mapping
from typing import Final

from ais_prompt.extensions.shards.shard_folders import ShardFolder, list_shard_folders
from ais_prompt.plan import Runner, ShardWork
from ais_prompt.terminal import tracking
from ais_prompt.types import Shard

logger = logging.getLogger(__name__)
ENDED: Final = ("finished", "failed", "paused")
"""States of a shard that is not started again: it asked everything it could."""
_STOPPED: Final = (143, 130)
"""Exit codes of a shard that was stopped before its end."""


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
