"""Make, write and read a baseline: a small file to be committed, with the samples of each dataset that were right.

JSON with a format version. The samples of a dataset are grouped by their value. With right and wrong, each dataset has
two lists of ids, and the diff of two files shows which samples changed::

    {"format": 2, "samples_by": "id", "run": "eval/20260131_235959Z",
     "tasks": [{"model": "m", "dataset": "d", "metric": "accuracy", "fraction": true,
                "n": 1319, "samples": {"0": "2d9e80bf2b1f 6c0f…", "1": "bd0e8911a38e …"}}]}

``n`` counts the samples without an answer too. If the metric is computed from sums (BLEU), ``sums`` has those of each
sample. Both are missing in files of earlier versions. A baseline of several runs has their number as ``runs``, the mean
over them as the value of each sample, and for each dataset as ``noise`` how much a value varies between the runs.
``lower_is_better`` says that a rise is a drop; without it the name of the metric decides. A dataset with several
evaluators has a task for each; ``evaluator`` names those beside the headline.
"""

from __future__ import annotations

import logging
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NotRequired, TypedDict

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from ais_prompt.comparison import ScoredTask, StoredRun, read_stored_run
from ais_prompt.errors import AisPromptError, ConfigError
from ais_prompt.metrics import exact_mean
from ais_prompt.parts import exception_line
from ais_prompt.store import check_scored, check_shape, reading, replacing
from ais_prompt.terminal import NOTE
from ais_prompt.types import Document, lower_is_better
from ais_prompt.utils import decode, encode, read_regular

logger = logging.getLogger(__name__)

BASELINE_FORMAT: Final = 2
"""Version of the file. In format 1, samples are identified by their whole rows (``"samples_by": "row"``)."""

_AGAIN: Final = "write it again: aisprompt baseline RUN -o FILE"

ENOUGH_ANSWERED: Final = 0.9
"""Share of the samples of either run that both must have answered; below it the gate is inconclusive."""


class BaselineTask(Struct, frozen=True):
    """One model on one dataset, by one evaluator.

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
        evaluator: name of the evaluator; empty for the headline.
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
    evaluator: str = ""

    @property
    def name(self) -> str:
        """``model/dataset``, with a further evaluator in brackets."""
        return f"{self.model}/{self.dataset}{f' ({self.evaluator})' if self.evaluator else ''}"

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


def make_baseline(run: StoredRun, *, by_row: bool = False) -> Baseline:
    """Make a baseline of a run. Scores of further evaluators that cannot be compared are left out, with a note.

    Args:
        run: a run that is scored.
        by_row: identify samples by their whole rows, which is all that runs of version 1 know.

    Raises:
        ConfigError: the run is not finished or not scored, or too few samples were asked or answered.
        StoreError, DataError: results of the run are missing or broken, or its metric cannot be compared.
    """
    if run.status != "finished":
        root = run.folder.root.parent if run.status == "partial" else run.folder.root
        raise ConfigError(f"{run.name} is no baseline: it is {run.status}", fix=f"go on with it: -r {root}")
    check_scored(run.folder, [task.spec for task in run.tasks])
    tasks = [task for task in run.tasks if task.is_scored]
    by_row = by_row or any(task.knows_only_rows for task in tasks)
    made = []
    for task in tasks:
        made.append(_evident_task(run, task, by_row=by_row))
        for further in task.further:
            try:
                made.append(_evident_task(run, further, by_row=by_row))
            except AisPromptError as error:
                what = "[%s] %s is left out of the baseline: %s"
                logger.log(NOTE, what, task.name, further.evaluator, error.what)
    return Baseline(run.name, tuple(made), by_row)


def _evident_task(run: StoredRun, task: ScoredTask, *, by_row: bool) -> BaselineTask:
    """Return the scores of one evaluator; raise an `AisPromptError` if they are no evidence or cannot be compared."""
    name, metric = task.name, task.metric
    if metric.of is not None:
        what = f"{name} is no baseline: only {metric.n} of {metric.of} samples were asked"
        raise ConfigError(what, where=run.name, fix="ask the rest with -r")
    if len(task.values) < ENOUGH_ANSWERED * task.size:
        what = f"only {len(task.values)} of {task.size} samples of {name} were answered, too few for a baseline"
        raise ConfigError(what, where=run.name, fix="ask the failed ones again with -r")
    return baseline_task(task, by_row=by_row)


def make_baselines(runs: Sequence[StoredRun]) -> Baseline:
    """Return the baseline of several runs: each sample has the mean of its values.

    Args:
        runs: runs of the same config that are scored; at least one.

    Raises:
        ConfigError: a run is no evidence or is given twice, or they do not have the same datasets, metrics and samples.
        StoreError, DataError: as `make_baseline`.
    """
    folders = [run.folder.root.resolve() for run in runs]
    if doubled := next((run for run, folder in zip(runs, folders, strict=True) if folders.count(folder) > 1), None):
        fix = "name different runs; a name without a time is its latest run"
        raise ConfigError(f"the run {doubled.name} is given twice", fix=fix)
    by_row = any(task.knows_only_rows for run in runs for task in run.tasks)
    made = [make_baseline(run, by_row=by_row) for run in runs]
    first = made[0]
    if len(made) == 1:
        return first
    scored = [[(task.name, task.metric) for task in one.tasks] for one in made]
    for other, has in zip(made, scored, strict=True):
        if has != scored[0]:
            what = f"{other.run} has other models, datasets or metrics than {first.run}"
            raise ConfigError(what, fix="make a baseline of runs of one config")
    columns = zip(*(one.tasks for one in made), strict=True)
    return Baseline(", ".join(one.run for one in made), tuple(map(_mean_task, columns)), first.by_row, len(made))


def _mean_task(tasks: Sequence[BaselineTask]) -> BaselineTask:
    """Return the mean of one dataset over several runs."""
    first, size = tasks[0], max(task.size for task in tasks)
    names = [name for name in first.values if all(name in task.values for task in tasks)]
    if len(names) < ENOUGH_ANSWERED * size:
        what = f"only {len(names)} of {size} samples of {first.name} were answered in all runs"
        raise ConfigError(what, fix="make a baseline of runs with the same data; ask failed samples again with -r")
    values = {name: [task.values[name] for task in tasks] for name in names}
    sums = {name: np.mean([task.sums[name] for task in tasks], axis=0) for name in names if first.sums}
    return replace(
        first,
        values={name: exact_mean(found) for name, found in values.items()},
        n=size,
        sums={name: tuple(row.tolist()) for name, row in sums.items()},
        noise=exact_mean([statistics.variance(found) for found in values.values()]),
    )


def baseline_task(task: ScoredTask, *, by_row: bool) -> BaselineTask:
    task = replace(task, by_row=by_row)
    spec, metric, corpus = task.spec, task.metric, task.corpus
    task.check_comparable()
    sums = {} if corpus is None else {name: tuple(row.tolist()) for name, row in task.rows.items()}
    return BaselineTask(
        spec.model.abbr,
        spec.dataset.abbr,
        metric.metric,
        metric.fraction,
        task.values,
        task.size,
        sums,
        clusters=task.clusters,
        lower_is_better=bool(metric.lower_is_better),
        evaluator=task.evaluator,
    )


def open_baseline(name: str, work_dir: str | None = None) -> Baseline:
    """Read a baseline file, or make the baseline of a run (its path, name or time).

    Raises:
        ConfigError: there is no such file or run, or the run cannot be a baseline.
        StoreError: it cannot be read.
    """
    if Path(name).is_file():
        return read_baseline(Path(name))
    if name.endswith(".json"):
        fix = f"write it: aisprompt baseline RUN -o {name}"
        raise ConfigError("there is no such baseline file", where=name, fix=fix)
    return make_baseline(read_stored_run(name, work_dir))


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write a baseline, whole or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    tasks = []
    for task in baseline.tasks:
        values = {
            "model": task.model,
            "dataset": task.dataset,
            "evaluator": task.evaluator or None,
            "metric": task.metric,
            "fraction": task.fraction,
            "n": task.n,
            "noise": task.noise,
            # Where less is better, or the name says so and is wrong.
            "lower_is_better": task.lower_is_better if task.lower_is_better or lower_is_better(task.metric) else None,
            "samples": _by_value(task.values),
            "sums": {name: " ".join(map(repr, row)) for name, row in task.sums.items()} or None,
        }
        tasks.append({name: value for name, value in values.items() if value is not None})
    with replacing(path, json=True) as stream:
        head = {"format": BASELINE_FORMAT, "samples_by": "row" if baseline.by_row else "id", "run": baseline.run}
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
        if values["format"] not in (1, BASELINE_FORMAT):
            raise ConfigError(
                f"the baseline has format {values['format']!r}, this version reads {BASELINE_FORMAT}",
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
    metric = task["metric"]
    return BaselineTask(
        task["model"],
        task["dataset"],
        metric,
        bool(task["fraction"]),
        values,
        None if task.get("n") is None else int(task["n"]),
        sums,
        noise=None if task.get("noise") is None else float(task["noise"]),
        lower_is_better=bool(task.get("lower_is_better", lower_is_better(metric))),
        evaluator=task.get("evaluator", ""),
    )


class BaselineFile(TypedDict):
    """A baseline: the values that later runs are held against.

    Attributes:
        format: version of the file.
        samples_by: ``id`` or ``row``, which identifies samples.
        run: the run that it was made of.
        runs: how many runs it was made of.
        tasks: each model on each dataset.
    """

    format: int
    run: str
    tasks: list[BaselineTaskFile]
    samples_by: NotRequired[str]
    runs: NotRequired[int]


class BaselineTaskFile(TypedDict):
    """One task in a baseline.

    Attributes:
        model, dataset: their ``abbr``.
        metric: the main metric.
        fraction: whether its values are fractions of 1.
        samples: value → the ids of the samples that have it, separated by blanks.
        n: answers to each question; null if they differ.
        noise: how far the score differs between runs of the same config.
        sums: id → the summands of a metric that is computed from sums.
        lower_is_better: whether less of the metric is better; without it, as the name of the metric says.
        evaluator: name of the evaluator; missing for the headline.
    """

    model: str
    dataset: str
    metric: str
    fraction: bool
    samples: dict[str, str]
    n: NotRequired[int | None]
    noise: NotRequired[float | None]
    sums: NotRequired[dict[str, str]]
    lower_is_better: NotRequired[bool]
    evaluator: NotRequired[str]


class BaselineDocument(Document, kw_only=True):
    """What ``baseline`` prints.

    Attributes:
        file: the baseline; empty if none was written.
        samples, datasets: numbers of what is in it.
        advice: with ``--advise``, the gate of each dataset and what it rests on.
    """

    kind: Literal["baseline"]
    file: str = ""
    samples: int = 0
    datasets: int = 0
    advice: list[dict[str, Any]] = field(default_factory=list)
