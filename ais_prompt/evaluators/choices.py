"""Scores of log-likelihoods: of choices, of which several may be right, and the mean perplexity of texts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.errors import DataError
from ais_prompt.evaluators.base import AveragingEvaluator, golds_of
from ais_prompt.metrics import mean_scores
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score


class ChoicesEvaluator(AveragingEvaluator, ABC):
    """The mean of a value from 0 to 1 that depends on the log-likelihoods of right and wrong choices.

    An answer is what `ChoicesInferencer` predicts, and the gold is the text of the right choice, or a list of several.
    """

    metrics: tuple[str, ...]
    measured_by = "ChoicesInferencer"

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return the only metric.

        Raises:
            DataError: the answer has no log-likelihoods, or the gold has no right choice, or one that was not asked.
        """
        right = golds_of(gold)
        if extracted is None:
            return {self.metrics[0]: 0.0}
        if not isinstance(extracted, Mapping):
            raise DataError("the answer has no log-likelihoods of choices", fix="use ChoicesInferencer")
        if missing := [choice for choice in right if choice not in extracted]:
            what = f"the gold answer {missing[0]!r} is none of the choices"
            raise DataError(what, fix="name the column with the texts of the right choices as output_column")
        wrong = [value for choice, value in extracted.items() if choice not in right]
        return {self.metrics[0]: self.value([extracted[choice] for choice in dict.fromkeys(right)], wrong)}

    @abstractmethod
    def value(self, right: Sequence[float], wrong: Sequence[float]) -> float:
        """Return the value of one question, from 0 to 1.

        Args:
            right: log-likelihoods of the right choices, in nats; at least one.
            wrong: log-likelihoods of the others.
        """


@EVALUATORS.register_module()
class ChoicesAccEvaluator(ChoicesEvaluator):
    """1 where a right choice is likelier than every wrong one: MC1 of TruthfulQA. A tie with a wrong choice is 0.

    Source: Lin et al. 2021, "TruthfulQA", section 2.
    """

    metrics: tuple[str, ...] = ("accuracy",)

    def value(self, right: Sequence[float], wrong: Sequence[float]) -> float:
        """Return 0 or 1."""
        return float(max(right) > max(wrong, default=-math.inf))


@EVALUATORS.register_module()
class ChoicesMassEvaluator(ChoicesEvaluator):
    """The share of the right choices in the probability of all choices: MC2 of TruthfulQA.

    Probabilities are those of whole texts, so `ChoicesInferencer` must not normalise them by length. Source: Lin et
    al. 2021, "TruthfulQA", and ``lm_eval/tasks/truthfulqa/utils.py`` of lm-evaluation-harness.
    """

    metrics: tuple[str, ...] = ("probability_mass",)

    def value(self, right: Sequence[float], wrong: Sequence[float]) -> float:
        """Return the share, from 0 to 1."""
        top = max([*right, *wrong])  # the largest becomes 1, so that the sum is never 0
        masses = [math.fsum(math.exp(value - top) for value in values) for values in (right, wrong)]
        return masses[0] / math.fsum(masses)


@EVALUATORS.register_module()
class AveragePPLEvaluator:
    """The mean of what `PPLOnlyInferencer` measures: by default the negative log-likelihood in nats per token.

    Lower is better, and there is no gold. Source: OpenCompass, ``AveragePPLEvaluator``.
    """

    metrics: tuple[str, ...] = ("average_ppl",)
    measured_by = "PPLOnlyInferencer"

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002  # a text has no gold
        """Return ``average_ppl``, the value of one text."""
        return {"average_ppl": float(extracted)}

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the mean over the texts."""
        return mean_scores(self.metrics, scores, best=None)
