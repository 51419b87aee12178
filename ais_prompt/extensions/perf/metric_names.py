"""Names of what ``-m perf`` measures."""

from __future__ import annotations

from typing import Final

LOAD_VALUES: Final = (
    *("ttft_seconds", "ttft_from_due_seconds", "ttft_first_turn_seconds", "ttft_later_turns_seconds", "ttfo_seconds"),
    *("tpot_seconds", "itl_seconds", "e2el_seconds"),
    *("e2el_from_due_seconds", "e2el_from_due_with_failures_seconds", "queue_seconds"),
    *("probe_seconds", "input_tokens", "output_tokens", "answer_tokens_per_second"),
)
"""What ``-m perf`` measures of each request, in the order of its tables."""
LOAD_VERDICTS: Final = (
    *("client", "schedule", "places", "failures", "tokens", "lengths", "cache", "warmup", "values"),
    *("steady", "stream", "server", "bodies", "slo", "runs"),
)
"""Questions about a load, whose verdicts are 1 if nothing is wrong, else 0."""
LOAD_METRICS: Final = frozenset(
    (
        *(f"{name}_{kind}" for name in LOAD_VALUES for kind in ("mean", "p50", "p75", "p90", "p95", "p99")),
        *("requests_per_second", "input_tokens_per_second", "output_tokens_per_second", "concurrency"),
        *("goodput", "goodput_share"),
        *LOAD_VERDICTS,
    )
)
"""Metrics of ``-m perf`` that a gate can limit."""
