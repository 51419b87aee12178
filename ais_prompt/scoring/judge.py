"""Ask a judge about answers. A judge is a model like any other; its samples are made of rows and answers.

Its requests have a journal of their own, so judging goes on where it stopped, and answers are judged again only if
they, the prompt or the judge have changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ais_prompt.engine.infer import infer
from ais_prompt.engine.progress import OpenProgress
from ais_prompt.errors import DataError
from ais_prompt.plan.judge_dataset import judge_dataset, judge_fields
from ais_prompt.plan.plan import PlannedDataset, Task
from ais_prompt.readers.base import Dataset
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import read_predictions
from ais_prompt.types import (
    Completion,
    Failure,
    Prediction,
    Sample,
    SampleScore,
)
from ais_prompt.utils.digest import digest

NOT_YET: Final = Prediction("", 0, "", None, None, (Completion(failure=Failure("not_judged", "")),))


class Judge:
    """Judge the answers of one task.

    First call `note` for every answer that must be judged, then `ask` once; afterwards `recall` returns the
    verdicts. Equal answers to one question are judged once.
    """

    def __init__(self, task: Task, folder: RunFolder, open_progress: OpenProgress) -> None:
        self._dataset = task.dataset
        self._folder = folder.judge(task.spec.model.abbr)
        self._open_progress = open_progress
        self._noted: dict[str, SampleScore] = {}
        self._said: dict[str, Prediction] = {}

    def note(self, sample: SampleScore) -> Prediction:
        """Note an answer that must be judged."""
        self._noted[_key(sample)] = sample
        return NOT_YET

    def ask(self) -> None:
        """Judge everything that was noted; earlier verdicts come from the journal.

        Raises:
            AisPromptError: the judge cannot be used, or the data is no longer that of the answers.
        """
        if not self._noted:
            return
        spec, judge = self._dataset.spec.eval.judge, self._dataset.judge
        assert spec is not None  # `build_evaluator` refuses an evaluator that needs a judge and has none
        assert judge is not None
        questions = PlannedDataset(judge_dataset(spec, self._dataset.spec), data=self._questions())
        try:
            infer(Task(judge, questions), self._folder, self._open_progress)
        finally:
            judge.model.close()
        path = self._folder.predictions(judge.spec.abbr, self._dataset.spec.abbr)
        self._said = {judgement.sample_id: judgement for judgement in read_predictions(path)}

    def recall(self, sample: SampleScore) -> Prediction:
        """Return the verdict about an answer that was noted."""
        return self._said[_key(sample)]

    def _questions(self) -> Dataset:
        # Predictions of version 1 know samples by their whole rows.
        rows = {name: row for row in self._dataset.data.test for name in (row.row_id, row.id)}
        samples = [self._question(index, key, rows) for index, key in enumerate(self._noted)]
        return Dataset(train=(), test=samples, columns=tuple(samples[0].fields), tables={})

    def _question(self, index: int, key: str, rows: Mapping[str, Sample]) -> Sample:
        noted = self._noted[key]
        if noted.sample_id not in rows:
            raise DataError(
                f"the row of sample {noted.sample_id} is no longer in the data, and the judge's prompt needs it",
                where=self._dataset.spec.where,
                fix="score with the data that was asked about, and the same test_range",
            )
        row = rows[noted.sample_id]
        fields = judge_fields(row.fields, noted.extracted, noted.gold)
        return Sample(key, index, fields, noted.gold, row_id=_key(noted, row.row_id))


def _key(sample: SampleScore, name: str = "") -> str:
    """Return the id of a judge's question, from the sample's id (or ``name``), its answer and its gold."""
    return f"{name or sample.sample_id}-{digest([sample.extracted, sample.gold])}"
