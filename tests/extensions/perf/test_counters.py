"""Counters of servers: what changed during a load, and speculative decoding in AISBench's form."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from ais_prompt.extensions.perf.counters import (
    ServerCounters,
    cache_hit_rate,
    differences,
    parse_samples,
    read_counters,
    spec_decode_json,
)
from ais_prompt.extensions.perf.sweep import reset_caches
from ais_prompt.models import OpenAIChatModel
from ais_prompt.plan import Plan
from ais_prompt.types import ModelSpec, PartSpec, RunSpec

TEXT = """\
# HELP vllm:num_preemptions_total Cumulative number of preemptions.
# TYPE vllm:num_preemptions_total counter
vllm:num_preemptions_total{engine="0",model_name="m"} 3.0
vllm:num_preemptions_created{engine="0",model_name="m"} 1.7e+09
vllm:request_queue_time_seconds_bucket{le="0.3",model_name="m"} 7.0
vllm:request_queue_time_seconds_sum{model_name="m"} 0.25
process_open_fds 41 1395066363000
python_info{implementation="CPython",text="a } b"} 1.0
broken line
other NaN_
"""
BEFORE = {
    "vllm:spec_decode_num_drafts_total{m}": 10.0,
    "vllm:spec_decode_num_draft_tokens_total{m}": 30.0,
    "vllm:spec_decode_num_accepted_tokens_total{m}": 15.0,
    'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="0"}': 9.0,
    'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="1"}': 6.0,
    "vllm:prefix_cache_queries_total{m}": 1000.0,
    "vllm:prefix_cache_hits_total{m}": 100.0,
}
AFTER = {
    "vllm:spec_decode_num_drafts_total{m}": 110.0,
    "vllm:spec_decode_num_draft_tokens_total{m}": 330.0,
    "vllm:spec_decode_num_accepted_tokens_total{m}": 135.0,
    'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="0"}': 89.0,
    'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="1"}': 46.0,
    "vllm:prefix_cache_queries_total{m}": 3000.0,
    "vllm:prefix_cache_hits_total{m}": 600.0,
}


def test_samples_are_read_and_what_says_nothing_is_left_out() -> None:
    assert parse_samples(TEXT) == {
        'vllm:num_preemptions_total{engine="0",model_name="m"}': 3.0,
        'vllm:request_queue_time_seconds_sum{model_name="m"}': 0.25,
        "process_open_fds": 41.0,
        'python_info{implementation="CPython",text="a } b"}': 1.0,
    }


def test_only_what_changed_is_kept() -> None:
    [found] = differences({"u": {"same": 1.0, "grows": 1.0}}, {"u": {"same": 1.0, "grows": 4.0, "new": 2.0}})
    assert (found.before, found.after) == ({"grows": 1.0}, {"grows": 4.0, "new": 2.0})
    assert (found.change("grows"), found.change("new"), found.change("same")) == (3.0, 2.0, None)
    [found] = differences({"u": "GET /metrics: HTTP 404"}, {"u": "GET /metrics: HTTP 404"})
    assert found.error == "GET /metrics: HTTP 404"


def test_the_hit_rate_is_that_of_the_load() -> None:
    assert cache_hit_rate(differences({"u": BEFORE}, {"u": AFTER})) == 0.25
    assert cache_hit_rate([ServerCounters("u", error="none")]) is None


def test_speculative_decoding_is_written_as_aisbench_does() -> None:
    [counters] = differences({"http://h:1/v1": BEFORE}, {"http://h:1/v1": AFTER})
    found = spec_decode_json(counters)
    assert (found["status"], found["url"], found["error"]) == ("success", "http://h:1/metrics", None)
    assert found["data"] == {
        "num_drafts": 100.0,
        "draft_tokens": 300.0,
        "accepted_tokens": 120.0,
        "acceptance_rate": 40.0,
        "acceptance_length": 2.2,
        "per_position_acceptance_rates": [0.8, 0.4],
    }
    assert len(found["raw"]["before"]) == len(found["raw"]["after"]) == 5
    assert spec_decode_json(ServerCounters("http://h:1", error="HTTP 404"))["error"] == "HTTP 404"
    assert spec_decode_json(ServerCounters("http://h:1"))["status"] == "error"


@contextmanager
def serving(text: str | None) -> Iterator[str]:
    """Serve a text at ``/metrics`` beside ``/v1``; without one there is no such page."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200 if self.path == "/reset_prefix_cache" and text is not None else 404)
            self.end_headers()

        def do_GET(self) -> None:
            is_there = text is not None and self.path == "/metrics"
            self.send_response(200 if is_there else 404)
            self.end_headers()
            self.wfile.write((text or "").encode())

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.thorough
@pytest.mark.parametrize(("text", "expected"), [("a_total 3\n", {"a_total": 3.0}), (None, "GET /metrics: HTTP 404")])
def test_counters_are_beside_the_api(text: str | None, expected: object) -> None:
    with serving(text) as url:
        model = OpenAIChatModel("m", url, api_key=None)
        assert read_counters(model) == {url: expected}


@pytest.mark.thorough
@pytest.mark.parametrize(("text", "words"), [("a_total 3\n", ""), (None, "m has no /reset_prefix_cache")])
def test_prefix_caches_are_reset_where_a_server_can_do_that(text: str | None, words: str) -> None:
    with serving(text) as url:
        part = PartSpec("OpenAIChatModel", {"model": "m", "base_url": url, "api_key": None})
        plan = Plan(RunSpec("x", (ModelSpec("m", part),), (), Path("x"), None, {}))
        found = reset_caches(plan)
        assert found.startswith(words) if words else not found
