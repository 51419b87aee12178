"""Score answers with an evaluator of OpenCompass or AISBench."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ais_prompt.errors import ConfigError
from ais_prompt.evaluators.base import AnswerBatch, BatchVerdict
from ais_prompt.extensions.peers.code.arrow_file import write_rows
from ais_prompt.extensions.peers.code.calls import CheckCall, EvaluateCall
from ais_prompt.extensions.peers.code.session import CHECK_SECONDS, SCORE_SECONDS, call_peer
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score


@EVALUATORS.register_module()
class PeerEvaluator:
    """Score all answers with an evaluator class of OpenCompass or AISBench. Its code runs in a process of its own.

    Each number that its ``score`` returns is a metric, as it is: most are percentages. A metric that is the mean of
    what ``details`` say of each answer has an interval; the others have none.

    Args:
        cls: dotted name of the class: ``opencompass.datasets.gsm8k.Gsm8kEvaluator``.
        kwargs: its arguments.
    """

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
            "origin_prompt": list(batch.prompts),
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
