"""Prepare a load: the prompts of one task, and the schedule that config and command line ask for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from ais_prompt.engine import conversations_of
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.extensions.perf.load_files import LoadPlan
from ais_prompt.extensions.perf.schedule import Schedule, at_rate, closed, from_trace, of_users, pressure
from ais_prompt.extensions.perf.section import PerfSpec
from ais_prompt.inferencers import RunningConversation
from ais_prompt.models import ApiModel
from ais_prompt.plan import Task
from ais_prompt.types import Decoding, Prediction, Prompt

BLOCK_CHARACTERS: Final = 64
"""Characters of a block of a prefix cache: about 16 tokens."""
MEASURED_PROMPTS: Final = 10_000
"""Prompts whose common beginnings are measured."""
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
    for conversation in conversations_of(task, lambda _: None, task.data.test):
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
        timeout=limits.timeout,
        duration=perf.duration,
        grace=perf.grace,
        probe=perf.probe,
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
    seconds, count = perf.duration, None if perf.duration is not None else len(sample_ids)
    kind = perf.load or ("trace" if limits.use_timestamp else "rate" if has_rate else "closed")
    make: Mapping[str, Callable[[], Schedule]] = {
        "closed": lambda: closed(count, places, seconds),
        "users": lambda: of_users(count, perf.users or places, perf.think_seconds, seconds),
        "rate": lambda: at_rate(len(sample_ids), limits, seed=perf.seed, places=limited, seconds=seconds),
        "pressure": lambda: pressure(limits, seed=perf.seed, places=places, seconds=seconds or perf.pressure_seconds),
        "trace": lambda: from_trace(_timestamps(task, sample_ids), perf.time_scale, places=limited, seconds=seconds),
    }
    try:
        return make[kind]()
    except ConfigError as error:
        error.where = f"{task.spec.model.where}.{error.where}" if error.where != TIMESTAMP else task.spec.dataset.where
        raise


def _timestamps(task: Task, sample_ids: Sequence[str]) -> list[float]:
    """Return the times of a trace in seconds.

    Raises:
        ConfigError: a row has no time; it names the first one.
    """
    times = {sample.id: sample.fields.get(TIMESTAMP) for sample in task.data.test}
    seconds = []
    for row, time in enumerate(map(times.__getitem__, sample_ids)):
        if not isinstance(time, int | float) or isinstance(time, bool) or not math.isfinite(time):
            what = f"a trace needs a column {TIMESTAMP!r} with the milliseconds of each row; row {row} has {time!r}"
            raise ConfigError(what, where=TIMESTAMP, fix="add it, or measure another load: remove use_timestamp")
        seconds.append(time / 1000)
    return seconds
