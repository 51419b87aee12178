"""Measure one task: prepare its prompts and its schedule, send them when they are due, and write everything down.

Nothing but sending happens on the event loop while a load runs: prompts are built before, and a thread counts tokens
and writes the journal.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.engine.conversations import conversations
from ais_prompt.errors import ConfigError, DataError, ModelError
from ais_prompt.inferencers import RepeatingInferencer, RunningConversation
from ais_prompt.inferencers.containment import ends_task, failure_of
from ais_prompt.inferencers.secrets import without_secrets
from ais_prompt.models.api.model import ApiModel
from ais_prompt.models.tokenizer import approximate_tokens
from ais_prompt.models.transport import allow_connections, forget_connections
from ais_prompt.models.transport.moments import Moments
from ais_prompt.perf.driver import ClientMeter, drive
from ais_prompt.perf.exchange import Exchange, offsets_of
from ais_prompt.perf.files import LoadPlan, add_client, write_plan
from ais_prompt.perf.schedule import Schedule, at_rate, closed, from_trace, of_users, pressure
from ais_prompt.plan.plan import Task
from ais_prompt.store.journal import Journal
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import prediction_sorter
from ais_prompt.store.request_keys import RequestKeys
from ais_prompt.types import ChatMessage, Completion, Decoding, PerfSpec, Prediction, Prompt, Request, TaskFacts
from ais_prompt.utils.progress import tracking

CHECKED_ANSWERS: Final = 200
"""Answers whose tokens are also counted with the model's tokenizer."""
BLOCK_CHARACTERS: Final = 64
"""Characters of a block of a prefix cache: about 16 tokens."""
MOST_CONNECTIONS: Final = 20_000
"""Connections that a load without a limit may open; there are 65,535 ports."""
MEASURED_PROMPTS: Final = 10_000
"""Prompts whose common beginnings are measured."""
LENGTH: Final = "max_out_len"
"""The column with the most tokens of the answer to a row, as in AISBench."""
TIMESTAMP: Final = "timestamp"
"""The column of a trace, in milliseconds."""


class PreparedLoad(Struct, frozen=True):
    """A load that is ready to be sent.

    Attributes:
        task: a model and a dataset.
        plan: of the load.
        ready: the conversations about the rows, not asked yet.
        over: the predictions of rows that cannot be asked.
    """

    task: Task
    plan: LoadPlan
    ready: Sequence[RunningConversation]
    over: Sequence[Prediction]


def prepare_load(task: Task, perf: PerfSpec) -> PreparedLoad:
    """Build the prompts and the schedule of a task.

    Raises:
        ConfigError: the model or the inferencer cannot be measured, or the load makes no sense.
        DataError: the data cannot be read, or no row can be asked.
    """
    model = served_model(task)
    limits = model.limits
    if limits.adaptive or limits.tokens_per_minute is not None:
        name = "adaptive" if limits.adaptive else "tokens_per_minute"
        what = f"{name} changes the load while it is measured"
        raise ConfigError(what, where=f"{task.spec.model.where}.traffic_cfg", fix=f"remove {name} to measure a load")
    ready, over, first = [], [], []
    for conversation in conversations(task, lambda _: None, task.data.test):
        if requests := conversation.open_requests():
            ready.append(conversation)
            first.append(requests[0])
        elif conversation.prediction is not None:
            over.append(conversation.prediction)
    if not first:
        raise DataError("no row can be asked", where=task.spec.dataset.where, fix="see `aisprompt check`")
    decoding = first[0].decoding
    if not isinstance(decoding, Decoding):
        what = "a load is made of texts that are generated, and this dataset asks for log-likelihoods"
        raise ConfigError(what, where=task.spec.dataset.infer.inferencer.where, fix="use GenInferencer")
    plan = LoadPlan(
        _schedule(task, perf, model, [request.sample_id for request in first]),
        [request.sample_id for request in first],
        model.max_concurrency,
        seed=perf.seed,
        warmups=perf.warmups,
        unique=perf.unique,
        ignores_eos=bool(decoding.extra.get("ignore_eos")),
        shared_prefix=0.0 if perf.unique else shared_prefix([request.prompt for request in first]),
    )
    return PreparedLoad(task, plan, ready, over)


def served_model(task: Task) -> ApiModel:
    """Return the model of a task.

    Raises:
        ConfigError: it has no server.
    """
    if not isinstance(task.model, ApiModel):
        what = f"{type(task.model).__name__} has no server whose performance could be measured"
        raise ConfigError(what, where=task.spec.model.where, fix="use a model behind a server, such as OpenAIChatModel")
    return task.model


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
    with _Writer(load, folder) as writer:
        try:
            asyncio.run(_measured(load, writer, meter))
            is_over = True
        except ExceptionGroup as group:  # of a request; the others were cancelled
            raise group.exceptions[0] from None
        finally:
            add_client(schedule, meter.facts(interrupted=not is_over))
    samples = len(load.ready) + len(load.over)
    return TaskFacts(load.task.model.identity(), data.digest, tuple(data.origins), samples, writer.failed)


async def _measured(load: PreparedLoad, writer: _Writer, meter: ClientMeter) -> None:
    model = served_model(load.task)
    await model.open()
    if load.plan.schedule.places is None:
        with suppress(ModelError):  # what cannot be opened will be counted as a failure
            allow_connections(number := min(len(load.ready), MOST_CONNECTIONS))
            forget_connections(number)  # only the limit of this process matters here
    try:
        await model.start()
        await _warm_up(load, model)
        with meter.measuring():
            asking = _Asking(load, model, writer)
            await drive(load.plan.schedule, asking.ask, asking.origin)
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

    def __init__(self, load: PreparedLoad, model: ApiModel, writer: _Writer) -> None:
        self._load = load
        self._model = model
        self._writer = writer
        self._clock = asyncio.get_running_loop().time
        self._again: Iterator[RunningConversation] = iter(())
        inferencer = load.task.inferencer
        self._repeats = inferencer.n if isinstance(inferencer, RepeatingInferencer) else 1
        self._lengths = _answer_lengths(load.task)
        self.origin = writer.origin = self._clock()

    async def ask(self, number: int, due: float) -> None:
        """Ask a conversation to its end; each later turn is due when the answer before it is there."""
        ready = self._load.ready
        is_first = number < len(ready)
        conversation = ready[number] if is_first else self._next_again()
        while requests := conversation.open_requests():
            sent = self._as_sent(requests[0], number)
            taken, moments = self._clock(), Moments(self._clock)
            completion, times, kinds = await self._completed(sent, moments)
            end = self._clock()
            conversation.answer(requests[0], completion)
            self._writer.add(_Answer(sent, completion, due, taken, end, moments, times, kinds))
            due = self._clock()
        if is_first and conversation.prediction is not None:
            self._writer.add(conversation.prediction)

    async def _completed(self, request: Request, moments: Moments) -> tuple[Completion, Sequence[float], str]:
        """Return an answer or a failure, and when which events of its stream came."""
        try:
            completion, reader = await self._model.complete_once(request, moments)
        except Exception as error:
            if ends_task(error):
                raise
            return Completion(failure=failure_of(error, type(self._model).__name__)), (), ""
        return without_secrets(completion), *(((), "") if reader is None else (reader.times, "".join(reader.kinds)))

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
            self._again = conversations(self._load.task, lambda _: None, self._load.task.data.test)


class _Answer(Struct, frozen=True):
    """One answered or failed request, with times of the clock; ``times`` and ``kinds`` are of the events."""

    request: Request
    completion: Completion
    due: float
    taken: float
    end: float
    moments: Moments
    times: Sequence[float]
    kinds: str


class _Writer:
    """Writes journal and predictions in a thread of its own.

    Attributes:
        origin: the beginning of the load, on the clock of its loop.
        failed: predictions without an answer.
    """

    def __init__(self, load: PreparedLoad, folder: RunFolder) -> None:
        self.origin = 0.0
        self.failed = 0
        self._load = load
        self._model = served_model(load.task)
        names = load.task.spec.model.abbr, load.task.spec.dataset.abbr
        self._journal, self._predictions = folder.journal(*names), folder.predictions(*names)
        self._key_of = RequestKeys(self._model.identity())
        self._to_check = CHECKED_ANSWERS
        self._queue: SimpleQueue[_Answer | Prediction | None] = SimpleQueue()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="aisprompt-load", daemon=True)

    def __enter__(self) -> _Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def add(self, item: _Answer | Prediction) -> None:
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
            tracking(f"load {self._load.task.name}", self._load.plan.schedule.requests, "requests") as advance,
        ):
            for prediction in self._load.over:
                predictions.add(prediction)
            while (item := self._queue.get()) is not None:
                if isinstance(item, Prediction):
                    predictions.add(item)
                    continue
                times = self._exchange(item).times_to_json()
                journal.append(self._key_of(item.request), item.request, item.completion, times=times)
                advance(item.request.turn == 0)
            predictions.write(self._predictions)
            self.failed = predictions.failed

    def _exchange(self, item: _Answer) -> Exchange:
        request, completion, moments, origin = item.request, item.completion, item.moments, self.origin
        connected, sent, first_byte = (
            None if moment is None else moment - origin
            for moment in (moments.connected, moments.sent, moments.first_byte)
        )
        assert isinstance(request.decoding, Decoding)
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
            offsets=offsets_of(item.taken - origin, [time - origin for time in item.times]),
            kinds=item.kinds,
            max_tokens=request.decoding.max_out_len,
            failure=None if completion.failure is None else completion.failure.kind,
            **({} if completion.failure is not None else self._tokens(request, completion, item.kinds)),
        )

    def _tokens(self, request: Request, completion: Completion, kinds: str) -> Mapping[str, Any]:
        """Return the tokens of an answer and their sources: those that the server counts, or else the next best."""
        usage, tokenizer = completion.usage, self._model.tokenizer()
        text = completion.reasoning + completion.text
        counted = None
        if tokenizer is not None and (usage.completion_tokens is None or self._to_check > 0):
            self._to_check -= 1
            counted = len(tokenizer.encode(text, add_special_tokens=False))
        values: dict[str, Any] = {"input_tokens": usage.prompt_tokens, "output_tokens": usage.completion_tokens}
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


def with_line(prompt: Prompt, line: str) -> Prompt:
    """Return a prompt that begins with a line of its own, so that it shares no beginning with others."""
    if isinstance(prompt, str):
        return f"[{line}]\n{prompt}"
    first, *rest = prompt
    if isinstance(first.content, str):
        return (replace(first, content=f"[{line}]\n{first.content}"), *rest)
    return (ChatMessage(first.role, ({"type": "text", "text": f"[{line}]\n"}, *first.content)), *rest)


def shared_prefix(prompts: Sequence[Prompt]) -> float:
    """Return the share of blocks of text that a prefix cache would find, if it kept all earlier prompts."""
    known: set[int] = set()
    blocks = found = 0
    for prompt in prompts[:MEASURED_PROMPTS]:
        text = prompt if isinstance(prompt, str) else "\0".join(f"{one.role}\1{one.content}" for one in prompt)
        chain = 0
        for start in range(0, len(text) - BLOCK_CHARACTERS + 1, BLOCK_CHARACTERS):
            chain = hash((chain, text[start : start + BLOCK_CHARACTERS]))
            blocks += 1
            found += chain in known
            known.add(chain)
    return found / blocks if blocks else 0.0


def _schedule(task: Task, perf: PerfSpec, model: ApiModel, sample_ids: Sequence[str]) -> Schedule:
    """Return the schedule that config and command line ask for.

    Raises:
        ConfigError: it makes no sense.
    """
    limits, places = model.limits, model.max_concurrency
    limited = None if perf.open_loop else places
    has_rate = limits.request_rate is not None or limits.ramp_up_end_rps is not None
    kind = perf.load or ("trace" if limits.use_timestamp else "rate" if has_rate else "closed")
    make: Mapping[str, Callable[[], Schedule]] = {
        "closed": lambda: closed(len(sample_ids), places),
        "users": lambda: of_users(len(sample_ids), perf.users or places, perf.think_seconds),
        "rate": lambda: at_rate(len(sample_ids), limits, seed=perf.seed, places=limited),
        "pressure": lambda: pressure(limits, seed=perf.seed, places=places, seconds=perf.pressure_seconds),
        "trace": lambda: from_trace(_timestamps(task, sample_ids), perf.time_scale, places=limited),
    }
    try:
        return make[kind]()
    except ConfigError as error:
        error.where = f"{task.spec.model.where}.{error.where}" if error.where != TIMESTAMP else task.spec.dataset.where
        raise


def _answer_lengths(task: Task) -> dict[str, int]:
    """Return the most tokens of the answers to rows that say it: sample id → number."""
    if LENGTH not in task.data.columns:
        return {}
    lengths = {sample.id: sample.fields.get(LENGTH) for sample in task.data.test}
    return {sample_id: length for sample_id, length in lengths.items() if type(length) is int and length > 0}


def _with_length(request: Request, lengths: Mapping[str, int]) -> Request:
    """Return a request for an answer of the length that its row names."""
    if (length := lengths.get(request.sample_id)) is None or not isinstance(request.decoding, Decoding):
        return request
    return replace(request, decoding=replace(request.decoding, max_out_len=length))


def _timestamps(task: Task, sample_ids: Sequence[str]) -> list[float]:
    """Return the times of a trace in seconds.

    Raises:
        ConfigError: a row has no time.
    """
    times = {sample.id: sample.fields.get(TIMESTAMP) for sample in task.data.test}
    found = [times[sample_id] for sample_id in sample_ids]
    if not all(isinstance(time, int | float) and not isinstance(time, bool) for time in found):
        what = f"a trace needs a column {TIMESTAMP!r} with the milliseconds of each row"
        raise ConfigError(what, where=TIMESTAMP, fix="add it, or measure another load: remove use_timestamp")
    return [float(time) / 1000 for time in found if time is not None]
