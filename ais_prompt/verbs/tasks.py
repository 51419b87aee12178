"""Take the tasks of a run from their questions to their scores: ask the model, ask the judges, score.

A task is in one of four states, and `_Steps` moves it on when a job is over:

- *asked*: its questions go to the model.
- *waiting*: its answers are there, and answers to compare them with are not, or verdicts about those.
- *judged*: its answers go to each of its judges.
- *over*: it is scored in the background, or it ends at once: with an error, or because only answers are wanted.

What the progress of the run shows, its tasks and the endpoints that are asked, is counted by `run_tally`.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from msgspec.structs import replace

from ais_prompt.engine import AskingOptions, OpenProgress, TaskJob, error_of, run_local
from ais_prompt.errors import AisPromptError
from ais_prompt.models import AsyncModel, Model, address_of, endpoint_of
from ais_prompt.parts import RunsPrograms
from ais_prompt.plan import Plan, PlannedDataset, PlannedModel, Task
from ais_prompt.report import MANY, EndpointView, RunProgress, RunTally, run_progress
from ais_prompt.scoring import (
    AnsweredTask,
    BackgroundScoring,
    Scored,
    TaskOutcome,
    isolation_of,
    score_what_changed,
    stored_scores,
)
from ais_prompt.store import RunFolder, RunRecord
from ais_prompt.types import Activity, Used
from ais_prompt.utils import kind_of

if TYPE_CHECKING:
    from ais_prompt.engine import ModelWorkers
    from ais_prompt.judges import JudgeQuestions


def ask_and_score(
    plan: Plan,
    mode: Literal["all", "infer", "eval"],
    folder: RunFolder,
    record: RunRecord,
    asking: AskingOptions,
    workers: ModelWorkers | None = None,
    *,
    audits: bool = False,
) -> list[TaskOutcome]:
    """Ask models and judges, score each task when its last answer is there, and return how each ended, in order.

    Args:
        plan: of the run.
        mode: everything, only the answers of the models, or only judges and scores.
        folder, record: of the run.
        asking: what the tasks have in common.
        workers: compute local models; None to compute in this process.
        audits: as for `score_what_changed`.

    Raises:
        StoreError: nothing more can be written.
    """
    to_score = [] if mode == "infer" else plan.tasks
    with BackgroundScoring(folder, plan.spec.resolved, to_score, audits=audits) as scoring, ExitStack() as shown:
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
        found = scoring.finish(lambda answered: _score(answered, folder, audits=audits))
    for task in plan.tasks:
        if scored := found.get(task.name):
            if scored.isolation:
                record.add_isolation(task.spec, scored.isolation)
            record.add_stamp(task.spec, scored.stamp)
            steps.outcomes[task.name] = _outcome(task, scored)
        if mode != "eval" and isinstance(task.inferencer, RunsPrograms):
            record.add_isolation(task.spec, task.inferencer.isolation)
    return [steps.outcomes[task.name] for task in plan.tasks]


def stored_outcomes(tasks: Sequence[Task], folder: RunFolder) -> list[TaskOutcome]:
    """Read the scores of an earlier session."""
    outcomes = []
    for task in tasks:
        try:
            scored = Scored(stored_scores(task.spec, folder))
        except Exception as error:
            scored = Scored(error=error_of(error))
        outcomes.append(_outcome(task, scored))
    return outcomes


class _Steps:
    """Choose the next jobs when a job is over: questions to judges after the questions to the model, then scoring.

    Answers that are compared with those of another model of the run wait for that model.

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
        self._judging: Counter[str] = Counter()  # name of a task → judges that are being asked
        self._judge_errors: dict[str, AisPromptError] = {}
        self._causes: set[str] = set()  # whose traceback is in the log
        # What a task waits for: answers that its own are compared with, and the verdicts about them.
        asked = {task.name for task in plan.tasks}
        rivals: dict[str, set[str]] = {}
        self._references: dict[str, set[str]] = {}
        for task in plan.tasks:
            dataset, reference = task.spec.dataset.abbr, task.spec.reference_answers
            rivals[task.name] = asked.intersection(f"{model}/{dataset}" for model in task.spec.rivals)
            of_run = {f"{reference.model_of_run}/{dataset}"} if reference and reference.model_of_run else set()
            self._references[task.name] = asked & of_run - {task.name}
        self._answers = _Others({name: rivals[name] | others for name, others in self._references.items()})
        self._verdicts = _Others(rivals)
        self._failed: dict[str, AisPromptError] = {}
        self._lock = threading.Lock()

    def begin(self) -> list[TaskJob]:
        """Return the jobs of the models."""
        return [TaskJob(task, self._folder, self._progress.task, self._asking) for task in self._tasks]

    def begin_with_stored(self) -> list[TaskJob]:
        """Return the jobs of judges about stored answers; score the other tasks."""
        record = self._record
        return self._after(
            [
                AnsweredTask(task, record.samples(task.spec), record.stopped_of(task.spec), record.stamp(task.spec))
                for task in self._tasks
            ]
        )

    def next_of(self, job: TaskJob, error: AisPromptError | None) -> list[TaskJob]:
        """Return the jobs that follow a job that is over. It may be called in any thread."""
        with self._lock:
            self._record.note_used(self._asking.spending.used)
        if isinstance(job, JudgeJob):  # judged → over
            self._judge_is_over(job, error)
            return []
        task = job.task
        if error is not None:  # asked → over, and the tasks that waited for these answers are over too
            self._fail(task, error)
            return self._after(self._answers.over(task.name))
        with self._lock:
            self._record.add_task(task.spec, job.facts)
        if not self._scores:  # asked → over
            self._end(task, Scored())
            return []
        # asked → waiting, or judged, or over; these may be the reference answers that other tasks wait for
        answered = AnsweredTask(task, job.facts.samples, job.facts.of, self._record.stamp(task.spec))
        return self._after([*self._answers.hold(answered), *self._answers.over(task.name)])

    def _after(self, answered: Sequence[AnsweredTask]) -> list[TaskJob]:
        return [job for task in answered for job in self._judged_or_scored(task)]

    def _judged_or_scored(self, answered: AnsweredTask) -> list[TaskJob]:
        """Return the jobs of judges; score a task that needs no judge."""
        if not answered.needs_judge:
            self._score(answered)
            return []
        from ais_prompt.judges import JudgeQuestions

        task = answered.task
        failed = next((name for name in self._references[task.name] if name in self._failed), None)
        if failed is not None:
            error = copy(self._failed[failed])
            error.what = f"{failed}, which these answers are compared with: {error.what}"
            self._fail(task, error)
            return []
        jobs: list[TaskJob] = []
        for scoring in (one for one in task.scorings if one.dataset.judges):
            questions = JudgeQuestions(scoring, self._scoring.answers_to_judge)
            jobs += [
                JudgeJob(answered, judge, questions, self._folder, self._progress.task, self._asking)
                for judge in scoring.dataset.judges
            ]
        self._judging[task.name] = len(jobs)
        return jobs

    def _judge_is_over(self, job: JudgeJob, error: AisPromptError | None) -> None:
        """Score a task when its last judge was asked; it fails if a judge could not be asked."""
        task = job.answered.task
        with self._lock:
            if error is not None:
                self._judge_errors.setdefault(task.name, error)
            self._judging[task.name] -= 1
            is_last = not self._judging[task.name]
        if is_last and (first := self._judge_errors.get(task.name)):
            self._fail(task, first)
        elif is_last:  # judged → over, and so are the tasks that waited for these verdicts
            for ready in [*self._verdicts.hold(job.answered), *self._verdicts.over(task.name)]:
                self._score(ready)

    def _fail(self, task: Task, error: AisPromptError) -> None:
        kind = kind_of(str(error))
        with self._lock:
            is_new = kind not in self._causes
            self._causes.add(kind)
            self._failed[task.name] = error
        logging.getLogger(__name__).info("%s failed: %s", task.name, error, exc_info=error if is_new else None)
        self._progress.skip(task.name)
        self._end(task, Scored(error=error))
        for ready in self._verdicts.over(task.name):
            self._score(ready)

    def _score(self, answered: AnsweredTask) -> None:
        with self._lock:
            self._left -= 1
            is_last = not self._left
        self._scoring.submit(answered, is_last=is_last)

    def _end(self, task: Task, scored: Scored) -> None:
        with self._lock:
            self._left -= 1
            self.outcomes[task.name] = _outcome(task, scored)


class _Others:
    """Hold tasks back until other tasks are over.

    Args:
        others: name of a task → the tasks that it waits for.
    """

    def __init__(self, others: Mapping[str, Collection[str]]) -> None:
        self._left = {name: len(names) for name, names in others.items()}
        self._waiting: defaultdict[str, list[str]] = defaultdict(list)
        for name, names in others.items():
            for other in names:
                self._waiting[other].append(name)
        self._held: dict[str, AnsweredTask] = {}
        self._lock = threading.Lock()

    def hold(self, answered: AnsweredTask) -> list[AnsweredTask]:
        """Return the task if it waits for nothing; else keep it."""
        name = answered.task.name
        with self._lock:
            if not self._left[name]:
                return [answered]
            self._held[name] = answered
            return []

    def over(self, name: str) -> list[AnsweredTask]:
        """Return the tasks that waited for a task only, which is over now."""
        ready = []
        with self._lock:
            for other in self._waiting.pop(name, ()):
                self._left[other] -= 1
                if not self._left[other] and other in self._held:
                    ready.append(self._held.pop(other))
        return ready


def _score(answered: AnsweredTask, folder: RunFolder, *, audits: bool) -> Scored:
    try:
        scores, stamp = score_what_changed(
            answered.task, folder, answered.asked, answered.stopped_of, earlier=answered.earlier, audits=audits
        )
        return Scored(scores, isolation_of(answered.task.dataset), stamp)
    except Exception as error:
        return Scored(error=error_of(error))


def _outcome(task: Task, scored: Scored) -> TaskOutcome:
    outcome = partial(TaskOutcome, task.spec.model.abbr, task.spec.dataset.abbr, variant=task.spec.columns)
    if scored.error is not None:
        return outcome(error=scored.error, samples=task.dataset.size)
    only, is_reference = not scored.scores, task.spec.is_reference
    return outcome(scores=scored.scores, predictions_only=only, is_reference=is_reference)


def run_tally(
    plan: Plan, *, asks_models: bool, asks_judges: bool, used: Callable[[], Used], scoring: Callable[[], str]
) -> RunTally:
    """Return the counts of a run that is about to start.

    Args:
        plan: of the run.
        asks_models, asks_judges: who is asked.
        used, scoring: as for `RunTally`.
    """
    asked = [*(plan.models if asks_models else ()), *(plan.judges if asks_judges else ())]
    sizes = {task.name: task.dataset.size for task in plan.tasks} if asks_models else {}
    return RunTally(sizes, _endpoints(asked), used, scoring, has_many=len(plan.tasks) > MANY)


def _endpoints(asked: Sequence[PlannedModel]) -> list[EndpointView]:
    """Return the endpoints of models; a model that cannot be built has none, and its tasks end at once."""
    groups: dict[str, list[tuple[str, Model]]] = {}
    for planned in asked:
        with suppress(AisPromptError):
            groups.setdefault(endpoint_of(planned.model), []).append((planned.spec.abbr, planned.model))
    addresses = [address_of(models[0][1]) for models in groups.values()]
    return [
        EndpointView(
            _name(address, models, several=addresses.count(address) > 1),
            frozenset(abbr for abbr, _ in models),
            partial(_activity, models),
        )
        for address, models in zip(addresses, groups.values(), strict=True)
    ]


def _name(address: str | None, models: Sequence[tuple[str, Model]], *, several: bool) -> str:
    """Return ``127.0.0.1:8000``, with the models' names if several accounts ask there.

    A server that is started, several servers and a local model are called after the models.
    """
    url, names = urlsplit(address or ""), ", ".join(abbr for abbr, _ in models)
    if url.scheme not in ("http", "https") or "," in url.geturl() or " " in url.geturl():
        return names
    return f"{url.netloc} ({names})" if several else url.netloc


def _activity(models: Sequence[tuple[str, Model]]) -> Activity:
    """Return what the models of one endpoint are doing together."""
    found = []
    for _, model in models:
        with suppress(AisPromptError):  # a user-defined model; the display goes on without it
            found += [model.activity()] if isinstance(model, AsyncModel) else []
    waiting = min((one for one in found if one.waiting), key=lambda one: one.seconds, default=Activity())
    return Activity(
        sum(one.in_flight for one in found),
        sum(one.waiting for one in found),
        waiting.reason,
        waiting.seconds,
        tuple(dict(away for one in found for away in one.away).items()),
    )


class JudgeJob(TaskJob):
    """Ask one judge about the answers of a task.

    Attributes:
        answered: the task.
    """

    def __init__(
        self,
        answered: AnsweredTask,
        judge: PlannedModel,
        questions: JudgeQuestions,
        folder: RunFolder,
        open_progress: OpenProgress,
        asking: AskingOptions,
    ) -> None:
        """Describe the work; nothing is opened yet.

        Args:
            answered: the task.
            judge: one of its judges.
            questions: what all of them are asked.
            folder: of the run.
            open_progress, asking: as for `TaskJob`.
        """
        own = replace(asking, retry_truncated=None)
        self._model, self._evaluator = answered.task.spec.model.abbr, questions.asked_by
        self._run = folder
        super().__init__(Task(judge, questions), folder.judge(self._model, self._evaluator), open_progress, own)
        self.answered = answered

    @property
    def cache_name(self) -> str:
        """The questions about each model's answers are others, and are asked beside each other."""
        judged = self.answered.task.spec
        return "@".join(filter(None, (judged.dataset.abbr, judged.model.abbr, self._evaluator)))

    @property
    def others(self) -> Sequence[RunFolder]:
        """The replies that it gave to other evaluators, or while the dataset had no other evaluators."""
        own = self._run.judge(self._model, self._evaluator)
        return [one for one in self._run.judges(self._model) if one != own]

    @property
    def datasets(self) -> Sequence[PlannedDataset]:
        """The questions, and the dataset whose rows they show."""
        return (self.task.dataset, self.answered.task.dataset)
