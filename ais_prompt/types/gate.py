"""What a run must keep to, so that CI lets it pass."""

from __future__ import annotations

from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from msgspec import Struct

Comparator: TypeAlias = Literal[">=", ">", "<=", "<"]

COUNTS: Final = ("failed", "truncated", "unparsed")
"""States of answers that a gate can limit."""


DROP: Final = "drop"
"""Name of a gate with a claim that limits the drop against the baseline."""


class Gate(Struct, frozen=True):
    """One condition.

    Attributes:
        text: as it was written.
        pattern: datasets (``gsm8k*``), or models and datasets (``demo/*``), for which it holds.
        name: a metric, or one of ``failed``, ``truncated`` and ``unparsed``: answers in that state.
        comparator: how the value must lie to the limit.
        limit: exactly as written: a metric's value in its own unit; a number of answers; or with ``percent``, percent.
        percent: whether the limit was written in percent.
        where: config path or option.
        confidence: how sure it must be that the true value keeps to it, 0.5 to 1; None if the value as found counts.
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
        """Whether it limits how far a metric fell since the baseline."""
        return self.name == DROP and self.confidence is not None

    @property
    def counts_answers(self) -> bool:
        """Whether it limits how many answers are in a state, and no metric."""
        return self.name in COUNTS

    def concerns(self, model: str, dataset: str) -> bool:
        """Whether it holds for a model on a dataset."""
        return fnmatchcase(dataset, self.pattern) or fnmatchcase(f"{model}/{dataset}", self.pattern)

    def holds(self, value: Fraction) -> bool:
        """Whether a value, in the unit of ``limit``, keeps to it."""
        if self.comparator == ">=":
            return value >= self.limit
        if self.comparator == ">":
            return value > self.limit
        return value <= self.limit if self.comparator == "<=" else value < self.limit

    def holds_score(self, value: Fraction, *, fraction: bool) -> bool:
        """Whether a metric's value keeps to it; of a ``fraction``, a limit of 0.8 means the same as 80 %."""
        return self.holds(100 * value if self.percent and fraction else value)

    def holds_count(self, count: int, answers: int) -> bool:
        """Whether ``count`` of so many ``answers`` keep to it; without answers the share is 0."""
        return self.holds(Fraction(100 * count, answers or 1) if self.percent else Fraction(count))
