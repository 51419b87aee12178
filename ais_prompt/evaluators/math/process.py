"""The process that compares mathematical answers (`ais_prompt.evaluators.math.worker`), and its time limit."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Final

from ais_prompt.errors import ModelError

WORKER: Final = Path(__file__).with_name("worker.py")
START_SECONDS: Final = 60
"""Most seconds until the process has imported what it needs."""


class MathProcess:
    """Compares answers one at a time, from any thread; started when first needed, and again after it was stopped."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def equal(self, gold: str, answer: str, seconds: float) -> bool | None:
        """Whether two answers are equal; None if the time was not enough.

        Raises:
            ModelError: the process cannot be started.
        """
        with self._lock:
            process = self._process or self._start()
            self._process = process
            reply = _ask(process, [gold, answer], seconds)
            if not reply:
                self._process = None
                return None
            return bool(json.loads(reply))

    def _start(self) -> subprocess.Popen[str]:
        # -P keeps this folder, whose files have names like those of libraries, off the path.
        command = [sys.executable, "-P", str(WORKER)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        weakref.finalize(self, process.kill)
        if not _ask(process, ["1", "1"], START_SECONDS):
            raise ModelError("the process that compares mathematical answers does not start", where=" ".join(command))
        return process


def _ask(process: subprocess.Popen[str], question: list[str], seconds: float) -> str:
    """The reply in one line; empty if the process was stopped because it took too long, or died."""
    assert process.stdin is not None
    assert process.stdout is not None
    limit = threading.Timer(seconds, process.kill)
    limit.start()
    try:
        process.stdin.write(json.dumps(question) + "\n")
        process.stdin.flush()
        reply = process.stdout.readline()
    except BrokenPipeError:
        reply = ""
    finally:
        limit.cancel()
    if not reply:
        process.kill()
        process.communicate()
    return reply
