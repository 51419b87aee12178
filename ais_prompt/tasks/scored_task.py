"""A stored task with its answers and scores, read when they are needed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.errors import DataError
from ais_prompt.evaluators.base import CorpusEvaluator
from ais_prompt.registry import EVALUATORS
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import read_predictions
from ais_prompt.store.results import read_json
from ais_prompt.tasks.build import build_evaluator
from ais_prompt.tasks.changed_parts import StoredTask
from ais_prompt.tasks.score import sample_scores
from ais_prompt.types import Prediction, SampleScore, Score


class ScoredTask(Struct, frozen=True, dict=True):
    """The answers and scores of a stored task.

    Attributes:
        task: what was asked of whom.
        folder: the run that it belongs to.
    """

    task: StoredTask
    folder: RunFolder

    @cached_property
    def predictions(self) -> dict[str, Prediction]:
        """Sample id → prediction.

        Raises:
            StoreError, DataError: they are missing or broken.
        """
        path = self.folder.predictions(self.task.spec.model.abbr, self.task.spec.dataset.abbr)
        return {prediction.sample_id: prediction for prediction in read_predictions(path)}

    @cached_property
    def results(self) -> dict[str, Any]:
        """The file of results.

        Raises:
            StoreError: it is missing or broken.
        """
        return read_json(self.folder.results(self.task.spec.model.abbr, self.task.spec.dataset.abbr))

    @property
    def metric(self) -> Score:
        """The main metric."""
        return Score.from_json(self.results["scores"][0])

    @cached_property
    def values(self) -> dict[str, float]:
        """Sample id → value of the main metric, of those samples that were answered."""
        metric = self.metric.metric
        return {
            detail["sample_id"]: float(detail["values"].get(metric, 0.0))
            for detail in self.results["details"]
            if detail["status"] != "failed"
        }

    @cached_property
    def extracted(self) -> dict[str, Any]:
        """Sample id → what was read out of the answer."""
        return {detail["sample_id"]: detail["extracted"] for detail in self.results["details"]}

    def values_by(self, other: ScoredTask, ids: Iterable[str]) -> dict[str, float]:
        """The values of these samples if the answers were read and scored as in another run."""
        metric = other.metric.metric
        scores = self._scored_by(other, ids)
        return {score.sample_id: float(score.values.get(metric, 0.0)) for score in scores}

    @property
    def size(self) -> int:
        """How many samples were asked, with an answer or without."""
        return len(self.results["details"])

    @cached_property
    def corpus(self) -> CorpusEvaluator | None:
        """The evaluator, if it computes its metric from sums over all samples; None if the metric is a mean."""
        part = self.task.spec.dataset.eval.evaluator
        if part is None or not all(hasattr(EVALUATORS.get(part.type), name) for name in ("sums", "statistic")):
            return None
        evaluator = build_evaluator(self.task.spec.dataset.eval)
        return evaluator if isinstance(evaluator, CorpusEvaluator) else None

    @cached_property
    def rows(self) -> dict[str, NDArray[np.float64]]:
        """Sample id → what an answered sample adds to the sums of a `corpus` metric; shape (quantities,)."""
        scores = (msgspec.convert(detail, SampleScore) for detail in self.results["details"])
        return self._rows(self, scores)

    def rows_by(self, other: ScoredTask, ids: Iterable[str]) -> dict[str, NDArray[np.float64]]:
        """The `rows` of these samples if the answers were read and scored as in another run."""
        return self._rows(other, self._scored_by(other, ids))

    def check_comparable(self) -> None:
        """Whether the metric can be compared sample by sample: as a mean over them, or from their sums.

        Raises:
            DataError: it is neither, so what is compared would not be what the run reports.
        """
        value, values = self.metric.value, self.values.values()
        if self.corpus is None and value is not None and values:
            mean = math.fsum(values) / len(values)
            if not math.isclose(mean, value, rel_tol=1e-9, abs_tol=1e-12):
                raise DataError(
                    f"{self.metric.metric} is no mean over the samples: it is {value:.6g}, and their mean {mean:.6g}",
                    where=self.task.spec.name,
                    fix="give the evaluator the methods sums() and statistic(), as BleuEvaluator has them",
                )

    def _scored_by(self, other: ScoredTask, ids: Iterable[str]) -> Iterable[SampleScore]:
        scores = sample_scores(other.task.spec, [self.predictions[name] for name in ids])
        return (score for score in scores if score.status != "failed")

    @staticmethod
    def _rows(scored: ScoredTask, scores: Iterable[SampleScore]) -> dict[str, NDArray[np.float64]]:
        evaluator = scored.corpus
        assert evaluator is not None  # the caller has looked
        return {score.sample_id: evaluator.sums(score) for score in scores if score.status != "failed"}
