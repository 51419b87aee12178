"""The first process in the sandbox: starts the program, watches it, runs the tests, and gives the verdict.

Standard input brings two messages: the task, and after the program has its own process, the tests. It stays open as
long as the run is there; when it ends, so does everything here. Standard output takes two lines:
``confined``, and the outcome.
"""

from __future__ import annotations

import _thread
import os
import select
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NoReturn

from ais_prompt.evaluators.code.sandbox.inside.channel import receive, send
from ais_prompt.evaluators.code.sandbox.inside.confine import (
    change_user,
    drop_privileges,
    end_with_guard,
    filter_calls,
    limit,
    restrict_files,
    set_dumpable,
)
from ais_prompt.evaluators.code.sandbox.inside.program import serve
from ais_prompt.evaluators.code.sandbox.inside.tests import Program, run_tests

_LOOK: Final = 0.05
"""Seconds between two looks at the processes."""
_INODE_BYTES: Final = 1024
_SOCKET_BYTES: Final = 212992
"""What Linux lets a UNIX socket hold by default (net.core.wmem_default)."""
_SIGNALS: Final[dict[int, str]] = {
    signal.SIGXCPU: "timeout",
    signal.SIGKILL: "memory",  # by the kernel, when the machine has none left
    signal.SIGSYS: "forbidden",
}
_MOST_DESCRIPTORS: Final = 1024
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
        _restrict_files(task)  # the program's own restriction is inside of this one, so that its end can be signalled
        child = os.fork()
        if child == 0:
            os.dup2(nothing, 0)
            _close_all_but(requests_read, replies_write)
            _become_program(task, requests_read, replies_write)
        _close_all_but(verdict, requests, replies)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the only signal that the program could send to this process
        _give_up(task["guard_limits"], task["guard_user"], task["guard_filter"])
        set_dumpable(0)
        if (confined := receive(replies)) != "confined":  # nothing of the program has run yet
            raise OSError(confined)
    except (OSError, EOFError) as error:
        _say(verdict, f"unconfined {error}")
        os._exit(1)
    _say(verdict, "confined")
    tests = receive(0, _TASK)
    watch = _Watch(child, verdict, task["seconds"], task["bytes"] if task["namespaces"] else None)
    _thread.start_new_thread(watch.run, ())  # `threading` takes time to import
    watch.finish(run_tests(Program(requests, replies), tests))


def _close_all_but(*kept: int) -> None:
    """Close all file descriptors but these and the standard ones, also those that started this process."""
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, _MOST_DESCRIPTORS)


def _say(verdict: int, line: str) -> None:
    os.write(verdict, f"{line}\n".encode())


def _become_program(task: Any, requests: int, replies: int) -> NoReturn:
    """Give up what the program must not have, and run it."""
    try:
        os.setsid()
        end_with_guard()
        _restrict_files(task)
        _give_up(task["program_limits"], task["program_user"], task["program_filter"])
        send(replies, "confined")
        serve(task["prelude"], task["program"], requests, replies)
    except OSError as error:
        send(replies, str(error))
    finally:
        os._exit(1)


def _restrict_files(task: Any) -> None:
    """Give up capabilities and files, as far as bubblewrap has not taken them.

    Raises:
        OSError: the kernel refuses.
    """
    if task["readable"]:
        drop_privileges()
        restrict_files(task["readable"])


def _give_up(limits: Mapping[str, int], user: int | None, instructions: str) -> None:
    """Confine this process as far as bubblewrap has not.

    Args:
        limits: as in `limit`.
        user: whom it belongs to from now on; None if that stays as it is.
        instructions: a system call filter, hexadecimal; empty if there is one already.

    Raises:
        OSError: the kernel refuses.
    """
    limit(limits)
    if user is not None:
        change_user(user)
    if instructions:
        filter_calls(bytes.fromhex(instructions))


class _Watch:
    """Looks after the time and the memory of the program, and whether the run is still there."""

    def __init__(self, child: int, verdict: int, seconds: float, size: int | None) -> None:
        """Begin to count the time.

        Args:
            child: process id of the program.
            verdict: file descriptor that takes the verdict.
            seconds: most time.
            size: most memory of everything in these namespaces, in bytes; None if they are not its own.
        """
        self._child, self._verdict, self._size = child, verdict, size
        self._deadline = time.monotonic() + seconds
        self._status: int | None = None
        self._finishing = _thread.allocate_lock()

    def run(self) -> None:
        """Look until something ends."""
        while not select.select([0], [], [], _LOOK)[0]:  # it becomes readable at its end
            if self._status is not None:
                self.finish("ended")
            self._reap()
            if time.monotonic() > self._deadline:
                self.finish("timeout")
            if self._size is not None and _memory() > self._size:
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
        with suppress(OSError):  # of another user, or gone; the first process of a namespace takes all others with it
            os.killpg(self._child, signal.SIGKILL)
            if self._status is None:
                os.waitpid(self._child, 0)
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
    """Bytes that this sandbox uses, but for the guard: processes, files in memory, and as much as sockets can hold.

    What two processes share counts twice.
    """
    total = 0
    for folder in ("/tmp", "/dev/shm"):
        disk = os.statvfs(folder)
        total += (disk.f_blocks - disk.f_bfree) * disk.f_frsize + (disk.f_files - disk.f_ffree) * _INODE_BYTES
    with open("/proc/net/sockstat", encoding="ascii") as stream:  # noqa: PTH123
        total += int(stream.readline().split()[-1]) * _SOCKET_BYTES
    for entry in os.listdir("/proc"):  # noqa: PTH208
        if entry.isdigit() and entry != "1":
            with suppress(OSError), open(f"/proc/{entry}/status", encoding="utf-8", errors="replace") as stream:  # noqa: PTH123
                fields = dict(line.split(":", 1) for line in stream if ":" in line)
                parts = (fields.get(name, "0 kB").split()[0] for name in ("RssAnon", "RssShmem", "VmSwap"))
                total += sum(map(int, parts)) * 1024
    return total
