"""The speed of a served model, by a clock that the tests set."""

from __future__ import annotations

import pytest

from ais_prompt.engine import SpeedMeter
from ais_prompt.types import Completion, Failure, Speed, Times, Usage


def test_nothing_asked_has_no_speed() -> None:
    assert SpeedMeter().speed() is None


def test_what_is_measured() -> None:
    now = 0.0
    meter = SpeedMeter(lambda: now)
    # 100 requests two at a time: 0.01 s, 0.02 s, ... and one that fails after 2 s and 4 attempts.
    for number in range(1, 101):
        now = 1.0 + number / 10
        streamed = {"first_token_seconds": 0.005, "token_seconds": 0.001 * number} if number % 2 else {}
        meter.add(Completion("a b", "stop", Usage(10, 2), seconds=number / 100, **streamed))
    now = 11.09
    meter.add(Completion(seconds=2.0, attempts=4, failure=Failure("timeout", "")))
    speed = meter.speed()
    assert speed
    assert (speed.requests, speed.failed, speed.attempts) == (101, 1, 104)
    assert (speed.input_tokens, speed.output_tokens) == (1000, 200)
    assert speed.seconds == pytest.approx(10.0)
    assert speed.concurrency == pytest.approx((50.5 + 2.0) / 10)
    assert speed.requests_per_second == pytest.approx(10.0)
    assert speed.output_tokens_per_second == pytest.approx(20.0)
    assert speed.latency
    # As numpy.percentile has them.
    assert [getattr(speed.latency, name) for name in ("p50", "p90", "p99")] == pytest.approx([0.505, 0.901, 0.9901])
    assert speed.first_token == Times(0.005, 0.005, 0.005, 0.005)
    assert speed.token
    assert speed.token.mean == pytest.approx(0.05)
    assert Speed.from_json(speed.to_json()) == speed


def test_waits_for_a_place_are_shown_if_there_are_any() -> None:
    meter = SpeedMeter(lambda: 5.0)
    for waited in (0.0, 0.2, 0.4):
        meter.add(Completion("a", seconds=1.0, waited_seconds=waited))
    speed = meter.speed()
    assert speed
    assert speed.waited
    assert (speed.waited.mean, speed.waited.p50) == pytest.approx((0.2, 0.2))
    assert Speed.from_json(speed.to_json()) == speed


def test_one_request_and_only_failures() -> None:
    meter = SpeedMeter(lambda: 5.0)
    meter.add(Completion("a", seconds=2.0))
    speed = meter.speed()
    assert speed
    assert (speed.seconds, speed.concurrency, speed.latency) == (2.0, 1.0, Times(2.0, 2.0, 2.0, 2.0))
    meter = SpeedMeter(lambda: 5.0)
    meter.add(Completion(seconds=0.0, failure=Failure("unreachable", "")))
    speed = meter.speed()
    assert speed
    assert (speed.latency, speed.requests_per_second) == (None, 0.0)
