"""The answers of a task that a judge has to rate."""

from __future__ import annotations

from contextlib import suppress

from ais_prompt.errors import DataError, PartError
from ais_prompt.plan.plan import Task
from ais_prompt.scoring.score import scorer_of
from ais_prompt.scoring.verdicts import NOT_JUDGED, question_id
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import read_predictions
from ais_prompt.types import Prediction, SampleScore


def answers_to_judge(task: Task, folder: RunFolder) -> list[SampleScore]:
    """Return the answers that need a verdict, in the order of the samples. Equal answers to one question come once.

    Args:
        task: whose answers are judged.
        folder: of the run, with its predictions.

    Raises:
        AisPromptError: the predictions cannot be read, or a part cannot be made.
    """
    noted: dict[str, SampleScore] = {}

    def note(sample: SampleScore) -> Prediction:
        noted[question_id(sample)] = sample
        return NOT_JUDGED

    scorer = None
    for prediction in read_predictions(
        folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr), with_prompts=False
    ):
        scorer = scorer or scorer_of(task, prediction, note)
        assert scorer is not None  # there is an evaluator, which needs a judge
        with suppress(DataError, PartError):  # raised again when the sample is scored
            scorer.score(prediction)
    return list(noted.values())
