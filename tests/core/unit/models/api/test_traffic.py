"""Rate limits, retries and outages with real servers."""

from __future__ import annotations

import asyncio
import signal
import time
from typing import Any

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.models import Attempt, Dispatcher, Limits, OpenAIChatModel, Retry, Transport
from ais_prompt.models.api import outage
from ais_prompt.types import Activity, Completion, Failure, Request, Usage
from tests.support.servers import MockServer, mock_server
from tests.support.simulated import SimulatedServer, VirtualLoop, dispatcher_of
from tests.support.waiting import STALL_SECONDS, wait_until

pytestmark = pytest.mark.process


def model_of(server: MockServer, **options: Any) -> OpenAIChatModel:
    model = OpenAIChatModel("mock", server.base_url, **options)
    model.retry = Retry(model.retry.retries, first_wait=0.05)
    return model


async def asked(model: OpenAIChatModel, count: int) -> tuple[list[Completion], list[Activity]]:
    """The answers to so many requests, ``max_concurrency`` at a time, and what went on meanwhile."""
    seen: list[Activity] = []
    numbers = iter(range(count))
    answers: dict[int, Completion] = {}

    async def work() -> None:
        for number in numbers:
            answers[number] = await model.complete(Request("s", f"{number}+1=?", model.decoding(None, ())))

    async def look() -> None:
        while len(answers) < count:
            seen.append(model.activity())
            await asyncio.sleep(0.02)

    await model.open()
    looking = asyncio.create_task(look())
    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(model.max_concurrency):
                workers.create_task(work())
    finally:
        looking.cancel()
        await model.aclose()
    return [answers[number] for number in range(count)], seen


def dispatcher(limits: Limits, retry: Retry) -> Dispatcher:
    """One server; the attempts of these tests send it nothing."""
    return dispatcher_of([SimulatedServer("a")], limits, retry)


def test_requests_keep_to_their_rate(server: MockServer) -> None:
    server.follow()
    started = time.monotonic()
    answers, _ = asyncio.run(asked(model_of(server, request_rate=40.0, traffic_cfg={"burstiness": 4.0}), 40))
    assert all(answer.failure is None for answer in answers)
    assert time.monotonic() - started > 0.6


def test_the_old_name_of_the_rate_means_the_same(server: MockServer) -> None:
    assert model_of(server, query_per_second=2).limits.request_rate == 2


def test_tokens_keep_to_their_rate() -> None:
    async def once(_: Transport) -> Attempt:
        return Attempt(Completion("yes", "stop", Usage(1, 1)))

    async def main() -> Activity:
        traffic = dispatcher(Limits(max_concurrency=1, tokens_per_minute=60), Retry(first_wait=0.0))
        for _ in range(15):
            await traffic.ask(once, 31)
        last = asyncio.create_task(traffic.ask(once, 31))
        await asyncio.sleep(0.5)
        activity = traffic.activity()
        assert (await last).failure is None
        return activity

    # Each is expected to take 31 tokens and takes 2, so the 16th has to wait until the 61st token may be used.
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        activity = runner.run(main())
        seconds = runner.get_loop().time()
    assert (activity.waiting, activity.reason) == (1, "tokens_per_minute")
    assert seconds == pytest.approx(1.0)


def test_concurrency_adapts_to_a_server_that_throttles(server: MockServer) -> None:
    server.follow({"over": [30, 0.5], "status": 429, "headers": {"Retry-After": "0.1"}}, {"latency": 0.05})
    model = model_of(server, max_concurrency=64, retry=8, traffic_cfg={"adaptive": True})
    answers, _ = asyncio.run(asked(model, 200))
    assert [answer.text for answer in answers] == [str(number + 1) for number in range(200)]
    stats = server.stats()
    assert 4 <= stats["most_in_flight"] < 64
    assert stats["statuses"]["429"] < 150  # about 400 without


@pytest.mark.parametrize(("kind", "keeps"), [("http_429", True), ("http_503", True), ("timeout", False)])
def test_a_throttled_request_keeps_its_slot(kind: str, keeps: bool) -> None:
    """There is one place. The first request fails once, and goes again after a second."""
    log: list[tuple[str, float]] = []

    async def once(name: str) -> Attempt:
        log.append((name, asyncio.get_running_loop().time()))
        return Attempt(Completion(failure=Failure(kind, "later")), 1.0) if len(log) == 1 else Attempt(Completion("yes"))

    async def ask_both() -> list[Completion]:
        traffic = dispatcher(Limits(max_concurrency=1, adaptive=True), Retry(first_wait=0.0))
        return await asyncio.gather(traffic.ask(lambda _: once("first")), traffic.ask(lambda _: once("second")))

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        assert [answer.text for answer in runner.run(ask_both())] == ["yes", "yes"]
    if keeps:
        assert dict(log)["second"] - log[0][1] >= 1.0
    else:
        assert [name for name, _ in log] == ["first", "second", "first"]


def test_a_rate_limit_loses_nothing_and_is_shown(server: MockServer) -> None:
    server.follow({"over": [20, 0.5], "status": 429, "headers": {"Retry-After": "0.2"}, "body": {"error": "slow"}})
    answers, seen = asyncio.run(asked(model_of(server, max_concurrency=16), 100))
    assert [answer.text for answer in answers] == [str(number + 1) for number in range(100)]
    assert any(activity.waiting and activity.reason in ("http_429", "the server is away") for activity in seen)


def put_off(*retry_afters: float, deadline: float | None = None, requests: int = 1) -> tuple[list[Completion], float]:
    """What becomes of requests, each put off so long, one after the other, and the seconds that it takes."""

    async def ask(traffic: Dispatcher) -> Completion:
        waits = list(retry_afters)

        async def once(_: Transport) -> Attempt:
            if waits:
                return Attempt(Completion(failure=Failure("http_429", "slow down")), waits.pop(0))
            return Attempt(Completion("yes", "stop"))

        return await traffic.ask(once)

    async def main() -> list[Completion]:
        traffic = dispatcher(Limits(max_concurrency=64, deadline=deadline), Retry(first_wait=0.0))
        return await asyncio.gather(*(ask(traffic) for _ in range(requests)))

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        answers = runner.run(main())
        return answers, runner.get_loop().time()


@pytest.mark.parametrize("retry_afters", [[301], [600], [899], [400, 400], [1] * 100])
def test_retry_after_costs_no_sample(retry_afters: list[float]) -> None:
    [answer], seconds = put_off(*retry_afters)
    assert (answer.text, answer.attempts) == ("yes", len(retry_afters) + 1)
    assert seconds == pytest.approx(sum(retry_afters))


@pytest.mark.parametrize("number", [1, 30])
def test_a_wait_beyond_fifteen_minutes_is_a_failure_at_once(number: int) -> None:
    answers, seconds = put_off(901.0, requests=number)
    assert seconds == 0.0
    for answer in answers:
        assert answer.failure
        assert answer.failure.kind == "http_429"
        assert "Retry-After of 901 s" in answer.failure.message
    [late], seconds = put_off(600, 600)
    assert late.failure
    assert seconds == pytest.approx(600)


def test_the_deadline_says_how_long_a_wait_may_be() -> None:
    [patient], seconds = put_off(3600, deadline=7200)
    assert (patient.text, seconds) == ("yes", pytest.approx(3600))
    [hasty], seconds = put_off(30, deadline=20)
    assert hasty.failure
    assert (hasty.failure.kind, seconds) == ("http_429", 0.0)


def test_progress_shows_the_real_waiting_time() -> None:
    """Thirty requests are put off together, which is an outage for all of them: one looks when the time is over."""

    async def main() -> tuple[Activity, list[Completion]]:
        traffic = dispatcher(Limits(max_concurrency=64), Retry(first_wait=0.0))
        clock = asyncio.get_running_loop().time

        async def once(_: Transport) -> Attempt:
            if clock() < 400:
                return Attempt(Completion(failure=Failure("http_429", "slow down")), 400 - clock())
            return Attempt(Completion("yes", "stop"))

        asking = asyncio.gather(traffic.ask(_answered), *(traffic.ask(once) for _ in range(30)))
        await asyncio.sleep(100)
        return traffic.activity(), await asking

    async def _answered(_: Transport) -> Attempt:
        return Attempt(Completion("yes", "stop"))

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        activity, answers = runner.run(main())
        seconds = runner.get_loop().time()
    assert (activity.waiting, activity.in_flight, activity.reason) == (30, 0, "http_429")
    assert activity.seconds == pytest.approx(300)
    assert [answer.failure for answer in answers] == [None] * 31
    assert seconds < 500


def test_a_request_has_a_deadline(server: MockServer) -> None:
    server.follow({"latency": STALL_SECONDS})
    started = time.monotonic()
    [answer], _ = asyncio.run(asked(model_of(server, timeout=0.2, retry=99, deadline=0.6, max_concurrency=1), 1))
    assert answer.failure
    assert answer.failure.kind == "deadline"
    assert time.monotonic() - started > 0.5


@pytest.mark.parametrize("concurrency", [1, 64])
def test_an_outage_costs_no_answer(
    concurrency: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    number = 60 + 60 * concurrency  # too many to be over before the server stops
    monkeypatch.setattr(outage, "FIRST_PAUSE_SECONDS", 0.1)
    with mock_server(latency=0.02) as server:
        port = int(server.base_url.split(":")[2].split("/")[0])

        async def main() -> list[Completion]:
            asking = asyncio.create_task(asked(model_of(server, max_concurrency=concurrency, retry=2), number))
            await asyncio.to_thread(_wait_for_requests, server, 10 + 2 * concurrency)
            await asyncio.to_thread(server.stop)
            await asyncio.to_thread(wait_until, lambda: "pausing 0.1 s after" in caplog.text, "the outage is seen")
            with mock_server(port=port) as again:
                answers, _ = await asking
                assert again.stats()["requests"] > 0
            return answers

        answers = asyncio.run(main())
    assert [answer.text for answer in answers] == [str(answer + 1) for answer in range(number)]
    assert "pausing 0.1 s after" in caplog.text
    assert "the server answers again" in caplog.text


def _wait_for_requests(server: MockServer, count: int) -> None:
    wait_until(lambda: server.stats()["requests"] >= count, f"{count} requests")


def test_a_server_that_is_stopped_for_a_while_only_takes_longer(server: MockServer) -> None:
    server.follow()

    async def main() -> list[Completion]:
        asking = asyncio.create_task(asked(model_of(server, timeout=0.3, max_concurrency=32), 400))
        await asyncio.to_thread(_wait_for_requests, server, 64)
        server.signal(signal.SIGSTOP)
        await asyncio.sleep(1.0)
        server.signal(signal.SIGCONT)
        return (await asking)[0]

    assert [answer.text for answer in asyncio.run(main())] == [str(number + 1) for number in range(400)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bursty": 1}, "does not know 'bursty'"),
        ({"burstiness": -1}, "burstiness must be at least 0"),
        ({"ramp_up_strategy": "sudden"}, "ramp_up_strategy of traffic_cfg cannot be 'sudden'"),
        ({"tokens_per_minute": -1}, "tokens_per_minute"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        OpenAIChatModel("m", traffic_cfg=options)
