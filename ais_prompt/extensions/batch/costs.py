"""What the answers of a run cost: a model, a dataset, and a right answer, for the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct, convert, to_builtins

from ais_prompt.errors import AisPromptError
from ais_prompt.plan import stored_spec
from ais_prompt.report import ReportTab
from ais_prompt.store import RunFolder, read_scores, reading
from ais_prompt.types import Price, TaskSpec, Usage
from ais_prompt.utils import read_objects


class TaskCost(Struct, frozen=True):
    """What the answers of one task cost.

    Attributes:
        model, dataset: the task.
        answers: how many there are.
        in_batches: those of batches.
        uncounted: answers whose tokens the server did not count; their cost is not in `cost`.
        cost: of the others; None if the model has no price.
        currency: of `cost`.
        source: where the price comes from.
        right: how many of its samples are right; None if its main score is no share.
    """

    model: str
    dataset: str
    answers: int
    in_batches: int
    uncounted: int
    cost: float | None
    currency: str
    source: str
    right: float | None

    @property
    def of_right(self) -> float | None:
        """The cost of a right answer; None if it is not known, or nothing is right."""
        return self.cost / self.right if self.cost is not None and self.right and not self.uncounted else None


def costs_of(folder: RunFolder) -> list[TaskCost]:
    """Return what the tasks of a run cost, judges left out; empty if no model has a price.

    Raises:
        StoreError: a file cannot be read.
    """
    if "price" not in folder.config_file.read_text("utf-8", "replace"):
        return []  # a config of many datasets takes seconds to be parsed
    spec = stored_spec(folder)
    if not any(model.price for model in spec.models):
        return []
    return [_cost(folder, task) for task in spec.tasks]


def _cost(folder: RunFolder, task: TaskSpec) -> TaskCost:
    price = task.model.price
    answers = in_batches = uncounted = 0
    cost = 0.0
    for usage in _usages(folder, task):
        answers += 1
        in_batches += usage.tier is not None
        sent, received = usage.prompt_tokens, usage.completion_tokens
        if sent is None or received is None:
            uncounted += 1
        elif price is not None:
            cost += price.cost(sent, received, usage)
    known = price or Price(0, 0)
    return TaskCost(
        task.model.abbr,
        task.dataset.abbr,
        answers,
        in_batches,
        uncounted,
        None if price is None or (answers and uncounted == answers) else cost,
        known.currency,
        known.source,
        _right(folder, task),
    )


def _usages(folder: RunFolder, task: TaskSpec) -> Iterator[Usage]:
    path = folder.predictions(task.model.abbr, task.dataset.abbr)
    if not path.exists():
        return
    with reading(path, fix="repair the disk"), path.open("rb") as lines:
        for _, line in read_objects(lines, str(path)):
            for completion in line.get("completions", ()):
                if not completion.get("failure"):
                    yield convert(completion.get("usage") or {}, Usage, strict=False)


def _right(folder: RunFolder, task: TaskSpec) -> float | None:
    path = folder.results(task.model.abbr, task.dataset.abbr)
    if not path.exists():
        return None
    score = read_scores(path)[0]
    return score.value * score.n if score.fraction and score.is_mean and score.value is not None else None


def _data(folder: RunFolder) -> Mapping[str, Any]:
    costs = []
    with suppress(AisPromptError):  # the report of scores goes on without costs
        costs = [{**to_builtins(one), "of_right": one.of_right} for one in costs_of(folder)]
    return {"costs": costs}


TAB: Final = ReportTab(data=_data, line=lambda _: {}, version=lambda _: 0, live=lambda _: None)
