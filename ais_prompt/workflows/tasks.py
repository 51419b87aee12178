"""Take the tasks of a run from their questions to their scores: ask the model, ask the judge, score."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Literal

from ais_prompt.engine.failures import error_of
from ais_prompt.engine.infer import AskingOptions, TaskJob
from ais_prompt.errors import AisPromptError
from ais_prompt.plan.plan import Plan, Task
from ais_prompt.report.progress import RunProgress, run_progress
from ais_prompt.runners.local import run_local
from ais_prompt.runners.workers import ModelWorkers
from ais_prompt.scoring.background import BackgroundScoring
from ais_prompt.scoring.judge import AnsweredTask, JudgeJob
from ais_prompt.scoring.score import isolation_of, score, stored_scores
from ais_prompt.scoring.worker import Scored
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.run_record import RunRecord
from ais_prompt.summary.rows import TaskOutcome
from ais_prompt.workflows.shown import run_tally


def ask_and_score(
    plan: Plan,
    mode: Literal["all", "infer", "eval"],
    folder: RunFolder,
    record: RunRecord,
    asking: AskingOptions,
    workers: ModelWorkers | None = None,
) -> list[TaskOutcome]:
    """Ask models and judges, score each task when its last answer is there, and return how each ended, in order.

    Args:
        plan: of the run.
        mode: everything, only the answers of the models, or only judges and scores.
        folder, record: of the run.
        asking: what the tasks have in common.
        workers: compute local models; None to compute in this process.

    Raises:
        StoreError: nothing more can be written.
    """
    to_score = [] if mode == "infer" else plan.tasks
    with BackgroundScoring(folder, plan.spec.resolved, to_score) as scoring, ExitStack() as shown:
        tally = run_tally(
            plan,
            asks_models=mode != "eval",
            asks_judges=mode != "infer",
            used=lambda: asking.spending.used,
            scoring=scoring.doing,
        )
        progress = shown.enter_context(run_progress(tally))
        steps = _Steps(plan, folder, record, asking, progress, scoring, scores=mode != "infer")
        run_local(steps.begin_with_stored() if mode == "eval" else steps.begin(), steps.next_of, workers)
        found = scoring.finish(lambda answered: _score(answered, folder))
    for task in plan.tasks:
        if scored := found.get(task.name):
            if scored.isolation:
                record.add_isolation(task.spec, scored.isolation)
            steps.outcomes[task.name] = _outcome(task, scored)
    return [steps.outcomes[task.name] for task in plan.tasks]


def stored_outcomes(tasks: Sequence[Task], folder: RunFolder) -> list[TaskOutcome]:
    """Read the scores of an earlier session."""
    return [_outcome(task, _stored(task, folder)) for task in tasks]


class _Steps:
    """What follows when a job is over: the questions to a judge after those to the model, then scoring.

    Attributes:
        outcomes: name of a task → how it ended, for those that are not scored.
    """

    def __init__(
        self,
        plan: Plan,
        folder: RunFolder,
        record: RunRecord,
        asking: AskingOptions,
        progress: RunProgress,
        scoring: BackgroundScoring,
        *,
        scores: bool,
    ) -> None:
        self.outcomes: dict[str, TaskOutcome] = {}
        self._tasks = plan.tasks
        self._folder = folder
        self._record = record
        self._asking = asking
        self._progress = progress
        self._scoring = scoring
        self._scores = scores
        self._left = len(plan.tasks)  # with something to be asked
        self._lock = threading.Lock()

    def begin(self) -> list[TaskJob]:
        """Return what is asked of the models."""
        return [TaskJob(task, self._folder, self._progress.task, self._asking) for task in self._tasks]

    def begin_with_stored(self) -> list[TaskJob]:
        """Return what is asked of judges about stored answers; the other tasks are scored."""
        record = self._record
        stored = [AnsweredTask(task, record.samples(task.spec), record.stopped_of(task.spec)) for task in self._tasks]
        return [job for answered in stored for job in self._answered(answered)]

    def next_of(self, job: TaskJob, error: AisPromptError | None) -> list[TaskJob]:
        """Return what is asked after a job that is over, in any thread."""
        task = job.answered.task if isinstance(job, JudgeJob) else job.task
        with self._lock:
            self._record.note_used(self._asking.spending.used)
        if error is not None:
            logging.getLogger(__name__).info("%s failed", task.name, exc_info=error)
            self._progress.skip(task.name)
            self._end(task, Scored(error=error))
            return []
        if isinstance(job, JudgeJob):
            self._score(job.answered)
            return []
        with self._lock:
            self._record.add_task(task.spec, job.facts)
        if self._scores:
            return self._answered(AnsweredTask(task, job.facts.samples, job.facts.of))
        self._end(task, Scored())
        return []

    def _answered(self, answered: AnsweredTask) -> list[TaskJob]:
        """Return what is asked of a judge; score a task that needs none."""
        if answered.needs_judge:
            answers_of = self._scoring.answers_to_judge
            return [JudgeJob(answered, self._folder, self._progress.task, self._asking, answers_of)]
        self._score(answered)
        return []

    def _score(self, answered: AnsweredTask) -> None:
        with self._lock:
            self._left -= 1
            is_last = not self._left
        self._scoring.submit(answered, is_last=is_last)

    def _end(self, task: Task, scored: Scored) -> None:
        with self._lock:
            self._left -= 1
            self.outcomes[task.name] = _outcome(task, scored)


def _score(answered: AnsweredTask, folder: RunFolder) -> Scored:
    try:
        scores = score(answered.task, folder, answered.asked, answered.stopped_of)
        return Scored(scores, isolation_of(answered.task.dataset))
    except Exception as error:
        return Scored(error=error_of(error))


def _stored(task: Task, folder: RunFolder) -> Scored:
    try:
        return Scored(stored_scores(task.spec, folder))
    except Exception as error:
        return Scored(error=error_of(error))


def _outcome(task: Task, scored: Scored) -> TaskOutcome:
    names = task.spec.model.abbr, task.spec.dataset.abbr
    if scored.error is not None:
        return TaskOutcome(*names, error=scored.error)
    return TaskOutcome(*names, scores=scored.scores, predictions_only=not scored.scores)
