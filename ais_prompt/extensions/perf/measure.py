"""Measure one task: send the requests of its load when they are due.

Nothing but sending happens on the event loop while a load runs: prompts are built before, and a thread counts tokens
and writes the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import Final

from msgspec.structs import replace

from ais_prompt.engine import conversations_of
from ais_prompt.errors import ModelError
from ais_prompt.extensions.perf.counters import ServerCounters, differences, read_counters
from ais_prompt.extensions.perf.driver import ClientMeter, drive
from ais_prompt.extensions.perf.exchange_writer import LoadAnswer, LoadWriter
from ais_prompt.extensions.perf.load_files import add_client, write_plan
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
from ais_prompt.models import ApiModel, Moments, StreamReader, allow_connections, forget_connections
from ais_prompt.parts import part_class
from ais_prompt.plan import Task
from ais_prompt.processes import run_coroutine
from ais_prompt.store import RunFolder
from ais_prompt.types import ChatMessage, Completion, Decoding, Failure, Prompt, Request, TaskFacts

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
