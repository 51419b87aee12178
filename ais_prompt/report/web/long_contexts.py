"""Scores of `RulerDataset` by task, length and depth, with the intervals that the effective length is read from."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from ais_prompt.metrics.aggregate import mean_scores, spread_of_questions
from ais_prompt.metrics.interval import Part, group_spread, mean_interval
from ais_prompt.report.web.breakdown import Breakdowns
from ais_prompt.types import SampleScore

COLUMNS: Final = ("task", "length", "language", "tokens_by")
"""The columns by which a sample of `RulerDataset` is known; it may also have a depth."""

_VALUE: Final = "value"

Samples: TypeAlias = list[SampleScore]
"""Samples with one value each, `_VALUE`, and names that are their own in the run."""


Context: TypeAlias = tuple[str | None, int | None, str | None, str | None, int | None]
"""Values of `COLUMNS` and the depth; None where a sample has none."""


def context_samples(breakdowns: Breakdowns) -> dict[Context, Samples]:
    """Return the samples of a task that count; none if they are not those of `RulerDataset`."""
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
            cells.setdefault((task, length, depth), []).extend(_renamed(number, one) for one in samples)
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


def _renamed(number: int, sample: SampleScore) -> SampleScore:
    [value] = sample.values.values()
    return replace(sample, sample_id=f"{number}/{sample.sample_id}", values={_VALUE: value})


def _score(samples: Samples) -> dict[str, Any]:
    """Return the mean of some samples with its 95 % interval, as all scores of the report have it."""
    [score] = mean_scores((_VALUE,), samples)
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
