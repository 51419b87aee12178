"""Run a command, and end everything that it started as soon as the program that wants it is gone.

The program holds the other end of this process's standard input. It closes when the program stops the command, ends, or
is killed, ``kill -9`` included. A command's processes may be in sessions of their own, and outlive their parents; as
their subreaper (prctl(2)) this process stays an ancestor of all of them on Linux.

It is two processes, so that either of them may be killed as well: the inner one runs the command, the outer one runs
the inner one. If the inner one is killed, its orphans come to the outer one, which ends them. If the outer one is
killed, the inner one gets SIGTERM, as from a program that stops the command.

Started as ``python -I -S watchdog.py GRACE DESCRIPTORS COMMAND…``, so it imports nothing but the standard library.
`watched` returns these words. The words that run a module of this package
come from `module_command`.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import site
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

PACKAGE_FOLDER: Final = Path(__file__).resolve().parents[2]
GRACE_SECONDS: Final = 10.0
"""Time that a server has to end after SIGTERM; then SIGKILL ends it."""
PROCESSOR_DAYS: Final = 30
"""Most processor time of each process, in days of all processors: more than any work, and an end of what is left."""
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PROC: Final = Path("/proc")


def watched(command: Sequence[str], *, grace: float = GRACE_SECONDS, descriptors: Sequence[int] = ()) -> list[str]:
    """Return the words that run a command behind a watchdog.

    Args:
        command: its words.
        grace: seconds that it has to end after SIGTERM; 0 to kill it at once.
        descriptors: files of the watchdog that stay open in the command.
    """
    passed = ",".join(map(str, descriptors))
    return [sys.executable, "-I", "-S", __file__, f"{grace:g}", passed, *command]


def module_command(module: str) -> list[str]:
    """Return the command that runs a module. Files of the working directory do not hide modules that it imports."""
    return [sys.executable, "-P", "-m", module]


def module_environment() -> Mapping[str, str]:
    """Return this process's environment; the search path has the folder of this package, if it is not installed."""
    installed = {Path(folder).resolve() for folder in (*site.getsitepackages(), site.getusersitepackages())}
    if PACKAGE_FOLDER in installed:
        return os.environ
    path = os.pathsep.join(filter(None, (str(PACKAGE_FOLDER), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path}


class Watchdog:
    """Runs one child process. Signals and the standard input wake it up; it never polls.

    Args:
        start: starts the child, and returns its process id.
        ask_to_end: sends SIGTERM to the child.
        grace: seconds that the child has to end after that; 0 to kill it at once.
    """

    def __init__(self, start: Callable[[], int], ask_to_end: Callable[[int], None], grace: float) -> None:
        prctl(_PR_SET_CHILD_SUBREAPER, 1)
        self._start = start
        self._ask_to_end = ask_to_end
        self._grace = grace
        self._woken, waker = os.pipe()
        for end in (self._woken, waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(waker)
        # Functions, not SIG_IGN: a command would inherit that.
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1):
            signal.signal(number, lambda *_: None)
        self._exit_code: int | None = None

    def run(self) -> int:
        """Run the child to its end, or until it is not wanted any more.

        Returns:
            Its exit code, or 128 + n if signal n ended it.
        """
        child = self._start()
        while self._exit_code is None and self._is_wanted():
            self._reap(child)
        if self._grace:
            with suppress(ProcessLookupError):
                self._ask_to_end(child)
        deadline = time.monotonic() + self._grace
        while self._exit_code is None and (left := deadline - time.monotonic()) > 0:
            select.select([self._woken], [], [], left)
            self._drain()
            self._reap(child)
        self._kill_all(child)
        return self._exit_code or 0

    def _is_wanted(self) -> bool:
        """Wait for the next event; return False if the program is gone or a signal asks to stop."""
        ready, _, _ = select.select([0, self._woken], [], [])
        if 0 in ready and not os.read(0, 1024):
            return False
        return not {signal.SIGTERM, signal.SIGHUP} & set(self._drain())

    def _drain(self) -> bytes:
        """Return the signals that came."""
        with suppress(BlockingIOError):
            return os.read(self._woken, 1024)
        return b""

    def _reap(self, child: int) -> None:
        """Take note of all processes that ended, orphans included."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == child:
                    code = os.waitstatus_to_exitcode(ended[1])
                    self._exit_code = code if code >= 0 else 128 - code

    def _kill_all(self, child: int) -> None:
        """Kill the child, and everything that it left."""
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        deadline = time.monotonic() + GRACE_SECONDS
        while (left := _descendants()) and time.monotonic() < deadline:  # a process may fork while it is killed
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
            self._reap(child)
        self._reap(child)


def watch(grace: float, descriptors: Sequence[int], command: Sequence[str]) -> int:
    """Run a command behind two watchdogs, and return its exit code, or 128 + n if signal n ended it."""
    _limit_processor_time()

    started: list[subprocess.Popen[bytes]] = []  # else the end of the command could be noticed elsewhere

    def start_inner() -> int:
        outer = os.getpid()
        if inner := os.fork():
            return inner
        try:
            os.setsid()
            _end_with(outer, signal.SIGTERM)
            os._exit(Watchdog(start_command, lambda pid: os.killpg(pid, signal.SIGTERM), grace).run())
        except OSError as error:
            print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        finally:
            os._exit(127)

    def start_command() -> int:
        inner = os.getpid()
        started.append(
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=descriptors,
                preexec_fn=lambda: _end_with(inner, signal.SIGKILL),  # this process has one thread
            )
        )
        return started[0].pid

    # The inner one needs its grace and as long again to kill what is left.
    return Watchdog(start_inner, lambda pid: os.kill(pid, signal.SIGTERM), grace + GRACE_SECONDS + 1).run()


def _end_with(parent: int, number: signal.Signals) -> None:
    """Get a signal when the parent ends; end at once if it has ended."""
    prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os._exit(1)


def _limit_processor_time() -> None:
    """Limit the processor time of this process and, each for itself, of all that it starts."""
    import resource  # not on Windows

    seconds = PROCESSOR_DAYS * 86_400 * (os.cpu_count() or 1)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or hard > seconds:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def prctl(option: int, value: int = 0) -> int:
    """Call prctl(2) on Linux; return 1 on other systems."""
    return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0)) if sys.platform == "linux" else 1


def _descendants() -> list[int]:
    """Return the processes below this one; empty on systems without /proc, where the process group must do."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for folder in _PROC.iterdir() if _PROC.is_dir() else ():
        if folder.name.isdigit():
            with suppress(OSError):
                # "pid (name) state parent …", proc_pid_stat(5); the name may hold anything. A zombie counts until it is
                # reaped: its first thread has ended, but others may run.
                parent = (folder / "stat").read_bytes().rpartition(b") ")[2].split()[1]
                children[int(parent)].append(int(folder.name))
    found, new = [], [os.getpid()]
    while new:
        new = [child for parent in new for child in children[parent]]
        found += new
    return found


if __name__ == "__main__":
    files = [int(number) for number in sys.argv[2].split(",") if number]
    sys.exit(watch(float(sys.argv[1]), files, sys.argv[3:]))
