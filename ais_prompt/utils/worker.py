"""Call functions in a worker process: a fresh interpreter that runs a module with ``-m``.

The caller's ``__main__`` is not imported, so workers can be used from notebooks and from scripts without a main guard.
Output of the worker goes to standard error. The worker ends when its parent ends, ``kill -9`` included, because its
standard input ends.
"""

from __future__ import annotations

import math
import os
import pickle
import queue
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from ais_prompt.utils.interpreter import module_command, module_environment
from ais_prompt.utils.steady_output import STDERR_PATIENCE, standard_stream

_FOR_THE_PARENT: Final = [getattr(signal, name) for name in ("SIGINT", "SIGUSR1") if hasattr(signal, name)]
"""Ctrl-C goes to all processes of a terminal, SIGUSR1 of Slurm to all of a job: the parent decides what it means."""
_LOOK_SECONDS: Final = 1.0
"""How often a call that waits looks whether the worker still lives."""


class WorkerDied(Exception):
    """The worker has ended; the message says how."""


class Worker:
    """A worker process, as its parent sees it. Only `stop` may be called from another thread.

    Calls and replies are pickled. They go through pipes between two processes of one user, so unpickling is safe.
    """

    def __init__(self, module: str, environment: Mapping[str, str] | None = None) -> None:
        """Start the process without waiting for it.

        Args:
            module: its ``__main__`` calls `serve`.
            environment: its variables, besides those of this process.

        Raises:
            OSError: it cannot be started.
        """
        command = module_command(module)
        variables = {**module_environment(), **(environment or {})}
        with _signals_held_back():
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables)
        self._calling = threading.Lock()

    def call(self, value: Any, seconds: float | None = None) -> Any:
        """Send a value, and return the reply.

        Args:
            value: what `serve` passes on.
            seconds: how long to wait for the reply; None for no limit.

        Raises:
            TimeoutError: there was no reply in time. The worker can only be stopped after that.
            WorkerDied: the worker has ended.
            Exception: the value cannot be pickled.
        """
        message = pickle.dumps(value)
        with self._calling:
            try:
                pickle.dump(message, cast("BinaryIO", self._process.stdin))
                cast("BinaryIO", self._process.stdin).flush()
                self._wait_for_reply(seconds)
                return pickle.loads(pickle.load(cast("BinaryIO", self._process.stdout)))
            except TimeoutError:
                raise
            except (OSError, EOFError, pickle.UnpicklingError, ValueError) as error:
                raise WorkerDied(self._ending()) from error

    def stop(self) -> None:
        """Kill the worker, from any thread. May be called more than once."""
        self._process.kill()
        self._process.wait()
        with self._calling:  # a stream that is closed while a call waits for it would never wake that call
            for stream in (self._process.stdin, self._process.stdout):
                try:
                    cast("BinaryIO", stream).close()
                except (OSError, ValueError):  # what was left cannot be sent
                    continue

    def _wait_for_reply(self, seconds: float | None) -> None:
        end = math.inf if seconds is None else time.monotonic() + seconds
        # Not `select.select`, which knows no file numbers from 1024 on: a run with many connections has them.
        with selectors.DefaultSelector() as selector:
            selector.register(cast("BinaryIO", self._process.stdout), selectors.EVENT_READ)
            while not selector.select(max(0.0, min(_LOOK_SECONDS, end - time.monotonic()))):
                # A process that the worker forked keeps the pipe open after the worker has ended.
                if self._process.poll() is not None:
                    raise EOFError
                if time.monotonic() >= end:
                    raise TimeoutError

    def _ending(self) -> str:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return "it closed its output"
        return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


def serve(answer: Callable[[bytes], Any]) -> None:
    """Answer the calls of the parent until it ends; for the ``__main__`` of the module that runs as a worker.

    Args:
        answer: takes a pickled value and returns the reply. It unpickles the value itself, since that may fail. An
            exception ends the worker.
    """
    for number in _FOR_THE_PARENT:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _FOR_THE_PARENT)
    calls, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout, sys.stderr = (standard_stream(stream, STDERR_PATIENCE)[0] for stream in (sys.stdout, sys.stderr))
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        try:
            while True:
                waiting.put(pickle.load(calls))
        except (EOFError, OSError, pickle.UnpicklingError):
            os._exit(0)  # the parent has ended: stop the work too

    threading.Thread(target=read, daemon=True).start()
    while True:
        reply = pickle.dumps(answer(waiting.get()))
        pickle.dump(reply, replies)
        replies.flush()


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Let a process that starts meanwhile inherit blocked signals, which wait until `serve` ignores them.

    Else Ctrl-C, while it still imports its modules, would make it print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _FOR_THE_PARENT)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
