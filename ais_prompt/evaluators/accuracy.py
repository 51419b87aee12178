"""Accuracy by equal text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.evaluators.base import golds_of
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score


@EVALUATORS.register_module()
class AccEvaluator:
    """Accuracy: 1 where answer and gold are the same text, 0 elsewhere; a list of golds has alternatives.

    Both are compared as text, so the gold 3 equals the answer "3", but "3.0" does not. Source: OpenCompass'
    ``AccEvaluator``, which compares ``str()`` of both; here white space at either end is left out as well.

    Args:
        ignore_case: whether "Paris" equals "PARIS".
    """

    metrics: tuple[str, ...] = ("accuracy",)

    def __init__(self, ignore_case: bool = False) -> None:
        self.ignore_case = ignore_case

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return ``accuracy``, 0 or 1.

        Raises:
            DataError: there is no gold.
        """
        golds = {self._text(one) for one in golds_of(gold)}
        return {"accuracy": float(extracted is not None and self._text(extracted) in golds)}

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two answers are the same text."""
        return self._text(first) == self._text(second)

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the mean over the answered samples."""
        return mean_scores(self.metrics, scores)

    def _text(self, value: Any) -> str:
        text = str(value).strip()
        return text.casefold() if self.ignore_case else text
