"""What OpenCompass and AISBench say of questions that were asked several times.

OpenCompass gives G-Pass@k and mG-Pass@k (Liu et al. 2024, "Are Your LLMs Capable of Stable Reasoning?"), for all
questions and once more below the name of the dataset. AISBench gives avg@n, pass@k, and cons@k in a sense of its own:
whether more than k / 2 of the answers are right. Source: ``BaseEvaluator.evaluate`` of both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from ais_prompt.errors import ConfigError
from ais_prompt.metrics import Estimate, estimated_means, pass_at_k
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score

THRESHOLDS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The shares of right answers that G-Pass@k asks for."""

Measure: TypeAlias = Callable[[int, int], float]
"""(answers to a question, right ones among them) → value of the question."""


def g_pass_at_k(n: int, correct: int, k: int, least: int) -> float:
    """Return how likely at least ``least`` of ``k`` answers are right, drawn from ``n`` without replacement.

    >>> g_pass_at_k(4, 2, 2, 1)
    0.8333333333333334
    """
    if k > n:
        return 0.0
    ways = (math.comb(correct, right) * math.comb(n - correct, k - right) for right in range(least, k + 1))
    return sum(ways) / math.comb(n, k)


def mean_g_pass_at_k(n: int, correct: int, k: int) -> float:
    """Return mG-Pass@k: twice the mean of G-Pass@k over the thresholds above a half."""
    return 2 / k * math.fsum(g_pass_at_k(n, correct, k, least) for least in range(math.ceil(k / 2) + 1, k + 1))


def of_opencompass(ks: Sequence[int]) -> dict[str, Measure]:
    """Return metric → measure, as OpenCompass has them."""
    found: dict[str, Measure] = {}
    for k in ks:
        for share in THRESHOLDS:
            found[f"G-Pass@{k}_{share}"] = partial(g_pass_at_k, k=k, least=max(math.ceil(k * share), 1))
        found[f"mG-Pass@{k}"] = partial(mean_g_pass_at_k, k=k)
    return found


def of_aisbench(ks: Sequence[int], n: int) -> dict[str, Measure]:
    """Return metric → measure, as AISBench has them."""
    found: dict[str, Measure] = {f"avg@{n}": lambda n, right: right / n}
    for k in ks:
        found |= {f"pass@{k}": partial(pass_at_k, k=k), f"cons@{k}": partial(_more_than_half, k=k)}
    return found


def _more_than_half(n: int, right: int, k: int) -> float:  # noqa: ARG001  # a measure
    return float(right > k / 2)


@EVALUATORS.register_module()
class PeerRepeatEvaluator:
    """The scores of repeated answers as OpenCompass or AISBench names and computes them, beside those of an evaluator.

    Each score of the evaluator comes once more as ``… (N runs average)``. The others need a k above 1. An answer that
    failed or was not read is wrong.

    Args:
        peer: ``opencompass`` or ``ais_bench``.
        k: the numbers of answers that are drawn.
        name: of the dataset there, below which OpenCompass repeats its scores.
        metrics: metric of the evaluator → its name there, where that differs.
    """

    metrics: tuple[str, ...] = ()

    def __init__(
        self, peer: str, k: int | Sequence[int] = 1, name: str = "", metrics: Mapping[str, str] | None = None
    ) -> None:
        self._is_aisbench = peer == "ais_bench"
        self._k = [k] if isinstance(k, int) else list(k)
        self._name = name
        self._names = dict(metrics or {})

    def repeated(self, scores: Sequence[Score], samples: Sequence[SampleScore]) -> list[Score]:
        """Return the scores."""
        n = scores[0].repeats
        found = [replace(one, metric=f"{self._names.get(one.metric, one.metric)} ({n} runs average)") for one in scores]
        if n < 2 or max(self._k, default=1) < 2 or not scores[0].fraction:
            return found
        measures = of_aisbench(self._k, n) if self._is_aisbench else of_opencompass(self._k)
        main = scores[0].metric
        means = estimated_means(list(measures), lambda one: _estimates(one, main, measures.values()), samples)
        if not self._is_aisbench:
            found += [replace(mean, metric=f"{self._name}/{mean.metric}") for mean in means]
        return found + means

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002  # it scores no single answer
        """Refuse a single answer.

        Raises:
            ConfigError: always.
        """
        raise ConfigError("PeerRepeatEvaluator scores repeated answers", fix="use it as repeat_evaluator")

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:  # noqa: ARG002
        """Return nothing: see `repeated`."""
        return []


def _estimates(sample: SampleScore, metric: str, measures: Any) -> list[Estimate]:
    """Return what is said of one question: its value, and those without and with the answers that are not known."""
    n = len(sample.repeats)
    right = sum(answer.values.get(metric, 0.0) == 1.0 for answer in sample.repeats)
    unread = sum(not answer.is_read for answer in sample.repeats)
    is_known = any(answer.status != "failed" for answer in sample.repeats)
    return [
        Estimate(value if is_known else None, value, measure(n, min(n, right + unread)))
        for measure, value in ((measure, measure(n, right)) for measure in measures)
    ]
