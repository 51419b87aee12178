"""Decide which shards ask which tasks, where the config has a partitioner."""

from __future__ import annotations

from collections.abc import Sequence

from ais_prompt.engine.estimate import estimate
from ais_prompt.errors import AisPromptError
from ais_prompt.plan.build import build_partitioner
from ais_prompt.plan.plan import Plan, Task
from ais_prompt.shards.distribute import distribute
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.partitions import EVERYTHING, HeldTasks, partition_key, read_partition, record_partition
from ais_prompt.types import RunSpec, Shard
from ais_prompt.types.shard import Chunk, TaskSize


def groups_of(plan: Plan) -> Sequence[Sequence[Chunk]]:
    """Return the groups of tasks that the partitioner makes; none without a partitioner.

    Raises:
        AisPromptError: the partitioner raises.
    """
    return _divided(plan)[1] if plan.spec.partitioner is not None else ()


def prepare_partition(plan: Plan, folder: RunFolder, count: int) -> None:
    """Record which shards ask which tasks, unless it is recorded already or there is no partitioner.

    Args:
        plan: of a checked config, with all of its tasks or with those of one shard.
        folder: the run folder that all shards share.
        count: number of shards.

    Raises:
        AisPromptError: the partitioner raises, or the disk does not take it.
    """
    if plan.spec.partitioner is None or read_partition(folder, _key(plan.spec, count)) is not None:
        return
    sizes, groups = _divided(plan.whole)
    record_partition(folder, _key(plan.spec, count), distribute(groups, sizes, count))


def held_tasks(spec: RunSpec, folder: RunFolder, shard: Shard) -> HeldTasks | None:
    """Return what a shard asks; None if that is not recorded yet.

    Args:
        spec: of the config.
        folder: the run folder that all shards share.
        shard: the shard.
    """
    if spec.partitioner is None:
        return EVERYTHING
    key = _key(spec, shard.count)
    partition = read_partition(folder, key)
    return None if partition is None else HeldTasks(key, partition.portions(shard.index))


def _key(spec: RunSpec, count: int) -> str:
    part = spec.partitioner
    assert part is not None
    return partition_key([part.type, part.args], [task.name for task in spec.tasks], count)


def _divided(plan: Plan) -> tuple[list[TaskSize], Sequence[Sequence[Chunk]]]:
    """Return how much each task asks, and the groups that the partitioner makes of them."""
    assert plan.spec.partitioner is not None
    sizes = [_size(task) for task in plan.tasks]
    return sizes, build_partitioner(plan.spec.partitioner).groups(sizes)


def _size(task: Task) -> TaskSize:
    """Return how much a task asks; nothing for one that cannot be asked, which ends it in its shard."""
    samples = requests = answer_tokens = 0
    try:
        found = estimate(task)
    except AisPromptError:
        pass
    else:
        samples, requests = found.samples, found.requests
        answer_tokens = found.output_tokens // max(1, requests)
    return TaskSize(task.name, task.spec.model.abbr, samples, requests, answer_tokens)
