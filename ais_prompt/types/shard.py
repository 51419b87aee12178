"""A shard: the part of a run's samples that one process asks."""

from __future__ import annotations

from hashlib import sha256
from math import gcd

from msgspec import Struct


class Shard(Struct, frozen=True):
    """One of several parts of every dataset. A sample belongs to the part that its id hashes to, on every machine.

    Attributes:
        index: from 0.
        count: how many parts there are.
    """

    index: int
    count: int

    def holds(self, sample_id: str) -> bool:
        """Return whether a sample belongs to this shard."""
        return self.of(sample_id) == self.index

    def of(self, sample_id: str) -> int:
        """Return the number of the shard that a sample belongs to."""
        return int.from_bytes(sha256(sample_id.encode()).digest()[:8]) % self.count

    def overlaps(self, other: Shard) -> bool:
        """Return whether some samples can belong to both, for shards of different numbers of parts."""
        common = gcd(self.count, other.count)
        return self.index % common == other.index % common

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"
