"""Call functions in a worker process: a fresh interpreter that runs a module with ``-m``.

The caller's ``__main__`` is not imported, so workers can be used from notebooks and from scripts without a main guard.
Output of the worker goes to standard error. A watchdog (`ais_prompt.processes.watchdog`) ends the worker,
with everything that it started, when its parent ends, ``kill -9`` included.

Calls and replies are bytes. A worker may run code of others, which can write into the pipe of replies. So the parent
reads replies without running anything of them; a reply has the number of its call, and nothing may follow it.

Memory and environment of this process may hold keys. They are hidden from other processes of the user while a worker
runs (`hidden`).
"""

from __future__ import annotations

import math
import os
import queue
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from ais_prompt.processes.watchdog import module_command, module_environment, prctl, watched
from ais_prompt.terminal import STDERR_PATIENCE, standard_stream

_FOR_THE_PARENT: Final = [getattr(signal, name) for name in ("SIGINT", "SIGUSR1") if hasattr(signal, name)]
"""Ctrl-C goes to all processes of a terminal, SIGUSR1 of a job to all of it: the parent decides what it means."""
_LOOK_SECONDS: Final = 1.0
"""How often a call that waits looks whether the worker still lives."""
_NUMBER: Final = 8
"""Bytes of the number of a call: random, so that no reply can be written before its call."""
_LENGTH: Final = 8
"""Bytes of the length of a message."""
LONGEST_REPLY: Final = 2**31
"""Most bytes of a reply."""
_PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 3, 4


class WorkerDied(Exception):
    """The worker has ended; the message says how."""


class Worker:
    """A worker process, as its parent sees it. Only `stop` may be called from another thread.

    While it lives, this process is hidden from other processes of the user.
    """

    def __init__(
        self, module: str, environment: Mapping[str, str] | None = None, arguments: tuple[str, ...] = ()
    ) -> None:
        """Start the process without waiting for it.

        Args:
            module: its ``__main__`` calls `serve`.
            environment: its variables, besides those of this process.
            arguments: of the module.

        Raises:
            OSError: it cannot be started.
        """
        calls, self._calls = os.pipe()
        self._replies, replies = os.pipe()
        os.set_blocking(self._calls, False)
        command = [*module_command(module), str(calls), str(replies), *arguments]
        try:
            with _signals_held_back():
                self._process = subprocess.Popen(
                    watched(command, grace=0, descriptors=(calls, replies)),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    env={**module_environment(), **(environment or {})},
                    pass_fds=(calls, replies),
                    start_new_session=True,
                )
        except BaseException:
            os.close(self._calls)
            os.close(self._replies)
            raise
        finally:
            os.close(calls)
            os.close(replies)
        _HIDING.change(1)
        self._is_open = True
        self._calling = threading.Lock()

    def call(self, message: bytes, seconds: float | None = None) -> bytes:
        """Send a message, and return the reply.

        Args:
            message: `serve` passes it on.
            seconds: how long to wait for the reply; None for no limit.

        Raises:
            TimeoutError: there was no reply in time. The worker can only be stopped after that.
            WorkerDied: the worker has ended, or sent something else than a reply and was ended.
        """
        end = math.inf if seconds is None else time.monotonic() + seconds
        number = os.urandom(_NUMBER)
        with self._calling:
            try:
                if self._is_ready(self._replies, selectors.EVENT_READ, 0.0):
                    raise _Unasked if os.read(self._replies, 1) else EOFError
                self._write(number + len(message).to_bytes(_LENGTH, "big"), end)
                self._write(message, end)
                head = self._read(_NUMBER + _LENGTH, end)
                length = int.from_bytes(head[_NUMBER:], "big")
                if head[:_NUMBER] != number or length > LONGEST_REPLY:
                    raise _Unasked
                return self._read(length, end)
            except TimeoutError:
                raise
            except (OSError, EOFError) as error:
                raise WorkerDied(self._ending()) from error
            except _Unasked as error:
                self._kill()
                raise WorkerDied("it wrote something else than its reply") from error

    def stop(self) -> None:
        """Kill the worker and all that it started, from any thread. May be called more than once."""
        self._kill()
        with self._calling:  # a stream that is closed while a call waits for it would never wake that call
            if self._is_open:
                self._is_open = False
                os.close(self._calls)
                os.close(self._replies)
                _HIDING.change(-1)

    def _kill(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()  # the watchdog ends everything
        self._process.wait()

    def _write(self, content: bytes, end: float) -> None:
        left = memoryview(content)
        while left:
            self._wait(self._calls, selectors.EVENT_WRITE, end)
            with suppress(BlockingIOError):
                left = left[os.write(self._calls, left) :]

    def _read(self, length: int, end: float) -> bytes:
        parts = []
        while length:
            self._wait(self._replies, selectors.EVENT_READ, end)
            if not (part := os.read(self._replies, min(length, 2**20))):
                raise EOFError
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _wait(self, descriptor: int, event: int, end: float) -> None:
        while not self._is_ready(descriptor, event, min(_LOOK_SECONDS, end - time.monotonic())):
            # A process that the worker forked keeps the pipe open after the worker has ended.
            if self._process.poll() is not None:
                raise EOFError
            if time.monotonic() >= end:
                raise TimeoutError

    def _is_ready(self, descriptor: int, event: int, seconds: float) -> bool:
        if not self._is_open:
            raise EOFError
        # Not `select.select`, which knows no file numbers from 1024 on: a run with many connections has them.
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, event)
            return bool(selector.select(max(0.0, seconds)))

    def _ending(self) -> str:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._kill()
            return "it closed its output"
        return f"killed by signal {code - 128}" if code > 128 else f"exit code {code}"


def serve(answer: Callable[[bytes], bytes]) -> None:
    """Answer the calls of the parent until it ends; for the ``__main__`` of the module that runs as a worker.

    Args:
        answer: takes a message and returns the reply. An exception ends the worker.
    """
    for number in _FOR_THE_PARENT:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _FOR_THE_PARENT)
    for descriptor in map(int, sys.argv[1:3]):
        os.set_inheritable(descriptor, False)
    calls, replies = os.fdopen(int(sys.argv[1]), "rb"), os.fdopen(int(sys.argv[2]), "wb")
    os.dup2(2, 1)
    sys.stdout, sys.stderr = (standard_stream(stream, STDERR_PATIENCE)[0] for stream in (sys.stdout, sys.stderr))
    waiting: queue.SimpleQueue[tuple[bytes, bytes]] = queue.SimpleQueue()

    def read() -> None:
        while len(head := calls.read(_NUMBER + _LENGTH)) == _NUMBER + _LENGTH:
            waiting.put((head[:_NUMBER], calls.read(int.from_bytes(head[_NUMBER:], "big"))))
        os._exit(0)  # the parent has ended: stop the work too

    threading.Thread(target=read, daemon=True).start()
    while True:
        call, message = waiting.get()
        reply = answer(message)
        replies.write(call + len(reply).to_bytes(_LENGTH, "big"))
        replies.write(reply)
        replies.flush()


@contextmanager
def hidden() -> Iterator[None]:
    """Hide this process while the body runs: nothing of it is readable below /proc, nor by ptrace(2)."""
    _HIDING.change(1)
    try:
        yield
    finally:
        _HIDING.change(-1)


class _Unasked(Exception):
    """The worker wrote something that is no reply to a call."""


class _Hiding:
    """How many of the processes that run code of others need this process to be hidden."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number = 0
        self._before = 1

    def change(self, number: int) -> None:
        with self._lock:
            if not self._number:
                self._before = prctl(_PR_GET_DUMPABLE)
            self._number += number
            prctl(_PR_SET_DUMPABLE, 0 if self._number else self._before)


_HIDING: Final = _Hiding()


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
