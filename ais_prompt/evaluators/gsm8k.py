"""Accuracy by equal number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from ais_prompt.errors import DataError
from ais_prompt.evaluators.base import golds_of
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.postprocess.numbers import to_decimal
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score


@EVALUATORS.register_module()
class Gsm8kEvaluator:
    """Accuracy by exact numeric equality: 18, 18.00 and $18 are the same, and so are 1,000 and 1000.

    Decimal numbers are compared without tolerance (OpenCompass allows 1e-6; all golds of GSM8K are whole numbers).
    An answer that is not a number is wrong; use it with ``gsm8k_postprocess``, which finds the number.
    """

    metrics: tuple[str, ...] = ("accuracy",)

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return ``accuracy``, 0 or 1.

        Raises:
            DataError: the gold is not a number.
        """
        numbers = [self._number(one) for one in golds_of(gold)]
        return {"accuracy": float(to_decimal(extracted) in numbers)}

    def _number(self, gold: str) -> Decimal:
        if (number := to_decimal(gold)) is None:
            raise DataError(
                f"the gold answer {gold[-40:]!r} is not a number",
                fix="set dataset_postprocessor=dict(type='gsm8k_dataset_postprocess'), or use AccEvaluator",
            )
        return number

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two answers are the same number."""
        return (number := to_decimal(first)) is not None and number == to_decimal(second)

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the mean over the answered samples."""
        return mean_scores(self.metrics, scores)
