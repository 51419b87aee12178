"""Exact match after normalization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.evaluators.base import golds_of
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.postprocess.general import first_phrase
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score


@EVALUATORS.register_module()
class EMEvaluator:
    """Exact match: 1 where the answer equals one of the golds, 0 elsewhere; of both the first phrase counts.

    What a phrase is: `general_postprocess`, which also reads announcements; here "The answer is Paris" is not "Paris".

    Source: OpenCompass, ``EMEvaluator`` (which compares with the letters of a gold that is no list).

    Args:
        ignore_case: whether "Paris" equals "PARIS".
    """

    metrics: tuple[str, ...] = ("exact_match",)

    def __init__(self, ignore_case: bool = False) -> None:
        self.ignore_case = ignore_case

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return ``exact_match``, 0 or 1.

        Raises:
            DataError: there is no gold.
        """
        golds = {self._normal(one, label=False) for one in golds_of(gold)}
        if extracted is None:
            return {"exact_match": 0.0}
        # "B. Paris" is the gold B, but no gold that begins with the initial B.
        answers = {self._normal(str(extracted), label=label) for label in (False, True)}
        return {"exact_match": float(not golds.isdisjoint(answers))}

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two answers are the same text after normalization."""
        return self._normal(str(first), label=False) == self._normal(str(second), label=False)

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the mean over the answered samples."""
        return mean_scores(self.metrics, scores)

    def _normal(self, text: str, *, label: bool) -> str:
        # A text without words, such as "-", is compared as it is.
        normal = first_phrase(text, label=label) or text.strip()
        return normal.casefold() if self.ignore_case else normal
