"""The mean perplexity of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score


@EVALUATORS.register_module()
class AveragePPLEvaluator:
    """The mean of what `PPLOnlyInferencer` measures: by default the negative log-likelihood in nats per token.

    Lower is better, and there is no gold. Source: OpenCompass, ``AveragePPLEvaluator``.
    """

    metrics: tuple[str, ...] = ("average_ppl",)

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002  # a text has no gold
        """Return ``average_ppl``, the value of one text."""
        return {"average_ppl": float(extracted)}

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the mean over the texts."""
        return mean_scores(self.metrics, scores, best=None)
