"""One process that serves a model, behind a watchdog."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from ais_prompt.utils.files import last_lines
from ais_prompt.utils.watchdog import GRACE_SECONDS, watched


class GuardedProcess:
    """A server that runs from the construction on, until it ends or is stopped.

    Args:
        words: the command.
        environment: its variables besides those of this program.
        log: file to which its output is appended.

    Raises:
        OSError: the log cannot be written, or no process can be started.
    """

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log = log
        with log.open("ab") as output:
            self._log_start = output.tell()
            # A session of its own: Ctrl-C in a terminal reaches this program, which then stops the server.
            self._watchdog = subprocess.Popen(
                watched(words),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                start_new_session=True,
            )

    def ending(self) -> str | None:
        """Return how it ended, such as ``exit code 1``; None while it runs."""
        code = self._watchdog.poll()
        if code is None:
            return None
        return f"killed by signal {code - 128}" if code > 128 else f"exit code {abs(code)}"

    def last_lines(self) -> list[str]:
        """Return the last lines of its output, without secrets."""
        return last_lines(self.log, self._log_start)

    def stop(self) -> None:
        """Ask it to stop, without waiting."""
        if self._watchdog.stdin is not None:
            self._watchdog.stdin.close()

    def wait(self) -> None:
        """Wait until a server that was asked to stop is gone, with everything that it started."""
        try:
            self._watchdog.wait(timeout=4 * GRACE_SECONDS)
        except subprocess.TimeoutExpired:  # a process that no signal ends: it waits for a device
            self._watchdog.kill()


def free_port(host: str) -> int:
    """Return a port that nothing listens on at present."""
    with socket.socket() as free:
        free.bind((host, 0))
        port: int = free.getsockname()[1]
        return port
