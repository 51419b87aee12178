"""Decide which shards ask which tasks, and ask one shard.

Without a partitioner in the config, every shard asks a part of each dataset. With a partitioner, its groups of tasks
are distributed over the shards, the costliest group first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from heapq import heapify, heapreplace

from ais_prompt.engine import ShardTask, estimate, gpus_of
from ais_prompt.errors import AisPromptError, ConfigError, PartError, StoreError
from ais_prompt.extensions.shards.joining import agreement
from ais_prompt.extensions.shards.shard_folders import (
    EVERYTHING,
    HeldTasks,
    list_shard_folders,
    open_shard,
    partition_key,
    read_held,
    read_partition,
    record_partition,
)
from ais_prompt.extensions.shards.shared_servers import leave_config
from ais_prompt.models import BatchModel, StartsServer
from ais_prompt.plan import Plan, PlannedModel, Runner, ShardWork, Task, build_partitioner, build_runner
from ais_prompt.store import RunFolder, safe_name
from ais_prompt.types import Budget, Chunk, Partition, RunSpec, Shard, TaskSize
from ais_prompt.verbs import RunResult, Session, run_source


def open_runner(plan: Plan, max_num_workers: int | None = None) -> Runner:
    """Build the runner of a config that has one.

    Args:
        plan: of a checked config.
        max_num_workers: replaces the number of shards that work at a time.

    Raises:
        ConfigError: it has no such number.
    """
    assert plan.spec.runner is not None
    runner: Runner = build_runner(plan.spec.runner, max_num_workers)
    return runner


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
    """Return the tasks and portions that a shard asks; None if they are not recorded yet.

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


def groups_of(plan: Plan) -> Sequence[Sequence[Chunk]]:
    """Return the groups of tasks that the partitioner makes; none without a partitioner.

    Raises:
        AisPromptError: the partitioner raises.
    """
    return _divided(plan)[1] if plan.spec.partitioner is not None else ()


def work_of(plan: Plan, words: Sequence[str]) -> ShardWork:
    """Return the work of a runner, with a name in place of the run folder that is still to be made.

    Args:
        plan: of a checked config.
        words: the arguments of ``aisprompt`` that name the config, without those that are a shard's own.
    """
    root = plan.spec.work_dir.absolute() / safe_name(plan.spec.name) / "NEW"
    gpus = max((_gpus(model) for model in plan.models), default=0)
    return ShardWork(RunFolder(root), plan.spec.name, tuple(words), gpus, len(groups_of(plan)))


def share_of(budget: Budget, count: int) -> Budget:
    """Return the part of a budget that each of several shards has, so that all of them together keep to it.

    Raises:
        ConfigError: there are more shards than requests or tokens.
    """
    limits = {name: getattr(budget, name) for name in ("max_requests", "max_tokens_total")}
    shares = {name: None if limit is None else limit // count for name, limit in limits.items()}
    if short := [name for name, share in shares.items() if share == 0]:
        what = f"{short[0]} is smaller than the number of shards, {count}"
        raise ConfigError(what, where="budget", fix="use fewer shards, or a larger budget")
    return Budget(**shares, max_cost=None if budget.max_cost is None else budget.max_cost / count)


def distribute(groups: Sequence[Sequence[Chunk]], tasks: Sequence[TaskSize], count: int) -> Partition:
    """Give each group to the shard that has least to do so far, the costliest group first.

    Args:
        groups: of a partitioner.
        tasks: all of the run.
        count: number of shards.

    Raises:
        PartError: a portion of a task is in no group, or in two.
    """
    least = [(0.0, shard) for shard in range(count)]
    heapify(least)
    found: dict[str, dict[int, int]] = {task.name: {} for task in tasks}
    chunks = [chunk for group in groups for chunk in group]
    for group in sorted(groups, key=lambda group: -sum(chunk.cost for chunk in group)):
        cost, shard = least[0]
        heapreplace(least, (cost + sum(chunk.cost for chunk in group), shard))
        for chunk in group:
            found.setdefault(chunk.task, {})[chunk.index] = shard
    _check(chunks, tasks, found)
    return Partition({task: tuple(shards[index] for index in sorted(shards)) for task, shards in found.items()})


def _gpus(planned: PlannedModel) -> int:
    """Return how many GPUs a shard needs for a model; 0 for a model behind a server that runs elsewhere."""
    with suppress(AisPromptError):  # a model that cannot be built ends its tasks
        model = planned.model
        if isinstance(model, BatchModel) or (isinstance(model, StartsServer) and model.server):
            return gpus_of(planned.spec)
    return 0


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
    """Return the size of a task; 0 for a task that cannot be asked, which ends in its shard."""
    samples = requests = answer_tokens = 0
    try:
        found = estimate(task)
    except AisPromptError:
        pass
    else:
        samples, requests = found.samples, found.requests
        answer_tokens = found.output_tokens // max(1, requests)
    return TaskSize(task.name, task.spec.model.abbr, samples, requests, answer_tokens)


def _check(chunks: Sequence[Chunk], tasks: Sequence[TaskSize], found: dict[str, dict[int, int]]) -> None:
    """Refuse groups that leave something out: its samples would never be asked.

    Raises:
        PartError: they do.
    """
    counts = {chunk.task: chunk.count for chunk in chunks}
    known = {task.name for task in tasks}
    for task, shards in found.items():
        count = counts.get(task, 0)
        if task not in known or not count or sorted(shards) != list(range(count)):
            what = f"the partitioner does not divide {task} completely: portions {sorted(shards)} of {count}"
            raise PartError(what, where="partitioner", fix="correct its `groups`")
    if len(chunks) != sum(map(len, found.values())):
        raise PartError("the partitioner gives a portion twice", where="partitioner", fix="correct its `groups`")


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
