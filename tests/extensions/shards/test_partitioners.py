"""How tasks are divided into groups, and groups among shards."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError, PartError
from ais_prompt.extensions.shards.partition import distribute
from ais_prompt.extensions.shards.partitioners import NumWorkerPartitioner, SizePartitioner
from ais_prompt.types import Chunk, Partition, Partitioner, Portion, TaskSize


def size(name: str, samples: int, answer_tokens: int = 0, requests: int | None = None) -> TaskSize:
    model = name.partition("/")[0]
    return TaskSize(name, model, samples, samples if requests is None else requests, answer_tokens)


def names(groups: Any) -> list[list[str]]:
    """Each group as the names of its tasks, with the portion of those that are split."""
    return [[c.task if c.count == 1 else f"{c.task}:{c.index}/{c.count}" for c in group] for group in groups]


def test_small_tasks_are_grouped_and_large_ones_are_split_by_cost() -> None:
    tasks = [size("m/a", 10), size("m/big", 250), size("m/b", 60), size("m/c", 30), size("m/d", 50)]
    assert names(SizePartitioner(max_task_size=100).groups(tasks)) == [
        ["m/big:0/3"],
        ["m/big:1/3"],
        ["m/big:2/3"],
        ["m/b"],
        ["m/d", "m/c", "m/a"],
    ]
    split = names(SizePartitioner(max_task_size=100, strategy="split").groups(tasks))
    assert split == [["m/a"], ["m/big:0/3"], ["m/big:1/3"], ["m/big:2/3"], ["m/b"], ["m/c"], ["m/d"]]


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (size("m/choice", 100, requests=400), 4),  # a log-likelihood for each of four labels
        (size("m/short", 100, answer_tokens=64), 20),
        (size("m/long", 100, answer_tokens=512), 200),
        (size("m/repeated", 100, answer_tokens=64, requests=800), 160),
    ],
)
def test_generated_answers_cost_more_and_long_ones_most(task: TaskSize, expected: int) -> None:
    """What OpenCompass counts, in groups of at most 100."""
    groups = SizePartitioner(max_task_size=100).groups([task])
    assert len(groups) == min(expected, task.samples)


def test_workers_have_portions_of_all_large_tasks_in_turn() -> None:
    tasks = [size("m/a", 8), size("m/big", 64), size("m/b", 40)]
    groups = NumWorkerPartitioner(num_worker=2, num_split=4).groups(tasks)
    assert names(groups) == [
        ["m/a", "m/big:1/4", "m/big:3/4", "m/b:1/3"],
        ["m/big:0/4", "m/big:2/4", "m/b:0/3", "m/b:2/3"],
    ]
    assert len(NumWorkerPartitioner(num_worker=2, num_split=4, strategy="split").groups(tasks)) == 8
    assert names(NumWorkerPartitioner(num_split=1).groups(tasks)) == [["m/a"], ["m/big"], ["m/b"]]


@pytest.mark.parametrize("partitioner", [SizePartitioner(), NumWorkerPartitioner(num_worker=1)])
def test_a_group_has_the_tasks_of_one_model(partitioner: Partitioner) -> None:
    groups = partitioner.groups([size("m/a", 5), size("m/b", 5), size("n/a", 5)])
    assert [{chunk.task[0] for chunk in group} for group in groups] == [{"m"}, {"n"}]


def test_the_costliest_groups_are_given_out_first() -> None:
    tasks = [size(f"m/{samples}", samples) for samples in (50, 20, 90, 60)]
    partition = distribute(SizePartitioner(strategy="split").groups(tasks), tasks, 2)
    assert partition.portions(0) == {"m/90": Portion((0,), 1), "m/20": Portion((0,), 1)}
    assert set(partition.portions(1)) == {"m/60", "m/50"}


PARTITIONERS = st.one_of(
    st.builds(SizePartitioner, st.integers(1, 500), st.integers(1, 30), st.sampled_from(["heuristic", "split"])),
    st.builds(
        NumWorkerPartitioner,
        *(
            st.integers(1, 9),
            st.none() | st.integers(1, 9),
            st.integers(1, 40),
            st.sampled_from(["heuristic", "split"]),
        ),
    ),
)
SIZES = st.lists(st.tuples(st.integers(0, 300), st.sampled_from([0, 64, 1024])), max_size=6)


@pytest.mark.thorough
@given(PARTITIONERS, SIZES, st.integers(1, 7), st.text())
def test_each_sample_is_in_exactly_one_shard(
    partitioner: Partitioner, sizes: list[tuple[int, int]], count: int, sample_id: str
) -> None:
    tasks = [size(f"{'mn'[n % 2]}/{n // 2}", *one) for n, one in enumerate(sizes)]
    tasks.sort(key=lambda task: task.model)
    partition = distribute(partitioner.groups(tasks), tasks, count)
    assert partition == distribute(partitioner.groups(tasks), tasks, count)
    for task in tasks:
        held = Counter(
            portions[task.name].holds(sample_id)
            for shard in range(count)
            if task.name in (portions := partition.portions(shard))
        )
        assert held[True] == 1


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=6), st.lists(st.integers(0, 3), min_size=1, max_size=6), st.text()
)
def test_portions_with_a_sample_in_common_overlap(one: list[int], other: list[int], sample_id: str) -> None:
    here, there = (
        next(
            p
            for shard in range(4)
            for p in Partition({"t": tuple(shards)}).portions(shard).values()
            if p.holds(sample_id)
        )
        for shards in (one, other)
    )
    assert here.overlaps(there)


@pytest.mark.parametrize(
    "groups",
    [
        [],
        [[Chunk("m/a", 0, 2, 1.0)]],
        [[Chunk("m/a", 0, 1, 1.0)], [Chunk("m/a", 0, 1, 1.0)]],
        [[Chunk("m/a", 0, 1, 1.0), Chunk("m/other", 0, 1, 1.0)]],
        [[Chunk("m/a", 1, 2, 1.0), Chunk("m/a", 2, 2, 1.0)]],
    ],
)
def test_groups_that_leave_samples_out_are_refused(groups: list[list[Chunk]]) -> None:
    with pytest.raises(PartError, match="partitioner"):
        distribute(groups, [size("m/a", 5)], 2)


@pytest.mark.parametrize("kind", [SizePartitioner, NumWorkerPartitioner])
def test_wrong_options_are_refused(kind: Any) -> None:
    with pytest.raises(ConfigError, match="must be at least 1"):
        kind(*[0])
