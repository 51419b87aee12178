"""Exact match after normalization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.evaluators.base import golds_of
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.postprocess.general import first_phrase, phrases
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score


@EVALUATORS.register_module()
class EMEvaluator:
    """Exact match: 1 where the first phrase of the answer equals a gold, 0 elsewhere.

    What a phrase is: `general_postprocess`, which also reads announcements; here "The answer is Paris" is not "Paris".
    A full stop ends no gold, so abbreviations need not be known: "Rte. 5. It is long." equals "Rte. 5", not "Rte. 6".

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
        golds = {self._normal(phrases(one)[-1], one) for one in golds_of(gold)}
        if extracted is None:
            return {"exact_match": 0.0}
        answers = {self._normal(phrase, str(extracted)) for phrase in phrases(str(extracted))}
        return {"exact_match": float(not golds.isdisjoint(answers))}

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two answers are the same text after normalization."""
        one, other = (self._normal(first_phrase(str(answer)), str(answer)) for answer in (first, second))
        return one == other

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the mean over the answered samples."""
        return mean_scores(self.metrics, scores)

    def _normal(self, phrase: str, text: str) -> str:
        # A text without words, such as "-", is compared as it is.
        normal = phrase or text.strip()
        return normal.casefold() if self.ignore_case else normal
