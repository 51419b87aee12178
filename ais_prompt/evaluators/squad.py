"""Token F1 and exact match of short answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.evaluators.base import golds_of
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.metrics.squad import exact_match, token_f1
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score


@EVALUATORS.register_module()
class SquadEvaluator:
    """Token F1 and exact match, as SQuAD defines them (`ais_prompt.metrics.squad`); of several golds the best counts.

    Source: OpenCompass, ``SquadEvaluator``, which also looks at the first line of an answer only.

    Args:
        first_line: whether only the first line of the answer that is not empty counts.
    """

    metrics: tuple[str, ...] = ("f1", "exact_match")

    def __init__(self, first_line: bool = True) -> None:
        self.first_line = first_line

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return ``f1`` and ``exact_match``, 0 to 1.

        Raises:
            DataError: there is no gold.
        """
        golds = golds_of(gold)
        answer = "" if extracted is None else str(extracted)
        if self.first_line:
            answer = answer.strip().partition("\n")[0]
        return {"f1": token_f1(answer, golds), "exact_match": exact_match(answer, golds)}

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two answers match exactly."""
        return bool(exact_match(str(first), [str(second)]))

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the mean over the answered samples."""
        return mean_scores(self.metrics, scores)
