"""Divide each model's datasets into groups of a limited cost, or among a number of workers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, Literal, TypeAlias

from ais_prompt.models import check_at_least
from ais_prompt.registry import PARTITIONERS
from ais_prompt.types import Chunk, TaskSize

Strategy: TypeAlias = Literal["heuristic", "split"]
"""``heuristic`` splits large datasets and groups small ones; ``split`` groups none."""
GEN_TASK_COEF: Final = 20
"""How much more a generated answer costs than a log-likelihood, as OpenCompass counts."""
LONG_ANSWER: Final = 512
"""Tokens that an answer may have at least to count as long."""
LONG_FACTOR: Final = 10
"""How much more a long answer costs. OpenCompass counts so for gsm8k, math and bbh, by their names."""


@PARTITIONERS.register_module()
class SizePartitioner:
    """Splits large datasets and groups small ones, so that no group costs more than a limit.

    The cost is the number of requests. A generated answer counts ``gen_task_coef`` times, and ten times as much if it
    may have 512 tokens or more.

    Args:
        max_task_size: most that a group may cost.
        gen_task_coef: how much more a generated answer costs than a log-likelihood.
        strategy: ``heuristic`` as above; ``split`` makes each portion of a dataset a group of its own.

    Raises:
        ConfigError: a number is too small.
    """

    def __init__(
        self, max_task_size: int = 40000, gen_task_coef: int = GEN_TASK_COEF, strategy: Strategy = "heuristic"
    ) -> None:
        check_at_least(1, max_task_size=max_task_size, gen_task_coef=gen_task_coef)
        self._max_task_size = max_task_size
        self._gen_task_coef = gen_task_coef
        self._strategy = strategy

    def groups(self, tasks: Sequence[TaskSize]) -> list[list[Chunk]]:
        """Return the groups of all models."""
        found: list[list[Chunk]] = []
        for _, of_model in groupby(tasks, lambda task: task.model):
            chunks = [chunk for task in of_model for chunk in self._split(task)]
            found += self._grouped(chunks) if self._strategy == "heuristic" else ([chunk] for chunk in chunks)
        return found

    def _split(self, task: TaskSize) -> list[Chunk]:
        cost = _cost(task, self._gen_task_coef)
        return _portions(task, min(_number(cost, self._max_task_size), max(1, task.samples)), cost)

    def _grouped(self, chunks: Iterable[Chunk]) -> Iterator[list[Chunk]]:
        """Fill one group after the other, the costliest portions first."""
        group: list[Chunk] = []
        cost = 0.0
        for chunk in sorted(chunks, key=lambda chunk: -chunk.cost):
            if group and cost + chunk.cost > self._max_task_size:
                yield group
                group, cost = [], 0.0
            group.append(chunk)
            cost += chunk.cost
        if group:
            yield group


@PARTITIONERS.register_module()
class NumWorkerPartitioner:
    """Splits large datasets into a number of portions, and deals all portions of a model out to a number of groups.

    Args:
        num_worker: number of groups for each model. ``split`` does not use it.
        num_split: portions of a large dataset; None for as many as there are groups.
        min_task_size: samples of a portion, at least. A dataset with no more samples is not split.
        strategy: ``heuristic`` as above; ``split`` makes each portion a group of its own.

    Raises:
        ConfigError: a number is too small.
    """

    def __init__(
        self,
        num_worker: int = 8,
        num_split: int | None = None,
        min_task_size: int = 16,
        strategy: Strategy = "heuristic",
    ) -> None:
        check_at_least(1, num_worker=num_worker, num_split=num_split, min_task_size=min_task_size)
        self._num_worker = num_worker
        self._num_split = num_split or num_worker
        self._min_task_size = min_task_size
        self._strategy = strategy

    def groups(self, tasks: Sequence[TaskSize]) -> list[list[Chunk]]:
        """Return the groups of all models, none of them empty."""
        found: list[list[Chunk]] = []
        for _, of_model in groupby(tasks, lambda task: task.model):
            chunks = [chunk for task in of_model for chunk in self._split(task)]
            number = self._num_worker if self._strategy == "heuristic" else len(chunks)
            found += [dealt for index in range(number) if (dealt := chunks[index::number])]
        return found

    def _split(self, task: TaskSize) -> list[Chunk]:
        size = max(math.ceil(task.samples / self._num_split), self._min_task_size)
        return _portions(task, _number(task.samples, size), _cost(task, GEN_TASK_COEF))


def _cost(task: TaskSize, gen_task_coef: int) -> float:
    """Return the estimated cost of a task, in requests for a log-likelihood."""
    factor = gen_task_coef if task.answer_tokens else 1
    return task.requests * factor * (LONG_FACTOR if task.answer_tokens >= LONG_ANSWER else 1)


def _number(amount: float, most: float) -> int:
    """Return how many equal portions are needed so that none is larger than ``most``; at least one."""
    return max(1, math.ceil(amount / most))


def _portions(task: TaskSize, count: int, cost: float) -> list[Chunk]:
    return [Chunk(task.name, index, count, cost / count) for index in range(count)]
