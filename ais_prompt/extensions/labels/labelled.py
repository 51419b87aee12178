"""The answers of a run that people label: which tasks, which answers, and in what order."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.labels.label_files import METRIC, Selection
from ais_prompt.report import StoredSample, StoredTask, read_stored_results
from ais_prompt.store import RunFolder
from ais_prompt.types import SampleScore
from ais_prompt.utils import digest, listed


class AnswerToLabel(NamedTuple):
    """An answer to label.

    Attributes:
        task: whose it is.
        sample: the answer, and how it was scored.
        selection: how it was chosen.
    """

    task: StoredTask
    sample: StoredSample
    selection: Selection


def tasks_to_label(folder: RunFolder, wanted: str | None) -> list[StoredTask]:
    """Return the tasks whose answers are labelled: the wanted task, else those with a judge, else all.

    Raises:
        ConfigError: the run has no such task.
        StoreError: the run cannot be read.
    """
    tasks = read_stored_results(folder).tasks
    if wanted is not None:
        found = [task for task in tasks if task.spec.name == wanted]
        if not found:
            names = listed(task.spec.name for task in tasks)
            what = f"the run has no answers of a task {wanted!r}"
            raise ConfigError(what, where=str(folder.root), fix=f"name one of these: --task {names}")
        return found
    judged = [task for task in tasks if any(one.judge for one in task.spec.dataset.eval.by_evaluator)]
    return judged or list(tasks)


def choose_answers(tasks: Sequence[StoredTask], number: int, name: str, *, disagreed: bool) -> list[AnswerToLabel]:
    """Return the answers that a person labels.

    All people get the same answers, so that their agreement is known, each in an order of their own.

    Args:
        tasks: with these answers.
        number: so many are drawn at random; a higher number adds to those of a lower one.
        name: of the person.
        disagreed: draw from the answers on which judges disagree.

    Raises:
        ConfigError: there is no such answer.
        StoreError, DataError: they cannot be read.
    """
    keys = [
        (digest([task.spec.name, sample.prediction.sample_id]), place, sample.prediction.sample_id)
        for place, task in enumerate(tasks)
        for sample in task.samples()
        if not sample.prediction.failed and (not disagreed or _judges_disagree(sample.score))
    ]
    chosen = {(place, sample) for _, place, sample in sorted(keys)[:number]}
    selection: Selection = "disagreed" if disagreed else "random"
    answers = [
        AnswerToLabel(task, sample, selection)
        for place, task in enumerate(tasks)
        for sample in task.samples()
        if (place, sample.prediction.sample_id) in chosen
    ]
    if not answers:
        what = "there is no answer on which judges disagree" if disagreed else "the run has no answers"
        fix = "give the dataset several judges, or leave --disagreed out" if disagreed else "run it first"
        raise ConfigError(what, where=tasks[0].spec.name if tasks else "", fix=fix)
    random.Random(digest(name)).shuffle(answers)
    return answers


def verdicts_of(task: StoredTask) -> Iterator[tuple[str, bool]]:
    """Yield each sample with a verdict, and whether it calls the answer right; none if it is not right or wrong."""
    metric = task.scores[0].metric if task.scores and task.scores[0].fraction else None
    if metric == METRIC:  # labels do not correct themselves
        return
    for sample in task.samples():
        value = None if sample.score is None or metric is None else sample.score.values.get(metric)
        if sample.score is not None and sample.score.status != "failed" and value in (0, 1):
            yield sample.prediction.sample_id, bool(value)


def _judges_disagree(score: SampleScore | None) -> bool:
    return score is not None and len({one.vote for one in score.verdicts if one.vote is not None}) > 1
