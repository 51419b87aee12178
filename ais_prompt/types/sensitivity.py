"""Sensitivity of a score to the choice of the postprocessor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict


class OtherReading(Struct, frozen=True):
    """The score under an alternative postprocessor.

    Attributes:
        postprocessor: its name.
        score: mean of the main metric over the same samples.
        changed: number of samples whose value differs.
    """

    postprocessor: str
    score: float
    changed: int


class Sensitivity(Struct, frozen=True):
    """The score of a task under each plausible postprocessor.

    Attributes:
        postprocessor, score: the configured postprocessor, and the mean of the main metric.
        stderr: standard error of ``score``.
        samples, of: number of samples that were read again, and number of samples that could be.
        others: the scores under the alternatives.
    """

    postprocessor: str
    score: float
    stderr: float
    samples: int
    of: int
    others: tuple[OtherReading, ...]

    @property
    def far(self) -> list[OtherReading]:
        """The alternatives whose score differs by more than a standard error."""
        return [other for other in self.others if abs(other.score - self.score) > self.stderr]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "others": [asdict(other) for other in self.others]}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Sensitivity:
        """Read back the values of `to_json`."""
        return cls(**{**values, "others": tuple(OtherReading(**other) for other in values["others"])})
