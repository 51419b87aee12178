"""A task of a stored run with its answers and scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from ais_prompt.errors import AisPromptError, DataError, StoreError
from ais_prompt.evaluators import CorpusEvaluator
from ais_prompt.plan import build_evaluator
from ais_prompt.registry import EVALUATORS
from ais_prompt.scoring import UNUSABLE_GOLD
from ais_prompt.store import RunFolder, read_predictions, read_results
from ais_prompt.types import ELSEWHERE, LOG, Prediction, SampleScore, Score, TaskFacts, TaskSpec
from ais_prompt.utils import counted


class ScoredTask(Struct, frozen=True, dict=True):
    """The answers and scores of a task in a run folder.

    Attributes:
        spec: the model and the dataset, as the run's config has them.
        folder: the run that the task belongs to.
        facts: what ``run.json`` knows of the task.
        versions: package → its version.
        by_row: identify samples by the digests of their whole rows, as version 1 does.
        names: sample id → the id that replaces it, for samples that another run knows by another id.
        evaluator: name of the evaluator whose scores these are; empty for the headline.
    """

    spec: TaskSpec
    folder: RunFolder
    facts: TaskFacts = TaskFacts()
    versions: Mapping[str, str] = {}
    by_row: bool = False
    names: Mapping[str, str] = {}
    evaluator: str = ""

    @property
    def further(self) -> list[ScoredTask]:
        """The scores of the same answers by each further evaluator."""
        model, dataset = self.spec.model, self.spec.dataset
        scorings = [one for one in dataset.eval.further if self.spec.is_scored_by(one)]
        specs = [TaskSpec(model, replace(dataset, eval=one)) for one in scorings]
        return [replace(self, spec=spec, evaluator=spec.dataset.eval.name) for spec in specs]

    @property
    def name(self) -> str:
        """``model/dataset``."""
        return self.spec.name

    @property
    def model(self) -> str:
        """``abbr`` of the model."""
        return self.spec.model.abbr

    @property
    def dataset(self) -> str:
        """``abbr`` of the dataset."""
        return self.spec.dataset.abbr

    @property
    def is_log(self) -> bool:
        """Whether it was imported from the log of another tool."""
        return LOG in self.spec.dataset.source.args

    @property
    def is_scored(self) -> bool:
        """Whether the config scores the task."""
        return self.spec.is_scored

    @cached_property
    def predictions(self) -> dict[str, Prediction]:
        """Sample id → prediction.

        Raises:
            StoreError, DataError: they are missing or broken, or not those of the results.
        """
        found: Iterable[Prediction] = list(read_predictions(self._predictions_file))
        if self.is_scored:  # a power failure may leave the file empty
            predicted = {prediction.sample_id for prediction in found}
            if lost := sum(one.sample_id not in predicted for one in self._results[1]):
                raise StoreError(
                    f"the file lacks the predictions of {counted(lost, 'scored sample')}",
                    where=str(self._predictions_file),
                    fix=f"remove it and go on with -r, or score what is there: aisprompt score {self.folder.root}",
                )
        if self.by_row:
            found = (replace(prediction, sample_id=prediction.row_digest) for prediction in found)
        if self.names:
            found = (replace(one, sample_id=self.names.get(one.sample_id, one.sample_id)) for one in found)
        return {prediction.sample_id: prediction for prediction in found}

    @property
    def knows_only_rows(self) -> bool:
        """Whether version 1 wrote the predictions, which have no other ids than those of whole rows.

        False if they cannot be read: reading them raises the error later.
        """
        try:
            first = next(read_predictions(self._predictions_file, with_prompts=False), None)
        except AisPromptError:
            return False
        return first is not None and not first.row_id

    @property
    def _predictions_file(self) -> Path:
        return self.folder.predictions(self.model, self.dataset)

    @cached_property
    def details(self) -> list[SampleScore]:
        """The score of each sample.

        Raises:
            StoreError, DataError: results or predictions are missing or broken.
        """
        _, found = self._results
        names = self.names
        if self.by_row and not names:
            predictions = read_predictions(self._predictions_file, with_prompts=False)
            names = {prediction.sample_id: prediction.row_digest for prediction in predictions}
        return [replace(one, sample_id=names.get(one.sample_id, one.sample_id)) for one in found] if names else found

    @cached_property
    def _results(self) -> tuple[list[Score], list[SampleScore]]:
        scores, details = read_results(self.folder.results(self.model, self.dataset))
        if not self.evaluator:
            return scores, details
        own = [score for score in scores if score.evaluator == self.evaluator]
        if not own:
            raise StoreError(
                f"there are no scores of the evaluator {self.evaluator!r} yet",
                where=self.name,
                fix=f"make them: aisprompt score {self.folder.root}",
            )
        return own, [detail.by(self.evaluator) for detail in details]

    @property
    def metric(self) -> Score:
        """The main metric.

        Raises:
            StoreError: results are missing or broken.
        """
        return self._results[0][0]

    @cached_property
    def values(self) -> dict[str, float]:
        """Sample id → value of the main metric, of the samples that were answered."""
        metric = self.metric.metric
        return {one.sample_id: one.values.get(metric, 0.0) for one in self.details if one.status != "failed"}

    @cached_property
    def without_gold(self) -> set[str]:
        """Ids of the samples that failed because their gold cannot be used."""
        return {one.sample_id for one in self.details if one.reason.startswith(UNUSABLE_GOLD)}

    @cached_property
    def clusters(self) -> dict[str, str]:
        """Sample id → cluster, of the samples that have one."""
        return {one.sample_id: one.cluster for one in self.details if one.cluster is not None}

    @property
    def best(self) -> float | None:
        """The highest value of the main metric if all are from 0 to 1; else None."""
        return 1.0 if self.metric.fraction and all(0 <= value <= 1 for value in self.values.values()) else None

    @cached_property
    def extracted(self) -> dict[str, Any]:
        """Sample id → extracted answer."""
        return {one.sample_id: one.extracted for one in self.details}

    @property
    def size(self) -> int:
        """Number of samples, with or without an answer."""
        return len(self.details)

    @cached_property
    def corpus(self) -> CorpusEvaluator | None:
        """The evaluator if it computes its metric from sums over all samples; None if the metric is a mean."""
        part = self.spec.dataset.eval.evaluator
        if part is None or part.type.startswith(ELSEWHERE):  # of a run of others, only the scores are known
            return None
        if not all(hasattr(EVALUATORS.get(part.type), name) for name in ("sums", "statistic")):
            return None
        evaluator = build_evaluator(self.spec.dataset.eval)
        return evaluator if isinstance(evaluator, CorpusEvaluator) else None

    @cached_property
    def rows(self) -> dict[str, NDArray[np.float64]]:
        """Sample id → the contribution of an answered sample to the sums of a `corpus` metric; shape (quantities,)."""
        assert self.corpus is not None  # the caller has checked
        return {one.sample_id: self.corpus.sums(one) for one in self.details if one.status != "failed"}

    def check_comparable(self) -> None:
        """Check that the metric can be compared sample by sample: a mean over samples, or a function of sums.

        Raises:
            DataError: it is neither, so the comparison would not be of the reported number.
        """
        value, values = self.metric.value, self.values.values()
        if self.corpus is None and value is not None and values:
            mean = math.fsum(values) / len(values)
            # Drawn questions weigh as many as they represent, which differs a little.
            if self.metric.population is None and not math.isclose(mean, value, rel_tol=1e-9, abs_tol=1e-12):
                raise DataError(
                    f"{self.metric.metric} is no mean over the samples: it is {value:.6g}, and their mean {mean:.6g}",
                    where=self.name,
                    fix="give the evaluator the methods sums() and statistic(), as BleuEvaluator has them",
                )


def has_scores(task: ScoredTask) -> bool:
    """Return whether there are results of a task."""
    return task.folder.results(task.model, task.dataset).exists()


def clusters_of(task: ScoredTask, ids: Sequence[str]) -> list[str] | None:
    """Return the cluster of each sample, which is the sample itself if it has none; None if no sample has one."""
    found = task.clusters
    return [f"cluster {found[name]}" if name in found else name for name in ids] if found else None


def have_one_metric(before: ScoredTask, after: ScoredTask) -> bool:
    """Return whether the main metrics can be compared. Tools call the share of right answers by different names.

    Raises:
        StoreError: results are missing or broken.
    """
    if before.is_log or after.is_log:
        return before.metric.fraction == after.metric.fraction
    return before.metric.metric == after.metric.metric
