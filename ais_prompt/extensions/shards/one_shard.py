"""Ask one shard of a run."""

from __future__ import annotations

from dataclasses import replace

from ais_prompt.errors import StoreError
from ais_prompt.extensions.shards.joining import agreement
from ais_prompt.extensions.shards.partition import held_tasks, prepare_partition, shard_tasks
from ais_prompt.extensions.shards.shard_folders import open_shard
from ais_prompt.extensions.shards.shared_servers import leave_config
from ais_prompt.plan import Plan
from ais_prompt.store import RunFolder
from ais_prompt.types import Shard
from ais_prompt.verbs import RunResult, Session, run_source


def ask_shard(
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
        AisPromptError: as `ais_prompt.verbs.run_source`.
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
