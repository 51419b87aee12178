"""Ask one shard of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ais_prompt.checks.warning import PromptWarning
from ais_prompt.config.render import render_config
from ais_prompt.engine.infer import ShardTask
from ais_prompt.errors import StoreError
from ais_prompt.plan.plan import Plan
from ais_prompt.shards.merge import agreement
from ais_prompt.shards.partition import held_tasks, prepare_partition
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.partitions import HeldTasks, read_held
from ais_prompt.store.run_record import write_config
from ais_prompt.store.shards import latest_shards, open_shard, shard_folders
from ais_prompt.types import Shard
from ais_prompt.verbs.run import RunResult, run


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
        AisPromptError: as `ais_prompt.verbs.run.run`.
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
        return run(
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
    sessions = [(one.folder, one.shard, read_held(one.folder)) for one in shard_folders(folder)]
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
