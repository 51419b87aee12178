"""The table of samples: its columns, and its lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ais_prompt.errors import AisPromptError
from ais_prompt.report.questions import prompts_of, snippet
from ais_prompt.report.web.breakdown import Breakdowns
from ais_prompt.report.web.overview import TaskTotals
from ais_prompt.report.web.packing import finite
from ais_prompt.report.web.run_files import Results, results_of
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import read_predictions
from ais_prompt.types import Completion, Prediction, SampleScore
from ais_prompt.utils.progress import tracked

COLUMNS: Final = (
    "id",
    "index",
    "question",
    "state",
    "value",
    "extracted",
    "gold",
    "tokens",
    "characters",
    "seconds",
    "reason",
    "columns",
)
"""The table's columns. The browser shows one of ``tokens`` and ``characters``, the same for the whole task."""


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


def row(prediction: Prediction, detail: SampleScore | None, results: Results) -> dict[str, Any]:
    """Return one line of the table, without its question.

    Args:
        prediction, detail: as in `sample_json`.
        results: of the task; the table shows the value of its main metric.
    """
    value = finite(detail.values.get(results.metric)) if detail and results.metric else None
    failure = next((completion.failure for completion in prediction.completions if completion.failure), None)
    return {
        "id": prediction.sample_id,
        "index": prediction.index,
        "state": _state(prediction, detail.status if detail else None, value if results.fraction else None),
        "value": value,
        "extracted": snippet(detail.extracted if detail else None),
        "gold": snippet(detail.gold if detail else prediction.gold),
        "tokens": _tokens(prediction.completions),
        "characters": _characters(prediction.completions),
        "seconds": None if failure else _seconds(prediction),
        "reason": (detail.reason if detail else "") or (failure.kind if failure else ""),
        "columns": dict(prediction.columns),
    }


def _state(prediction: Prediction, status: str | None, value: float | None) -> str:
    """Return the status of a sample; ``right``, ``partial`` or ``wrong`` if it was scored between 0 and 1."""
    if status is None:
        return "failed" if prediction.failed else "truncated" if prediction.truncated else "answered"
    if status != "scored" or value is None or not 0 <= value <= 1:
        return status
    return "right" if value == 1 else "partial" if value > 0 else "wrong"


def _tokens(completions: Sequence[Completion]) -> int | None:
    counts = [completion.usage.completion_tokens for completion in _answers(completions)]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _characters(completions: Sequence[Completion]) -> int | None:
    answers = _answers(completions)
    return sum(len(completion.text) for completion in answers) if answers else None


def _answers(completions: Sequence[Completion]) -> list[Completion]:
    """Return the completions that are texts; failures and log-likelihoods have no length."""
    return [completion for completion in completions if not (completion.failure or completion.likelihood)]


def _seconds(prediction: Prediction) -> float | None:
    """Return the seconds of a sample: turns are sequential; labels and answers to the same prompt are concurrent."""
    times = [completion.seconds for completion in prediction.completions]
    one_after_the_other = len(times) > 1 and len(prompts_of(prediction)) > 1
    return finite(sum(times) if one_after_the_other else max(times, default=0.0))
