"""How much a score depends on how answers are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict


class OtherReading(Struct, frozen=True):
    """The score under another postprocessor.

    Attributes:
        postprocessor: its name.
        score: mean of the main metric over the same samples.
        changed: samples whose value is not the same.
    """

    postprocessor: str
    score: float
    changed: int


class Sensitivity(Struct, frozen=True):
    """The score of a task under each plausible postprocessor.

    Attributes:
        postprocessor, score: the configured one, and the mean of the main metric.
        stderr: standard error of ``score``.
        samples, of: how many samples were read again, and how many could be.
        others: the scores under the other ones.
    """

    postprocessor: str
    score: float
    stderr: float
    samples: int
    of: int
    others: tuple[OtherReading, ...]

    @property
    def far(self) -> list[OtherReading]:
        """The others whose score is more than a standard error away."""
        return [other for other in self.others if abs(other.score - self.score) > self.stderr]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {**asdict(self), "others": [asdict(other) for other in self.others]}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Sensitivity:
        """The inverse of `to_json`."""
        return cls(**{**values, "others": tuple(OtherReading(**other) for other in values["others"])})
