"""Inference of one task: every sample is asked about once, and every answer is kept.

`TaskJob.record` is where an answer arrives: it is counted, written to the journal and the cache (`Memory`), shown, and
checked for failures that end the task.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from ais_prompt.checks import check_media, taken_kinds
from ais_prompt.config import shown_body
from ais_prompt.engine.conversations import conversations_of, former_keys_of
from ais_prompt.engine.failures import FailureWatch
from ais_prompt.engine.meters import GO_ON, SpeedMeter, Spending
from ais_prompt.engine.task_session import OpenProgress, TaskSession, silent_progress
from ais_prompt.errors import InternalError, ModelError, StoreError
from ais_prompt.inferencers import RunningConversation
from ais_prompt.models import AsyncModel, Model, ScriptedModel, SendsBodies, cache_identity, full_identity
from ais_prompt.plan import PlannedDataset, Task, check_cluster
from ais_prompt.store import FormerKeys, Journal, JournalView, RequestKeys, RunFolder, open_cache, prediction_sorter
from ais_prompt.types import Completion, Decoding, Execution, Portion, Request, Sample, TaskFacts
from ais_prompt.utils import Occurrences, listed

logger = logging.getLogger(__name__)
ORDER_SEED: Final = 0
"""Seed of the order in which samples are asked once the model refused the first ones."""

ROWS_NAMED: Final = 5
"""Most rows that an error or a warning names."""


class AskingOptions(Struct, frozen=True):
    """Options of asking that all tasks of a run share.

    Attributes:
        cache_folder: answers of other runs; None to go without them.
        addresses: where earlier sessions asked; version 1 had the address in its keys.
        spending: counts what is asked, and pauses the tasks when the budget is used up.
        shard: the part of each task, by its name, that a shard asks; None to ask all samples.
        retry_truncated: ``max_out_len`` with which truncated answers of earlier sessions are asked again; None keeps
            them.
    """

    cache_folder: Path | None = None
    addresses: Sequence[str] = ()
    spending: Spending = field(default_factory=Spending)
    shard: Mapping[str, ShardTask] | None = None
    retry_truncated: int | None = None


class ShardTask(Struct, frozen=True):
    """The part of a task that a shard asks.

    Attributes:
        portion: the part of the samples that is asked.
        others: folders in which the run and its other shards may have answers to them.
    """

    portion: Portion
    others: Sequence[RunFolder] = ()


class TaskJob:
    """The inference of one task: every sample is asked about once, from the journal and the cache as far as they reach.

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
        self._portion = self._shard.portion if self._shard else None
        self._files = ExitStack()
        self._shown = ExitStack()
        self._lock = threading.Lock()
        self._abandoned = False
        self._first_body: Any = None
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
            cache = files.enter_context(open_cache(self._asking.cache_folder, cache_identity(model), self.cache_name))
            predictions = files.enter_context(prediction_sorter(self._folder.predictions(*names)))
            has_former_keys = journal.has_former_keys or (cache is not None and cache.has_former_keys)
            former_keys = former_keys_of(task, self._asking.addresses) if has_former_keys else None
            of_shards = JournalView(*(one.journal(*names) for one in (self._shard.others if self._shard else ())))
            key_of, retry = RequestKeys(model.identity()), self._asking.retry_truncated
            # Where answers come from: the own journal, then those of other shards, then the cache.
            memory = Memory(journal, key_of, cache, former_keys, of_shards, retry_truncated=retry)
            samples = task.data.test
            portion = self._portion
            self._total = len(samples) if portion is None else sum(portion.holds(sample.id) for sample in samples)
            self._known, used, self._answered = 0, 0, None
            # Resumed: every conversation is held once with the answers that there are, to count them.
            if memory.has_answers:
                self._known, used, self._answered = _known(task, memory, self._portion)
            self._memory, self._predictions, self._unused = memory, predictions, len(journal) - used
            with self._lock:  # Ctrl-C may have abandoned the job while this thread was reading
                if self._abandoned:
                    raise ModelError("the run was stopped", fix=GO_ON)
                self._files = files.pop_all()

    def begin(self) -> None:
        """Show the task from now on."""
        task, memory, total = self.task, self._memory, self._total
        show = self._open_progress if total else silent_progress
        progress = self._shown.enter_context(show(task.name, total, self._known))
        if memory.has_answers:
            progress.note(_reuse_note(task, self._known, total, self._unused, memory))
        self._progress, self._meter = progress, SpeedMeter()
        self._session = TaskSession(task, progress)
        self._failures = FailureWatch(has_answered=self._known > 0)
        cluster = task.spec.dataset.eval.cluster
        self._conversations = conversations_of(task, memory.recall, self._samples(), cluster, self._portion)

    def next(self) -> RunningConversation | None:
        """Start the next conversation; None after the last one."""
        conversation = next(self._conversations, None)
        if conversation is not None:
            if not self._under_way:  # it may have waited for room
                self.last_change = time.monotonic()
            self._under_way[conversation] = None
        return conversation

    def waits_for(self) -> list[int]:
        """Return the rows whose conversations are under way. It may be called in any thread."""
        return [conversation.row for conversation in list(self._under_way) if conversation.row is not None]

    def admit(self, count: int) -> int:
        """Return how many requests may be sent now, at least one.

        Raises:
            Paused: the budget is used up.
        """
        return self._asking.spending.admit(self.task.spec.model.abbr, count)

    def record(self, request: Request, completion: Completion) -> Completion:
        """Take an answer or a failure: count its cost, keep it in the journal, show it, and watch for failures.

        Returns:
            The completion; the truncated answer in place of a failure to ask for a longer one.

        Raises:
            Paused: the provider's quota is used up; nothing is written then.
            AisPromptError: the disk does not take it, or the model cannot be used.
        """
        self.last_change = time.monotonic()
        if isinstance(request.decoding, Execution):  # it says nothing of the model
            return self._memory.record(request, completion)
        model = self.task.spec.model
        if self._first_body is None and isinstance(self.model, SendsBodies) and isinstance(request.decoding, Decoding):
            self._first_body = shown_body(self.model.sent(request)[1])
        # The budget first: an answer that a used-up quota refused must not get into the journal, else it counts as
        # answered. The journal before all others: a failure that ends the task is kept as well.
        self._asking.spending.add(model.abbr, model.price, request, completion)
        kept = self._memory.record(request, completion)
        # Kept. What follows only looks at it, and may end the task.
        self._progress.answered(completion)
        self._meter.add(completion)
        self._session.see(request, completion)
        self._failures.check(completion)
        return kept

    def cancelled(self, attempts: int) -> None:
        """Count a request that was sent so often and is not waited for."""
        self._asking.spending.add_cancelled(attempts)

    def finished(self, conversation: RunningConversation) -> None:
        """Keep the prediction of a conversation that is over.

        Raises:
            StoreError: the disk does not take it.
        """
        prediction = conversation.prediction
        assert prediction is not None  # it is over
        self.last_change = time.monotonic()
        del self._under_way[conversation]
        self._predictions.add(prediction)
        self._session.add(prediction)
        if not is_known(conversation):
            self._progress.advance(failed=prediction.failed)

    def conclude(self) -> None:
        """Write the predictions, and note what the user should know.

        Raises:
            InternalError: a sample that was to be asked has neither an answer nor a failure.
            AisPromptError: the model never answered, a part failed for every sample, or the disk is full.
        """
        self._failures.conclude()
        if self._session.samples != self._total:
            raise InternalError(
                f"{self._total} samples were to be asked, and {self._session.samples} were answered or failed",
                where=f"rows {listed(self.waits_for(), ROWS_NAMED)}" if self._under_way else "",
                fix="this is a bug of aisprompt; -r asks the missing samples",
            )
        self._session.tell_end()
        self._predictions.write(self._folder.predictions(*self._names))
        self._shown.close()

    def close(self) -> None:
        """Close the files, and set the facts.

        Raises:
            StoreError: the disk does not take the journal.
        """
        self._files.close()
        session, data = self._session, self.task.data
        # Speed means something for a served model only, and nothing for answers from a script.
        is_served = isinstance(self.model, AsyncModel) and not isinstance(self.model, ScriptedModel)
        self.facts = TaskFacts(
            full_identity(self.model),
            data.digest,
            tuple(data.origins),
            session.samples,
            session.failed,
            session.shortened,
            self._meter.speed() if is_served else None,
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

    def _samples(self) -> Iterator[Sample]:
        """Yield the samples in their order; once the model refused the first ones, the others in random order.

        Rows are often sorted by length. Others show whether the cause lies in the prompts or in the config.

        In a resumed run those that are open come first: passing on many answers would keep the server waiting.
        """
        samples = self.task.data.test
        if (answered := self._answered) is not None:
            yield from (sample for sample in samples if not answered[sample.index])
            yield from (sample for sample in samples if answered[sample.index])
            return
        for place, sample in enumerate(samples):
            if self._failures.in_doubt:
                yield from _in_random_order(samples, place)
                return
            yield sample

    def _release(self) -> None:
        """Let go of the data: a job may be kept until the end of the run."""
        self.task.release()
        self._under_way.clear()
        kept = (
            "_memory",
            "_predictions",
            "_progress",
            "_meter",
            "_session",
            "_failures",
            "_conversations",
            "_answered",
        )
        for name in kept:
            vars(self).pop(name, None)


class Memory:
    """Finds answers by their requests.

    Args:
        journal: of the task; every answer gets into it, so that the run folder is complete by itself.
        key_of: makes the keys of the model's answers.
        cache: answers of other runs, to which new answers are added; None without a cache.
        former_keys: makes the keys of earlier versions; None if neither journal nor cache has any.
        of_shards: answers of other shards of the run; they stay in their journals.
        retry_truncated: ``max_out_len`` with which truncated answers are asked again; None keeps them.

    Attributes:
        from_cache: how many answers were taken out of the cache.
        truncated: keys of the answers that are asked again.
    """

    def __init__(
        self,
        journal: Journal,
        key_of: RequestKeys,
        cache: Journal | None = None,
        former_keys: FormerKeys | None = None,
        of_shards: JournalView | None = None,
        *,
        retry_truncated: int | None = None,
    ) -> None:
        self.from_cache = 0
        self.truncated: set[str] = set()
        self._journal = journal
        self._cache = cache
        self._key_of = key_of
        self._former_keys = former_keys
        self._of_shards = of_shards
        self._retry_truncated = retry_truncated
        # No request is made twice in one run, so journals that were empty at its beginning need no look-up.
        self.has_answers = any(found is not None and len(found) > 0 for found in (journal, cache, of_shards))

    def recall(self, request: Request) -> Completion | Request | None:
        """Return the earlier answer to a request, or the request that asks for a longer one; None without an answer.

        Raises:
            StoreError: a journal cannot be read or written.
        """
        if not self.has_answers:
            return None
        key = self._key_of(request)
        answer = self._find(self._journal, key, request)
        if answer is None and self._of_shards is not None:
            answer = self._of_shards.answer(key)
        if answer is None and self._cache is not None and (answer := self._find(self._cache, key, request)) is not None:
            self._journal.append(key, request, answer, findable=True)
            self.from_cache += 1
        return answer if answer is None else self._longer(key, request, answer)

    def _longer(self, key: str, request: Request, answer: Completion) -> Completion | Request:
        """Return an answer, or the request that repeats it with a larger ``max_out_len`` if it is truncated."""
        limit, decoding = self._retry_truncated, request.decoding
        if limit is None or not answer.truncated or not isinstance(decoding, Decoding):
            return answer
        if limit <= decoding.max_out_len:
            return answer
        longer = replace(request, decoding=replace(decoding, max_out_len=limit), retries=key)
        if (found := self._journal.get(self._key_of(longer))) is not None:
            return found
        self.truncated.add(key)
        return longer

    def _find(self, answers: Journal, key: str, request: Request) -> Completion | None:
        """Return an answer of this version, or of an earlier version, which is then written under its new key."""
        answer = answers.get(key)
        if answer is None and self._former_keys is not None and answers.has_former_keys:
            adopted = (answers.adopt(former, key, request) for former in self._former_keys(request))
            answer = next((found for found in adopted if found is not None), None)
        return answer

    def record(self, request: Request, completion: Completion) -> Completion:
        """Write an answer or a failure down, and return it; a failed retry leaves the truncated answer in place.

        Raises:
            StoreError: it cannot be written.
        """
        key = self._key_of(request)
        kept = completion
        if request.retries and completion.failure is None:
            assert isinstance(request.decoding, Decoding)
            kept = replace(completion, retried_with=request.decoding.max_out_len)
        self._journal.append(key, request, kept)
        if self._cache is not None and completion.failure is None:
            self._cache.append(key, replace(request, retries=""), completion)
        if request.retries and completion.failure is not None:
            return self._journal.get(request.retries) or completion
        return kept


def is_known(conversation: RunningConversation) -> bool:
    """Return whether all of a conversation was answered before. A sample that cannot be asked never was."""
    return conversation.recalled and conversation.prediction is not None and not conversation.prediction.failed


def _in_random_order(samples: Sequence[Sample], start: int = 0) -> Iterator[Sample]:
    order = np.random.default_rng(ORDER_SEED).permutation(range(start, len(samples)))
    return (samples[int(index)] for index in order)


def _known(task: Task, memory: Memory, portion: Portion | None) -> tuple[int, int, bytearray | None]:
    """Return how many samples the journal answers completely, with how many of its answers, and 1 for each such sample.

    The last is None if samples must be asked in their order, because equal prompts are numbered in it.
    """
    samples = task.data.test
    known = used = 0
    answered, openings = bytearray(len(samples)), Occurrences(len(samples))
    for conversation in conversations_of(task, memory.recall, samples, portion=portion, openings=openings):
        if conversation.prediction is not None and is_known(conversation):
            known += 1
            used += conversation.answers_found
            answered[conversation.prediction.index] = 1
    is_free = portion is None and known > 0 and not openings.has_equal
    return known, used, answered if is_free else None


def _reuse_note(task: Task, known: int, total: int, unused: int, memory: Memory) -> str:
    note = f"[{task.name}] {known} of {total} samples are answered already, {total - known} will be asked"
    if memory.from_cache:
        note += f"; {memory.from_cache} answers come from the cache"
    if memory.truncated:
        note += f"; {len(memory.truncated)} truncated answers are asked again"
    if (unused := unused - len(memory.truncated)) > 0:
        note += f"; {unused} stored answers belong to other prompts or settings, or to unfinished samples"
    return note
