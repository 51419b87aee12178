"""Is the answer mathematically the same as the gold answer?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.errors import DataError
from ais_prompt.evaluators.math.process import MathProcess
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.metrics.incidents import incident_shares
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score
from ais_prompt.utils.imports import require_installed


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
        """``accuracy``, and ``timeout`` if it could not be told in time; 0 or 1.

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
