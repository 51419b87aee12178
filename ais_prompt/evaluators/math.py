"""Accuracy by mathematical equivalence."""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import ModelError
from ais_prompt.evaluators.base import golds_of
from ais_prompt.metrics import incident_shares, mean_scores
from ais_prompt.processes import Worker, WorkerDied
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score
from ais_prompt.utils import require_installed

START_SECONDS: Final = 60
"""Maximum number of seconds for the imports of the process."""


class MathProcess:
    """Read and compare answers one at a time, from any thread; the process starts when needed, and after a stop."""

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._lock = threading.Lock()

    def equal(self, gold: str, answer: str, seconds: float) -> bool | None:
        """Return whether two answers are equal; None after the time limit.

        Raises:
            ModelError: the process cannot be started.
        """
        found = self._reply([gold, answer], seconds)
        return None if found is None else bool(found)

    def read(self, text: str, seconds: float) -> str | None:
        """Return the answer in a response, as math-verify shows it; None if there is none, or after the time limit.

        Raises:
            ModelError: the process cannot be started.
        """
        return self._reply([text], seconds) or None

    def _reply(self, texts: Sequence[str], seconds: float) -> Any:
        with self._lock:
            if self._worker is None:
                self._worker = self._start()
            try:
                return json.loads(self._worker.call(json.dumps(texts).encode(), seconds))
            except (TimeoutError, WorkerDied):
                self._worker.stop()
                self._worker = None
                return None

    def _start(self) -> Worker:
        worker = Worker("ais_prompt.evaluators.math_worker")
        weakref.finalize(self, worker.stop)
        try:
            worker.call(json.dumps(["1", "1"]).encode(), START_SECONDS)
        except (TimeoutError, WorkerDied) as error:
            worker.stop()
            why = str(error) or f"no reply in {START_SECONDS} s"
            raise ModelError(
                f"the process that compares mathematical answers does not start: {why}",
                fix="stop other work on this machine, and score again",
            ) from error
        return worker


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
        golds = golds_of(gold)
        if extracted is None:
            return {"accuracy": 0.0, "timeout": 0.0}
        found = {self._process.equal(one, str(extracted), self.timeout) for one in golds}
        return {"accuracy": float(True in found), "timeout": float(None in found and True not in found)}

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two answers are mathematically equivalent."""
        return self._process.equal(str(first), str(second), self.timeout) is True

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """The mean over the samples that were answered; also of ``timeout``, if there was one."""
        return [*mean_scores(("accuracy",), scores), *incident_shares(("timeout",), scores)]
