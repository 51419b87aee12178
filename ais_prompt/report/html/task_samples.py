"""Read the samples of a task in one pass, and add up its totals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ais_prompt.errors import AisPromptError
from ais_prompt.report.html.breakdown import Breakdowns
from ais_prompt.report.html.overview import TaskTotals
from ais_prompt.report.html.rows import row
from ais_prompt.report.html.run_files import results_of
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import read_predictions
from ais_prompt.types import Prediction, SampleScore
from ais_prompt.utils.progress import tracked


def samples_of(
    totals: TaskTotals, folder: RunFolder
) -> Iterator[tuple[Prediction, SampleScore | None, dict[str, Any]]]:
    """Yield each prediction of a task, its score, and its line of the table from `row`.

    The reason why some cannot be read is in ``totals.trouble`` at the end.
    """
    task = totals.task
    try:
        results = results_of(task, folder)
        totals.sensitivity = results.sensitivity
        totals.breakdowns = breakdowns = Breakdowns(results.metric if results.is_mean else None)
        predictions = read_predictions(folder.predictions(task.model, task.dataset))
        for prediction in tracked(predictions, f"reporting {task.model}/{task.dataset}", unit="samples"):
            detail = results.detail_of(prediction.sample_id)
            line = row(prediction, detail, results)
            totals.add(line)
            breakdowns.add(prediction, detail, line[totals.unit])
            yield prediction, detail, line
    except AisPromptError as error:
        totals.trouble = str(error)
    totals.is_whole = True
