"""A job: one task to be asked, each of its samples once, and every answer kept.

The engine works on a job in this order, wherever its model is:

    open         read the data and the earlier answers, open the files
    begin        show the task: its first conversation is about to start
      next         start a conversation
      admit        a request may be sent
      record       its answer has come: count it, keep it, show it, and watch for failures that end the task
      finished     a conversation is over: keep its prediction
    conclude     write the predictions
    close        close the files; `abandon` does, from any state, for a job that failed or was stopped

`Standstill` looks at all jobs of a run, and names the samples that a run waits for.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from msgspec import Struct, field
from msgspec.structs import asdict

from ais_prompt.checks import check_media, taken_kinds
from ais_prompt.config import shown_body
from ais_prompt.engine.conversations import (
    EarlierAnswers,
    Resumed,
    conversations_of,
    former_keys_of,
    is_for_model,
    take_known,
)
from ais_prompt.engine.failures import FailureWatch, TaskSession
from ais_prompt.engine.meters import GO_ON, OpenProgress, SpeedMeter, Spending, silent_progress
from ais_prompt.errors import InternalError, ModelError, StoreError
from ais_prompt.inferencers import PerformsRequests, RunningConversation
from ais_prompt.models import (
    AgentModel,
    AsyncModel,
    Model,
    ScriptedModel,
    SendsBodies,
    cache_identity,
    full_identity,
)
from ais_prompt.plan import PlannedDataset, Task, check_cluster
from ais_prompt.store import (
    Journal,
    JournalView,
    PredictionSorter,
    RequestKeys,
    RunFolder,
    open_cache,
    prediction_sorter,
)
from ais_prompt.types import Completion, DatasetSpec, Decoding, Portion, Prediction, Request, Sample, TaskFacts
from ais_prompt.utils import canonical, counted, listed

logger = logging.getLogger(__name__)
ORDER_SEED: Final = 0
"""Seed of the order in which samples are asked once the model refused the first samples."""

ROWS_NAMED: Final = 5
"""Most rows that an error or a warning names."""
STANDSTILL_SECONDS = 300.0
"""Time without an answer after which a run says what it waits for."""


class AskingOptions(Struct, frozen=True):
    """Options of asking that all tasks of a run share.

    Attributes:
        cache_folder: answers of other runs; None to go without them.
        addresses: where earlier sessions asked; version 1 had the address in its keys.
        spending: counts what is asked, and pauses the tasks when the budget is used up.
        shard: the part of each task, by its name, that a shard asks; None to ask all samples.
        retry_truncated: ``max_out_len`` with which truncated answers of earlier sessions are asked again; None keeps
            them.
        alike: ``abbr`` of a dataset → those of the other datasets that are asked in the same way, so that their answers
            in the cache may be used.
        asking: as for `EarlierAnswers`.
    """

    cache_folder: Path | None = None
    addresses: Sequence[str] = ()
    spending: Spending = field(default_factory=Spending)
    shard: Mapping[str, ShardTask] | None = None
    retry_truncated: int | None = None
    alike: Mapping[str, Sequence[str]] = {}
    asking: dict[str, asyncio.Future[None]] = field(default_factory=dict)


class ShardTask(Struct, frozen=True):
    """The part of a task that a shard asks.

    Attributes:
        portion: the part of the samples that is asked.
        others: folders in which the run and its other shards may have answers to them.
    """

    portion: Portion
    others: Sequence[RunFolder] = ()


def asked_alike(datasets: Iterable[DatasetSpec]) -> dict[str, list[str]]:
    """Return ``abbr`` → those of the other datasets with the same data, prompts and inferencer: only scores differ."""
    ways: dict[str, list[str]] = {}
    for one in datasets:
        ways.setdefault(canonical(_without_places([one.source, one.infer])), []).append(one.abbr)
    return {abbr: [other for other in same if other != abbr] for same in ways.values() for abbr in same}


def _without_places(spec: Any) -> Any:
    """Return plain values of a spec, without where they are in the config."""
    if isinstance(spec, Struct):
        spec = asdict(spec)
    if isinstance(spec, Mapping):
        return {name: _without_places(value) for name, value in spec.items() if name != "where"}
    return [_without_places(value) for value in spec] if isinstance(spec, list | tuple) else spec


class TaskJob:
    """A task to be asked. Nothing is opened before `open`, so that a thousand of them cost no memory.

    `open`, `conclude`, `close` and `abandon` may take long and are called in any thread, one at a time; all else is
    called where the model is asked.

    Attributes:
        task: a model and a dataset.
        facts: of the inference; there after `close`.
        last_change: when an answer came or a sample ended last, on the monotonic clock.
    """

    facts: TaskFacts

    def __init__(
        self, task: Task, folder: RunFolder, open_progress: OpenProgress, asking: AskingOptions | None = None
    ) -> None:
        """Describe the work; nothing is opened yet.

        Args:
            task: a model and a dataset.
            folder: where answers and predictions are written.
            open_progress: shows the progress of the task.
            asking: options that the tasks of a run share.
        """
        self.task = task
        self._names = task.spec.model.abbr, task.spec.dataset.abbr
        self._folder = folder
        self._open_progress = open_progress
        self._asking = asking or AskingOptions()
        self._shard = self._asking.shard[task.name] if self._asking.shard is not None else None
        self._files = ExitStack()
        self._shown = ExitStack()
        self._lock = threading.Lock()
        self._abandoned = False
        self._first_body: Any = None
        self._opened: _Opened | None = None
        self._under_way: dict[RunningConversation, None] = {}
        self.last_change = time.monotonic()

    @property
    def model(self) -> Model:
        """The model that is asked."""
        return self.task.model

    @property
    def cache_name(self) -> str:
        """The name of the answers in the cache of a model; no other job of a run has the same name."""
        return self.task.spec.dataset.abbr

    @property
    def datasets(self) -> Sequence[PlannedDataset]:
        """The datasets whose rows the job needs until it is over."""
        return (self.task.dataset,)

    @property
    def others(self) -> Sequence[RunFolder]:
        """Other folders in which answers to its requests may be."""
        return self._shard.others if self._shard else ()

    def open(self) -> None:
        """Read the data, check them, open the files, and find out which samples are answered already.

        Raises:
            Paused: the budget is used up.
            StoreError: the disk does not take the files, or they cannot be read.
            AisPromptError: something is wrong with the config or the data.
        """
        task, model, names = self.task, self.model, self._names
        # Before anything is read: a paused run that is started again ends at once.
        self._asking.spending.check(task.spec.model.abbr)
        check_cluster(task.spec.dataset.eval, task.data.test)
        check_media(task.context.builder, task.data.test, task.shown_rows(), taken_kinds(model, task.context.builder))
        with ExitStack() as files:
            journal = files.enter_context(Journal.open(self._folder.journal(*names)))
            alike = self._asking.alike.get(self.cache_name, ())
            cache = files.enter_context(
                open_cache(self._asking.cache_folder, cache_identity(model), self.cache_name, alike)
            )
            predictions = files.enter_context(prediction_sorter(self._folder.predictions(*names)))
            has_former_keys = journal.has_former_keys or (cache is not None and cache.has_former_keys)
            former_keys = former_keys_of(task, self._asking.addresses) if has_former_keys else None
            of_shards = JournalView(*(one.journal(*names) for one in self.others))
            key_of, retry = RequestKeys(model.identity()), self._asking.retry_truncated
            # Where answers come from: the own journal, then those of other shards, then the cache.
            answers = EarlierAnswers(
                journal, key_of, cache, former_keys, of_shards, retry_truncated=retry, asking=self._asking.asking
            )
            samples, portion = task.data.test, self._shard.portion if self._shard else None
            total = len(samples) if portion is None else sum(portion.holds(sample.id) for sample in samples)
            session, resumed = TaskSession(task), Resumed()

            def keep(prediction: Prediction) -> None:
                predictions.add(prediction)
                session.add(prediction)

            # Resumed: every conversation is held once with the answers that there are. Those that end are over.
            if answers.has_answers:
                resumed = take_known(task, answers.recall, portion, task.spec.dataset.eval.cluster, keep)
            steps = answers.of_asked(RequestKeys(model.asked.identity())) if isinstance(model, AgentModel) else None
            unused = len(journal) - journal.steps - resumed.used
            failures = FailureWatch(has_answered=resumed.known > 0)
            in_order = _in_order(samples, resumed.is_known, failures)
            cluster, numbering = task.spec.dataset.eval.cluster, resumed.numbering
            conversations = conversations_of(task, answers.recall, in_order, cluster, portion, numbering)
            self._opened = _Opened(
                answers, predictions, session, total, resumed, unused, failures, SpeedMeter(), conversations, steps
            )
            with self._lock:  # Ctrl-C may have abandoned the job while this thread was reading
                if self._abandoned:
                    raise ModelError("the run was stopped", fix=GO_ON)
                self._files = files.pop_all()

    def begin(self) -> None:
        """Show the task from now on."""
        task, opened = self.task, self._opened
        assert opened is not None
        show = self._open_progress if opened.total else silent_progress
        progress = self._shown.enter_context(show(task.name, opened.total, opened.resumed.known))
        if opened.resumed.known or opened.unused > 0:
            progress.resumed(_reuse_note(task, opened))
        opened.session.progress = progress

    def next(self) -> RunningConversation | None:
        """Start the next conversation; None after the last one. One that is over already is only passed on.

        Raises:
            AisPromptError: the task cannot go on.
        """
        assert self._opened is not None
        conversation = next(self._opened.conversations, None)
        if conversation is not None:
            if not self._under_way:  # it may have waited for room
                self.last_change = time.monotonic()
            self._under_way[conversation] = None
        return conversation

    def waits_for(self) -> list[int]:
        """Return the rows whose conversations are under way. It may be called in any thread."""
        return [conversation.row for conversation in list(self._under_way) if conversation.row is not None]

    def admit(self, count: int) -> int:
        """Return how many requests may be sent now: at least one, and at most ``count``; `record` follows for each.

        Raises:
            Paused: the budget is used up: none may. Those that are under way are finished.
        """
        return self._asking.spending.admit(self.task.spec.model.abbr, count)

    def claimed(self, request: Request) -> AbstractAsyncContextManager[Completion | None]:
        """Yield the answer that another task of the run has got to the same request; see `EarlierAnswers.claimed`."""
        assert self._opened is not None
        self.last_change = time.monotonic()
        return self._opened.answers.claimed(request)

    def recall_step(self, request: Request) -> Completion | None:
        """Return what an earlier session recorded of a request of an agent.

        Raises:
            StoreError: the journal cannot be read.
        """
        assert self._opened is not None
        assert self._opened.steps is not None
        found = self._opened.steps.recall(request)
        return found if isinstance(found, Completion) else None

    def perform(self, request: Request) -> Completion:
        """Let the inferencer run the program or the tool of a request; called in any thread.

        Raises:
            ModelError: no program can be run on this machine.
            StoreError: the journal cannot be written.
        """
        assert self._opened is not None
        self._opened.answers.begin(request)
        assert isinstance(self.task.inferencer, PerformsRequests)
        return self.task.inferencer.perform(request)

    def record(self, request: Request, completion: Completion) -> Completion:
        """Take an answer or a failure: count its cost, keep it in the journal, show it, and watch for failures.

        Returns:
            The completion; the truncated answer in place of a failure to ask for a longer one.

        Raises:
            Paused: the provider's quota is used up; nothing is written then.
            AisPromptError: the disk does not take it, or the model cannot be used.
        """
        opened = self._opened
        assert opened is not None
        self.last_change = time.monotonic()
        # Of a program or a tool: it says nothing of the model.
        if not is_for_model(request):
            return opened.answers.record(request, completion)
        # Of an agent as a whole: its cost and times are those of its steps, which are recorded each for itself.
        answers = opened.answers
        if opened.steps is not None:
            if request.step is None:
                kept = answers.record(request, completion)
                opened.failures.check(completion)
                return kept
            answers = opened.steps
        # What is sent for the first request for a text, as the facts show it.
        if self._first_body is None and isinstance(request.decoding, Decoding):
            asked = self.model.asked if isinstance(self.model, AgentModel) else self.model
            if isinstance(asked, SendsBodies):
                self._first_body = shown_body(asked.sent(request)[1])
        # The budget first: an answer that a used-up quota refused must not get into the journal, else it counts as
        # answered. The journal before all others: a failure that ends the task is kept as well.
        model = self.task.spec.model
        self._asking.spending.add(model.abbr, model.price, request, completion)
        kept = answers.record(request, completion)
        # Kept. What follows only looks at it, and may end the task.
        opened.session.see(request, completion)
        opened.meter.add(completion)
        opened.failures.check(completion)
        return kept

    def cancelled(self, attempts: int) -> None:
        """Count a request that was sent so often and is not waited for: an error has ended the task."""
        self._asking.spending.add_cancelled(attempts)

    def finished(self, conversation: RunningConversation) -> None:
        """Keep the prediction of a conversation that is over.

        Raises:
            StoreError: the disk does not take it.
        """
        prediction, opened = conversation.prediction, self._opened
        assert prediction is not None  # it is over
        assert opened is not None
        self.last_change = time.monotonic()
        del self._under_way[conversation]
        opened.predictions.add(prediction)
        opened.session.add(prediction)

    def conclude(self) -> None:
        """Write the predictions after the last conversation, and note what the user should know.

        Raises:
            InternalError: a sample that was to be asked has neither an answer nor a failure.
            AisPromptError: the model never answered, a part failed for every sample, or the disk is full.
        """
        opened = self._opened
        assert opened is not None
        opened.failures.conclude()
        if opened.session.samples != opened.total:
            raise InternalError(
                f"{opened.total} samples were to be asked, and {opened.session.samples} were answered or failed",
                where=f"rows {listed(self.waits_for(), ROWS_NAMED)}" if self._under_way else "",
                fix="this is a bug of aisprompt; -r asks the missing samples",
            )
        opened.session.tell_end()
        opened.predictions.write(self._folder.predictions(*self._names))
        self._shown.close()

    def close(self) -> None:
        """Close the files, and set the facts.

        Raises:
            StoreError: the disk does not take the journal.
        """
        assert self._opened is not None
        self._files.close()
        session, data = self._opened.session, self.task.data
        # Speed means something for a served model only, and nothing for answers from a script.
        is_served = isinstance(self.model, AsyncModel) and not isinstance(self.model, ScriptedModel)
        self.facts = TaskFacts(
            full_identity(self.model),
            data.digest,
            tuple(data.origins),
            session.samples,
            session.failed,
            session.shortened,
            self._opened.meter.speed() if is_served else None,
            session.redacted,
            first_body=self._first_body,
        )
        self._release()

    def abandon(self, error: BaseException) -> None:
        """Close the files of a task that failed or was stopped; its answers are in the journal."""
        with self._lock:
            self._abandoned = True
        self._shown.close()
        try:
            self._files.__exit__(type(error), error, error.__traceback__)
        except StoreError:  # the error that ended the task says more
            logger.info("%s", self.task.name, exc_info=True)
        self._release()

    def _release(self) -> None:
        """Let go of the data: a job may be kept until the end of the run."""
        self.task.release()
        self._under_way.clear()
        self._opened = None


class _Opened(Struct, frozen=True, eq=False):
    """What a job holds from `open` on.

    Attributes:
        answers: those that there are, and where further answers are kept.
        predictions: those of the conversations that are over.
        session: counts these.
        total: how many samples are asked about.
        resumed: what is answered already.
        unused: answers in the journal that answer nothing of this task.
        failures, meter: look at the answers as they come.
        conversations: the others, each started when it is taken.
        steps: answers of the model that an agent asks; None without an agent.
    """

    answers: EarlierAnswers
    predictions: PredictionSorter
    session: TaskSession
    total: int
    resumed: Resumed
    unused: int
    failures: FailureWatch
    meter: SpeedMeter
    conversations: Iterator[RunningConversation]
    steps: EarlierAnswers | None = None


def _in_order(samples: Sequence[Sample], is_known: Sequence[int], failures: FailureWatch) -> Iterator[Sample]:
    """Yield the samples that are not known, in their order; once the model refused the first, in random order.

    Rows are often sorted by length. Others show whether the cause lies in the prompts or in the config.

    Args:
        samples: of the task.
        is_known: 1 for each sample whose prediction is there already; empty if none is.
        failures: of the task.
    """
    known = is_known or bytes(len(samples))
    for place, sample in enumerate(samples):  # much faster than access one by one
        if failures.in_doubt:
            order = np.random.default_rng(ORDER_SEED).permutation(range(place, len(samples)))
            yield from (samples[int(index)] for index in order if not known[index])
            return
        if not known[place]:
            yield sample


def _reuse_note(task: Task, opened: _Opened) -> str:
    known, answers = opened.resumed.known, opened.answers
    note = f"[{task.name}] {known} of {opened.total} samples are answered already, {opened.total - known} will be asked"
    if answers.from_cache:
        note += f"; {answers.from_cache} answers come from the cache"
    if answers.truncated:
        note += f"; {len(answers.truncated)} truncated answers are asked again"
    if (unused := opened.unused - len(answers.truncated)) > 0:
        note += f"; {unused} stored answers belong to other prompts or settings, or to unfinished samples"
    return note


class Standstill:
    """Look at the jobs of a run now and then, in a thread of its own: an application may block any other.

    Args:
        seconds: time without an answer after which one line names the samples of each job that waits; None for
            `STANDSTILL_SECONDS`.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._seconds = STANDSTILL_SECONDS if seconds is None else seconds
        self._jobs: dict[TaskJob, float] = {}  # job → its last change at the last warning
        self._lock = threading.Lock()
        self._over = threading.Event()

    def watch(self, job: TaskJob) -> None:
        """Look at a job from now on. It may be called in any thread."""
        with self._lock:
            self._jobs[job] = 0.0

    def leave(self, job: TaskJob) -> None:
        """Look at a job no more."""
        with self._lock:
            self._jobs.pop(job, None)

    def look(self, now: float) -> None:
        """Warn of each job that has conversations under way and got no answer for so long, once in a standstill."""
        with self._lock:
            silent = [
                job
                for job, warned in self._jobs.items()
                if job.waits_for() and now - job.last_change >= self._seconds and warned != job.last_change
            ]
            self._jobs |= {job: job.last_change for job in silent}
        for job in silent:
            logger.warning(
                "[%s] no answer for %s; waiting for the rows %s. Ctrl-C and -r keep the answers so far",
                job.task.name,
                counted(int(now - job.last_change) // 60, "minute"),
                listed(job.waits_for(), ROWS_NAMED),
            )

    def __enter__(self) -> Self:
        threading.Thread(target=self._run, name="aisprompt-standstill", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()

    def _run(self) -> None:
        while not self._over.wait(self._seconds / 10):
            self.look(time.monotonic())
