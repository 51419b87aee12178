"""What evaluators share whose metric is the mean of one value for each answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.types import SampleScore, Score


class MeanEvaluator(ABC):
    """The mean of a value from 0, a wrong answer, to 1, a right one."""

    metrics: tuple[str, ...] = ("accuracy",)

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return the only metric.

        Raises:
            DataError: the gold cannot be used.
        """
        return {self.metrics[0]: float(self.value("" if extracted is None else str(extracted), gold))}

    @abstractmethod
    def value(self, answer: str, gold: Any) -> float:
        """Return the value of an answer, from 0 to 1.

        Raises:
            DataError: the gold cannot be used.
        """

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the mean over the answered samples."""
        return mean_scores(self.metrics, scores)
