"""Distribute the groups of a partitioner over a number of shards."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heapreplace

from ais_prompt.errors import PartError
from ais_prompt.types import Partition
from ais_prompt.types.shard import Chunk, TaskSize


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
