"""Tell by the name of a metric whether less of it is better, as of a loss, an error or a latency."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LESS: Final = frozenset(
    (
        *("ppl", "perplexity", "loss", "nll", "bits", "bpb", "bpc", "bpt", "entropy", "crossentropy"),
        *("error", "errors", "mistakes", "wer", "cer", "ter", "mer", "mae", "mse", "rmse", "mape", "brier", "ece"),
        *("distance", "distances", "dist", "divergence", "regret"),
        *("failure", "failures", "violation", "violations", "hallucination", "hallucinations", "toxicity"),
        *("latency", "latencies", "duration", "time", "seconds", "ms", "ttft", "ttfo", "tpot", "itl", "e2el", "queue"),
        *("tokens", "cost", "costs", "price"),
    )
)
"""Words of which less is better."""
_MORE: Final = frozenset(
    (
        *("accuracy", "acc", "precision", "recall", "match", "correct", "right", "success", "pass"),
        *("second", "throughput", "goodput", "similarity", "agreement", "detection", "detected", "found", "reduction"),
        *("improvement", "avoided", "free", "correction", "corrected", "check", "ok", "valid", "equal", "same"),
    )
)
"""Words that make a good thing of those before them: ``error_detection``, ``tokens_per_second``."""
_NOT: Final = frozenset(
    ("no", "not", "non", "without", "within", "below", "under", "neg", "negative", "inverse", "minus")
)
"""Words with which the name is about how little there is: ``neg_mean_squared_error``."""


def lower_is_better(metric: str) -> bool:
    """Return whether less of a metric is better: the last word of its name that says so decides.

    An evaluator whose metric has another name says it itself, with its attribute ``lower_is_better``.

    >>> [lower_is_better(name) for name in ("average_ppl", "bits_per_byte", "WER", "tokens_per_second", "accuracy")]
    [True, True, True, False, False]
    """
    words = [word.lower() for word in _WORD.findall(metric)]
    if not _NOT.isdisjoint(words):
        return False
    return next((word in _LESS for word in reversed(words) if word in _LESS or word in _MORE), False)
