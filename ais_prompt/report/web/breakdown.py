"""Scores of a task by column of the row, by length of the answer and by number of shots, with intervals.

Samples of long contexts have a task, a length and perhaps a depth: the effective length of a context is read from them.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from msgspec.structs import replace

from ais_prompt.metrics import Part, group_spread, mean_interval, mean_scores, spread_of_questions
from ais_prompt.types import Prediction, SampleScore

MOST_GROUPS: Final = 50
"""A text column with more different values is no grouping."""
BINS: Final = 5
"""Bins of a number with more than `MOST_GROUPS` different values, each with about as many samples."""
SHOTS: Final = "shots"
LENGTH: Final = "length of the answer"
COLUMNS: Final = ("task", "length", "language", "tokens_by")
"""The columns by which a sample of a long context is known; it may also have a depth."""
_VALUE: Final = "value"
Samples: TypeAlias = list[SampleScore]
"""Samples with one value each, `_VALUE`, and names that are their own in the run."""
Context: TypeAlias = tuple[str | None, int | None, str | None, str | None, int | None]
"""Values of `COLUMNS` and the depth; None where a sample has none."""


class Breakdowns:
    """Collect value, cluster and columns of each sample of a task.

    Args:
        metric: the main metric; None unless the score is the mean of its values, which are 0 to 1.
    """

    def __init__(self, metric: str | None) -> None:
        self._metric = metric
        self._values = array("d")  # NaN for a sample that does not count
        self._clusters: list[str | None] = []
        self._columns: dict[str, _Column] = {}

    def add(self, prediction: Prediction, detail: SampleScore | None, length: int | None) -> None:
        """Add a sample.

        Args:
            prediction, detail: as in `ais_prompt.report.web.sample.SampleChunk.add`.
            length: of its answer, in any unit; None if it has none.
        """
        if detail is None or detail.status == "failed" or (detail.values and self._metric not in detail.values):
            self._values.append(math.nan)
        else:  # as `read_questions` does, 0 for an answer without values
            self._values.append(detail.values.get(self._metric or "", 0.0))
        self._clusters.append(detail.cluster if detail else None)
        place = len(self._values) - 1
        for name, value in {**prediction.columns, SHOTS: prediction.shots_used, LENGTH: length}.items():
            if name not in self._columns:
                self._columns[name] = _Column()
            self._columns[name].add(place, value)

    def filters(self) -> dict[str, list[Any]]:
        """Return the columns of the data to filter by, each with its values."""
        groups = {name: list(column.codes) for name, column in self._columns.items() if column.is_grouping}
        own = {name: sorted(values, key=_order) for name, values in groups.items() if name not in (SHOTS, LENGTH)}
        return {name: values for name, values in own.items() if len(values) > 1}

    def to_json(self) -> list[dict[str, Any]]:
        """Return the score of each group: ``by``, and ``groups`` with name, n, score, low and high."""
        if self._metric is None:
            return []
        found = []
        for by, column in self._columns.items():
            # Places are numbers: the samples of one group at a time are in memory.
            groups = [
                (name, [one for one in places if not math.isnan(self._values[one])]) for name, places in column.groups()
            ]
            if len(counting := [(name, places) for name, places in groups if places]) > 1:
                scored = [
                    {"name": name, **_score(self._samples(places, self._metric), self._metric)}
                    for name, places in counting
                ]
                found.append({"by": by, "groups": scored})
        return found

    def _samples(self, places: Iterable[int], metric: str) -> Samples:
        return [
            SampleScore("", "scored", values={metric: self._values[place]}, cluster=self._clusters[place])
            for place in places
        ]

    def samples_by(self, needed: Sequence[str], optional: str) -> dict[tuple[Any, ...], list[SampleScore]]:
        """Return the samples that count, named by their place, by their values of some columns.

        Args:
            needed: without one of these, or with too many values in one, there are no samples.
            optional: the last column; None for a sample without a value of it, and if it has too many.
        """
        columns = [column for name in needed if (column := self._columns.get(name)) and column.has_few_values]
        found: dict[tuple[Any, ...], list[SampleScore]] = {}
        if self._metric is None or len(columns) < len(needed):
            return found
        last = self._columns.get(optional)
        of_places = [_values_by_place(column) for column in columns]
        of_places.append(_values_by_place(last) if last and last.has_few_values else {})
        for place, (value, cluster) in enumerate(zip(self._values, self._clusters, strict=True)):
            if not math.isnan(value):
                key = tuple(of_place.get(place) for of_place in of_places)
                sample = SampleScore(str(place), "scored", values={self._metric: value}, cluster=cluster)
                found.setdefault(key, []).append(sample)
        return found


class _Column:
    """The values of one column: a code for each while there are few, and numbers for bins."""

    def __init__(self) -> None:
        self.codes: dict[Any, array[int]] = {}  # value → places of its samples
        self._places, self._numbers = array("q"), array("d")
        self._only_numbers = True
        self._rows = 0  # with a value
        self.has_few_values = True  # no more than `MOST_GROUPS`

    def add(self, place: int, value: Any) -> None:
        if not isinstance(value, str | bool | int | float):
            return
        if isinstance(value, bool | str):
            self._only_numbers = False
        elif self._only_numbers:
            self._places.append(place)
            self._numbers.append(value)
        if self.has_few_values:
            self.codes.setdefault(value, array("q")).append(place)
            self.has_few_values = len(self.codes) <= MOST_GROUPS
        self._rows += 1

    @property
    def is_grouping(self) -> bool:
        """Whether there are few values, and not another one in each row, as in the questions of a small dataset."""
        return self.has_few_values and (len(self.codes) == 1 or len(self.codes) < self._rows)

    def groups(self) -> Iterator[tuple[str, Sequence[int]]]:
        """Yield name and places of each group."""
        if self.is_grouping and not (self._only_numbers and len(self.codes) > 2 * BINS):
            for value in sorted(self.codes, key=_order):
                yield str(value), self.codes[value]
        elif self._only_numbers and self._numbers:
            numbers = np.array(self._numbers)
            edges = np.unique(np.quantile(numbers, np.linspace(0, 1, BINS + 1), method="nearest"))
            bins = np.searchsorted(edges[1:-1], numbers, side="right").tolist()
            for number in sorted(set(bins)):
                low, high = edges[number], edges[min(number + 1, len(edges) - 1)]
                name = f"{low:g} to {high:g}" if number == len(edges) - 2 else f"{low:g} to below {high:g}"
                yield name, [place for place, of in zip(self._places, bins, strict=True) if of == number]


def _values_by_place(column: _Column) -> dict[int, Any]:
    return {place: value for value, places in column.codes.items() for place in places}


def _order(value: Any) -> tuple[bool, float, str]:
    """Numbers first, in their order; then texts."""
    is_text = isinstance(value, str)
    return is_text, 0.0 if is_text else float(value), str(value)


def context_samples(breakdowns: Breakdowns) -> dict[Context, Samples]:
    """Return the samples of a task that count; none if they lack these columns."""
    return breakdowns.samples_by(COLUMNS, "depth")


def long_contexts(tasks: Iterable[tuple[str, Mapping[Context, Sequence[SampleScore]]]]) -> list[dict[str, Any]]:
    """Return the scores of each model and language as JSON values.

    Args:
        tasks: model and samples of each task of the run, from `context_samples`.

    Returns:
        For each model and language: ``model``, ``language``, ``estimated`` (whether lengths are estimates), ``tasks``,
        ``lengths`` (the mean of the tasks at a length, and how many tasks that are), ``scores`` (by task and length),
        and ``depths`` (by task, length and depth, in percent). Scores have ``score``, ``low``, ``high`` and ``n``.
    """
    found: dict[tuple[str, str], dict[tuple[str, int, int | None], Samples]] = {}
    estimated = set[tuple[str, str]]()
    for number, (model, contexts) in enumerate(tasks):
        for (task, length, language, tokens_by, depth), samples in contexts.items():
            if task is None or length is None or language is None or tokens_by is None:
                continue
            cells = found.setdefault((model, language), {})
            cells.setdefault((task, length, depth), []).extend(
                replace(one, sample_id=f"{number}/{one.sample_id}", values={_VALUE: value})
                for one in samples
                for value in one.values.values()
            )
            if tokens_by == "estimate":
                estimated.add((model, language))
    return [{**_context(*key, cells), "estimated": key in estimated} for key, cells in found.items()]


def _context(model: str, language: str, cells: dict[tuple[str, int, int | None], Samples]) -> dict[str, Any]:
    of_tasks: defaultdict[tuple[str, int], Samples] = defaultdict(list)
    for (task, length, _), samples in cells.items():
        of_tasks[task, length].extend(samples)
    tasks = list(dict.fromkeys(task for task, _ in of_tasks))
    lengths = sorted({length for _, length in of_tasks})
    at = {length: [of_tasks[task, length] for task in tasks if (task, length) in of_tasks] for length in lengths}
    return {
        "model": model,
        "language": language,
        "tasks": tasks,
        "lengths": [{"length": length, "tasks": len(at[length]), **_mean(at[length])} for length in lengths],
        "scores": [{"task": task, "length": length, **_score(samples)} for (task, length), samples in of_tasks.items()],
        "depths": [
            {"task": task, "length": length, "depth": depth, **_score(samples)}
            for (task, length, depth), samples in cells.items()
            if depth is not None
        ],
    }


def _score(samples: Samples, metric: str = _VALUE) -> dict[str, Any]:
    """Return the mean of some samples with its 95 % interval, as all scores of the report have it."""
    [score] = mean_scores((metric,), samples)
    low, high = score.interval or (None, None)
    return {"score": score.value, "low": low, "high": high, "n": len(samples)}


def _mean(tasks: Sequence[Samples]) -> dict[str, Any]:
    """Return the mean of the scores of some tasks with its 95 % interval, as the average of a group has it."""
    if len(tasks) == 1:
        return _score(tasks[0])
    questions = [[(one.cluster or one.sample_id, one.values[_VALUE]) for one in samples] for samples in tasks]
    means = [math.fsum(value for _, value in own) / len(own) for own in questions]
    score = math.fsum(means) / len(means)
    parts = [
        Part(1 / len(tasks), mean, spread, own)
        for own, mean in zip(questions, means, strict=True)
        if (spread := spread_of_questions(own, mean)) is not None
    ]
    low, high = mean_interval(score, group_spread(parts), 1.0) if len(parts) == len(tasks) else (None, None)
    return {"score": score, "low": low, "high": high, "n": sum(map(len, tasks))}
