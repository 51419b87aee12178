"""Compare the verdicts of judges with labels of people, and with each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, TypedDict

from msgspec import Struct, field

from ais_prompt.errors import ConfigError, DataError
from ais_prompt.judges import Confusion, Judge, LabelKey, krippendorff_alpha, read_labels, rubric_of
from ais_prompt.report import StoredTask, read_stored_results
from ais_prompt.store import locate_run
from ais_prompt.types import Document

_MET: Final = 0.5
"""The mark from which a criterion counts as met."""


class JudgeCheck(Struct, frozen=True):
    """What `judge_check` finds.

    Attributes:
        judges: one for each run, and one for each criterion of a rubric that is labelled.
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
        labels: a file of rows with ``id``, that of a sample, and ``label``, whether its answer is right; of a rubric
            with ``criterion``, its name, its text or its number from 1, and whether it is met.
        work_dir: where run folders are.
        task: ``model/dataset``, if runs have several.

    Raises:
        ConfigError: there is no such run or task, or a run has several tasks.
        DataError: the labels cannot be used, or no labelled answer is in a run.
        StoreError: a run cannot be read.
    """
    known = read_labels(labels)
    each = [_judge(run, known, work_dir, task, labels) for run in runs]
    whole = [judge for judge, *_ in each]
    ids = dict.fromkeys(sample for judge in whole for sample in judge.verdicts)
    rated = [[judge.verdicts.get(sample) for judge in whole] for sample in ids]
    several = sum(len([one for one in row if one is not None]) > 1 for row in rated)
    return JudgeCheck(list(chain(*each)), krippendorff_alpha(rated) if len(whole) > 1 else None, several)


def _judge(run: str, labels: Mapping[LabelKey, bool], work_dir: Path, task: str | None, file: Path) -> list[Judge]:
    """Return what is known of a judge, first as a whole, then of each criterion that is labelled."""
    folder = locate_run(work_dir, run)
    stored = _task(read_stored_results(folder).tasks, task, str(folder.root))
    verdicts = _verdicts(stored, {criterion for _, criterion in labels})
    samples = {sample.prediction.sample_id for sample in stored.samples()}
    asked = [key for key in labels if key[0] in samples]

    def measured(name: str, criteria: Collection[str]) -> Judge:
        own = {key: verdict for key, verdict in verdicts.items() if key[1] in criteria}
        labelled = [key for key in asked if key[1] in criteria]
        pairs = [(own[key], labels[key]) for key in labelled if key in own]
        return Judge(name, folder.root.name, own, Confusion.of(pairs), len(labelled) - len(pairs))

    criteria = list(dict.fromkeys(criterion for _, criterion in labels))
    whole = measured(stored.spec.name, criteria)
    if not whole.confusion.n:
        what = f"no labelled answer has a verdict in {folder.root}"
        raise DataError(what, where=str(file), fix="use the ids of its predictions: predictions/MODEL/DATASET.jsonl")
    found = [measured(f"{stored.spec.name} {one}", [one]) for one in criteria if one]
    return [whole, *(judge for judge in found if judge.confusion.n)]


def _verdicts(stored: StoredTask, criteria: Collection[str]) -> dict[LabelKey, bool]:
    """Return the verdict on each answer, or on some criteria of a rubric, by the first evaluator that asks a judge."""
    scorings = stored.spec.dataset.eval.by_evaluator
    scoring = next((one for one in scorings if one.judge is not None), scorings[0])
    metric = next(score.metric for score in stored.scores if score.evaluator in ("", scoring.name))
    rubric = rubric_of(scoring.evaluator)
    found: dict[LabelKey, bool] = {}
    for sample in stored.samples():
        score = None if sample.score is None else sample.score.by(scoring.name)
        if score is not None and rubric is not None and score.verdicts:
            marks = rubric.by_criterion(score)
            found |= {(score.sample_id, name): mark >= _MET for name, mark in marks.items() if name in criteria}
        elif score is not None and rubric is None and score.status != "failed" and metric in score.values:
            found[score.sample_id, ""] = bool(score.values[metric])
    return found


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
