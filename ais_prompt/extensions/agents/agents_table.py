"""The table of agents: what each of them scored and needed, with intervals."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct, field

from ais_prompt.extensions.agents.trajectory import called_tools
from ais_prompt.metrics import t_quantile
from ais_prompt.report import StoredResults, StoredTask
from ais_prompt.types import Completion, Document

MEASURES = ("steps", "tool_calls", "tokens", "cost", "seconds")


class Needed(Struct, frozen=True):
    """The mean of a measure over the samples.

    Attributes:
        mean: of the samples.
        low, high: 95 % interval of the mean (Student's t); None with fewer than two samples.
    """

    mean: float
    low: float | None = None
    high: float | None = None


class AgentRow(Struct, frozen=True):
    """One agent on one dataset.

    Attributes:
        agent, dataset: ``abbr`` of both.
        samples: answers with a trajectory, each repeat for itself.
        failed: answers without a result among them.
        metric, score: the headline, from 0 to 1 or as the evaluator has it; None if it was not scored.
        low, high: interval of the score; None without one.
        steps, tool_calls, tokens, cost, seconds: what a sample needed; None where it is not known.
    """

    agent: str
    dataset: str
    samples: int
    failed: int
    metric: str
    score: float | None
    low: float | None
    high: float | None
    steps: Needed | None
    tool_calls: Needed | None
    tokens: Needed | None
    cost: Needed | None
    seconds: Needed | None


class AgentsDocument(Document, kw_only=True):
    """What ``agents`` prints.

    Attributes:
        agents: a row for each agent and dataset.
    """

    kind: Literal["agents"]
    agents: Sequence[AgentRow] = field(default_factory=list)


def agent_rows(run: StoredResults) -> Iterator[AgentRow]:
    """Yield a row for each task of a run that has trajectories.

    Raises:
        StoreError, DataError: a file cannot be read.
    """
    for task in run.tasks:
        completions = [one for sample in task.samples() for one in sample.prediction.completions if one.trajectory]
        if completions:
            yield _row(task, completions)


def _row(task: StoredTask, completions: Sequence[Completion]) -> AgentRow:
    main = task.scores[0] if task.scores else None
    low, high = (main.interval if main is not None else None) or (None, None)
    return AgentRow(
        task.model,
        task.dataset,
        len(completions),
        sum(one.failure is not None for one in completions),
        "" if main is None else main.metric,
        None if main is None else main.value,
        low,
        high,
        needed(len(one.trajectory) for one in completions),
        needed(len(called_tools(one.trajectory)) for one in completions),
        needed(_sum((one.usage.prompt_tokens, one.usage.completion_tokens)) for one in completions),
        needed(_sum(call.cost for call in one.trajectory) for one in completions),
        needed(one.seconds or None for one in completions),  # a log may not have them
    )


def needed(values: Iterable[float | None]) -> Needed | None:
    """Return the mean of the known values with its interval; None without any."""
    found = [float(value) for value in values if value is not None]
    if not found:
        return None
    mean, count = statistics.fmean(found), len(found)
    if count < 2:
        return Needed(mean)
    half = t_quantile(0.975, count - 1) * statistics.stdev(found) / math.sqrt(count)
    return Needed(mean, mean - half, mean + half)


def _sum(values: Iterable[float | None]) -> float | None:
    """Return the sum of the known values; None without any."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
