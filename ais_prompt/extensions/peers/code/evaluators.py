"""Score answers with an evaluator of OpenCompass or AISBench, and with a judge where its rule finds them wrong."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from ais_prompt.errors import ConfigError
from ais_prompt.evaluators import AnswerBatch, BatchVerdict, JudgeQuestion
from ais_prompt.extensions.peers.agent import peer_step
from ais_prompt.extensions.peers.code.calls import CheckCall, EvaluateCall, write_rows
from ais_prompt.extensions.peers.code.session import CHECK_SECONDS, SCORE_SECONDS, call_peer
from ais_prompt.judges import GenericLLMEvaluator, make_postprocessor
from ais_prompt.metrics import mean_scores
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score

_ROLES: Final = {"user": "HUMAN", "assistant": "BOT", "system": "SYSTEM"}


@EVALUATORS.register_module()
class PeerEvaluator:
    """Score all answers with an evaluator class of OpenCompass or AISBench. Its code runs in a process of its own.

    Each number that its ``score`` returns is a metric, as it is: most are percentages. A metric that is the mean of
    what ``details`` say of each answer has an interval; the others have none.

    Args:
        cls: dotted name of the class: ``opencompass.datasets.gsm8k.Gsm8kEvaluator``.
        kwargs: its arguments.
    """

    runs_code: ClassVar = True

    metrics: tuple[str, ...] = ("accuracy",)

    def __init__(self, cls: str, kwargs: Mapping[str, Any] | None = None) -> None:
        self._cls = cls
        self._kwargs = dict(kwargs or {})

    @staticmethod
    def check_arguments(cls: str, kwargs: Mapping[str, Any] | None = None) -> None:
        """Import the class, and compare the arguments with its signature.

        Raises:
            AisPromptError: as `ais_prompt.extensions.peers.code.session.call_peer`.
        """
        call_peer(CheckCall("evaluator", cls, kwargs or {}), cls, CHECK_SECONDS)

    def score_all(self, batch: AnswerBatch) -> BatchVerdict:
        """Score all answers.

        Raises:
            AisPromptError: as `ais_prompt.extensions.peers.code.session.call_peer`.
        """
        offered = {
            "predictions": list(batch.predictions),
            "references": batch.references,
            "gold": batch.references,
            "origin_prompt": list(map(_as_there, batch.prompts)),
            "steps": [list(map(peer_step, steps)) for steps in batch.steps],
        }
        with tempfile.TemporaryDirectory() as folder:
            rows = None
            if "test_set" in self._wanted:
                rows = str(Path(folder) / "rows.arrow")
                write_rows(batch.rows(), rows)
            call = EvaluateCall(self._cls, self._kwargs, offered, rows, batch.replica)
            found = call_peer(call, self._cls, SCORE_SECONDS)
        return BatchVerdict(found["metrics"], found["each"])

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return ``accuracy`` of a single answer, as the rule of a `CascadeEvaluator`: 1 if the main metric is above 0.

        Raises:
            AisPromptError: as `score_all`; or ``score`` asks for the rows.
        """
        answer = "" if extracted is None else extracted
        found = self.score_all(AnswerBatch([answer], [gold], [None], rows=self._no_rows))
        return {"accuracy": float(next(iter(found.metrics.values())) > 0)}

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the means of what is known of each answer."""
        return mean_scores(self.metrics, scores, best=None)

    def _no_rows(self) -> Any:
        what = f"{self._cls} asks for the rows, which it gets only for all answers together"
        raise ConfigError(what, fix="use it as the evaluator itself, not inside another one")

    @cached_property
    def _wanted(self) -> Sequence[str]:
        """The parameters of its ``score``."""
        found: list[str] = call_peer(CheckCall("evaluator", self._cls, self._kwargs), self._cls, CHECK_SECONDS)
        return found


def _as_there(prompts: Any) -> Any:
    """Return the prompts of a sample as runs of the peers keep them, with ``role`` and ``prompt`` of each message."""
    if isinstance(prompts, dict):
        return {"role": _ROLES.get(prompts["role"], prompts["role"]), "prompt": prompts.get("content")}
    return list(map(_as_there, prompts)) if isinstance(prompts, list) else prompts


@EVALUATORS.register_module()
class PeerCascadeEvaluator:
    """Accuracy by a `PeerEvaluator`, and by a judge for answers that it finds wrong, as `CascadeEvaluator`.

    The rule scores all answers together, so it may ask for the rows.

    Args:
        rule_evaluator: ``dict(type='PeerEvaluator', ...)`` whose details say which answers are right.
        llm_evaluator: ``dict(type='GenericLLMEvaluator', ...)`` with its ``judge_cfg`` and ``prompt_template``.
        rule_postprocessor: takes the answer for the rule out of the text; the judge sees the text.
    """

    runs_code: ClassVar = True

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
        return BatchVerdict({name: math.fsum(values) / max(1, len(values)) for name, values in each.items()}, each)

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
            values = [
                next(iter(self._rule.score_all(_alone(batch, place)).metrics.values()))
                for place in range(len(batch.predictions))
            ]
        return [value > 0 for value in values]


def _arguments(config: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key != "type"}


def _alone(batch: AnswerBatch, place: int) -> AnswerBatch:
    return replace(
        batch,
        predictions=[batch.predictions[place]],
        references=None if batch.references is None else [batch.references[place]],
        prompts=[batch.prompts[place]],
        steps=batch.steps[place : place + 1],
        rows=lambda: [batch.rows()[place]],
    )
