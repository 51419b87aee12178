"""Shards: processes that each ask a part of a run's samples; and partitioners, which divide the tasks among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import gcd
from typing import Final, Protocol

from msgspec import Struct

BEAT: Final = 10.0
"""Seconds between two heartbeats of a shard."""
SILENCE: Final = 6 * BEAT
"""Seconds without a heartbeat after which a shard counts as dead; cluster file systems show changes late."""


class Portion(Struct, frozen=True):
    """Some of several equal portions of a dataset. A sample is in the portion that its id hashes to, on every machine.

    Attributes:
        indices: the numbers of the portions, from 0.
        count: how many portions there are in all.
    """

    indices: tuple[int, ...]
    count: int

    def holds(self, sample_id: str) -> bool:
        """Return whether a sample is in any of the portions."""
        return _hashed(sample_id, self.count) in self.indices

    def overlaps(self, other: Portion) -> bool:
        """Return whether some samples can be in both, for datasets that were divided differently."""
        common = gcd(self.count, other.count)
        return not {index % common for index in self.indices}.isdisjoint(index % common for index in other.indices)


class Shard(Struct, frozen=True):
    """One of the processes that share a run.

    Attributes:
        index: from 0.
        count: how many there are.
    """

    index: int
    count: int

    @property
    def portion(self) -> Portion:
        """The portion of each dataset that it asks, unless a partitioner says otherwise."""
        return Portion((self.index,), self.count)

    def of(self, sample_id: str) -> int:
        """Return the number of the shard that asks a sample, unless a partitioner says otherwise."""
        return _hashed(sample_id, self.count)

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


class Partition(Struct, frozen=True):
    """Which shards ask which tasks.

    Attributes:
        shards_of: name of a task → the number of the shard that asks each of its portions. A task that one shard asks
            has one portion.
    """

    shards_of: Mapping[str, tuple[int, ...]]

    def portions(self, shard: int) -> dict[str, Portion]:
        """Return the tasks of which a shard asks a portion, with the portion."""
        found = {}
        for task, shards in self.shards_of.items():
            if indices := tuple(index for index, place in enumerate(shards) if place == shard):
                found[task] = Portion(indices, len(shards))
        return found


class TaskSize(Struct, frozen=True):
    """How much a task asks, as far as that is known before.

    Attributes:
        name: ``model/dataset``.
        model: ``abbr`` of its model.
        samples: number of questions.
        requests: number of requests.
        answer_tokens: most tokens of an answer; 0 if log-likelihoods are requested.
    """

    name: str
    model: str
    samples: int
    requests: int
    answer_tokens: int


class Chunk(Struct, frozen=True):
    """A task, or one of the equal portions that it is split into.

    Attributes:
        task: the name of the task.
        index: the number of the portion, from 0.
        count: how many portions the task is split into.
        cost: its cost, in any unit.
    """

    task: str
    index: int
    count: int
    cost: float


class Partitioner(Protocol):
    """Divides the tasks of a run into groups. The groups are then distributed over the shards, the costliest first."""

    def groups(self, tasks: Sequence[TaskSize]) -> Sequence[Sequence[Chunk]]:
        """Return the groups. A group is asked by one shard; there may be more or fewer groups than shards.

        The same tasks give the same groups in every process. Each portion of each task is in one group.

        Args:
            tasks: all of the run, in its order: the tasks of a model together.
        """


def _hashed(sample_id: str, count: int) -> int:
    return int.from_bytes(sha256(sample_id.encode()).digest()[:8]) % count
