"""Compare the verdicts of judges with labels of people, and with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from msgspec import Struct, field

from ais_prompt.errors import ConfigError, DataError
from ais_prompt.judges import Confusion, Judge, krippendorff_alpha, read_labels
from ais_prompt.report import StoredTask, read_stored_results
from ais_prompt.store import locate_run
from ais_prompt.types import Document


class JudgeCheck(Struct, frozen=True):
    """What `judge_check` finds.

    Attributes:
        judges: one for each run.
        alpha: agreement of the judges; None for one judge, or where nothing varies.
        answers: answers that two judges or more have rated.
    """

    judges: Sequence[Judge]
    alpha: float | None
    answers: int


def check_judges(runs: Sequence[str], labels: Path, work_dir: Path, task: str | None = None) -> JudgeCheck:
    """Measure judges against labels.

    Args:
        runs: run folders or their names; the same answers, rated by one judge each.
        labels: a file of rows with ``id``, that of a sample, and ``label``, whether its answer is right.
        work_dir: where run folders are.
        task: ``model/dataset``, if runs have several.

    Raises:
        ConfigError: there is no such run or task, or a run has several tasks.
        DataError: the labels cannot be used, or no labelled answer is in a run.
        StoreError: a run cannot be read.
    """
    known = read_labels(labels)
    judges = [_judge(run, known, work_dir, task, labels) for run in runs]
    ids = dict.fromkeys(sample for judge in judges for sample in judge.verdicts)
    rated = [[judge.verdicts.get(sample) for judge in judges] for sample in ids]
    several = sum(len([one for one in row if one is not None]) > 1 for row in rated)
    return JudgeCheck(judges, krippendorff_alpha(rated) if len(judges) > 1 else None, several)


def _judge(run: str, labels: Mapping[str, bool], work_dir: Path, task: str | None, file: Path) -> Judge:
    folder = locate_run(work_dir, run)
    stored = _task(read_stored_results(folder).tasks, task, str(folder.root))
    metric = stored.scores[0].metric
    verdicts = {
        sample.score.sample_id: bool(sample.score.values[metric])
        for sample in stored.samples()
        if sample.score is not None and sample.score.status != "failed" and metric in sample.score.values
    }
    asked = {sample.prediction.sample_id for sample in stored.samples()} & labels.keys()
    pairs = [(verdicts[sample], labels[sample]) for sample in asked if sample in verdicts]
    if not pairs:
        what = f"no labelled answer has a verdict in {folder.root}"
        raise DataError(what, where=str(file), fix="use the ids of its predictions: predictions/MODEL/DATASET.jsonl")
    return Judge(stored.spec.name, folder.root.name, verdicts, Confusion.of(pairs), len(asked) - len(pairs))


def _task(tasks: Sequence[StoredTask], wanted: str | None, where: str) -> StoredTask:
    """Return the task that is meant.

    Raises:
        ConfigError: there is no such task, several are possible, or it has no scores of right and wrong.
    """
    scored = [one for one in tasks if one.scores and one.scores[0].fraction]
    names = [one.spec.name for one in scored]
    found = [one for one in scored if wanted in (None, one.spec.name)]
    if len(found) != 1:
        what = f"the run has no scored task {wanted!r}" if wanted else f"the run has {len(found)} scored tasks"
        raise ConfigError(what, where=where, fix=f"name one: --task {names[0] if names else 'MODEL/DATASET'}")
    return found[0]


class MeasuredJudge(TypedDict):
    """A judge against labels of people: shares with their 95 % intervals, null if unknown."""

    run: str
    task: str
    labelled: int
    unjudged: int
    score: float
    sensitivity: list[float] | None
    specificity: list[float] | None
    kappa: list[float] | None
    corrected: list[float] | None


class JudgeCheckDocument(Document, kw_only=True):
    """What ``judge-check`` prints; each measure is the value and both ends of its interval.

    Attributes:
        judges: one entry for each judge.
        alpha: Krippendorff's alpha of several judges; null for one, or if nothing varies.
    """

    kind: Literal["judge-check"]
    judges: list[MeasuredJudge] = field(default_factory=list)
    alpha: float | None = None


def measured_judge(judge: Judge) -> dict[str, Any]:
    """Return a judge for the document of ``--json``."""
    measures = {
        "sensitivity": judge.confusion.sensitivity,
        "specificity": judge.confusion.specificity,
        "kappa": judge.confusion.kappa,
        "corrected": judge.corrected,
    }
    return {
        "run": judge.run,
        "task": judge.task,
        "labelled": judge.confusion.n,
        "unjudged": judge.unjudged,
        "score": sum(judge.verdicts.values()) / len(judge.verdicts),
        **{name: None if one is None else [one.value, one.low, one.high] for name, one in measures.items()},
    }
