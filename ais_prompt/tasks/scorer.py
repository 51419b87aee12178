"""Scoring of one sample: what the answer is, and how it compares with the gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ais_prompt.errors import AisPromptError, DataError
from ais_prompt.evaluators.base import Evaluator
from ais_prompt.tasks.build import Postprocessor
from ais_prompt.types import Prediction, SampleScore, Score, Status


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

    def aggregate(self, samples: Sequence[SampleScore]) -> list[Score]:
        """The scores of the data set."""
        return self.evaluator.aggregate(samples)


def _is_nothing(answer: Any) -> bool:
    return answer is None or (isinstance(answer, str) and not answer.strip())


def _status(prediction: Prediction, otherwise: Status) -> Status:
    """A truncated answer is counted as such, whatever could be read from it."""
    return "truncated" if prediction.truncated else otherwise
