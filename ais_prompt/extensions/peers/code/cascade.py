"""Accuracy by a rule of OpenCompass or AISBench, then by a judge for answers that the rule finds wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ais_prompt.errors import ConfigError
from ais_prompt.evaluators.base import AnswerBatch, BatchVerdict, JudgeQuestion
from ais_prompt.evaluators.judge import GenericLLMEvaluator, make_postprocessor
from ais_prompt.extensions.peers.code.evaluator import PeerEvaluator
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score


@EVALUATORS.register_module()
class PeerCascadeEvaluator:
    """Accuracy by a `PeerEvaluator`, and by a judge for answers that it finds wrong, as `CascadeEvaluator`.

    The rule scores all answers together, so it may ask for the rows.

    Args:
        rule_evaluator: ``dict(type='PeerEvaluator', ...)`` whose details say which answers are right.
        llm_evaluator: ``dict(type='GenericLLMEvaluator', ...)`` with its ``judge_cfg`` and ``prompt_template``.
        rule_postprocessor: takes the answer for the rule out of the text; the judge sees the text.
    """

    metrics: tuple[str, ...] = ("accuracy", "rule_accuracy")

    def __init__(
        self,
        rule_evaluator: Mapping[str, Any],
        llm_evaluator: Mapping[str, Any],
        rule_postprocessor: Mapping[str, Any] | None = None,
    ) -> None:
        self._rule = PeerEvaluator(**_arguments(rule_evaluator))
        self._judge = GenericLLMEvaluator(**_arguments(llm_evaluator))
        self._rule_answer = make_postprocessor(rule_postprocessor)

    def questions(self, batch: AnswerBatch) -> list[JudgeQuestion]:
        """Return the questions about answers that the rule finds wrong.

        Raises:
            AisPromptError: as `PeerEvaluator.score_all`.
        """
        golds = batch.references or [None] * len(batch.predictions)
        return [
            JudgeQuestion(place, {"prediction": batch.predictions[place], "gold": golds[place]})
            for place, right in enumerate(self._right(batch))
            if not right
        ]

    def score_all(self, batch: AnswerBatch) -> BatchVerdict:
        """Score all answers; one of which the judge says neither right nor wrong is wrong, as in the peer.

        Raises:
            AisPromptError: as `PeerEvaluator.score_all`.
        """
        rule = self._right(batch)
        said = iter(batch.judgements)
        whole = [right or self._judge.score(self._judge.verdict(next(said)), None)["accuracy"] for right in rule]
        each = {"accuracy": list(map(float, whole)), "rule_accuracy": list(map(float, rule))}
        return BatchVerdict({name: sum(values) / max(1, len(values)) for name, values in each.items()}, each)

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002  # never scored alone
        """Refuse a single answer.

        Raises:
            ConfigError: always: it needs all answers, and what a judge says of them.
        """
        what = "PeerCascadeEvaluator scores all answers of a dataset together"
        raise ConfigError(what, fix="use it as the evaluator itself, not inside another one")

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the means over the samples that the rule or the judge scored."""
        return mean_scores(self.metrics, scores)

    def _right(self, batch: AnswerBatch) -> list[bool]:
        """Return which answers are right by the rule: by its details, or else by scoring each one alone."""
        if self._rule_answer is not None:
            found = [self._rule_answer(answer) for answer in batch.predictions]
            batch = replace(batch, predictions=["" if answer is None else answer for answer in found])
        verdict = self._rule.score_all(batch)
        values = next(iter(verdict.each.values()), None)
        if values is None:
            values = [_main(self._rule.score_all(_alone(batch, place))) for place in range(len(batch.predictions))]
        return [value > 0 for value in values]


def _arguments(config: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key != "type"}


def _main(verdict: BatchVerdict) -> float:
    return next(iter(verdict.metrics.values()))


def _alone(batch: AnswerBatch, place: int) -> AnswerBatch:
    return replace(
        batch,
        predictions=[batch.predictions[place]],
        references=None if batch.references is None else [batch.references[place]],
        prompts=[batch.prompts[place]],
        rows=lambda: [batch.rows()[place]],
    )
