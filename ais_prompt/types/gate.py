"""Gates: conditions on scores and counts that a run must meet to pass CI."""

from __future__ import annotations

from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from msgspec import Struct

Comparator: TypeAlias = Literal[">=", ">", "<=", "<"]

COUNTS: Final = ("failed", "truncated", "unparsed")
"""Sample states whose number a gate can limit."""

DROP: Final = "drop"
"""Name of the gate that limits the drop of a metric against the baseline."""


class Gate(Struct, frozen=True):
    """One condition.

    Attributes:
        text: the condition as the user wrote it.
        pattern: which datasets (``gsm8k*``), or models and datasets (``demo/*``), it covers.
        name: a metric, or a state (``failed``, ``truncated``, ``unparsed``) whose answers are counted.
        comparator: compares the value with the limit.
        limit: the number as written: in the metric's own unit, a number of answers, or percent.
        percent: whether the limit was written in percent.
        where: config path or option.
        confidence: required confidence, 0.5 to 1, that the true value meets the limit; None compares the value itself.
    """

    text: str
    pattern: str
    name: str
    comparator: Comparator
    limit: Fraction
    percent: bool
    where: str = ""
    confidence: Fraction | None = None

    @property
    def limits_drop(self) -> bool:
        """Whether the gate limits the drop of a metric against the baseline."""
        return self.name == DROP and self.confidence is not None

    @property
    def counts_answers(self) -> bool:
        """Whether the gate limits the number of answers in a state, not a metric."""
        return self.name in COUNTS

    def concerns(self, model: str, dataset: str) -> bool:
        """Return whether the gate covers a model on a dataset."""
        return fnmatchcase(dataset, self.pattern) or fnmatchcase(f"{model}/{dataset}", self.pattern)

    def holds(self, value: Fraction) -> bool:
        """Return whether a value, in the unit of ``limit``, meets the limit."""
        if self.comparator == ">=":
            return value >= self.limit
        if self.comparator == ">":
            return value > self.limit
        return value <= self.limit if self.comparator == "<=" else value < self.limit

    def holds_score(self, value: Fraction, *, fraction: bool) -> bool:
        """Return whether a metric's value meets the limit; for a ``fraction``, 0.8 and 80 % are the same limit."""
        return self.holds(100 * value if self.percent and fraction else value)

    def holds_count(self, count: int, answers: int) -> bool:
        """Return whether ``count`` out of ``answers`` meets the limit; without answers the share is 0."""
        return self.holds(Fraction(100 * count, answers or 1) if self.percent else Fraction(count))
