"""What the report shows before any sample is opened: the run, the scores, distributions, and the table of samples."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from ais_prompt.errors import AisPromptError
from ais_prompt.preview import prompts_of, snippet
from ais_prompt.report.score_notes import precision_notes
from ais_prompt.report.score_table import ranked
from ais_prompt.report.web.assets import finite_json
from ais_prompt.report.web.breakdown import Breakdowns, context_samples, long_contexts
from ais_prompt.report.web.run_files import ShownTask, groups_of, is_average
from ais_prompt.report.web.sample import finite
from ais_prompt.scoring import UNUSABLE_GOLD, Row, best_rows, is_starred, pivot
from ais_prompt.store import RunFolder, read_details, read_head, read_predictions, read_run_file, reading
from ais_prompt.terminal import tracked
from ais_prompt.types import Completion, Prediction, SampleScore, Score, TaskFacts

UNITS: Final = ("tokens", "characters")
"""Units of the length of answers."""
BINS: Final = 40
"""Maximum number of bins."""
_WIDE: Final = 20
"""The axis is logarithmic if the largest value is more than this many times the median."""
COLUMNS: Final = (
    "id",
    "index",
    "question",
    "state",
    "value",
    "extracted",
    "unread",
    "gold",
    "tokens",
    "characters",
    "seconds",
    "reason",
    "columns",
)
"""The table's columns. The browser shows one of ``tokens`` and ``characters``, the same for the whole task. ``unread``
is the last line of an answer from which nothing was extracted; ``seconds`` are rounded to 10 microseconds."""
Value = TypeVar("Value")


class TaskTotals:
    """Totals of one task for the overview: counts, and a few bytes for each sample.

    Attributes:
        task: whose samples they are.
        trouble: why samples are missing; empty if none are.
        sensitivity: the scores under other postprocessors, as JSON values; None if there are none.
        doubt: how many wrong answers contain the gold answer; empty if few do.
        seconds: how long each answer took; samples without one are left out.
        breakdowns: None until the metric of the task is known.
        is_whole: set when all samples are added; breakdowns are left out before, since they take long.
    """

    def __init__(self, task: ShownTask) -> None:
        self.trouble = self.doubt = ""
        self.sensitivity: Mapping[str, Any] | None = None
        self.breakdowns: Breakdowns | None = None
        self.is_whole = False
        self.task = task
        self._samples = 0
        self._states: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self.seconds = array("d")
        self._tokens = array("d")
        self._characters = array("d")
        self._tokens_known = True

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a line of the table."""
        self._samples += 1
        self._states[row["state"]] += 1
        if row["reason"]:
            self._reasons[row["reason"]] += 1
        self._tokens_known &= row["tokens"] is not None or row["characters"] is None
        for name, values in (("tokens", self._tokens), ("characters", self._characters), ("seconds", self.seconds)):
            if row[name] is not None:
                values.append(row[name])

    @property
    def unit(self) -> str:
        """One of `UNITS`: characters if the tokens of an answer are unknown."""
        return "tokens" if self._tokens_known else "characters"

    @property
    def lengths(self) -> Sequence[float]:
        """Lengths of the answers, in `unit`."""
        return self._tokens if self._tokens_known else self._characters

    def to_json(self) -> dict[str, Any]:
        """Return what the overview shows of the samples so far."""
        return {
            "model": self.task.model,
            "dataset": self.task.dataset,
            "trouble": self.trouble,
            "unit": self.unit,
            "samples": self._samples,
            "states": self._states,
            "reasons": self._reasons,
            "sensitivity": self.sensitivity,
            "doubt": self.doubt,
            "columns": self.breakdowns.filters() if self.breakdowns else {},
            "breakdowns": (self.breakdowns.to_json() if self.breakdowns else []) if self.is_whole else [],
        }


def overview(folder: RunFolder, rows: Sequence[Row], tasks: Sequence[TaskTotals]) -> dict[str, Any]:
    """Return the overview of a run as JSON values with finite numbers.

    Args:
        folder: of the run.
        rows: the lines of its summary.
        tasks: those with samples.

    Raises:
        StoreError: the record of the run cannot be read.
    """
    record = read_run_file(folder)
    with reading(folder.config_file, fix="give the run's command again with -m viz -r"):
        config = folder.config_file.read_text("utf-8", "replace")
    facts = {name: TaskFacts.from_json(values) for name, values in record.get("tasks", {}).items()}
    contexts = [(one.task.model, context_samples(one.breakdowns)) for one in tasks if one.breakdowns]
    values = {
        "name": folder.root.resolve().parent.name,
        "time": folder.root.resolve().name,
        "status": record.get("status", ""),
        "sessions": record.get("sessions", []),
        "versions": record.get("versions", {}),
        "speeds": {name: task.speed.to_json() for name, task in facts.items() if task.speed},
        "config": config,
        **_scores(rows, {row.dataset for row in rows if is_average(row, folder)}),
        "groups": groups_of(folder),
        "precision": precision_notes(rows),
        "tasks": [task.to_json() for task in tasks],
        "long_contexts": long_contexts(contexts),
        "lengths": {
            unit: distributions([task.lengths if task.unit == unit else () for task in tasks]) for unit in UNITS
        },
        "seconds": distributions([task.seconds if any(task.seconds) else () for task in tasks]),
    }
    found: dict[str, Any] = finite_json(values)
    return found


def _scores(rows: Sequence[Row], groups: Collection[str]) -> dict[str, Any]:
    """Return the scores with the marks of a table, the order of the models, and their means over all datasets.

    In a terminal they are the same (`ais_prompt.report.score_table`).
    """
    ranking = ranked(rows, groups)
    shown = [*ranking.means, *rows]
    best = {id(row) for line in pivot(shown) for row in best_rows(line.rows)}
    lines = [{**row.to_json(), "is_starred": is_starred(row), "is_best": id(row) in best} for row in shown]
    means, scores = lines[: len(ranking.means)], lines[len(ranking.means) :]
    found: dict[str, Any] = {"scores": scores, "ranking": ranking.models, "mean": None}
    if means:
        _, of, width = ranking.means[0].dataset.partition(" (")
        found["mean"] = {"datasets": len({row.dataset for row in rows}), "width": of + width, "scores": means}
    return found


def distributions(groups: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return one histogram for each group, as JSON values.

    Args:
        groups: values >= 0 of each task; a task may have none.

    Returns:
        ``edges`` of the bins, one more than there are bins, and empty if there are no values (bins of whole numbers
        begin and end at whole numbers); ``groups``, each with
        ``counts`` (one for each bin), ``median`` and ``p95``, or None where there are no values.
    """
    edges = _edges(sorted(value for group in groups for value in group))
    return {"edges": edges, "groups": [_distribution(sorted(group), edges) if group else None for group in groups]}


def _edges(values: Sequence[float]) -> list[float]:
    """Return bins of equal width, or of equal ratio if a few values are far above the others."""
    if not values:
        return []
    high = values[-1] or 1.0
    if high <= _WIDE * _quantile(values, 0.5):
        if all(float(value).is_integer() for value in values):
            width = math.ceil((high + 1) / BINS)
            return [float(edge) for edge in range(0, int(high) + width + 1, width)]
        return [high * step / BINS for step in range(BINS + 1)]
    # Values below a ten-thousandth of the largest fall into the first bin.
    low = max(next((value for value in values if value > 0), high), high / 1e4)
    low = min(low, high / 10)
    return [low * (high / low) ** (step / BINS) for step in range(BINS + 1)]


def _distribution(values: Sequence[float], edges: Sequence[float]) -> dict[str, Any]:
    counts = [0] * (len(edges) - 1)
    for value in values:
        counts[min(max(bisect_right(edges, value) - 1, 0), len(counts) - 1)] += 1
    return {"counts": counts, "median": _quantile(values, 0.5), "p95": _quantile(values, 0.95)}


def _quantile(values: Sequence[float], share: float) -> float:
    """Return the quantile of sorted values by nearest rank."""
    return values[max(0, -int(-share * len(values) // 1) - 1)]


def samples_of(
    totals: TaskTotals, folder: RunFolder
) -> Iterator[tuple[Prediction, SampleScore | None, dict[str, Any]]]:
    """Yield each prediction of a task, its score, and its line of the table from `row`.

    The reason why some cannot be read is in ``totals.trouble`` at the end.
    """
    task, main, details = totals.task, None, InOrder[SampleScore](())
    try:
        if task.scored:
            results = folder.results(task.model, task.dataset)
            [main, *_], found, totals.doubt = read_head(results)
            if found is not None:
                totals.sensitivity = {**found.to_json(), "far": [other.postprocessor for other in found.far]}
            details = InOrder((detail.sample_id, detail) for detail in read_details(results))
        totals.breakdowns = breakdowns = Breakdowns(main.metric if main and main.is_mean else None)
        predictions = read_predictions(folder.predictions(task.model, task.dataset))
        for prediction in tracked(predictions, f"reporting {task.model}/{task.dataset}", unit="samples"):
            detail = details.pop(prediction.sample_id)
            line = row(prediction, detail, main)
            totals.add(line)
            breakdowns.add(prediction, detail, line[totals.unit])
            yield prediction, detail, line
    except AisPromptError as error:
        totals.trouble = str(error)
    totals.is_whole = True


class InOrder(Generic[Value]):
    """Values by the id of their sample, each asked for once.

    Those that are asked for in their own order take no memory.
    """

    def __init__(self, values: Iterable[tuple[str, Value]]) -> None:
        self._values = iter(values)
        self._passed: dict[str, Value] = {}  # those that were read but not asked for yet

    def pop(self, sample_id: str) -> Value | None:
        """Return the value of a sample; None if there is none."""
        while sample_id not in self._passed:
            if (found := next(self._values, None)) is None:
                return None
            self._passed[found[0]] = found[1]
        return self._passed.pop(sample_id)


def row(prediction: Prediction, detail: SampleScore | None, main: Score | None) -> dict[str, Any]:
    """Return one line of the table, without its question.

    Args:
        prediction, detail: as in `SampleChunk.add`.
        main: the score of the task, whose metric the table shows; None if it was not scored.
    """
    value = finite(detail.values.get(main.metric)) if detail and main else None
    failure = next((completion.failure for completion in prediction.completions if completion.failure), None)
    # Failures and log-likelihoods are no texts: they have no length.
    answers = [completion for completion in prediction.completions if not (completion.failure or completion.likelihood)]
    unread = None
    if detail and detail.extracted is None:
        texts = [text for answer in answers if (text := answer.text.strip())]
        unread = texts[-1].rpartition("\n")[2] if texts else None  # where a conclusion mostly is
    return {
        "id": prediction.sample_id,
        "index": prediction.index,
        "state": _state(prediction, detail, main, value),
        "value": value,
        "extracted": snippet(detail.extracted if detail else None),
        "unread": snippet(unread),
        "gold": snippet(detail.gold if detail else prediction.gold),
        **_measures(prediction, answers),
        "reason": (detail.reason if detail else "") or (failure.kind if failure else ""),
        "columns": dict(prediction.columns),
    }


def _measures(prediction: Prediction, answers: Sequence[Completion]) -> dict[str, float | None]:
    """Return the tokens, characters and seconds of a sample; None for those that are not known.

    Turns are sequential; labels and answers to the same prompt are concurrent.
    """
    known = [count for answer in answers if (count := answer.usage.completion_tokens) is not None]
    times = [completion.seconds for completion in prediction.completions]
    is_sequential = len(times) > 1 and len(prompts_of(prediction)) > 1
    seconds = sum(times) if is_sequential else max(times, default=0.0)
    return {
        "tokens": sum(known) if known and len(known) == len(answers) else None,
        "characters": sum(len(answer.text) for answer in answers) if answers else None,
        "seconds": None if prediction.failed or not math.isfinite(seconds) else round(seconds, 5),
    }


def _state(prediction: Prediction, detail: SampleScore | None, main: Score | None, value: float | None) -> str:
    """Return the status of a sample; ``right``, ``partial`` or ``wrong`` if it was scored between 0 and 1.

    A sample that failed because of its gold is ``no_gold``: its answer may be good.
    """
    if detail is None:
        return "failed" if prediction.failed else "truncated" if prediction.truncated else "answered"
    status = detail.status
    if status == "failed" and detail.reason.startswith(UNUSABLE_GOLD):
        return "no_gold"
    if status != "scored" or value is None or not (main and main.fraction):
        return status
    rightness = 1 - value if main.lower_is_better else value
    if not 0 <= rightness <= 1:
        return status
    return "right" if rightness == 1 else "partial" if rightness > 0 else "wrong"
