"""Ask one shard of a run; what ``status`` prints with ``--json``."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypedDict

from msgspec import field

from ais_prompt.errors import StoreError
from ais_prompt.plan import Plan
from ais_prompt.shards import (
    agreement,
    held_tasks,
    leave_config,
    open_shard,
    prepare_partition,
    shard_tasks,
)
from ais_prompt.store import RunFolder
from ais_prompt.types import Document, Shard
from ais_prompt.verbs.run import RunResult, run_source
from ais_prompt.verbs.run_session import Session


def run_shard(
    plan: Plan,
    folder: RunFolder,
    shard: Shard,
    session: Session,
) -> RunResult:
    """Ask the samples of one shard that no session has answered yet.

    Args:
        plan: of a checked config, with at least the tasks of the shard.
        folder: the run folder that all shards share.
        shard: the part of the samples.
        session: how they are asked; a shard scores nothing.

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
        return run_source(plan, own, replace(session, mode="infer", report=False), shard=tasks)


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
