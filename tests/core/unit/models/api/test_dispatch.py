"""Replicas: who is asked, what an outage of one costs, and what models at one address share. No time passes."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ais_prompt.models import Attempt, Limits, Retry
from ais_prompt.types import Completion, Failure, Usage
from tests.support.logged import own_messages
from tests.support.simulated import SimulatedServer, VirtualLoop, asks, converse, dispatcher_of, in_no_time

LIMITS = Limits(max_concurrency=4)
FOREVER = ((0.0, 1e9),)


def hold(
    servers: list[SimulatedServer], turns: dict[str, int], limits: Limits = LIMITS, retry: Retry | None = None
) -> tuple[dict[str, list[Completion]], float]:
    """Conversations of so many turns with replicas, and the seconds that they take."""

    async def main() -> dict[str, list[Completion]]:
        places = limits.max_concurrency * len(servers)
        return await converse(dispatcher_of(servers, limits, retry), places, turns)

    return in_no_time(main())


def singles(count: int) -> dict[str, int]:
    return {str(number): 1 for number in range(count)}


def test_the_least_loaded_replica_is_asked_next() -> None:
    servers = [SimulatedServer("a"), SimulatedServer("b", latency=4.0), SimulatedServer("c")]
    answers, seconds = hold(servers, singles(360))
    assert Counter(answer.text for [answer] in answers.values()) == {"a": 160, "b": 40, "c": 160}
    assert seconds == pytest.approx(40.0)
    assert {server.most_in_flight for server in servers} == {4}
    assert answers["0"][0].replica == "http://a.test/v1"


def test_one_server_needs_no_name(caplog: pytest.LogCaptureFixture) -> None:
    answers, _ = hold([SimulatedServer("a")], singles(3))
    assert {answer.replica for [answer] in answers.values()} == {""}
    assert own_messages(caplog) == []


@pytest.mark.parametrize(
    ("kind", "attempts", "seconds"),
    [
        ("http_500", 3, 10),
        ("timeout", 3, 10),
        ("http_503", 181, 900),  # throttled: waits that the server asks for use up no retry, for fifteen minutes
    ],
)
def test_a_retry_waits_as_long_as_the_server_says(kind: str, attempts: int, seconds: float) -> None:
    server = SimulatedServer("a", fault=Attempt(Completion(failure=Failure(kind, "later")), retry_after=5.0))
    answers, waited = hold([server], singles(1), retry=Retry(retries=2, first_wait=0.0))
    assert (server.asked, answers["0"][0].attempts, waited) == (attempts, attempts, pytest.approx(seconds))


def test_a_replica_that_is_down_costs_time_and_no_answers(caplog: pytest.LogCaptureFixture) -> None:
    servers = [SimulatedServer("a"), SimulatedServer("b", down=[(10.5, 20.5)]), SimulatedServer("c")]
    answers, seconds = hold(servers, singles(600))
    assert all(answer.failure is None for [answer] in answers.values())
    # 12 answers a second, and 8 during the 10 s of the outage and the 4 s at most until a probe sees its end.
    assert (600 + 4 * 10) / 12 <= seconds <= (600 + 4 * 14) / 12 + 1
    assert Counter(text for server in servers for text, _ in server.answered) == Counter(
        f"{name}:0" for name in singles(600)
    )
    assert "asking other servers for 1 s after 5 failures in a row (unreachable: b: connection refused)" in caplog.text
    assert "the server answers again: http://b.test/v1" in caplog.text


def test_uneven_replicas_are_used_nearly_as_well_as_they_can_be() -> None:
    servers = [SimulatedServer("a", 0.5), SimulatedServer("b", 2.0), SimulatedServer("c", 0.5, down=[(5.1, 15.1)])]
    _, seconds = hold(servers, singles(2_500), Limits(max_concurrency=16))
    ideal = (2_500 + 32 * 10) / (32 + 8 + 32)  # answers a second of all, and what one does not give in 10 s
    assert ideal <= seconds <= 1.1 * ideal


def test_a_replica_that_was_never_there_is_left_out() -> None:
    servers = [SimulatedServer("a", latency=30.0), SimulatedServer("b", down=FOREVER)]
    answers, seconds = hold(servers, singles(40), retry=Retry(retries=0))
    assert {answer.text for [answer] in answers.values()} == {"a"}
    assert seconds == pytest.approx(300.0)


def test_if_no_replica_was_ever_there_requests_fail_soon() -> None:
    answers, seconds = hold([SimulatedServer("a", down=FOREVER), SimulatedServer("b", down=FOREVER)], singles(8))
    assert {answer.failure.kind for [answer] in answers.values() if answer.failure} == {"unreachable"}
    assert len(answers) == 8
    assert seconds < 120


def test_if_all_are_down_requests_wait() -> None:
    servers = [SimulatedServer("a", down=[(5.5, 600)]), SimulatedServer("b", down=[(7.5, 700)])]
    answers, seconds = hold(servers, singles(120), retry=Retry(retries=1))
    assert all(answer.failure is None for [answer] in answers.values())
    assert 600 < seconds < 700


@pytest.mark.parametrize("early", [1e-9, 1e-4, 0.01])
def test_a_request_shortly_before_the_next_probe_waits_for_it(early: float) -> None:
    server = SimulatedServer("a", latency=0.1, down=[(1.0, 5.0)])

    async def main() -> None:
        model = dispatcher_of([server], LIMITS)
        await model.ask(asks("before"))
        await asyncio.sleep(0.9)  # until it goes down
        first = asyncio.create_task(model.ask(asks("first")))
        await asyncio.sleep(1.0 - early)
        assert (await model.ask(asks("second"))).text == (await first).text == "a"

    _, seconds = in_no_time(main())
    assert server.refused == 3, "at 1, 2 and 4 s"
    assert seconds == pytest.approx(8.2), "the probe first, then the other"


def test_servers_that_do_not_come_back_fail_the_rest() -> None:
    servers = [SimulatedServer("a", down=[(5.5, 1e9)]), SimulatedServer("b", down=[(7.5, 1e9)])]
    answers, seconds = hold(servers, singles(120), retry=Retry(retries=1, first_wait=0.1))
    failed = [answer.failure.kind for [answer] in answers.values() if answer.failure]
    assert set(failed) == {"unreachable"}
    assert 30 < len(failed) < 90
    assert 900 < seconds < 1000


def test_a_replica_that_comes_back_late_takes_requests_again() -> None:
    """Its outage is longer than the fifteen minutes after which a single server counts as gone."""
    servers = [SimulatedServer("a", latency=10.0), SimulatedServer("b", latency=10.0, down=[(25.0, 2000.0)])]
    answers, _ = hold(servers, singles(1200), retry=Retry(retries=0))
    assert all(answer.failure is None for [answer] in answers.values() if answer.text != "")
    lost = [answer for [answer] in answers.values() if answer.failure]
    assert {answer.failure.kind for answer in lost if answer.failure} <= {"connection"}
    assert len(lost) <= 4, "without retries, what was under way is lost"
    assert sum(moment > 2000 for _, moment in servers[1].answered) > 100


def test_a_replica_that_only_fails_is_left_out() -> None:
    broken = SimulatedServer("b", fault=Attempt(Completion(failure=Failure("http_500", "out of memory"))))
    answers, _ = hold([SimulatedServer("a"), broken], singles(200), retry=Retry(retries=1))
    assert {answer.text for [answer] in answers.values()} == {"a"}
    assert broken.asked < 40


def test_another_replica_takes_what_one_throttles() -> None:
    slow_down = Attempt(Completion(failure=Failure("http_429", "slow down")), retry_after=100.0)
    throttling = SimulatedServer("b", fault=slow_down)
    answers, seconds = hold([SimulatedServer("a"), throttling], singles(40), retry=Retry(retries=0))
    assert {answer.text for [answer] in answers.values()} == {"a"}
    assert seconds == pytest.approx(10.0)
    assert throttling.asked <= 4, "it rests as long as it says"


def test_a_prompt_that_no_replica_answers_is_asked_as_often_as_one_server_would_be() -> None:
    faults = Attempt(Completion(failure=Failure("http_500", "cannot")))
    servers = [SimulatedServer(name, fault=faults) for name in "abc"]
    answers, _ = hold(servers, singles(1), retry=Retry(retries=3, first_wait=0.1))
    assert answers["0"][0].attempts == 4
    assert sorted(server.asked for server in servers) == [1, 1, 2]
    busy = Attempt(Completion(failure=Failure("http_503", "busy")))
    servers = [SimulatedServer(name, fault=busy) for name in "abc"]
    answers, _ = hold(servers, singles(1), retry=Retry(retries=3, first_wait=0.1))
    assert answers["0"][0].failure
    assert 4 <= answers["0"][0].attempts <= 12


@pytest.mark.parametrize("failure", [Failure("http_500", "no backend"), Failure("timeout", "none in 60 s")])
@pytest.mark.parametrize("places", [2, 4])
def test_an_outage_behind_a_gateway_costs_time_and_no_answers(places: int, failure: Failure) -> None:
    server = SimulatedServer("a", down=[(10.5, 310.5)], gateway=failure)
    answers, seconds = hold([server], singles(100), Limits(max_concurrency=places))
    assert all(answer.failure is None for [answer] in answers.values())
    assert 300 <= seconds <= 300 + 100 / places + 31


def test_one_request_alone_waits_for_a_gateway_for_a_minute() -> None:
    """Nothing shows whether the server or the prompt is at fault, until a second request fails."""
    server = SimulatedServer("a", down=[(10.5, 310.5)], gateway=Failure("http_502", "no backend"))
    answers, _ = hold([server], singles(40), Limits(max_concurrency=1))
    assert [name for name, [answer] in answers.items() if answer.failure is not None] == ["10"]


@pytest.mark.parametrize(("places", "longest"), [(1, 95), (4, 5)])
def test_a_prompt_that_a_server_cannot_answer_is_no_outage(places: int, longest: float) -> None:
    answers, seconds = hold([SimulatedServer("a", poison="5:0")], singles(40), Limits(max_concurrency=places))
    assert [name for name, [answer] in answers.items() if answer.failure is not None] == ["5"]
    assert 39 / places <= seconds <= 40 / places + longest


def test_without_retries_nothing_waits_for_a_gateway() -> None:
    server = SimulatedServer("a", down=[(10.5, 11.5)], gateway=Failure("http_500", "no backend"))
    answers, _ = hold([server], singles(40), Limits(max_concurrency=2), Retry(retries=0))
    assert any(answer.failure is not None for [answer] in answers.values())


def test_a_dialogue_stays_on_one_replica_and_moves_when_that_goes_down() -> None:
    servers = [SimulatedServer("a"), SimulatedServer("b", latency=1.5), SimulatedServer("c", down=[(8.2, 60.0)])]
    answers, _ = hold(servers, {str(number): 5 for number in range(40)})
    used = Counter(len({answer.text for answer in turns}) for turns in answers.values())
    assert used[1] >= 34
    assert all(answer.text for turns in answers.values() for answer in turns)
    moved = [[answer.text for answer in turns] for turns in answers.values() if len({a.text for a in turns}) > 1]
    assert moved
    assert all(turns[0] == "c" and turns.count("c") == turns.index(turns[-1]) for turns in moved), moved


@pytest.mark.parametrize(
    ("usage", "seconds"),
    [
        (Usage(), 30.0),  # not counted: what was expected is used up
        (Usage(None, 10), 0.0),
        (Usage(15, None), 0.0),
        (Usage(15, 30), 60.0),  # 45 and 45, and the 30 that the third expects, of which 60 are there at once
    ],
)
def test_tokens_that_a_server_does_not_count_keep_to_their_rate(usage: Usage, seconds: float) -> None:
    server = SimulatedServer("a", fault=Attempt(Completion("a", "stop", usage)))

    async def main() -> None:
        model = dispatcher_of([server], Limits(max_concurrency=1, tokens_per_minute=60))
        for number in range(3):
            assert (await model.ask(asks(str(number)), tokens=30)).failure is None

    _, waited = in_no_time(main())
    assert waited == pytest.approx(seconds)


def test_a_dialogue_moves_at_once_if_its_replica_wants_more_time_than_a_request_may_wait() -> None:
    servers = [SimulatedServer("a"), SimulatedServer("b")]

    async def main() -> list[str]:
        model = dispatcher_of(servers, LIMITS)
        first = await model.ask(asks("0"), conversation="one")
        home = next(server for server in servers if server.name == first.text)
        home.fault = Attempt(Completion(failure=Failure("http_429", "slow down")), retry_after=901.0)
        return [first.text, (await model.ask(asks("1"), conversation="one")).text]

    texts, seconds = in_no_time(main())
    assert (sorted(texts), seconds) == (["a", "b"], pytest.approx(2.0))


outages = st.lists(st.tuples(st.floats(0, 100), st.floats(0.1, 40)), max_size=3)
server_lists = st.lists(st.tuples(st.sampled_from([0.1, 1.0, 1.7, 4.0]), outages), min_size=1, max_size=4)


@pytest.mark.thorough
@settings(max_examples=150, deadline=None)
@given(server_lists, st.integers(1, 5), st.lists(st.integers(1, 4), min_size=1, max_size=60))
def test_whatever_goes_down_and_comes_back_every_question_is_answered_once(
    drawn: list[tuple[float, list[tuple[float, float]]]], most: int, sizes: list[int]
) -> None:
    # The first server is there at the beginning: one that never answered is not waited for.
    servers = [
        SimulatedServer(f"s{number}", latency, [(begin + 5, begin + 5 + length) for begin, length in down])
        for number, (latency, down) in enumerate(drawn)
    ]
    turns = {str(number): size for number, size in enumerate(sizes)}
    answers, seconds = hold(servers, turns, Limits(max_concurrency=most), Retry(retries=50, first_wait=0.1))
    assert all(answer.failure is None for given in answers.values() for answer in given)
    answered = Counter(question for server in servers for question, _ in server.answered)
    assert answered == Counter(f"{name}:{turn}" for name, size in turns.items() for turn in range(size))
    assert max(server.most_in_flight for server in servers) <= most
    slowest = max(server.latency for server in servers)
    assert seconds <= 145 + 31 * 4 + 2 * slowest * sum(sizes) / most + 10
    if not any(server.down for server in servers):
        assert all(len({answer.text for answer in given}) == 1 for given in answers.values())


def test_the_wait_for_a_place_is_noted_and_is_no_latency() -> None:
    async def main() -> list[Completion]:
        model = dispatcher_of([SimulatedServer("a", latency=0.5)], Limits(max_concurrency=2, request_rate=10))
        return await asyncio.gather(*(model.ask(asks(str(number))) for number in range(6)))

    answers, _ = in_no_time(main())
    # two places; starts are 0.1 s apart
    assert [one.waited_seconds for one in answers] == pytest.approx([0, 0.1, 0.5, 0.6, 1.0, 1.1])
    assert [one.seconds for one in answers] == pytest.approx([0.5] * 6)
    assert "waited_seconds" not in answers[0].to_json()
    assert Completion.from_json(answers[5].to_json()) == answers[5]


class TestOneAddress:
    """Models at one address share its limits."""

    @staticmethod
    def both(first: Limits, second: Limits, count: int = 20) -> tuple[SimulatedServer, float]:
        server = SimulatedServer("a", latency=0.1)

        async def main() -> None:
            models = [dispatcher_of([server], limits) for limits in (first, second)]
            await asyncio.gather(*(converse(model, 8, singles(count)) for model in models))

        _, seconds = in_no_time(main())
        return server, seconds

    def test_there_are_as_many_slots_as_one_model_has(self) -> None:
        server, _ = self.both(Limits(max_concurrency=2), Limits(max_concurrency=5))
        assert server.most_in_flight == 5

    def test_the_strictest_rate_counts_for_all(self) -> None:
        _, seconds = self.both(Limits(request_rate=10), Limits(request_rate=100))
        assert seconds == pytest.approx(39 / 10 + 0.1, abs=0.2)
        _, seconds = self.both(Limits(request_rate=10), Limits(request_rate=10))
        assert seconds == pytest.approx(39 / 10 + 0.1, abs=0.2)
        _, seconds = self.both(Limits(), Limits(request_rate=10))
        assert seconds == pytest.approx(39 / 10 + 0.1, abs=0.2)

    def test_an_outage_is_seen_by_all(self) -> None:
        server = SimulatedServer("a", latency=0.1, down=[(1.0, 8.0)])

        async def main() -> None:
            models = [dispatcher_of([server], Limits(max_concurrency=8), Retry(retries=0)) for _ in range(2)]
            assert (await models[0].ask(asks("x"))).text == "a"
            await asyncio.sleep(2.0)
            waiting = [asyncio.create_task(model.ask(asks("y"))) for model in models]
            await asyncio.sleep(0.5)
            assert [model.activity().reason for model in models] == ["the server is away"] * 2
            assert [(await answer).text for answer in waiting] == ["a", "a"]

        in_no_time(main())

    def test_a_replica_is_shared_with_a_model_that_asks_only_it(self) -> None:
        a, b = SimulatedServer("a"), SimulatedServer("b")

        async def main() -> None:
            both, only = dispatcher_of([a, b], LIMITS), dispatcher_of([a], LIMITS)
            await asyncio.gather(converse(both, 8, singles(100)), converse(only, 4, singles(40)))

        _, seconds = in_no_time(main())
        assert a.most_in_flight == b.most_in_flight == 4
        assert seconds == pytest.approx(140 / 8, abs=1.0)


def test_a_cancelled_request_gives_its_slot_back() -> None:
    server = SimulatedServer("a", latency=10.0)

    async def main() -> list[Completion]:
        model = dispatcher_of([server], Limits(max_concurrency=1))
        first, second, third = (asyncio.create_task(model.ask(asks(name))) for name in "123")
        await asyncio.sleep(1.0)
        second.cancel()
        first.cancel()
        return [await third]

    [answer], seconds = in_no_time(main())
    assert (answer.text, seconds) == ("a", pytest.approx(11.0))


def test_nothing_of_a_loop_is_kept_after_its_end() -> None:
    loop = VirtualLoop()
    loop.run_until_complete(dispatcher_in(loop))
    gone = weakref.ref(loop)
    loop.close()
    del loop
    gc.collect()
    assert gone() is None


async def dispatcher_in(_: VirtualLoop) -> None:
    assert (await dispatcher_of([SimulatedServer("a")], LIMITS).ask(asks("x"))).text == "a"


Changes = list[tuple[float, list[SimulatedServer]]]
"""When the replicas change, and what they are from then on."""


def hold_while_replicas_change(changes: Changes, turns: dict[str, int]) -> tuple[dict[str, list[Completion]], float]:
    """Conversations with the first replicas, in whose place others come."""

    async def main() -> dict[str, list[Completion]]:
        (_, first), *later = changes
        dispatcher = dispatcher_of(first, LIMITS)
        known = {replica.address: replica for replica in dispatcher.replicas}

        async def change() -> None:
            for moment, servers in later:
                await asyncio.sleep(moment - asyncio.get_running_loop().time())
                for replica in dispatcher_of(servers, LIMITS).replicas:
                    known.setdefault(replica.address, replica)
                dispatcher.change([known[server.address] for server in servers])

        changing = asyncio.create_task(change())
        answers = await converse(dispatcher, 32, turns)
        changing.cancel()
        await dispatcher.close()
        return answers

    return in_no_time(main())


def test_requests_that_wait_take_the_slots_of_a_new_replica() -> None:
    one, other = SimulatedServer("a"), SimulatedServer("b")
    answers, seconds = hold_while_replicas_change([(0.0, [one]), (5.5, [one, other])], singles(120))
    assert all(answer.failure is None for [answer] in answers.values())
    assert seconds < 18.5  # 5.5 s with 4 slots, then with 8; 30 s with 4
    assert other.most_in_flight == 4


def test_a_replica_that_was_taken_out_is_asked_no_more_and_finishes_its_requests() -> None:
    one, other = SimulatedServer("a"), SimulatedServer("b")
    answers, _ = hold_while_replicas_change([(0.0, [one, other]), (5.5, [other])], {str(n): 3 for n in range(40)})
    assert all(answer.failure is None for turns in answers.values() for answer in turns)
    assert max(moment for _, moment in one.answered) < 7
    assert len(one.answered) + len(other.answered) == 120


SETS = st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=1, max_size=5)


@settings(deadline=None)
@given(SETS, st.dictionaries(st.text("abcdefgh", min_size=1, max_size=2), st.integers(1, 3), max_size=40))
def test_no_request_is_lost_or_answered_twice_however_replicas_change(
    sets: list[set[int]], turns: dict[str, int]
) -> None:
    servers = [SimulatedServer(f"s{number}") for number in range(4)]
    changes = [(2.3 * number, [servers[one] for one in sorted(chosen)]) for number, chosen in enumerate(sets)]
    answers, _ = hold_while_replicas_change(changes, turns)
    assert {name: len(each) for name, each in answers.items()} == turns
    assert all(answer.failure is None for each in answers.values() for answer in each)
    assert sum(len(server.answered) for server in servers) == sum(turns.values())
