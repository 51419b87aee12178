"""The conversations of a task: the questions about each of its samples, and the answers that are known already.

An inferencer asks in a conversation, and `conversations_of` starts those of a task. A row is checked on its way there:

- A prompt that shows a missing value would read "Question: None". Its sample fails instead.
- Samples with identical prompts are numbered, so that each keeps its own answer.

`EarlierAnswers` answers from the journal and the cache what was asked before, so that a resumed run sends only what is
missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import AisPromptError, DataError, PromptError
from ais_prompt.inferencers import (
    UNUSABLE_ROW,
    Conversation,
    InferenceContext,
    Inferencer,
    Recall,
    RepeatingInferencer,
    RunningConversation,
    ends_task,
    failure_of,
)
from ais_prompt.models import BringsFiles, former_identities
from ais_prompt.plan import Task, cluster_of
from ais_prompt.store import AnswerCache, FormerKeys, Journal, JournalView, RequestKeys
from ais_prompt.types import (
    Completion,
    Content,
    Decoding,
    Failure,
    LikelihoodQuery,
    Portion,
    Prediction,
    Request,
    Sample,
    ToolRun,
    prompt_to_json,
)
from ais_prompt.utils import Occurrences, canonical, one_line, texts

LONGEST_NAME: Final = 60
"""Longest text of a column that counts as a name, such as a subject or a level; longer texts are content."""
NO_VALUE: Final = "no_value"
"""The kind of the failure of a sample whose prompt would show a missing value."""
_MARK: Final = "\ue003"


def conversations_of(
    task: Task,
    recall: Recall,
    samples: Iterable[Sample],
    cluster: str | None = None,
    portion: Portion | None = None,
    numbering: Numbering | None = None,
) -> Iterator[RunningConversation]:
    """Yield the conversations of samples, each started when it is taken.

    Args:
        task: a model and a dataset.
        recall: looks up earlier answers.
        samples: of the task's data, in the order of asking.
        cluster: ``eval_cfg.cluster``, to be noted in the predictions.
        portion: yield only the conversations of its samples. The prompts of the others are made too, because equal
            prompts are numbered over the whole dataset.
        numbering: of equal prompts, where all conversations were started before; None for those that were not.

    Raises:
        AisPromptError: the task cannot be asked at all; ``where`` names the sample.
    """
    numbering = numbering or Numbering(len(task.data.test))
    brings_files = task.model if isinstance(task.model, BringsFiles) else None
    for sample in samples:
        try:
            conversation = _conversation(task, sample, brings_files, cluster)
            if portion is None or portion.holds(sample.id):
                yield RunningConversation(conversation, recall, sample.index, partial(numbering.number, sample.index))
            elif not numbering.knows(sample.index):
                with suppress(StopIteration):  # it cannot be asked
                    numbering.number(sample.index, next(conversation))
                conversation.close()
        except AisPromptError as error:
            error.where = error.where or f"sample {sample.id}, row {sample.index}"
            raise


def stored_predictions(
    task: Task, journals: Sequence[Path], addresses: Sequence[str], identity: Mapping[str, Any] | None = None
) -> Iterator[Prediction]:
    """Yield the predictions of the samples that journals answer to their end, in sample order; nothing is asked.

    Failures count as answers, and so do samples that cannot be asked at all.

    Args:
        task: a model and a dataset.
        journals: its journals, which other processes may be writing.
        addresses: as for `former_keys_of`.
        identity: of the model that answered, where its files are not here; None for that of the task's model.

    Raises:
        AisPromptError: the data, the model's files or the journal cannot be read.
    """
    view = JournalView(*journals)
    key_of = RequestKeys(task.model.identity() if identity is None else identity)
    former = former_keys_of(task, addresses) if view.has_former_keys else lambda _: iter(())

    def recall(request: Request) -> Completion | None:
        return view.get(chain([key_of(request)], former(request)))

    if len(view):
        for conversation in conversations_of(task, recall, task.data.test, task.spec.dataset.eval.cluster):
            if conversation.prediction is not None:
                yield conversation.prediction


def former_keys_of(task: Task, addresses: Sequence[str]) -> FormerKeys:
    """Return the maker of the keys that an earlier version gave to a task's requests.

    Args:
        task: a model and a dataset.
        addresses: where earlier sessions asked; version 1 had the address in its keys.
    """
    rows = {sample.id: sample.row_id for sample in task.data.test}
    return FormerKeys(former_identities(task.model, addresses), rows)


def columns_of(sample: Sample, gold: str | None) -> dict[str, Any]:
    """Return the columns of a row that reports filter by: with a number, a flag or a name, except the gold column."""
    columns = {}
    for name, value in sample.fields.items():
        is_name = isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and "\n" not in value
        if name != gold and (is_name or isinstance(value, bool | int | float)):
            columns[name] = value
    return columns


def _conversation(task: Task, sample: Sample, brings_files: BringsFiles | None, cluster: str | None) -> Conversation:
    # What is wrong with a row ends in a prediction without an answer, what is wrong with a part or the data in the end
    # of the task (`ends_task`). Nothing may leave here as an exception of its own: one row would end all others.
    shots: Sequence[Sample] = ()
    try:
        shots = task.shots(sample)
        if gap := shown_gap(task.inferencer, sample, shots, task.context):
            prediction = _without_answer(task, sample, gap)
        else:
            conversation = task.inferencer.converse(sample, shots, task.context)
            if brings_files is not None:
                conversation = _with_brought(conversation, brings_files.brought(sample.fields))
            prediction = yield from conversation
    except (DataError, PromptError) as error:
        what = f"row {sample.index} cannot be asked: {error.what}; {error.fix}"
        failure = Failure(UNUSABLE_ROW, what, where=error.where)
        prediction = _without_answer(task, sample, failure)
    except Exception as error:
        if ends_task(error):
            raise
        prediction = _without_answer(task, sample, failure_of(error, type(task.inferencer).__name__))
    return replace(
        prediction,
        shots_used=len(shots),
        row_id=sample.row_id,
        cluster=None if cluster is None else cluster_of(sample, cluster),
        columns=columns_of(sample, task.spec.dataset.reader.output_column),
        stratum=sample.stratum,
    )


def _with_brought(conversation: Conversation, brought: str) -> Conversation:
    """Set `Request.brought` in all requests of a conversation, so that their keys change with the files of the row."""
    answers: Sequence[Completion] | None = None
    while True:
        try:
            asked = next(conversation) if answers is None else conversation.send(answers)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        answers = yield [replace(request, brought=brought) for request in asked]


def _without_answer(task: Task, sample: Sample, failure: Failure) -> Prediction:
    """Return the prediction of a sample that could not be asked, with as many answers as the others have."""
    n = task.inferencer.n if isinstance(task.inferencer, RepeatingInferencer) else 1
    answers = (Completion(failure=failure),) * n
    return Prediction(sample.id, sample.index, "", [None] * n if n > 1 else None, sample.gold, answers)


def shown_gap(
    inferencer: Inferencer, sample: Sample, shots: Sequence[Sample], context: InferenceContext
) -> Failure | None:
    """Return why a sample is not asked: its row, or that of an example, lacks a value that the prompt shows; else None.

    A prompt is only made for rows with gaps, with a mark in each gap: a column is shown if its mark comes out.
    """
    rows = [sample, *shots]
    gaps = [(number, name) for number, row in enumerate(rows) for name, value in row.fields.items() if value is None]
    if not gaps:
        return None
    marks = {gap: f"{_MARK}{number}{_MARK}" for number, gap in enumerate(gaps)}
    question, *examples = (
        replace(row, fields={name: marks.get((number, name), value) for name, value in row.fields.items()})
        if any(number == place for place, _ in gaps)
        else row
        for number, row in enumerate(rows)
    )
    try:
        prompts = [view.prompt for view in inferencer.preview(question, examples, context)]
    except AisPromptError:  # the column does not hold plain text; the prompt itself says what is wrong
        return None
    said = [prompt if isinstance(prompt, str) else [message.content for message in prompt] for prompt in prompts]
    text = "".join(texts(said))
    shown = next((gap for gap in gaps if marks[gap] in text), None)
    if shown is None:
        return None
    number, name = shown
    row = f"row {sample.index}"
    if number > 0:
        row = f"train row {shots[number - 1].index}, an example of {row},"
    return Failure(NO_VALUE, f"{row} has no value in the column {name!r}, which the prompt shows")


class Numbering:
    """Numbers conversations that open with the same prompts, each with how many of them were started before it.

    That is in the order of the dataset, whatever is answered first. A conversation that is started again keeps its
    number.

    Args:
        samples: number of samples.
    """

    def __init__(self, samples: int) -> None:
        self._openings = Occurrences(samples)
        self._is_numbered = bytearray(samples)
        self._numbers: dict[int, int] = {}  # index of a sample → its number, unless that is 0

    def knows(self, index: int) -> bool:
        """Return whether the conversation about a sample has a number."""
        return bool(self._is_numbered[index])

    def number(self, index: int, asked: Sequence[Request]) -> int:
        """Return the number of a sample's conversation, which opens with these requests."""
        if not self._is_numbered[index]:
            self._is_numbered[index] = 1
            if number := self._openings.earlier(_opening(asked)):
                self._numbers[index] = number
        return self._numbers.get(index, 0)


def _opening(asked: Sequence[Request]) -> Hashable:
    """Return the prompts of the first requests, and the texts whose log-likelihood they ask for."""
    if messages := _plain_messages(asked):
        return messages
    prompts = tuple(
        (request.prompt, request.decoding) if isinstance(request.decoding, LikelihoodQuery) else request.prompt
        for request in asked
    )
    try:
        hash(prompts)
    except TypeError:  # messages have dicts in them
        return canonical([prompt_to_json(request.prompt) for request in asked])
    return prompts


def _plain_messages(asked: Sequence[Request]) -> tuple[tuple[tuple[str, Content], ...], ...]:
    """Return the prompts of requests if all of them are messages of role and text; empty if not."""
    opening = []
    for request in asked:
        if isinstance(request.prompt, str):
            return ()
        messages = []
        for message in request.prompt:
            if message.extra or not isinstance(message.content, str):
                return ()
            messages.append((message.role, message.content))
        opening.append(tuple(messages))
    return tuple(opening)


CUT_OFF: Final = "tool_cut_off"
"""The kind of the failure of a call of a tool whose end is not known."""


def is_for_model(request: Request) -> bool:
    """Return whether a request is for the model; the inferencer performs the others, programs and calls of tools."""
    return isinstance(request.decoding, Decoding | LikelihoodQuery)


class EarlierAnswers:
    """Finds answers by their requests.

    Args:
        journal: of the task; every answer gets into it, so that the run folder is complete by itself.
        key_of: makes the keys of the model's answers.
        cache: answers of other runs, to which new answers are added; None without a cache.
        former_keys: makes the keys of earlier versions; None if neither journal nor cache has any.
        of_shards: answers of other shards of the run; they stay in their journals.
        retry_truncated: ``max_out_len`` with which truncated answers are asked again; None keeps them.
        asking: key of a request that a task of the run asks, with this cache → done when its answer is recorded.

    Attributes:
        from_cache: how many answers were taken out of the cache.
        truncated: keys of the answers that are asked again.
    """

    def __init__(
        self,
        journal: Journal,
        key_of: RequestKeys,
        cache: AnswerCache | None = None,
        former_keys: FormerKeys | None = None,
        of_shards: JournalView | None = None,
        *,
        retry_truncated: int | None = None,
        asking: dict[str, asyncio.Future[None]] | None = None,
    ) -> None:
        self.from_cache = 0
        self.truncated: set[str] = set()
        self._journal = journal
        self._cache = cache
        self._key_of = key_of
        self._former_keys = former_keys
        self._of_shards = of_shards
        self._retry_truncated = retry_truncated
        self._asking = {} if asking is None else asking
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
        # Answered in this folder, by this session or an earlier one.
        answer = self._journal.get(key) or self._adopted(self._journal, key, request)
        # Answered by another shard, whose journal may still grow.
        if answer is None and self._of_shards is not None:
            answer = self._of_shards.answer(key)
        # Answered in another run: written down here too, so that this folder is complete by itself.
        if isinstance(request.decoding, ToolRun):  # what it did in another run, it did not do in this one
            return answer or self._cut_off(key, request, request.decoding)
        if answer is None and (cache := self._cache) is not None:
            answer = cache.get(key, request) or self._adopted(cache, key, request)
            if answer is not None:
                self._journal.append(key, request, answer, findable=True)
                self.from_cache += 1
        return answer if answer is None else self._longer(key, request, answer)

    def of_asked(self, key_of: RequestKeys) -> EarlierAnswers:
        """Return the same journals for the requests of an agent, whose keys are those of the model that it asks."""
        return EarlierAnswers(self._journal, key_of, self._cache, of_shards=self._of_shards)

    def claimed(self, request: Request) -> AbstractAsyncContextManager[Completion | None]:
        """Keep other tasks of the run from asking the same request while the body asks and records it.

        Yields:
            The answer that another task has recorded in the cache meanwhile, after waiting for it; else None. Without
            a cache it is always None.

        Raises:
            StoreError: a journal cannot be read or written.
        """
        if self._cache is None or request.retries or not is_for_model(request):
            return nullcontext()
        return self._claimed(self._cache, request)

    @asynccontextmanager
    async def _claimed(self, cache: AnswerCache, request: Request) -> AsyncIterator[Completion | None]:
        key = self._key_of(request)
        while (asked := self._asking.get(key)) is not None:
            await asyncio.wait([asked])
        if (answer := cache.get(key, request)) is not None:
            self._journal.append(key, request, answer)
            yield answer
            return
        self._asking[key] = done = asyncio.get_running_loop().create_future()
        try:
            yield None
        finally:
            del self._asking[key]
            done.set_result(None)

    def begin(self, request: Request) -> None:
        """Note that a tool is about to be called. Its result takes the place of this line.

        Raises:
            StoreError: it cannot be written.
        """
        if isinstance(request.decoding, ToolRun) and request.decoding.has_effects:
            failure = Failure(CUT_OFF, f"the run ended while {request.decoding.tool} was called")
            self._journal.append(self._key_of(request), request, Completion(failure=failure), begun=True)

    def _cut_off(self, key: str, request: Request, run: ToolRun) -> Completion | None:
        """Return the failure of a call that an earlier session began; None if it can be made now."""
        if not run.has_effects or not self._journal.was_cut_off(key):
            return None
        what = (
            f"an earlier session ended while {run.tool} was called with {one_line(str(request.prompt))}, and it is not "
            "known whether the call took effect"
        )
        return Completion(failure=Failure(CUT_OFF, what))

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

    def _adopted(self, answers: Journal | AnswerCache, key: str, request: Request) -> Completion | None:
        """Return the answer of an earlier version, which is then written under its new key; None without any."""
        if self._former_keys is None or not answers.has_former_keys:
            return None
        adopted = (answers.adopt(former, key, request) for former in self._former_keys(request))
        return next((found for found in adopted if found is not None), None)

    def record(self, request: Request, completion: Completion) -> Completion:
        """Write an answer or a failure down, and return it; a failed retry leaves the truncated answer in place.

        Raises:
            StoreError: it cannot be written.
        """
        key = self._key_of(request)
        kept = completion
        # A longer answer in place of a truncated one says so. A failure to get it leaves the truncated one as it is.
        if request.retries and completion.failure is None:
            assert isinstance(request.decoding, Decoding)
            kept = replace(completion, retried_with=request.decoding.max_out_len)
        self._journal.append(key, request, kept)
        if self._cache is not None and completion.failure is None and not isinstance(request.decoding, ToolRun):
            self._cache.append(key, replace(request, retries=""), completion)
        if request.retries and completion.failure is not None:
            return self._journal.get(request.retries) or completion
        return kept


class Resumed(Struct, frozen=True):
    """How far a task is answered already.

    Attributes:
        known: samples that are answered completely; their predictions are kept.
        used: answers of the journal that these samples have.
        is_known: 1 for each such sample.
        numbering: of the conversations, which were all started once; None if there are no earlier answers.
    """

    known: int = 0
    used: int = 0
    is_known: bytearray = bytearray()
    numbering: Numbering | None = None


def take_known(
    task: Task, recall: Recall, portion: Portion | None, cluster: str | None, keep: Callable[[Prediction], None]
) -> Resumed:
    """Hold every conversation of a task with the answers that there are, and keep the predictions of those that end.

    A sample that cannot be asked, or whose part failed, is not known: it is tried again.

    Args:
        task, recall, portion, cluster: as for `conversations_of`.
        keep: takes the prediction of a sample that is answered completely.

    Raises:
        AisPromptError: as `conversations_of`.
    """
    samples = task.data.test
    known = used = 0
    is_known, numbering = bytearray(len(samples)), Numbering(len(samples))
    for conversation in conversations_of(task, recall, samples, cluster, portion, numbering):
        prediction = conversation.prediction
        if prediction is not None and not prediction.failed:
            known += 1
            used += conversation.answers_found
            is_known[prediction.index] = 1
            keep(prediction)
    return Resumed(known, used, is_known, numbering)
