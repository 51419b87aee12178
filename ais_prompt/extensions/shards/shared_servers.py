"""Start the servers that all shards share. They are announced in the run folder, where shards find them."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from typing import Final

from ais_prompt.config import render_config
from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.extensions.shards.shard_folders import is_asked, list_shard_folders
from ais_prompt.models import AnnouncedServer, ServerInstance, ServerToStart, StartedServers, StartsServer
from ais_prompt.plan import Plan
from ais_prompt.store import RunFolder, safe_name, write_config, writing
from ais_prompt.types import BEAT, Failure

WATCH_SECONDS: Final = 1.0
"""Seconds between two looks at the processes of the servers."""

_ENDED: Final = Failure("unreachable", "the server has ended")


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


def leave_config(plan: Plan, folder: RunFolder) -> None:
    """Write the config beside the shards, so that other verbs know the folder; the first process does it."""
    if not folder.config_file.exists():
        write_config(folder, render_config(plan.spec.resolved))


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
