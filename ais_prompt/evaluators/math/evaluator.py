"""Accuracy by mathematical equivalence."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ais_prompt.errors import DataError, ModelError
from ais_prompt.metrics.aggregate import incident_shares, mean_scores
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score
from ais_prompt.utils.imports import require_installed

WORKER: Final = Path(__file__).with_name("worker.py")
START_SECONDS: Final = 60
"""Maximum number of seconds for the imports of the process."""


class MathProcess:
    """Compare answers one at a time, from any thread; the process starts when needed, and again after a stop."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def equal(self, gold: str, answer: str, seconds: float) -> bool | None:
        """Return whether two answers are equal; None after the time limit.

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
    """Return the reply in one line; empty if the process reached the time limit or died."""
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


@EVALUATORS.register_module(name=["MATHVerifyEvaluator", "MATHEvaluator"])
class MATHVerifyEvaluator:
    r"""Accuracy by mathematical equivalence: ``\frac{1}{2}``, ``1/2`` and ``0.5`` are the same, ``x=3`` is ``3``.

    Compared by math-verify (Hugging Face, 2025), which reads LaTeX with latex2sympy2 and compares with sympy: numbers
    up to 6 decimals, expressions by simplifying, sets and tuples by their elements. It runs in a process of its own, so
    the time limit holds in any thread. A comparison that takes longer, or more than 4 GiB, counts as wrong, and
    ``timeout`` tells the share of these.

    OpenCompass' ``MATHEvaluator`` compares normalised texts instead, in which ``0.5`` and ``\frac{2}{4}`` differ.

    Args:
        timeout: most seconds for one answer.
    """

    metrics: tuple[str, ...] = ("accuracy", "timeout")

    def __init__(self, timeout: float = 10.0) -> None:
        require_installed("math_verify", extra="metrics", why=type(self).__name__)
        self.timeout = timeout
        self._process = MathProcess()

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return ``accuracy``, and ``timeout`` if the comparison took too long; 0 or 1.

        Raises:
            DataError: there is no gold.
        """
        if gold is None or not str(gold).strip():
            raise DataError("there is no gold answer", fix="name the column that holds it as output_column")
        if extracted is None:
            return {"accuracy": 0.0, "timeout": 0.0}
        equal = self._process.equal(str(gold), str(extracted), self.timeout)
        return {"accuracy": float(equal is True), "timeout": float(equal is None)}

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two answers are mathematically equivalent."""
        return self._process.equal(str(first), str(second), self.timeout) is True

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """The mean over the samples that were answered; also of ``timeout``, if there was one."""
        return [*mean_scores(("accuracy",), scores), *incident_shares(("timeout",), scores)]
