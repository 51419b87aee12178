"""The first process in the sandbox: starts the program, watches it, runs the tests, and gives the verdict.

Standard input brings two messages: the task, and after the program has its own process, the tests. It stays open as
long as the run is there; when it ends, so does everything here. Standard output takes two lines:
``confined``, and the outcome.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NoReturn

from ais_prompt.evaluators.sandbox.inside.channel import receive, send
from ais_prompt.evaluators.sandbox.inside.confine import (
    change_user,
    drop_privileges,
    end_with_guard,
    filter_calls,
    limit,
    restrict_files,
    set_dumpable,
)
from ais_prompt.evaluators.sandbox.inside.program import serve
from ais_prompt.evaluators.sandbox.inside.tests import Program, run_tests

_LOOK: Final = 0.05
"""Seconds between two looks at the processes."""
_SIGNALS: Final[dict[int, str]] = {
    signal.SIGXCPU: "timeout",
    signal.SIGKILL: "memory",  # by the kernel, when the machine has none left
    signal.SIGSYS: "forbidden",
}
_TASK: Final = 2**31  # bytes; it comes from the run


def main() -> None:
    """Do one task."""
    task = receive(0, _TASK)
    verdict = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nothing, stream)
    requests_read, requests = os.pipe()
    replies, replies_write = os.pipe()
    try:
        set_dumpable(0)
        child = os.fork()
        if child == 0:
            os.dup2(nothing, 0)
            for stream in (nothing, verdict, requests, replies):
                os.close(stream)
            _become_program(task, requests_read, replies_write)
        for stream in (nothing, requests_read, replies_write):
            os.close(stream)
        _give_up(task, task["guard_limits"], task["guard_user"])
        set_dumpable(0)
        if (confined := receive(replies)) != "confined":  # nothing of the program has run yet
            raise OSError(confined)
    except (OSError, EOFError) as error:
        _say(verdict, f"unconfined {error}")
        os._exit(1)
    _say(verdict, "confined")
    tests = receive(0, _TASK)
    watch = _Watch(child, verdict, task["seconds"], task["bytes"])
    threading.Thread(target=watch.run, daemon=True).start()
    watch.finish(run_tests(Program(requests, replies), tests))


def _say(verdict: int, line: str) -> None:
    os.write(verdict, f"{line}\n".encode())


def _become_program(task: Any, requests: int, replies: int) -> NoReturn:
    """Give up what the program must not have, and run it."""
    try:
        os.setsid()
        end_with_guard()
        _give_up(task, task["program_limits"], task["program_user"])
        send(replies, "confined")
        serve(task["prelude"], task["program"], requests, replies)
    except OSError as error:
        send(replies, str(error))
    finally:
        os._exit(1)


def _give_up(task: Any, limits: Mapping[str, int], user: int | None) -> None:
    """Confine this process as far as bubblewrap has not.

    Raises:
        OSError: the kernel refuses.
    """
    limit(limits)
    if user is not None:
        change_user(user)
    if task["filter"]:
        drop_privileges()
        restrict_files(task["readable"])
        filter_calls(bytes.fromhex(task["filter"]))


class _Watch:
    """Looks after the time and the memory of the program, and whether the run is still there."""

    def __init__(self, child: int, verdict: int, seconds: float, size: int) -> None:
        """Begin to count the time.

        Args:
            child: process id of the program.
            verdict: file descriptor that takes the verdict.
            seconds: most time.
            size: most memory of all processes together, in bytes.
        """
        self._child, self._verdict, self._size = child, verdict, size
        self._deadline = time.monotonic() + seconds
        self._status: int | None = None
        self._finishing = threading.Lock()

    def run(self) -> None:
        """Look until something ends."""
        while not select.select([0], [], [], _LOOK)[0]:  # it becomes readable at its end
            if self._status is not None:
                self.finish("ended")
            self._reap()
            if time.monotonic() > self._deadline:
                self.finish("timeout")
            if os.getpid() == 1 and _memory() > self._size:
                self.finish("memory")
        self._end()

    def finish(self, outcome: str) -> NoReturn:
        """Give the verdict, and end everything."""
        self._finishing.acquire()  # the other thread, if it comes second, waits for the end here
        if outcome == "ended":
            outcome = self._ending()
        _say(self._verdict, outcome)
        self._end()

    def _end(self) -> NoReturn:
        with suppress(OSError):  # of another user, or gone; as the first process, this one takes all others with it
            os.killpg(self._child, signal.SIGKILL)
        os._exit(0)

    def _ending(self) -> str:
        """How the process of the program ended; one that hides its end has only closed its pipe."""
        for _ in range(20):
            self._reap()
            if self._status is not None:
                return _SIGNALS.get(os.WTERMSIG(self._status), "exited")  # WTERMSIG is 0 if it ended by itself
            time.sleep(_LOOK / 5)
        return "exited"

    def _reap(self) -> None:
        """Take note of processes that ended, orphans of the program included."""
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == self._child:
                    self._status = found[1]


def _memory() -> int:
    """Bytes that all processes in this namespace use, but the first; what two of them share counts twice."""
    total = 0
    for entry in os.listdir("/proc"):  # noqa: PTH208
        if entry.isdigit() and entry != "1":
            with suppress(OSError), open(f"/proc/{entry}/status", encoding="utf-8", errors="replace") as stream:  # noqa: PTH123
                fields = dict(line.split(":", 1) for line in stream if ":" in line)
                total += sum(int(fields.get(name, "0 kB").split()[0]) for name in ("RssAnon", "VmSwap"))
    return total * 1024
