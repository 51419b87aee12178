"""What the report takes from a run folder beside the predictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from ais_prompt.errors import StoreError
from ais_prompt.store.disk import reading
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.results import read_details, read_scores, read_sensitivity
from ais_prompt.utils.jsonl import decode

FIX: Final = "make the summary again: give the run's command again with -m viz -r"
_NEEDED: Final = ("model", "dataset", "metric", "note")


class ShownTask(Struct, frozen=True):
    """A task whose samples the report shows.

    Attributes:
        model, dataset: their ``abbr``.
        scored: True if it has scores, and a results file of the same session.
    """

    model: str
    dataset: str
    scored: bool


def summary_of(folder: RunFolder) -> list[dict[str, Any]]:
    """The lines of the summary: each is an `ais_prompt.summary.rows.Row` as JSON values.

    Raises:
        StoreError: the run has no summary yet, or it is broken.
    """
    path = folder.summary_dir / "summary.json"
    with reading(path, FIX):
        content = path.read_bytes()
    try:
        rows = decode(content.decode())
    except ValueError as error:
        raise StoreError(f"the file is not JSON: {error}", where=str(path), fix=FIX) from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and row.keys() >= {*_NEEDED} for row in rows):
        raise StoreError("the file is not a summary", where=str(path), fix=FIX)
    return rows


def shown_tasks(folder: RunFolder, rows: Sequence[Mapping[str, Any]]) -> list[ShownTask]:
    """The tasks of a summary that left predictions; neither averages nor tasks that failed early did."""
    tasks: dict[tuple[str, str], ShownTask] = {}
    for row in rows:
        task = ShownTask(row["model"], row["dataset"], row["metric"] is not None)
        if folder.predictions(task.model, task.dataset).exists():
            tasks.setdefault((task.model, task.dataset), task)
    return list(tasks.values())


class Results:
    """The results file of a task.

    Attributes:
        metric: the main metric; None if the task was not scored.
        fraction: whether its values are parts of 1: 1 is right, and 0 is wrong.
    """

    def __init__(
        self, metric: str | None = None, fraction: bool = False, details: Iterable[Mapping[str, Any]] = ()
    ) -> None:
        self.metric = metric
        self.fraction = fraction
        self._details = iter(details)
        self._passed: dict[str, Mapping[str, Any]] = {}  # those that nobody has asked for yet

    def detail_of(self, sample_id: str) -> Mapping[str, Any]:
        """A `SampleScore` as JSON values; empty if there is none.

        Each is given once. Those that are asked for in the order of the file take no memory.

        Raises:
            StoreError: the file is broken.
        """
        while sample_id not in self._passed:
            if (detail := next(self._details, None)) is None:
                return {}
            self._passed[detail["sample_id"]] = detail
        return self._passed.pop(sample_id)


def results_of(task: ShownTask, folder: RunFolder) -> Results:
    """The results of a task; empty if it was not scored.

    Raises:
        StoreError: the file is not there, or broken.
    """
    if not task.scored:
        return Results()
    path = folder.results(task.model, task.dataset)
    main = read_scores(path)[0]
    return Results(main.metric, main.fraction, read_details(path))


def sensitivity_of(task: ShownTask, folder: RunFolder) -> dict[str, Any] | None:
    """The scores of a task under other postprocessors as JSON values; None if there are none.

    Raises:
        StoreError: the results are not there, or broken.
    """
    found = read_sensitivity(folder.results(task.model, task.dataset)) if task.scored else None
    if found is None:
        return None
    return {**found.to_json(), "far": [other.postprocessor for other in found.far]}
