"""Read and write a baseline: a small file that can be committed, with the samples of each dataset that were right.

JSON with a format version. The samples of a dataset are grouped by their value. With right and wrong, each dataset has
two lists of ids, and the diff of two files shows which samples changed::

    {"format": 2, "samples_by": "id", "run": "eval/20260131_235959Z",
     "tasks": [{"model": "m", "dataset": "d", "metric": "accuracy", "fraction": true,
                "n": 1319, "samples": {"0": "2d9e80bf2b1f 6c0f…", "1": "bd0e8911a38e …"}}]}

``n`` counts the samples without an answer too. If the metric is computed from sums (BLEU), ``sums`` has those of each
sample. Both are missing in files of earlier versions. A baseline of several runs has their number as ``runs``, the mean
over them as the value of each sample, and for each dataset as ``noise`` how much a value varies between the runs.
``lower_is_better`` says that a rise is a drop; without it the name of the metric decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import ConfigError
from ais_prompt.store.disk import reading, replacing
from ais_prompt.store.results import BaselineFile, check_shape
from ais_prompt.types import lower_is_better
from ais_prompt.utils import decode, encode, exception_line, read_regular

FORMAT: Final = 2
"""Version of the file. In format 1, samples are identified by their whole rows (``"samples_by": "row"``)."""
_AGAIN: Final = "write it again: aisprompt baseline RUN -o FILE"


class BaselineTask(Struct, frozen=True):
    """One model on one dataset.

    Attributes:
        model, dataset: their ``abbr``.
        metric: the main metric.
        fraction: whether its values are parts of 1.
        values: name of the sample → its value, of those samples that were answered.
        n: all samples, answered or not; None if that is not known.
        sums: name of the sample → its addends to the sums that the metric is computed from; empty if it is a mean.
        clusters: name of the sample → its cluster, of those that have one. They are not in the file, but come from the
            run that is compared with the baseline.
        lower_is_better: whether less of the metric is better.
        noise: the variance of a sample's value between the runs of the baseline, as the mean over the samples; None for
            one run.
    """

    model: str
    dataset: str
    metric: str
    fraction: bool
    values: Mapping[str, float]
    n: int | None = None
    sums: Mapping[str, tuple[float, ...]] = {}
    clusters: Mapping[str, str] = {}
    noise: float | None = None
    lower_is_better: bool = False

    @property
    def size(self) -> int:
        """All samples, as far as is known."""
        return len(self.values) if self.n is None else self.n


class Baseline(Struct, frozen=True):
    """The baseline that later runs are compared with.

    Attributes:
        run: name of the run that it was made from, or the names of several.
        tasks: its tasks in order.
        by_row: whether samples are identified by their whole rows, as in format 1, and not by their ids.
        runs: number of runs that it was made from.
    """

    run: str
    tasks: Sequence[BaselineTask]
    by_row: bool = False
    runs: int = 1


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write a baseline, whole or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    tasks = [
        {
            "model": task.model,
            "dataset": task.dataset,
            "metric": task.metric,
            "fraction": task.fraction,
            **({} if task.n is None else {"n": task.n}),
            **({} if task.noise is None else {"noise": task.noise}),
            **({"lower_is_better": task.lower_is_better} if _is_directed(task) else {}),
            "samples": _by_value(task.values),
            **({"sums": {name: " ".join(map(repr, row)) for name, row in task.sums.items()}} if task.sums else {}),
        }
        for task in baseline.tasks
    ]
    with replacing(path, json=True) as stream:
        head = {"format": FORMAT, "samples_by": "row" if baseline.by_row else "id", "run": baseline.run}
        several = {} if baseline.runs == 1 else {"runs": baseline.runs}
        stream.write(encode({**head, **several, "tasks": tasks}, indent=1))


def read_baseline(path: Path) -> Baseline:
    """Read a baseline.

    Raises:
        StoreError: it cannot be read.
        ConfigError: it is no baseline, or a baseline of another format.
    """
    with reading(path, fix=_AGAIN):
        content = read_regular(path)
    try:
        values = decode(content.decode("utf-8-sig"))
        if values["format"] not in (1, FORMAT):
            raise ConfigError(
                f"the baseline has format {values['format']!r}, this version reads {FORMAT}",
                where=str(path),
                fix=_AGAIN,
            )
        check_shape(values, BaselineFile)
        by_row = values["format"] == 1 or values["samples_by"] == "row"
        tasks = tuple(_task(task) for task in values["tasks"])
        return Baseline(values["run"], tasks, by_row, int(values.get("runs", 1)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"this is no baseline: {exception_line(error)}", where=str(path), fix=_AGAIN) from None


def _by_value(values: Mapping[str, float]) -> dict[str, str]:
    groups: dict[str, list[str]] = {}
    for name, value in sorted(values.items()):
        groups.setdefault(f"{value:.17g}", []).append(name)
    return {value: " ".join(names) for value, names in sorted(groups.items(), key=lambda group: float(group[0]))}


def _task(task: Mapping[str, Any]) -> BaselineTask:
    values = {name: float(value) for value, names in task["samples"].items() for name in names.split(" ")}
    sums = {name: tuple(map(float, row.split(" "))) for name, row in task.get("sums", {}).items()}
    n = None if task.get("n") is None else int(task["n"])
    made = BaselineTask(task["model"], task["dataset"], task["metric"], bool(task["fraction"]), values, n, sums)
    return replace(
        made,
        noise=None if task.get("noise") is None else float(task["noise"]),
        lower_is_better=bool(task.get("lower_is_better", lower_is_better(made.metric))),
    )


def _is_directed(task: BaselineTask) -> bool:
    """Return whether the file has to say the direction: less is better, or the name says so and is wrong."""
    return task.lower_is_better or lower_is_better(task.metric)
