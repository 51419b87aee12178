"""What became of each task, and the flat table that all summaries show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ais_prompt.errors import AisPromptError
from ais_prompt.types import STATUSES, Score


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """How one task ended: with scores, with an error, or on purpose with predictions only.

    Attributes:
        model, dataset: their ``abbr``.
        scores: one for each metric, the main one first; empty unless the task was scored.
        error: why the task failed; None if it did not.
        predictions_only: True if there was nothing to score with, or scoring was not asked for.

    Raises:
        ValueError: it is not exactly one of the three.
    """

    model: str
    dataset: str
    scores: Sequence[Score] = ()
    error: AisPromptError | None = None
    predictions_only: bool = False

    def __post_init__(self) -> None:
        if [bool(self.scores), self.error is not None, self.predictions_only].count(True) != 1:
            raise ValueError(f"{self.name}: a task ends with scores, an error, or predictions only")

    @property
    def name(self) -> str:
        """``model/dataset``, as progress and errors show it."""
        return f"{self.model}/{self.dataset}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the summary: one metric of one task. The fields are the columns of the files, in this order.

    Attributes:
        dataset, model: their ``abbr``.
        metric: its name; None if the task was not scored.
        score, stderr: as fractions (0.935 is shown as 93.5 %); None where there is no value.
        n: samples in the data set; None if the task was not scored.
        scored, unparsed, truncated, failed: how many of them; their sum is ``n``.
        note: why there is no score; empty if there is one.
    """

    dataset: str
    model: str
    metric: str | None = None
    score: float | None = None
    stderr: float | None = None
    n: int | None = None
    scored: int | None = None
    unparsed: int | None = None
    truncated: int | None = None
    failed: int | None = None
    note: str = ""


def summary_rows(outcomes: Iterable[TaskOutcome]) -> list[Row]:
    """One row for each metric of each task, in order; a task without scores has one row with a note."""
    return [row for outcome in outcomes for row in _rows(outcome)]


def _rows(outcome: TaskOutcome) -> list[Row]:
    if outcome.error is not None:
        reason = " ".join(str(outcome.error).split())
        return [Row(outcome.dataset, outcome.model, note=f"error: {type(outcome.error).__name__}: {reason}")]
    if outcome.predictions_only:
        return [Row(outcome.dataset, outcome.model, note="not scored: predictions only")]
    return [_scored_row(outcome, score) for score in outcome.scores]


def _scored_row(outcome: TaskOutcome, score: Score) -> Row:
    return Row(
        dataset=outcome.dataset,
        model=outcome.model,
        metric=score.metric,
        score=score.value,
        stderr=score.stderr,
        n=score.n,
        **{status: score.counts[status] for status in STATUSES},
        note="no answer: every request failed" if score.value is None else "",
    )
