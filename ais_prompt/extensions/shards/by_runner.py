"""``aisprompt run --runner``: shards that are started, followed and scored by one command.

A `Runner` starts shards. Their progress is read from the run folder, never from the runner.
"""

from __future__ import annotations

import logging
import re
import shlex
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from ais_prompt.catalog import PARTS
from ais_prompt.cli.ending import exit_code, show, show_folder
from ais_prompt.cli.gate_options import GATE_OPTIONS
from ais_prompt.cli.options import SESSION_NAMES, given_words, names_of
from ais_prompt.cli.verb import echo, hint, repeat_mistakes
from ais_prompt.extension import REINSTALL, missing_extension
from ais_prompt.extensions.shards.shard_folders import list_shard_folders
from ais_prompt.terminal import tracking
from ais_prompt.types import Shard
from ais_prompt.utils import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ais_prompt.cli.modes import ModeRun
    from ais_prompt.config import Options
    from ais_prompt.extensions.shards.shard_folders import ShardFolder
    from ais_prompt.plan import Runner, ShardWork
    from ais_prompt.types import Budget


NOT_FOR_SHARDS = (*SESSION_NAMES, *names_of("budget"), *GATE_OPTIONS)
"""Options of the whole run, or that a shard has with another value."""
_RUNNER = re.compile(r"\s*runner\s*[.=]")
"""The start of an override of the runner, which a shard does not use."""
_SHORT = {name.removesuffix("Runner").lower(): name for name in PARTS["runners"]}


def with_runner(options: Options, name: str | None, *, is_shard: bool) -> Options:
    """Return the options with a runner in place of that of the config; ``--set`` can change its options.

    A shard uses none: what it needs may be missing on the machine of the shard.

    Raises:
        ConfigError: there is no runner of this name.
    """
    from dataclasses import replace

    from ais_prompt.errors import ConfigError
    from ais_prompt.utils import advice

    options = replace(options, ignores_runner=is_shard)
    if name is None:
        return options
    if "." not in name and name not in (*_SHORT, *_SHORT.values()):
        what, fix = f"there is no runner {name!r}", advice(name, _SHORT)
        if owner := missing_extension(name) or missing_extension(f"{name.capitalize()}Runner"):
            what, fix = f"{what}: the extension {owner!r} has it, and is not here", REINSTALL
        raise ConfigError(what, where="--runner", fix=fix)
    return replace(options, overrides=(f"runner={{'type': {_SHORT.get(name, name)!r}}}", *options.overrides))


def preview_shards(run: ModeRun) -> None:
    """Print what the runner would start."""
    assert run.plan.spec.runner is not None
    runner, work, count = _prepared(run)
    echo(f"\n{counted(count, 'shard')} by {run.plan.spec.runner.type}:\n{runner.preview(work, count)}\n")


def run_by_runner(run: ModeRun) -> int:
    """Start all shards, wait for them, score the run, and return the exit code."""
    from msgspec.structs import replace

    from ais_prompt.extensions.shards.partition import prepare_partition
    from ais_prompt.store import RunFolder
    from ais_prompt.verbs import Session, find_or_make, run_source

    plan, session = run.plan, run.session
    runner, work, count = _prepared(run)
    runner.preflight()
    folder = find_or_make(plan, session.reuse)
    work = replace(work, folder=RunFolder(folder.root.absolute()))
    for warning in session.warnings:
        echo(f"Warning: {warning}", err=True)
    prepare_partition(plan, work.folder, count)
    shards = counted(count, "shard")
    hint(f"Run folder: {folder.root}; its {shards}: aisprompt status {shlex.quote(str(folder.root))}", err=True)
    unfinished = _followed(runner, work, count)
    if not list_shard_folders(work.folder):  # no shard got so far as to ask
        return 3
    if session.mode == "infer":
        echo(f"Score the answers: aisprompt merge {shlex.quote(str(folder.root))}")
        return 3 if unfinished else 0
    result = run_source(plan, folder, Session("eval", command=session.command))
    show(result, plan)
    show_folder(result)
    holds = run.keeper.hold(result)
    repeat_mistakes(session.warnings)
    code = exit_code(result, session.max_failures, debug=run.debug)
    return (3 if unfinished else code) or int(result.is_partial or not holds)


def _followed(runner: Runner, work: ShardWork, count: int) -> Mapping[Shard, str]:
    """Run all shards to their end, and return those that did not come to it.

    Raises:
        Interrupted: by Ctrl-C or a signal; all shards are stopped.
    """
    from ais_prompt.processes import interruption

    try:
        unfinished = run_shards(runner, work, count)
    except KeyboardInterrupt as stop:
        raise interruption(
            stop,
            "stopped, with all shards; every answer so far is kept",
            where=str(work.folder.root),
            fix=f"resume with the same command and -r {work.folder.root.name}",
        ) from None
    _show_unfinished(unfinished, work)
    return unfinished


def _prepared(run: ModeRun) -> tuple[Runner, ShardWork, int]:
    """Return the runner, what it starts in a run folder that is still to be made, and the number of shards."""
    from msgspec.structs import replace

    from ais_prompt.extensions.shards.partition import open_runner, share_of, work_of

    plan, ctx = run.plan, click.get_current_context()
    runner = open_runner(plan, run.session.max_num_workers)
    names = {parameter.name or "" for parameter in ctx.command.get_params(ctx)} - set(NOT_FOR_SHARDS)
    work = work_of(plan, [str(ctx.info_name), *given_words(ctx, names, without=_RUNNER)])
    count = runner.count(work)
    share = share_of(plan.spec.budget, count)
    return runner, replace(work, words=(*work.words, *budget_arguments(share))), count


def budget_arguments(budget: Budget) -> list[str]:
    """Return limits as the options of a command."""
    given = {name: limit for name in names_of("budget") if (limit := getattr(budget, name)) is not None}
    return [word for name, limit in given.items() for word in (f"--{name.replace('_', '-')}", str(limit))]


def _show_unfinished(unfinished: Mapping[Shard, str], work: ShardWork) -> None:
    """Say of each shard that did not come to its end how it ended, with the last lines of one log."""
    from ais_prompt.utils import escaped, last_lines

    if not unfinished:
        return
    echo("Shards that did not come to their end:", err=True)
    for shard, how in unfinished.items():
        echo(f"  {shard}  {how}", err=True)
    log = work.log(next(iter(unfinished)))
    with suppress(OSError):
        shown = "\n    ".join(["", *last_lines(log)])
        echo(escaped(f"The last lines of {log}:{shown}"), err=True)


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
