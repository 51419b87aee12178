"""A shard: the part of a run's samples that one process asks."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from math import gcd

from msgspec import Struct


class Portion(Struct, frozen=True):
    """Some of several equal portions of a dataset. A sample is in the portion that its id hashes to, on every machine.

    Attributes:
        indices: the numbers of the portions, from 0.
        count: how many portions there are in all.
    """

    indices: tuple[int, ...]
    count: int

    def holds(self, sample_id: str) -> bool:
        """Return whether a sample is in one of them."""
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
        """What it asks of each dataset, unless a partitioner says otherwise."""
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
        """Return the tasks of which a shard asks something, and what."""
        found = {}
        for task, shards in self.shards_of.items():
            if indices := tuple(index for index, place in enumerate(shards) if place == shard):
                found[task] = Portion(indices, len(shards))
        return found


def _hashed(sample_id: str, count: int) -> int:
    return int.from_bytes(sha256(sample_id.encode()).digest()[:8]) % count
