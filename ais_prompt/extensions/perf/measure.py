"""Measure one task: send the requests of its load when they are due.

Nothing but sending happens on the event loop while a load runs: prompts are built before, and a thread counts tokens
and writes the journal and the predictions (`LoadWriter`).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from queue import Empty, SimpleQueue
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.config import shown_body
from ais_prompt.engine import conversations_of
from ais_prompt.errors import ModelError
from ais_prompt.extensions.perf.counters import ServerCounters, differences, read_counters
from ais_prompt.extensions.perf.driver import ClientMeter, drive
from ais_prompt.extensions.perf.exchange import Exchange, offsets_of
from ais_prompt.extensions.perf.load_files import ENDING, LoadCounter, add_client, write_plan
from ais_prompt.extensions.perf.load_rows import LENGTH
from ais_prompt.extensions.perf.prepare import PreparedLoad, served_model
from ais_prompt.extensions.perf.probe import LoadProbe, probing
from ais_prompt.inferencers import (
    RepeatingInferencer,
    RunningConversation,
    answer_length,
    ends_task,
    failure_of,
    without_secrets,
)
from ais_prompt.models import ApiModel, Moments, StreamReader, allow_connections, approximate_tokens, forget_connections
from ais_prompt.parts import part_class
from ais_prompt.plan import Task
from ais_prompt.processes import run_coroutine
from ais_prompt.store import Journal, RequestKeys, RunFolder, prediction_sorter
from ais_prompt.terminal import Advance, tracking
from ais_prompt.types import ChatMessage, Completion, Decoding, Failure, Prediction, Prompt, Request, TaskFacts
from ais_prompt.utils import digest

MOST_CONNECTIONS: Final = 20_000
"""Connections that a load without a limit may open; there are 65,535 ports."""
CUT: Final = "cut"
"""Kind of the failure of a request that was still in flight when the grace of a load was over."""


def measure(load: PreparedLoad, folder: RunFolder) -> TaskFacts:
    """Send a load, and write its schedule, journal and predictions.

    Raises:
        ModelError: the server cannot be used, or answers no warm-up.
        StoreError: the disk does not take the files.
        KeyboardInterrupt: stopped; what was answered is kept.
    """
    spec, data = load.task.spec, load.task.data
    schedule = folder.load_file(spec.model.abbr, spec.dataset.abbr, "_schedule.jsonl")
    write_plan(schedule, load.plan)
    meter, is_over = ClientMeter(), False
    counters: Sequence[ServerCounters] = ()
    probes: list[LoadProbe] = []
    with LoadWriter(load, folder) as writer:
        try:
            counters = run_coroutine(_measured(load, writer, meter, probes))
            is_over = True
        except ExceptionGroup as group:  # of a request; the others were cancelled
            raise group.exceptions[0] from None
        finally:
            add_client(schedule, meter.facts(interrupted=not is_over), writer.first_body, counters, probes)
    samples = len(load.ready) + len(load.over)
    return TaskFacts(load.task.model.identity(), data.digest, tuple(data.origins), samples, writer.failed)


async def _measured(
    load: PreparedLoad, writer: LoadWriter, meter: ClientMeter, probes: list[LoadProbe]
) -> list[ServerCounters]:
    """Warm up and send a load, with its probes; return what its servers counted meanwhile."""
    model = served_model(load.task)
    await model.open()
    if load.plan.schedule.places is None:
        with suppress(ModelError):  # what cannot be opened will be counted as a failure
            allow_connections(number := min(load.plan.schedule.requests or 0, MOST_CONNECTIONS))
            forget_connections(number)  # only the limit of this process matters here
    try:
        await model.start()
        await _warm_up(load, model)
        before = await asyncio.to_thread(read_counters, model)
        with meter.measuring():
            asking = _Asking(load, model, writer)
            pattern = load.ready[0].open_requests()[0]
            async with probing(model, pattern, asking.origin, probes) if load.plan.probe else nullcontext():
                await drive(load.plan.schedule, asking.ask, asking.origin)
        return differences(before, await asyncio.to_thread(read_counters, model))
    finally:
        await model.aclose()


async def _warm_up(load: PreparedLoad, model: ApiModel) -> None:
    """Ask some requests whose prompts no later one repeats, all at once.

    Raises:
        ModelError: none is answered.
    """
    count, clock = load.plan.warmups, asyncio.get_running_loop().time
    first = [load.ready[number % len(load.ready)].open_requests()[0] for number in range(count)]
    lengths = _answer_lengths(load.task)
    own = [
        replace(_with_length(one, lengths), prompt=with_line(one.prompt, f"warm-up {number}"))
        for number, one in enumerate(first)
    ]
    found = await asyncio.gather(*(model.complete_once(request, Moments(clock)) for request in own))
    failures = [completion.failure for completion, _ in found if completion.failure is not None]
    if count and len(failures) == count:
        kind, message = failures[0].kind, failures[0].message
        what = f"the warm-up failed: {kind}: {message}"
        raise ModelError(
            what, where=load.task.spec.model.where, fix="see that the server runs, and the model's options"
        )


class _Asking:
    """Asks the requests of a load."""

    def __init__(self, load: PreparedLoad, model: ApiModel, writer: LoadWriter) -> None:
        self._load = load
        self._model = model
        self._writer = writer
        self._clock = asyncio.get_running_loop().time
        self._again: Iterator[RunningConversation] = iter(())
        inferencer = load.task.inferencer
        self._repeats = inferencer.n if isinstance(inferencer, RepeatingInferencer) else 1
        self._lengths = _answer_lengths(load.task)
        self.origin = writer.origin = self._clock()
        self._end = None if load.plan.duration is None else self.origin + load.plan.duration
        self._cut_at = None if self._end is None else self._end + load.plan.grace

    async def ask(self, number: int, due: float) -> None:
        """Ask a conversation to its end; each later turn is due when the answer before it is there."""
        ready = self._load.ready
        is_first = number < len(ready)
        conversation = ready[number] if is_first else self._next_again()
        while requests := conversation.open_requests():
            sent = self._as_sent(requests[0], number)
            taken, moments = self._clock(), Moments(self._clock)
            self._writer.counter.sent()
            completion, reader = await self._completed(sent, moments)
            end = self._clock()
            conversation.answer(requests[0], completion)
            events = ((), "") if reader is None else (reader.times, "".join(reader.kinds), reader.served)
            self._writer.add(LoadAnswer(sent, completion, due, taken, end, moments, *events))
            due = self._clock()
            if self._end is not None and due >= self._end:
                break  # no turn starts after the time either
        if is_first and conversation.prediction is not None:
            self._writer.add(conversation.prediction)

    async def _completed(self, request: Request, moments: Moments) -> tuple[Completion, StreamReader | None]:
        """Return an answer or a failure, and the reader of its stream."""
        limit = asyncio.timeout_at(self._cut_at)
        try:
            async with limit:
                completion, reader = await self._model.complete_once(request, moments)
        except Exception as error:
            if limit.expired():
                message = f"not answered {self._load.plan.grace:g} s after the time of the load"
                return Completion(failure=Failure(CUT, message)), None
            if ends_task(error):
                raise
            return Completion(failure=failure_of(error, part_class(self._model).__name__)), None
        return without_secrets(completion), reader

    def _as_sent(self, request: Request, number: int) -> Request:
        """Return a request of the inferencer as it is sent: a row that is asked again is another repeat."""
        plan = self._load.plan
        if plan.unique:
            request = replace(request, prompt=with_line(request.prompt, f"{plan.seed}-{number}"))
        request = _with_length(request, self._lengths)
        rounds = number // len(plan.sample_ids)
        return replace(request, repeat=request.repeat + rounds * self._repeats) if rounds else request

    def _next_again(self) -> RunningConversation:
        """Return the next conversation about a row that was asked before."""
        while True:
            for conversation in self._again:
                if conversation.open_requests():
                    return conversation
            self._again = conversations_of(self._load.task, lambda _: None, self._load.task.data.test)


def with_line(prompt: Prompt, line: str) -> Prompt:
    """Return a prompt that begins with a line of its own, so that it shares no beginning with others."""
    if isinstance(prompt, str):
        return f"[{line}]\n{prompt}"
    first, *rest = prompt
    if isinstance(first.content, str):
        return (replace(first, content=f"[{line}]\n{first.content}"), *rest)
    return (ChatMessage(first.role, ({"type": "text", "text": f"[{line}]\n"}, *first.content)), *rest)


def _answer_lengths(task: Task) -> dict[str, int]:
    """Return the most tokens of the answers to rows that say it: sample id → number."""
    if LENGTH not in task.data.columns:
        return {}
    lengths = {sample.id: answer_length(sample.fields.get(LENGTH)) for sample in task.data.test}
    return {sample_id: length for sample_id, length in lengths.items() if length is not None}


def _with_length(request: Request, lengths: Mapping[str, int]) -> Request:
    """Return a request for an answer of the length that its row names."""
    if (length := lengths.get(request.sample_id)) is None or not isinstance(request.decoding, Decoding):
        return request
    return replace(request, decoding=replace(request.decoding, max_out_len=length))


CHECKED_ANSWERS: Final = 200
"""Answers whose tokens are also counted with the model's tokenizer."""
OF_A_ROW: Final = {"max_tokens", "max_completion_tokens", "max_new_tokens", "max_output_tokens", "seed"}
"""Fields of a body that may differ from row to row and from repeat to repeat, besides the prompt."""


class LoadAnswer(Struct, frozen=True):
    """One answered or failed request, with times of the clock; ``times`` and ``kinds`` are of the events."""

    request: Request
    completion: Completion
    due: float
    taken: float
    end: float
    moments: Moments
    times: Sequence[float]
    kinds: str
    served: str = ""


class LoadWriter:
    """Writes journal and predictions in a thread of its own.

    Attributes:
        origin: the beginning of the load, on the clock of its loop.
        failed: predictions without an answer.
        counter: counts requests, to follow the load.
        first_body: the body of the first request, with long texts cut; None before it.
    """

    def __init__(self, load: PreparedLoad, folder: RunFolder) -> None:
        self.origin = 0.0
        self.failed = 0
        self.first_body: Any = None
        self._load = load
        self._model = served_model(load.task)
        names = load.task.spec.model.abbr, load.task.spec.dataset.abbr
        self._journal, self._predictions = folder.journal(*names), folder.predictions(*names)
        name, planned = load.task.spec.name, load.plan.schedule.requests
        self.counter = LoadCounter(folder.load_file(*names, ENDING), name, planned)
        self._key_of = RequestKeys(self._model.identity())
        self._to_check = CHECKED_ANSWERS
        self._queue: SimpleQueue[LoadAnswer | Prediction | None] = SimpleQueue()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="aisprompt-load", daemon=True)

    def __enter__(self) -> LoadWriter:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def add(self, item: LoadAnswer | Prediction) -> None:
        """Take an answer or a prediction; return at once.

        Raises:
            AisPromptError: an earlier one could not be written.
        """
        if self._error is not None:
            raise self._error
        self._queue.put(item)

    def _run(self) -> None:
        try:
            self._write()
        except Exception as error:
            self._error = error

    def _write(self) -> None:
        with (
            Journal.open(self._journal) as journal,
            prediction_sorter(self._predictions) as predictions,
            closing(self.counter) as counter,
            tracking(counter.progress.task, counter.progress.requests, "requests", self._facts) as advance,
        ):
            for prediction in self._load.over:
                predictions.add(prediction)
            for item in self._items(advance):
                if isinstance(item, Prediction):
                    predictions.add(item)
                else:
                    times = self._exchange(item).times_to_json()
                    journal.append(self._key_of(item.request), item.request, item.completion, times=times)
                    counter.ended(failed=item.completion.failure is not None)
                    if item.request.turn == 0:
                        advance(1)
            predictions.write(self._predictions)
            self.failed = predictions.failed

    def _items(self, advance: Advance) -> Iterator[LoadAnswer | Prediction]:
        """Yield what is added until the end, and show the counts when they are due."""
        while True:
            if not self.counter.wait:
                self.counter.write()
                advance(0)
            with suppress(Empty):
                if (item := self._queue.get(timeout=self.counter.wait)) is None:
                    return
                yield item

    def _facts(self) -> str:
        return str(self.counter.progress)

    def _exchange(self, item: LoadAnswer) -> Exchange:
        request, completion, moments, origin = item.request, item.completion, item.moments, self.origin
        connected, sent, first_byte = (
            None if moment is None else moment - origin
            for moment in (moments.connected, moments.sent, moments.first_byte)
        )
        assert isinstance(request.decoding, Decoding)
        if self.first_body is None:
            self.first_body = shown_body(self._model.sent(request)[1])
        return Exchange(
            request.sample_id,
            item.due - origin,
            item.taken - origin,
            item.end - origin,
            turn=request.turn,
            repeat=request.repeat,
            connected=connected,
            sent=sent,
            first_byte=first_byte,
            steps=offsets_of(item.taken - origin, [time - origin for time in item.times]).tobytes(),
            kinds=item.kinds,
            max_tokens=request.decoding.max_out_len,
            served=item.served,
            body=self._body_digest(request),
            failure=None if completion.failure is None else completion.failure.kind,
            **({} if completion.failure is not None else self._tokens(request, completion, item.kinds)),
        )

    def _body_digest(self, request: Request) -> str:
        """Return the digest of a body without its prompt and the fields that a row may set."""
        prompt: Prompt = "" if isinstance(request.prompt, str) else (ChatMessage("user", ""),)
        body = self._model.endpoint.body(self._model.model, replace(request, prompt=prompt), self._model.wire)
        return digest({name: value for name, value in body.items() if name not in OF_A_ROW}, length=8)

    def _tokens(self, request: Request, completion: Completion, kinds: str) -> Mapping[str, Any]:
        """Return the tokens of an answer and their sources: those that the server counts, or else the next best."""
        usage, tokenizer = completion.usage, self._model.tokenizer()
        text = completion.reasoning + completion.text
        counted = None
        if tokenizer is not None and (usage.completion_tokens is None or self._to_check > 0):
            self._to_check -= 1
            counted = len(tokenizer.encode(text, add_special_tokens=False))
        values: dict[str, Any] = {"input_tokens": usage.prompt_tokens, "output_tokens": usage.completion_tokens}
        if usage.prompt_tokens is not None and counted is not None:
            values["counted_input"] = self._model.count_tokens(request.prompt)
        if usage.prompt_tokens is None:
            own = self._model.count_tokens(request.prompt)
            values["input_tokens"] = approximate_tokens(request.prompt) if own is None else own
            values["input_source"] = "estimate" if own is None else "tokenizer"
        if usage.completion_tokens is None:
            pieces = len(kinds) - kinds.count("o")
            values["output_tokens"] = counted or pieces or approximate_tokens(text)
            values["output_source"] = "tokenizer" if counted else "events" if pieces else "estimate"
        elif counted is not None:
            values["counted_tokens"] = counted
        return values
