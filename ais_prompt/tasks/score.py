"""Scoring of one task: predictions on disk become scores on disk, without asking a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ais_prompt.errors import AisPromptError, DataError
from ais_prompt.evaluators.base import Evaluator
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import read_predictions
from ais_prompt.store.results import write_json_atomic
from ais_prompt.tasks.build import Postprocessor, build_evaluator, build_postprocessor
from ais_prompt.types import Prediction, SampleScore, Score, Status, TaskSpec


@dataclass(frozen=True, slots=True)
class Scorer:
    """The parts that score one data set."""

    evaluator: Evaluator
    answer_of: Postprocessor
    gold_of: Postprocessor

    def score(self, prediction: Prediction) -> SampleScore:
        """The score of one sample: its status, and the metrics' values unless it failed.

        Raises:
            DataError: the gold cannot be used; ``where`` names the sample.
        """
        try:
            gold = self.gold_of(prediction.gold)
            if prediction.failed:
                return SampleScore(prediction.sample_id, "failed", None, gold)
            answer = self.answer_of(prediction.prediction)
            if _is_nothing(answer):
                values = dict.fromkeys(self.evaluator.metrics, 0.0)
                return SampleScore(prediction.sample_id, _status(prediction, "unparsed"), None, gold, values)
            values = dict(self.evaluator.score(answer, gold))
        except AisPromptError as error:
            error.where = error.where or f"sample {prediction.sample_id}, row {prediction.index}"
            raise
        except Exception as error:  # a postprocessor of the user's own can raise whatever it likes
            raise DataError(
                f"scoring raised {type(error).__name__}: {error}",
                where=f"sample {prediction.sample_id}, row {prediction.index}",
                mend="mend the postprocessor or evaluator, then `aisprompt run CONFIG -m eval -r`",
            ) from error
        return SampleScore(prediction.sample_id, _status(prediction, "scored"), answer, gold, values)


def score(task: TaskSpec, folder: RunFolder) -> list[Score]:
    """Score the predictions of a task and write its results; no scores if the data set has no evaluator.

    Raises:
        AisPromptError: predictions are missing or broken, or a sample cannot be scored.
    """
    evaluator = build_evaluator(task.dataset)
    if evaluator is None:
        return []
    spec = task.dataset.eval
    scorer = Scorer(
        evaluator, build_postprocessor(spec.pred_postprocessor), build_postprocessor(spec.dataset_postprocessor)
    )
    samples = [scorer.score(prediction) for prediction in _predictions(task, folder)]
    scores = evaluator.aggregate(samples)
    write_json_atomic(folder.results(task.model.abbr, task.dataset.abbr), _results(task, scores, samples))
    return scores


def _predictions(task: TaskSpec, folder: RunFolder) -> Iterator[Prediction]:
    return read_predictions(folder.predictions(task.model.abbr, task.dataset.abbr))


def _results(task: TaskSpec, scores: list[Score], samples: list[SampleScore]) -> dict[str, Any]:
    return {
        "model": task.model.abbr,
        "dataset": task.dataset.abbr,
        "scores": [asdict(score) for score in scores],
        "details": [asdict(sample) for sample in samples],
    }


def _is_nothing(answer: Any) -> bool:
    return answer is None or (isinstance(answer, str) and not answer.strip())


def _status(prediction: Prediction, otherwise: Status) -> Status:
    """A truncated answer is counted as such, whatever could be read from it."""
    return "truncated" if prediction.truncated else otherwise
