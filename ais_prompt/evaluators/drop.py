"""F1 and exact match of answers with several spans, as DROP scores them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.evaluators.base import golds_of, is_missing
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.metrics.spans import span_exact_match, span_f1
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score


@EVALUATORS.register_module()
class DropEvaluator:
    """F1 and exact match as DROP defines them (`ais_prompt.metrics.spans`): numbers must match, spans in any order.

    The gold is a list of right answers, each a list of spans, or a text if it is one span. The best of them counts;
    those whose first span is empty are left out. Source: AllenNLP, ``allennlp_models/rc/tools/drop.py``.

    Args:
        separator: the text between the spans of an answer, such as ``';'``; None takes the answer as one span. An
            answer that is a list has its items as spans.
    """

    metrics: tuple[str, ...] = ("f1", "exact_match")

    def __init__(self, separator: str | None = None) -> None:
        self.separator = separator

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return ``f1`` and ``exact_match``, 0 to 1.

        Raises:
            DataError: there is no gold.
        """
        golds = _answers(gold)
        if extracted is None:
            return {"f1": 0.0, "exact_match": 0.0}
        spans = self._spans(extracted)
        return {
            "f1": max(span_f1(spans, one) for one in golds),
            "exact_match": max(span_exact_match(spans, one) for one in golds),
        }

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two answers match exactly."""
        return bool(span_exact_match(self._spans(first), self._spans(second)))

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the mean over the answered samples."""
        return mean_scores(self.metrics, scores)

    def _spans(self, answer: Any) -> list[str]:
        if isinstance(answer, list | tuple):
            return [str(span) for span in answer] or [""]
        parts = [str(answer)] if self.separator is None else str(answer).split(self.separator)
        return [span for part in parts if (span := part.strip())] or [""]


def _answers(gold: Any) -> list[list[str]]:
    """Return the right answers, each as a list of spans.

    Raises:
        DataError: there is none.
    """
    given = gold if isinstance(gold, list | tuple) else golds_of(gold)
    answers = [one if isinstance(one, list | tuple) else [one] for one in given]
    usable = [golds_of(spans) for spans in answers if spans and not is_missing(spans[0])]
    return usable or [golds_of(None)]
