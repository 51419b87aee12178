"""Ask one shard of a run, and start the servers that all shards share.

Servers are announced in the run folder, where shards find them.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, TypedDict

from msgspec import field

from ais_prompt.checks import PromptWarning
from ais_prompt.config import render_config
from ais_prompt.engine import ShardTask
from ais_prompt.errors import ConfigError, ModelError, StoreError
from ais_prompt.models import AnnouncedServer, ServerInstance, ServerToStart, StartedServers, StartsServer
from ais_prompt.plan import Plan
from ais_prompt.shards import agreement, held_tasks, prepare_partition
from ais_prompt.store import (
    BEAT,
    HeldTasks,
    RunFolder,
    latest_shards,
    list_shard_folders,
    open_shard,
    read_held,
    safe_name,
    write_config,
    writing,
)
from ais_prompt.types import Document, Failure, Shard
from ais_prompt.verbs.run import RunResult, run_source

WATCH_SECONDS: Final = 1.0
"""Seconds between two looks at the processes of the servers."""
_ENDED: Final = Failure("unreachable", "the server has ended")

logger = logging.getLogger(__name__)


def run_shard(
    plan: Plan,
    folder: RunFolder,
    shard: Shard,
    command: str,
    warnings: Sequence[PromptWarning] = (),
    max_num_workers: int | None = None,
) -> RunResult:
    """Ask the samples of one shard that no session has answered yet.

    Args:
        plan: of a checked config, with at least the tasks of the shard.
        folder: the run folder that all shards share.
        shard: the part of the samples.
        command: the command line without secrets, for the record.
        warnings: of the prompts, to be logged.
        max_num_workers: as in `run`.

    Raises:
        ConfigError: another shard of the run asks something else.
        AisPromptError: as `ais_prompt.verbs.run.run_source`.
    """
    prepare_partition(plan, folder, shard.count)
    held = held_tasks(plan.spec, folder, shard)
    if held is None:
        raise StoreError("cannot read which shards ask which tasks", where=str(folder.shards), fix="repair the disk")
    if held.key:
        plan = plan.only(held.portions)
    tasks = shard_tasks([task.name for task in plan.tasks], folder, shard, held)
    with open_shard(folder, shard, agreement(plan, plan.tasks), held) as own:
        leave_config(plan, folder)
        return run_source(
            plan, own, "infer", command, warnings, with_report=False, max_num_workers=max_num_workers, shard=tasks
        )


def is_asked(folder: RunFolder) -> bool:
    """Return whether all shards of a run have come to their end."""
    return all(one is not None and one.is_finished for one in latest_shards(folder).values())


def shard_tasks(names: Iterable[str], folder: RunFolder, shard: Shard, held: HeldTasks) -> dict[str, ShardTask]:
    """Return what a shard asks of each of its tasks, and which folders may have answers to that.

    Args:
        names: of its tasks.
        folder: the run folder that all shards share.
        shard: the shard.
        held: what it asks.

    Raises:
        StoreError: what another shard asks cannot be read.
    """
    # A thousand shards that each read the journals of a thousand would be what breaks first on a shared disk.
    sessions = [(one.folder, one.shard, read_held(one.folder)) for one in list_shard_folders(folder)]
    found: dict[str, ShardTask] = {}
    for name in names:
        own = held.of(name, shard)
        assert own is not None  # it is one of its tasks
        theirs = [(root, other.of(name, its_shard)) for root, its_shard, other in sessions]
        found[name] = ShardTask(own, [folder, *(root for root, one in theirs if one is not None and one.overlaps(own))])
    return found


def leave_config(plan: Plan, folder: RunFolder) -> None:
    """Write the config beside the shards, so that other verbs know the folder; the first process does it."""
    if not folder.config_file.exists():
        write_config(folder, render_config(plan.spec.resolved))


def serve(plan: Plan, folder: RunFolder, say: Callable[[str], None]) -> None:
    """Start servers, announce them, and keep them until all shards of the run have ended, or until Ctrl-C.

    A server that crashes is started again once.

    Args:
        plan: of a config; its data is not read.
        folder: the run folder that all shards share.
        say: tells the user what happens.

    Raises:
        ConfigError: the config has no shared servers.
        ModelError: a server cannot be started, or all of them have crashed.
        StoreError: the run folder cannot be written.
    """
    servers = _shared_servers(plan)
    for server in servers.values():
        server.preflight()
    with writing(folder.shards):
        folder.shards.mkdir(parents=True, exist_ok=True)
    leave_config(plan, folder)
    logs = folder.logs / "servers" / f"{safe_name(socket.gethostname())}_{os.getpid()}"
    with StartedServers(logs) as started:
        asyncio.run(_serve(servers, folder, started, say))


def _shared_servers(plan: Plan) -> dict[str, ServerToStart]:
    """Return the servers of a plan that shards share: ``abbr`` of a model → its server, each server once.

    Raises:
        ConfigError: there is none.
    """
    found: dict[str, ServerToStart] = {}
    for planned in plan.models:
        model = planned.model
        server = model.server if isinstance(model, StartsServer) else None
        if server is not None and server.options.shared and server not in found.values():
            found[planned.spec.abbr] = server
    if not found:
        fix = "write server=dict(preset='vllm', shared=True) into a model"
        raise ConfigError("no model of the config has a server that shards share", where="models", fix=fix)
    return found


async def _serve(
    servers: dict[str, ServerToStart], folder: RunFolder, started: StartedServers, say: Callable[[str], None]
) -> None:
    shown: list[AnnouncedServer] = []
    try:
        async with asyncio.TaskGroup() as starting:
            tasks = {abbr: starting.create_task(started.use(server, abbr)) for abbr, server in servers.items()}
        watched: list[tuple[ServerInstance, AnnouncedServer]] = []
        for abbr, ready in tasks.items():
            for instance in ready.result():
                shown.append(AnnouncedServer(folder.servers, servers[abbr], instance.shared_url, len(shown)))
                watched.append((instance, shown[-1]))
                say(f"{abbr}: {instance.shared_url}")
        say(f"Announced in {folder.servers}, until all shards have ended or Ctrl-C is pressed.")
        async with asyncio.TaskGroup() as group:
            watching = [group.create_task(_watch(*one)) for one in watched]
            await _until_asked(folder, watching)
            for task in watching:
                task.cancel()
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    finally:
        for one in shown:
            one.withdraw()


async def _watch(instance: ServerInstance, shown: AnnouncedServer) -> None:
    """Start a server again if it crashes; withdraw it when it is gone for good."""
    since_beat = 0.0
    while not instance.is_gone:
        await asyncio.sleep(WATCH_SECONDS)
        if instance.has_ended:
            await instance.watched(_ENDED)
        if (since_beat := since_beat + WATCH_SECONDS) >= BEAT:
            shown.beat()
            since_beat = 0.0
    shown.withdraw()


async def _until_asked(folder: RunFolder, watching: Sequence[asyncio.Task[None]]) -> None:
    """Wait until all shards of the run have ended; one that has ended already is waited for to begin again.

    Raises:
        ModelError: all servers are gone.
    """
    before = _ended_sessions(folder)
    while await asyncio.to_thread(_ended_sessions, folder) in (0, before):
        await asyncio.wait(watching, timeout=BEAT, return_when=asyncio.ALL_COMPLETED)
        if all(task.done() for task in watching):
            fix = "see their logs in logs/servers of the run folder"
            raise ModelError("all servers have crashed", where=str(folder.servers), fix=fix)


def _ended_sessions(folder: RunFolder) -> int:
    """Return how many sessions of shards there were if all shards have ended; 0 if one has not."""
    return len(list_shard_folders(folder)) if is_asked(folder) else 0


class ShardEntry(TypedDict):
    """The latest session of a shard; without a session it is missing."""

    shard: str
    state: str
    answered: int
    host: str | None
    start: str | None


class StatusDocument(Document, kw_only=True):
    """What ``status`` prints.

    Attributes:
        folder: the run folder.
        shards: in order; empty for a run without shards.
        lines: what it says to people.
    """

    kind: Literal["status"]
    folder: str | None = None
    shards: list[ShardEntry] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
