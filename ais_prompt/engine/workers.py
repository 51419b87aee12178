"""Local models in worker processes: several at a time, each with GPUs of its own, and all memory free at the end.

`ModelWorkers` starts the processes, and `in_workers` makes a model whose calls go there. This module is also what such
a process runs (`ais_prompt.processes.Worker`): `answer` loads the model of a config, then answers the batches of its
parent.
"""

from __future__ import annotations

import logging
import os
import pickle
import threading
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Final, Self, cast

from msgspec import Struct, convert, to_builtins

from ais_prompt import errors
from ais_prompt.config import Surroundings
from ais_prompt.engine.meters import GO_ON
from ais_prompt.errors import AisPromptError, ConfigFaults, ModelError
from ais_prompt.models import BatchModel, LikelihoodModel, StartedServers, YieldsAnswers, gpu_variable
from ais_prompt.parts import part_class, part_error
from ais_prompt.plan import build_model
from ais_prompt.processes import Worker, WorkerDied, run_coroutine, serve
from ais_prompt.types import Completion, ModelSpec, Request
from ais_prompt.utils import decode_own, encode_plain

logger = logging.getLogger(__name__)

_AT_A_TIME: Final = 4
"""Batches of prompts that a worker gets at a time: the answers of all come back together."""
THREADS: Final = "OMP_NUM_THREADS"
"""The environment variable with the number of threads that a process computes with on the CPU."""


class ModelWorkers:
    """The worker processes of a run. They end with the ``with`` block.

    Args:
        number: how many of them may run at a time, if there are enough GPUs.
        servers: have the GPUs of this machine.
        surroundings: of the config.
    """

    def __init__(self, number: int, servers: StartedServers, surroundings: Surroundings) -> None:
        self._number = number
        self._beside = number
        self._specs: list[ModelSpec] = []
        self._servers = servers
        self._surroundings = surroundings
        self._running: list[Worker] = []
        self._is_over = False
        self._lock = threading.Lock()

    @property
    def number(self) -> int:
        """How many can run at a time: a worker that only waits for GPUs would load a model that another worker has."""
        if not self._servers.gpus:
            return self._number
        # The smallest model decides: more workers than this can never have GPUs at a time.
        least = min((gpus_of(spec) for spec in self._specs), default=1)
        return max(1, min(self._number, len(self._servers.gpus) // max(1, least)))

    def expect(self, jobs: int) -> None:
        """Let workers share the CPU among so many of them as there are jobs, if that is fewer than `number`."""
        self._beside = max(1, min(self.number, jobs))

    def move(self, model: BatchModel, spec: ModelSpec) -> BatchModel:
        """Return a model like this one that computes in the workers."""
        self._specs.append(spec)
        return in_workers(model, spec, self)

    def start(self, spec: ModelSpec) -> ModelWorker:
        """Load a model in a worker, as soon as there are enough GPUs.

        Raises:
            ModelError: it cannot be loaded.
        """
        gpus = run_coroutine(self._servers.take_gpus(gpus_of(spec)))
        environment = {"TQDM_DISABLE": "1"} | ({} if gpus is None else {gpu_variable(): ",".join(gpus)})
        if not gpus and THREADS not in os.environ:  # else each worker would have as many threads as there are cores
            environment[THREADS] = str(max(1, usable_cores() // self._beside))
        with self._lock:
            if self._is_over:
                raise ModelError("the run was stopped", fix=GO_ON)
            # Under the lock, so that `stop` sees each worker or keeps it from starting.
            worker = Worker(__name__, environment)
            self._running.append(worker)
        logger.info("%s is loaded in a worker process, GPUs: %s", spec.abbr, ",".join(gpus or ()) or "as they are")
        loaded = ModelWorker(self, worker, gpus or (), spec.abbr)
        try:
            loaded.call(Load(spec, self._surroundings))
        except BaseException:
            loaded.stop()
            raise
        return loaded

    def release(self, worker: Worker, gpus: Sequence[str]) -> None:
        """End a worker, and give its GPUs back."""
        with self._lock:
            # Released before: by the end of its model, or by a call that found it dead.
            if worker not in self._running:
                return
            self._running.remove(worker)
        worker.stop()
        run_coroutine(self._servers.give_gpus_back(gpus))

    def stop(self) -> None:
        """End all workers at once; their calls fail."""
        with self._lock:
            self._is_over = True
            for worker in self._running:
                worker.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


class ModelWorker:
    """One worker process with a model, for one thread.

    Args:
        workers: where it belongs to.
        worker: the process.
        gpus: ids of its GPUs.
        name: of the model, for messages.
    """

    def __init__(self, workers: ModelWorkers, worker: Worker, gpus: Sequence[str], name: str) -> None:
        self._workers = workers
        self._worker = worker
        self._gpus = gpus
        self._name = name

    def call(self, value: Load | Ask) -> Any:
        """Send a call, and return the reply.

        Raises:
            ModelError: the worker is gone.
            Exception: raised by the model.
        """
        try:
            return read_reply(self._worker.call(pickle.dumps(value)))
        except (WorkerDied, ValueError) as error:
            self.stop()
            raise ModelError(
                f"the worker process of {self._name} ended: {error}",
                fix="if it had too little memory, use a smaller batch_size or --max-num-workers, and go on with -r",
            ) from error

    def stop(self) -> None:
        """End the process, which frees all of its memory."""
        self._workers.release(self._worker, self._gpus)


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def gpus_of(spec: ModelSpec) -> int:
    """Return how many GPUs a worker has."""
    return 1 if spec.num_gpus is None else spec.num_gpus


def in_workers(model: BatchModel, spec: ModelSpec, workers: ModelWorkers) -> BatchModel:
    """Return a model that computes in worker processes, one for each thread that asks it; all else stays here.

    Args:
        model: not loaded.
        spec: its config.
        workers: start the processes.
    """
    # A thread has no worker, has one that is loaded, or had one that ended. The next call after an end loads anew.
    own = threading.local()

    def load(_: Any) -> None:
        if getattr(own, "worker", None) is None:
            own.worker = workers.start(spec)

    def call(self: Any, method: str, requests: Sequence[Request]) -> Any:
        load(self)
        try:
            return own.worker.call(Ask(method, requests))
        except ModelError:
            # The worker is gone, with its GPUs: they are given back before another model waits for them.
            close(self)
            raise

    def generate(self: Any, requests: Sequence[Request]) -> list[Completion]:
        answers: list[Completion] = call(self, "generate", requests)
        return answers

    def generate_each(self: Any, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        size = _AT_A_TIME * self.batch_size
        for start in range(0, len(requests), size):
            for number, completion in call(self, "generate_each", requests[start : start + size]):
                yield start + number, completion

    def log_likelihoods(self: Any, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        yield from call(self, "log_likelihoods", requests)

    def close(_: Any) -> None:
        if (worker := getattr(own, "worker", None)) is not None:
            own.worker = None
            worker.stop()

    methods: dict[str, Any] = {"load": load, "generate": generate, "close": close}
    if isinstance(model, YieldsAnswers):
        methods["generate_each"] = generate_each
    if isinstance(model, LikelihoodModel):
        methods["log_likelihoods"] = log_likelihoods
    # A subclass of the same name: the model's identity, its protocols and its tokenizer are those of the model itself.
    kind = type(model)
    made: Any = object.__new__(type(kind.__name__, (kind,), {**methods, "__module__": kind.__module__}))
    vars(made).update(vars(model))
    return cast("BatchModel", made)


class Load(Struct, frozen=True):
    """Load the model of a config, in surroundings like those of the parent."""

    spec: ModelSpec
    surroundings: Surroundings


class Ask(Struct, frozen=True):
    """Call a method of the model, ``generate`` or ``log_likelihoods``, with a batch of requests."""

    method: str
    requests: Sequence[Request]


class WorkerReply(Struct, frozen=True):
    """The answer to a call, plain values: the model may be code of others (``trust_remote_code``).

    Attributes:
        completions: of `Ask`, as JSON; of ``log_likelihoods`` with the number of the request before each.
        error: what the model raised: the name of the class, what, where and how to fix it.
    """

    completions: Sequence[Any] = ()
    error: tuple[str, str, str, str] | None = None


_model: BatchModel | None = None


def answer(message: bytes) -> bytes:
    """Answer one call: `Load` first, then one `Ask` after the other."""
    global _model
    try:
        call = pickle.loads(message)
        if isinstance(call, Load):
            call.surroundings.enter()
            _model = cast("BatchModel", build_model(call.spec))
            _model.load()
            return encode_plain(to_builtins(WorkerReply()))
        found = getattr(_model, call.method)(call.requests)
        plain = [(one[0], one[1].to_json()) if isinstance(one, tuple) else one.to_json() for one in found]
        return encode_plain(to_builtins(WorkerReply(plain)))
    except MemoryError as error:
        told = ("MemoryError", str(error), "", "")
    except Exception as error:
        # An error of a library, or of the user's own code, may be of a class that the parent does not know.
        known = error if isinstance(error, AisPromptError) else part_error(error, part_class(_model).__name__, None)
        name = next(kind.__name__ for kind in type(known).__mro__ if hasattr(errors, kind.__name__))
        told = (name, known.what, known.where, known.fix)
    return encode_plain(to_builtins(WorkerReply(error=told)))


def read_reply(content: bytes) -> list[Any]:
    """Return the completions of a reply, those of ``log_likelihoods`` with the number of the request.

    Raises:
        AisPromptError, MemoryError: what the model raised; it is an error of the model if its class is not one of this
            program.
        ValueError: it is no reply.
    """
    try:
        reply = convert(decode_own(content), WorkerReply)
        if reply.error is None:
            return [
                (int(one[0]), Completion.from_json(one[1])) if isinstance(one, list) else Completion.from_json(one)
                for one in reply.completions
            ]
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is no reply: {error!r}") from error
    name, what, where, fix = reply.error
    if name == "MemoryError":
        raise MemoryError(what)
    kind = getattr(errors, name, None)
    if not (isinstance(kind, type) and issubclass(kind, AisPromptError)) or kind is ConfigFaults:
        kind = ModelError
    raise kind(what, where=where, fix=fix)


if __name__ == "__main__":
    # Calls are values of the module's classes, not of those of `__main__`.
    from ais_prompt.engine import workers

    serve(workers.answer)
