"""Accuracy by a rule, then by a judge for answers that the rule finds wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ais_prompt.errors import ConfigError
from ais_prompt.evaluators.base import ComparesAnswers, Evaluator
from ais_prompt.evaluators.judge import JudgeEvaluator, make_postprocessor
from ais_prompt.evaluators.own import make_evaluator
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score


@EVALUATORS.register_module()
class CascadeEvaluator:
    """Accuracy by a rule, and by a judge for answers that the rule finds wrong.

    ``rule_accuracy`` is what the rule alone would give. Source: OpenCompass, ``CascadeEvaluator`` with
    ``parallel=False``.

    Args:
        rule_evaluator: an evaluator whose first metric is 1 for a right answer.
        llm_evaluator: a `GenericLLMEvaluator`, with its ``judge_cfg`` and ``prompt_template``.
        rule_postprocessor: takes the answer for the rule out of the text; the judge sees the text.

    Raises:
        ConfigError: they are not of these kinds.
    """

    metrics: tuple[str, ...] = ("accuracy", "rule_accuracy")

    def __init__(
        self,
        rule_evaluator: Mapping[str, Any],
        llm_evaluator: Mapping[str, Any],
        rule_postprocessor: Mapping[str, Any] | None = None,
    ) -> None:
        self._rule = _build(rule_evaluator)
        self._rule_answer = make_postprocessor(rule_postprocessor)
        judge = _build(llm_evaluator)
        if isinstance(self._rule, JudgeEvaluator) or not isinstance(judge, JudgeEvaluator):
            raise ConfigError(
                "rule_evaluator must not ask a judge, and llm_evaluator must ask one",
                fix="e.g. AccEvaluator for rule_evaluator, GenericLLMEvaluator for llm_evaluator",
            )
        if judge.metrics[0] != "accuracy":
            raise ConfigError(
                f"llm_evaluator gives {judge.metrics[0]}, which cannot be put together with the rule's accuracy",
                fix="use GenericLLMEvaluator",
            )
        self._judge = judge

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return the values of a verdict; an answer that the rule finds right is not judged."""
        return {"accuracy": self._judge.score(extracted, gold)["accuracy"], "rule_accuracy": 0.0}

    def without_judge(self, extracted: Any, gold: Any) -> Mapping[str, float] | None:
        """Return the values of an answer that the rule finds right; None for others.

        Raises:
            DataError: the gold cannot be used.
        """
        answer = extracted if self._rule_answer is None else self._rule_answer(extracted)
        right = answer is not None and self._rule.score(answer, gold)[self._rule.metrics[0]] == 1.0
        return dict.fromkeys(self.metrics, 1.0) if right else None

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two answers are the same to the rule."""
        return first == second or (isinstance(self._rule, ComparesAnswers) and self._rule.same_answer(first, second))

    def verdict(self, text: str) -> str | None:
        """Return the verdict of the judge."""
        return self._judge.verdict(text)

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the means over the samples that the rule or the judge scored, and over those that the rule scored."""
        return mean_scores(self.metrics[:1], scores) + mean_scores(self.metrics[1:], map(_by_rule, scores))


def _by_rule(score: SampleScore) -> SampleScore:
    """Return the score by the rule alone: an answer about which a judge is asked is wrong, whatever the judge says."""
    if score.repeats:
        return replace(score, repeats=tuple(map(_by_rule, score.repeats)))
    if score.status == "failed" and score.reason.startswith("judge"):
        return replace(score, status="scored", values={"rule_accuracy": 0.0})
    return score


def _build(config: Mapping[str, Any]) -> Evaluator:
    arguments = {key: value for key, value in config.items() if key != "type"}
    return make_evaluator(config["type"], arguments)
