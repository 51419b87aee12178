"""The flat table of rows that all summaries show: made of outcomes of tasks, pivoted, and its numbers as texts.

A row is one metric of one model on one dataset. `pivot` puts the models side by side, and `cell` writes one number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, convert
from msgspec.structs import asdict, replace

from ais_prompt.errors import AisPromptError, Paused
from ais_prompt.metrics import Z
from ais_prompt.types import STATUSES, Score, VariantColumns

REFERENCE_NOTE: Final = "not scored: the others are compared with it"
"""The note of a row of reference answers, which no gate concerns."""


STARRED: Final = 0.05
"""The share of answers without a score from which on tables mark a score with a star."""


class TaskOutcome(Struct, frozen=True):
    """The outcome of a task: scores, an error, or predictions only.

    Attributes:
        model, dataset: their ``abbr``.
        scores: one for each metric, the main one first; empty unless the task was scored.
        error: why the task failed; None if it did not.
        predictions_only: True if the task has no evaluator, or scoring was not requested.
        is_reference: whether its answers are those that other models are compared with; it has no scores then.
        samples: of a task that failed, as far as that is known.
        variant: what distinguishes it from other variants.

    Raises:
        ValueError: not exactly one of the three is given.
    """

    model: str
    dataset: str
    scores: Sequence[Score] = ()
    error: AisPromptError | None = None
    predictions_only: bool = False
    is_reference: bool = False
    samples: int | None = None
    variant: VariantColumns = VariantColumns()

    def __post_init__(self) -> None:
        if [bool(self.scores), self.error is not None, self.predictions_only].count(True) != 1:
            raise ValueError(f"{self.name}: a task ends with scores, an error, or predictions only")

    @property
    def name(self) -> str:
        """``model/dataset``, as progress and errors show it."""
        return f"{self.model}/{self.dataset}"


class Row(Struct, frozen=True):
    """One line of the summary: one metric of one task. The fields are the columns of the files, in this order.

    Attributes:
        dataset, model: their ``abbr``; in place of a dataset there may be a group of them.
        metric: its name; None if the task was not scored.
        score, stderr: in the metric's own unit; None where there is no value.
        ci95_low, ci95_high: the 95 % confidence interval; None if unknown.
        bound_low, bound_high: the lowest and the highest score that failed and unparsed answers could lead to, if all
            were wrong or all were right; None if the metric has no right and wrong.
        fraction: whether these numbers are fractions of 1, shown as percent (0.935 as 93.5 %).
        n: answers requested; None if the task was not scored.
        of: answers of the whole dataset if not all were asked; else None.
        scored, unparsed, truncated, failed: number of answers in each state; their sum is ``n``.
        repeats: answers to each question.
        refused: answers that the server marked as refusals, whatever their status.
        questions: number of questions that the score is the mean of; None if it is not a mean.
        half_width: half the 95 % interval with these repeats, for the main metric of repeated questions; else None.
        target_half_width: the next round half width below it.
        repeats_needed: answers to each question that ``target_half_width`` needs; None if only more questions help.
        finished: the score without truncated answers, for the main metric; None if no answer was truncated.
        population: questions of the whole set, if those that were asked were drawn from it; ``stderr`` and the interval
            are about the whole set then. None if nothing was drawn.
        lower_is_better: whether less of the metric is better, as of a perplexity.
        unscored: which answers are not scored and why, in words; empty if all are.
        note: why there is no score; empty if there is one.
        base_model, base_dataset: of a variant, the names that all its variants share; else empty.
        prompt: of a variant, the name of its prompt.
        options: of a variant, JSON of its options.
    """

    dataset: str
    model: str
    metric: str | None = None
    score: float | None = None
    stderr: float | None = None
    ci95_low: float | None = None
    ci95_high: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None
    fraction: bool = True
    n: int | None = None
    of: int | None = None
    scored: int | None = None
    unparsed: int | None = None
    truncated: int | None = None
    failed: int | None = None
    repeats: int = 1
    refused: int = 0
    questions: int | None = None
    half_width: float | None = None
    target_half_width: float | None = None
    repeats_needed: int | None = None
    finished: float | None = None
    population: int | None = None
    lower_is_better: bool = False
    unscored: str = ""
    note: str = ""
    base_model: str = ""
    base_dataset: str = ""
    prompt: str = ""
    options: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, one for each column."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Row:
        """The inverse of `to_json`; columns that an earlier version did not write have their defaults.

        Raises:
            ValueError: the values are not those of a row.
        """
        return convert(values, cls)

    @property
    def size(self) -> str:
        """``n`` for people: ``57 of 100`` if not every sample was asked, ``200 of 14,042 drawn``; or empty."""
        if self.n is None:
            return ""
        if self.of is None and self.population is not None:
            return f"{self.n:,} of {self.population * self.repeats:,} drawn"
        return str(self.n) if self.of is None else f"{self.n} of {self.of}"


def summary_rows(outcomes: Iterable[TaskOutcome]) -> list[Row]:
    """Return one row for each metric of each task, in order; a task without scores has one row with a note."""
    return [
        replace(row, **asdict(outcome.variant)) if outcome.variant.base_model else row
        for outcome in outcomes
        for row in _rows(outcome)
    ]


def score_row(dataset: str, model: str, score: Score) -> Row:
    """Return the row of one score."""
    ci95, bounds = score.interval or (None, None), score.bounds or (None, None)
    precision = score.precision
    return Row(
        dataset=dataset,
        model=model,
        metric=score.metric,
        score=score.value,
        stderr=score.stderr,
        ci95_low=ci95[0],
        ci95_high=ci95[1],
        bound_low=bounds[0],
        bound_high=bounds[1],
        fraction=score.fraction,
        n=score.n,
        of=score.of,
        scored=score.counts["scored"],
        unparsed=score.counts["unparsed"],
        truncated=score.counts["truncated"],
        failed=score.counts["failed"],
        repeats=score.repeats,
        refused=score.refused,
        questions=score.questions,
        half_width=None if precision is None else precision.half_width,
        target_half_width=None if precision is None else precision.target,
        repeats_needed=None if precision is None else precision.repeats,
        finished=score.finished,
        population=score.population,
        lower_is_better=bool(score.lower_is_better),
        unscored=_unscored(score),
        note=_why_none(score),
    )


def _rows(outcome: TaskOutcome) -> list[Row]:
    if outcome.error is not None:
        reason = " ".join(str(outcome.error).split())
        if isinstance(outcome.error, Paused):
            return [Row(outcome.dataset, outcome.model, note=f"paused: {reason}")]
        return [Row(outcome.dataset, outcome.model, note=f"error: {type(outcome.error).__name__}: {reason}")]
    if outcome.is_reference:
        return [Row(outcome.dataset, outcome.model, note=REFERENCE_NOTE)]
    if outcome.predictions_only:
        return [Row(outcome.dataset, outcome.model, note="not scored: predictions only")]
    return [score_row(outcome.dataset, outcome.model, score) for score in outcome.scores]


def _unscored(score: Score) -> str:
    """``3 unparsed (no answer found 2, empty answer 1), 1 failed (timeout)``."""
    states = []
    for status in STATUSES[1:]:
        if number := score.counts[status]:
            found = {why.removeprefix(f"{status}: "): k for why, k in score.reasons.items() if why.startswith(status)}
            reasons = ", ".join(why if k == number else f"{why} {k}" for why, k in found.items())
            states.append(f"{number} {status}" + (f" ({reasons})" if reasons else ""))
    return ", ".join(states)


def _why_none(score: Score) -> str:
    if score.value is not None:
        return ""
    if not score.n:
        return "not asked yet"
    if score.counts["failed"] == score.n:
        # A judge without verdict and an unusable gold are failures too, but not of the requests.
        others = [why for why in score.reasons if why.startswith(("failed: judge", "failed: unusable gold"))]
        return "no value: every sample failed" if others else "no answer: every request failed"
    return f"no value: no question has answers enough for {score.metric}"


class Line(Struct, frozen=True):
    """One metric of one dataset.

    Attributes:
        dataset, metric: their names; the metric is None if no model has a score.
        n: answers requested: ``198–200`` if models differ, ``57 of 200`` if not every sample was asked.
        rows: the row of each model, in the order of the columns; None if it has no such metric.
    """

    dataset: str
    metric: str | None
    n: str
    rows: tuple[Row | None, ...]


def models_of(rows: Sequence[Row]) -> list[str]:
    """Return the models, in order."""
    return list(dict.fromkeys(row.model for row in rows))


def pivot(rows: Sequence[Row]) -> list[Line]:
    """Return the lines of the table, in the order of ``rows``; the columns are those of `models_of`."""
    by_key = {(row.dataset, row.metric, row.model): row for row in rows}
    models = models_of(rows)
    measured = {row.dataset for row in rows if row.metric is not None}
    lines = []
    for dataset, metric in dict.fromkeys((row.dataset, row.metric) for row in rows):
        if metric is None and dataset in measured:
            continue
        # A task without scores has one row, which fills every metric.
        found = [by_key.get((dataset, metric, model)) or by_key.get((dataset, None, model)) for model in models]
        known = sorted((row for row in found if row is not None and row.n is not None), key=lambda row: row.n or 0)
        sizes = "–".join(dict.fromkeys(row.size for row in [*known[:1], *known[-1:]]))
        lines.append(Line(dataset, metric, sizes, tuple(found)))
    return lines


def cell(row: Row | None) -> str:
    """Format a cell: ``94.5 % ±3.1``, ``*`` as `is_starred` says, or why there is no score."""
    if row is None:
        return "not measured"
    if row.score is None:
        return row.note.partition(":")[0]
    spread = half_width(row)
    spread = f" ±{spread}" if spread else ""
    return f"{value(row.score, fraction=row.fraction)}{spread}{'*' if is_starred(row) else ''}"


def is_starred(row: Row) -> bool:
    """Return whether a table marks a score: not every sample was asked, or too many answers have no score."""
    lost = sum(getattr(row, status) or 0 for status in STATUSES[1:])
    return row.of is not None or lost > STARRED * (row.n or 0)


def half_width(row: Row) -> str:
    """Format half of the 95 % interval without a unit: ``3.1``; empty without an interval."""
    if row.ci95_low is None or row.ci95_high is None:
        return ""
    return bare((row.ci95_high - row.ci95_low) / 2, fraction=row.fraction)


def right_answers(row: Row) -> int | None:
    """Return how many of the finished answers are right; None if that is not known, or answers are partly right.

    Scores of 0 and 1 have the largest variance of all scores from 0 to 1 with their mean, and no other scores have it.
    """
    if row.score is None or not row.fraction or row.bound_low is None or row.repeats > 1 or not row.n:
        return None
    answers, share = row.n - (row.failed or 0), row.score
    variance = share * (1 - share)
    if variance and (row.stderr is None or not math.isclose(row.stderr**2 * (answers - 1), variance, rel_tol=1e-6)):
        return None
    if row.truncated:
        if row.finished is None:
            return None
        answers, share = answers - row.truncated, row.finished
    return round(share * answers) if math.isclose(share * answers, round(share * answers), abs_tol=1e-6) else None


def best_rows(rows: Iterable[Row | None]) -> list[Row]:
    """Return the best scores of one dataset: the best one, and all that do not differ from it.

    Two scores differ if their difference is more than 1.96 of its standard errors, as of unpaired samples. None of the
    scores is best if all are, and none of a unit of its own whose direction is not known.
    """
    scored = [row for row in rows if row is not None and row.score is not None]
    sign = -1 if any(row.lower_is_better for row in scored) else 1
    known = [row for row in scored if row.fraction or sign < 0]
    top = max(known, key=lambda row: sign * (row.score or 0.0), default=None)
    if top is None:
        return []
    found = [
        row
        for row in known
        if abs((row.score or 0) - (top.score or 0)) <= Z * math.hypot(row.stderr or 0, top.stderr or 0)
    ]
    return found if len(found) < len(known) else []


def percent(fraction: float) -> str:
    """Format a fraction: ``0.9351`` as ``93.5 %``."""
    return f"{100 * fraction:.1f} %"


def value(number: float, *, fraction: bool) -> str:
    """Format a score: a fraction as ``93.5 %``, anything else as ``27.31``."""
    return percent(number) if fraction else plain(number)


def bare(number: float, *, fraction: bool) -> str:
    """Format the same number without its unit: ``1.8``."""
    return f"{100 * number:.1f}" if fraction else plain(number)


def plain(number: float) -> str:
    """Format with two decimals, or with four significant digits if the number is very large or small."""
    return f"{number:.2f}" if number == 0 or 0.01 <= abs(number) < 1e6 else f"{number:.4g}"


def span(low: float | None, high: float | None, *, fraction: bool) -> str:
    """Format a range: ``90.1–95.9``, or one number if both ends look the same; empty if either end is unknown."""
    if low is None or high is None:
        return ""
    ends = dict.fromkeys([bare(low, fraction=fraction), bare(high, fraction=fraction)])
    return ("–" if low >= 0 else " to ").join(ends)
