"""What a server counts itself: its ``GET /metrics`` before a load (after the warm-up) and after it.

The format is the text exposition of Prometheus; the names are those of vLLM, such as ``vllm:prefix_cache_hits_total``.
`spec_decode_json` is the content of AISBench's ``spec_decode_<host_port>.json``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from ais_prompt.models import ApiModel, Reply, ask_root, public_address

GOOD: Final = 200
SPEC_DECODE: Final = "vllm:spec_decode_"
_SAMPLE: Final = re.compile(r"(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)(?:\s+\d+)?")
_POSITION: Final = re.compile(r'position="(\d+)"')
_NOT_KEPT: Final = ("_bucket", "_created")
"""Ends of names that say nothing here: bounds of histograms, and when a counter was made."""


class ServerCounters(Struct, frozen=True):
    """The counters of one server around a load.

    Attributes:
        address: of the server, without secrets.
        before, after: ``name{labels}`` → value, of the counters that changed and of those of speculative decoding.
        error: why there are none; empty if there are.
    """

    address: str
    before: Mapping[str, float] = field(default_factory=dict)
    after: Mapping[str, float] = field(default_factory=dict)
    error: str = ""

    def change(self, name: str) -> float | None:
        """Return how much a counter has grown, over all of its labels; None if the server does not have it."""
        keys = [key for key in self.after if key.partition("{")[0] == name]
        return sum(self.after[key] - self.before.get(key, 0.0) for key in keys) if keys else None


def read_counters(model: ApiModel) -> dict[str, dict[str, float] | str]:
    """Return address → the samples of its ``/metrics``, or why there are none; nothing of servers that a run starts."""
    found: dict[str, dict[str, float] | str] = {}
    for base_url in () if model.server is not None else model.base_urls:
        reply = ask_root(base_url, "GET", "metrics", model.api_key, model.headers, model.api)
        if not isinstance(reply, Reply):
            found[public_address(base_url)] = f"GET /metrics: {reply.message}"
        elif reply.status != GOOD:
            found[public_address(base_url)] = f"GET /metrics: HTTP {reply.status}"
        else:
            found[public_address(base_url)] = parse_samples(reply.body.decode("utf-8", "replace"))
    return found


def parse_samples(text: str) -> dict[str, float]:
    """Return ``name{labels}`` → value; lines in another form are left out."""
    samples = {}
    for line in text.splitlines():
        found = None if line.startswith("#") else _SAMPLE.fullmatch(line.strip())
        if found is None or found["name"].endswith(_NOT_KEPT):
            continue
        try:
            value = float(found["value"])
        except ValueError:
            continue
        samples[f"{found['name']}{{{found['labels']}}}" if found["labels"] else found["name"]] = value
    return samples


def differences(
    before: Mapping[str, Mapping[str, float] | str], after: Mapping[str, Mapping[str, float] | str]
) -> list[ServerCounters]:
    """Return the counters of each server that changed, and those of speculative decoding."""
    result = []
    for address, end in after.items():
        start = before.get(address, "")
        if isinstance(start, str) or isinstance(end, str):
            result.append(ServerCounters(address, error=next(one for one in (start, end) if isinstance(one, str))))
            continue
        kept = [key for key, value in end.items() if start.get(key) != value or key.startswith(SPEC_DECODE)]
        result.append(
            ServerCounters(address, {key: start[key] for key in kept if key in start}, {key: end[key] for key in kept})
        )
    return result


def cache_hit_rate(counters: Sequence[ServerCounters]) -> float | None:
    """Return the share of prompt tokens that the prefix caches of the servers had; None if they do not say."""
    queries = [one.change("vllm:prefix_cache_queries_total") for one in counters]
    hits = [one.change("vllm:prefix_cache_hits_total") for one in counters]
    asked = sum(filter(None, queries))
    return sum(filter(None, hits)) / asked if asked else None


def spec_decode_json(counters: ServerCounters) -> dict[str, Any]:
    """Return the numbers of speculative decoding in AISBench's form; ``status`` says whether there are any."""
    drafts, tokens, accepted = (
        counters.change(f"{SPEC_DECODE}num_{name}_total") for name in ("drafts", "draft_tokens", "accepted_tokens")
    )
    url = f"{re.sub(r'/v[0-9]+/?$', '', counters.address)}/metrics"
    raw = {
        side: {key: value for key, value in values.items() if key.startswith(SPEC_DECODE)}
        for side, values in (("before", counters.before), ("after", counters.after))
    }
    if not drafts or tokens is None or accepted is None:
        error = counters.error or "the server drafted nothing"
        return {"status": "error", "url": url, "error": error, "data": {}, "raw": raw}
    positions = {
        int(found[1]): counters.after[key] - counters.before.get(key, 0.0)
        for key in counters.after
        if key.startswith(f"{SPEC_DECODE}num_accepted_tokens_per_pos_total") and (found := _POSITION.search(key))
    }
    data = {
        "num_drafts": drafts,
        "draft_tokens": tokens,
        "accepted_tokens": accepted,
        "acceptance_rate": 100 * accepted / tokens if tokens else 0.0,
        "acceptance_length": 1 + accepted / drafts,
        "per_position_acceptance_rates": [positions[place] / drafts for place in sorted(positions)],
    }
    return {"status": "success", "url": url, "error": None, "data": data, "raw": raw}
