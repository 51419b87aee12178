"""Run a server, and end everything that it started as soon as the program that wants it is gone.

The program holds the other end of this process's standard input. It closes when the program stops the server, ends, or
is killed, ``kill -9`` included. A server's processes may be in sessions of their own, and outlive their parents; as
their subreaper (prctl(2)) this process stays an ancestor of all of them on Linux.

Started as ``python -I -S watchdog.py COMMAND…``, so it imports nothing but the standard library.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Final

GRACE_SECONDS: Final = 10.0
"""Time that a server has to end after SIGTERM; then SIGKILL ends it."""
_PR_SET_CHILD_SUBREAPER: Final = 36
_PROC: Final = Path("/proc")


class Watchdog:
    """Runs one command. Signals and the standard input wake it up; it never polls."""

    def __init__(self) -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._woken, waker = os.pipe()
        for end in (self._woken, waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(waker)
        # Functions, not SIG_IGN: a server would inherit that.
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1):
            signal.signal(number, lambda *_: None)
        self._exit_code: int | None = None

    def run(self, command: list[str]) -> int:
        """Run the command to its end, or until it is not wanted any more.

        Returns:
            Its exit code, or 128 + n if signal n ended it.
        """
        try:
            server = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True).pid
        except OSError as error:
            print(f"{command[0]}: {error.strerror}", file=sys.stderr)
            return 127
        while self._exit_code is None and self._is_wanted():
            self._reap(server)
        with suppress(ProcessLookupError):
            os.killpg(server, signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        while self._exit_code is None and (left := deadline - time.monotonic()) > 0:
            select.select([self._woken], [], [], left)
            self._drain()
            self._reap(server)
        self._kill_all(server)
        return self._exit_code or 0

    def _is_wanted(self) -> bool:
        """Wait for the next event; return False if the program is gone or a signal asks to stop."""
        ready, _, _ = select.select([sys.stdin.fileno(), self._woken], [], [])
        if sys.stdin.fileno() in ready and not os.read(sys.stdin.fileno(), 1024):
            return False
        return not {signal.SIGTERM, signal.SIGHUP} & set(self._drain())

    def _drain(self) -> bytes:
        """Return the signals that came."""
        with suppress(BlockingIOError):
            return os.read(self._woken, 1024)
        return b""

    def _reap(self, server: int) -> None:
        """Take note of all processes that ended, orphans of the server included."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == server:
                    code = os.waitstatus_to_exitcode(ended[1])
                    self._exit_code = code if code >= 0 else 128 - code

    def _kill_all(self, server: int) -> None:
        """Kill the server, and everything that it left."""
        with suppress(ProcessLookupError):
            os.killpg(server, signal.SIGKILL)
        deadline = time.monotonic() + GRACE_SECONDS
        while (left := _descendants()) and time.monotonic() < deadline:  # a process may fork while it is killed
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
            self._reap(server)
        self._reap(server)


def _descendants() -> list[int]:
    """Return the processes below this one; empty on systems without /proc, where the process group must do."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for folder in _PROC.iterdir() if _PROC.is_dir() else ():
        if folder.name.isdigit():
            with suppress(OSError):
                # "pid (name) state parent …", proc_pid_stat(5); the name may hold anything.
                state, parent = (folder / "stat").read_bytes().rpartition(b") ")[2].split()[:2]
                if state != b"Z":
                    children[int(parent)].append(int(folder.name))
    found, new = [], [os.getpid()]
    while new:
        new = [child for parent in new for child in children[parent]]
        found += new
    return found


if __name__ == "__main__":
    sys.exit(Watchdog().run(sys.argv[1:]))
