"""The first process in the sandbox: starts the program and its tests, watches both, and gives the verdict.

The program and the tests have a process each. The guard handles no value of theirs, so nothing that they compute keeps
it from its watch.

Standard input brings two messages: the task, and after the program has its own process, the tests. It stays open as
long as the run is there; when it ends, so does everything here. Standard output takes two lines, both from this
process alone, so that their order is certain: ``confined``; and the outcome, with the text of a program that is
evaluated in place of tested.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NoReturn

from ais_prompt.extensions.programs.sandbox.inside.channel import receive, send
from ais_prompt.extensions.programs.sandbox.inside.confine import (
    change_user,
    drop_privileges,
    end_with,
    filter_calls,
    limit,
    restrict_files,
    set_dumpable,
)
from ais_prompt.extensions.programs.sandbox.inside.program import serve
from ais_prompt.extensions.programs.sandbox.inside.tests import Program, evaluate, run_tests

_LOOK: Final = 0.05
"""Seconds between two looks at the processes."""
_INODE_BYTES: Final = 1024
_SOCKET_BYTES: Final = 212992
"""Bytes that Linux lets a UNIX socket hold by default (net.core.wmem_default)."""
_SIGNALS: Final[dict[int, str]] = {
    signal.SIGXCPU: "timeout",
    signal.SIGKILL: "memory",  # by the kernel, when the machine has none left
    signal.SIGSYS: "forbidden",
}
_MOST_DESCRIPTORS: Final = 1024
_TASK: Final = 2**31  # bytes; it comes from the run
_LONGEST_OUTCOME: Final = 2**16
"""Bytes of the line from the tests: the outcome, a space, and the text of a program in hexadecimal."""


def main() -> None:
    """Do one task: start the processes of the program and the tests, and watch them until there is a verdict."""
    task = receive(0, _TASK)
    # Nothing that is written by mistake reaches the run: standard output and error lead nowhere from now on.
    verdict = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nothing, stream)
    requests_read, requests = os.pipe()
    replies, replies_write = os.pipe()
    guard = os.getpid()
    try:
        set_dumpable(0)
        _restrict_files(task)  # the program's own restriction is inside of this one, so that its end can be signalled
        # The program's process: it confines itself, and waits for its first request.
        program = os.fork()
        if program == 0:
            os.dup2(nothing, 0)
            _close_all_but(requests_read, replies_write)
            _become_program(task, guard, requests_read, replies_write)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the only signal that the program could send to this process
        _expect_confined(replies)
        # The tests come after the fork, so that the program's memory never holds them.
        parts = receive(0, _TASK)
        outcomes, outcomes_write = os.pipe()
        tests = os.fork()
        if tests == 0:
            os.dup2(nothing, 0)
            _close_all_but(outcomes_write, requests, replies)
            _become_tests(task, guard, parts, Program(requests, replies), outcomes_write)
        # This process only watches: it keeps neither the pipes between the two nor more rights than it needs.
        _close_all_but(verdict, outcomes)
        _give_up(task["guard_limits"], task["guard_user"], task["guard_filter"])
        set_dumpable(0)
        if task["namespaces"]:
            end_with(os.getppid())  # the outer process of bubblewrap, which the run can kill
        _expect_confined(outcomes)
    except (OSError, EOFError) as error:
        _say(verdict, f"unconfined {error}")
        os._exit(1)
    _say(verdict, "confined")
    _Watch(task, program, tests, outcomes, verdict).run()


def _close_all_but(*kept: int) -> None:
    """Close all file descriptors but these and the standard ones, also those that started this process."""
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, _MOST_DESCRIPTORS)


def _say(verdict: int, line: str) -> None:
    os.write(verdict, f"{line}\n".encode())


def _become_program(task: Any, guard: int, requests: int, replies: int) -> NoReturn:
    """Give up the rights that the program must not have, and run it."""
    try:
        os.setsid()
        end_with(guard)
        _restrict_files(task)
        _give_up(task["program_limits"], task["program_user"], task["program_filter"])
        send(replies, "confined")
        serve(task["prelude"], task["program"], requests, replies)
    except OSError as error:
        send(replies, str(error))
    finally:
        os._exit(1)


def _become_tests(task: Any, guard: int, parts: Any, program: Program, outcomes: int) -> NoReturn:
    """Give up as much as the program does, run the tests, and tell the guard how they ended.

    Args:
        task, guard, program: as in `main`.
        parts: the tests; or the arguments of `evaluate` as a mapping, for a program without tests.
        outcomes: takes the outcome, with the text of a program without tests.
    """
    try:
        end_with(guard)
        _give_up(task["guard_limits"], task["guard_user"], task["program_filter"])
        set_dumpable(0)
        send(outcomes, "confined")
        if isinstance(parts, list):
            outcome = run_tests(program, parts)
        else:
            outcome, text = evaluate(program, **parts)
            outcome = f"{outcome} {text.encode('utf-8', 'replace').hex()}"
        _say(outcomes, outcome)
    except OSError as error:
        send(outcomes, str(error))
    finally:
        os._exit(1)


def _expect_confined(stream: int) -> None:
    """Wait until a process has given up its rights. Nothing of the program or the tests has run yet.

    Raises:
        OSError, EOFError: it could not.
    """
    if (confined := receive(stream)) != "confined":
        raise OSError(confined)


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
    """Looks after the time and the memory of the program and its tests, and whether the run is still there."""

    def __init__(self, task: Any, program: int, tests: int, outcomes: int, verdict: int) -> None:
        """Begin to count the time.

        Args:
            task: has the most seconds and bytes, and whether the namespaces belong to this sandbox.
            program, tests: process ids.
            outcomes: file descriptor that the tests write their outcome to.
            verdict: file descriptor that takes the verdict.
        """
        self._program, self._tests = program, tests
        self._outcomes, self._verdict = outcomes, verdict
        self._said = b""
        self._size = task["bytes"] if task["namespaces"] else None
        self._deadline = time.monotonic() + task["seconds"]
        self._statuses: dict[int, int] = {}

    def run(self) -> NoReturn:
        """Look until something ends."""
        while True:
            readable = select.select([0, self._outcomes], [], [], _LOOK)[0]
            # The run ended, and no one reads a verdict.
            if 0 in readable:
                self._end()
            # The tests ended: with an outcome, or without one by a limit, a crash or an exit of theirs.
            if self._outcomes in readable:
                self._hear(os.read(self._outcomes, _LONGEST_OUTCOME))
            # The program ended before its tests.
            if self._program in self._statuses:
                self._finish(self._ending(self._program))
            self._reap()
            # Both run: only time and memory can end them.
            if time.monotonic() > self._deadline:
                self._finish("timeout")
            if self._size is not None and _memory(self._tests) > self._size:
                self._finish("memory")

    def _hear(self, part: bytes) -> None:
        """Take a part of the line of the tests; give the verdict at its end."""
        self._said += part
        if part and not part.endswith(b"\n") and len(self._said) < _LONGEST_OUTCOME:
            return
        line = self._said.decode().strip() if part else self._ending(self._tests)
        self._finish(self._ending(self._program) if line.partition(" ")[0] == "ended" else line)

    def _finish(self, outcome: str) -> NoReturn:
        """Give the verdict, and end everything."""
        _say(self._verdict, outcome)
        self._end()

    def _end(self) -> NoReturn:
        for process, kill in ((self._program, os.killpg), (self._tests, os.kill)):
            with suppress(OSError):  # of another user, or gone; the first process of a namespace ends all others
                kill(process, signal.SIGKILL)
                if process not in self._statuses:
                    os.waitpid(process, 0)
        os._exit(0)

    def _ending(self, process: int) -> str:
        """How a process ended; one that hides its end has only closed its pipe."""
        for _ in range(20):
            self._reap()
            if process in self._statuses:
                return _SIGNALS.get(os.WTERMSIG(self._statuses[process]), "exited")  # WTERMSIG is 0 for exit()
            time.sleep(_LOOK / 5)
        return "exited"

    def _reap(self) -> None:
        """Take note of processes that ended, orphans of the program included."""
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                self._statuses[found[0]] = found[1]


def _memory(tests: int) -> int:
    """Bytes that this sandbox uses, but for the guard and the tests: processes, files, and as much as sockets can hold.

    What two processes share counts twice.
    """
    total = 0
    for folder in ("/tmp", "/dev/shm"):
        disk = os.statvfs(folder)
        total += (disk.f_blocks - disk.f_bfree) * disk.f_frsize + (disk.f_files - disk.f_ffree) * _INODE_BYTES
    with open("/proc/net/sockstat", encoding="ascii") as stream:  # noqa: PTH123
        total += int(stream.readline().split()[-1]) * _SOCKET_BYTES
    for entry in os.listdir("/proc"):  # noqa: PTH208
        if entry.isdigit() and entry not in ("1", str(tests)):
            with suppress(OSError), open(f"/proc/{entry}/status", encoding="utf-8", errors="replace") as stream:  # noqa: PTH123
                fields = dict(line.split(":", 1) for line in stream if ":" in line)
                parts = (fields.get(name, "0 kB").split()[0] for name in ("RssAnon", "RssShmem", "VmSwap"))
                total += sum(map(int, parts)) * 1024
    return total
