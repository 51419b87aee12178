"""One process that serves a model, behind a watchdog."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ais_prompt.utils.clean_log import first_line
from ais_prompt.utils.files import last_lines
from ais_prompt.utils.interpreter import module_command, module_environment
from ais_prompt.utils.watchdog import GRACE_SECONDS, watched


class GuardedProcess:
    """A server that runs from the construction on, until it ends or is stopped.

    Args:
        words: the command.
        environment: its variables besides those of this program.
        log: file to which its output is appended, without secrets.

    Raises:
        OSError: the log cannot be written, or no process can be started.
    """

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log = log
        with log.open("ab") as file:
            self._log_start = file.tell()
        # Sessions of their own: Ctrl-C in a terminal reaches this program, which then stops the server.
        self._logging = subprocess.Popen(
            [*module_command("ais_prompt.utils.clean_log"), str(log)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=module_environment(),
            start_new_session=True,
        )
        assert self._logging.stdin is not None
        with self._logging.stdin as output:  # then the server alone holds it, and its end is that of the log
            output.write(first_line())
            output.flush()
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
        if self.ending() is not None:
            self._wait_for_log()
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
        self._wait_for_log()

    def _wait_for_log(self) -> None:
        with suppress(subprocess.TimeoutExpired):  # a process that no signal ends holds the output open
            self._logging.wait(timeout=GRACE_SECONDS)


def free_port(host: str) -> int:
    """Return a port that nothing listens on at present."""
    with socket.socket() as free:
        free.bind((host, 0))
        port: int = free.getsockname()[1]
        return port
