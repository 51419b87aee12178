"""Batches against a real server that does to them all that providers do, for OpenAI's API and Anthropic's.

A session is `BatchGatherer` in an event loop of its own; it ends as a process does, at any moment, with nothing but its
ledger on the disk.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.extensions.batch import gather
from ais_prompt.extensions.batch.ledger import Ledger
from ais_prompt.extensions.batch.model import InBatches
from ais_prompt.extensions.batch.options import BatchSpec
from ais_prompt.models import AnthropicModel, OpenAIChatModel
from ais_prompt.plan import build_model
from ais_prompt.types import Completion, Decoding, LikelihoodQuery, ModelSpec, PartSpec, Request
from tests.support.servers import MockServer

SOON: Final = BatchSpec(gather=0.02, poll=0.01, longest_poll=0.02)
KINDS: Final = ("OpenAIChatModel", "AnthropicModel", "OpenAIResponsesModel", "OpenAICompletionModel")
COUNT: Final = 6


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test wait for a request that is under way: the server is on this machine."""
    monkeypatch.setattr(gather, "SETTLED_SECONDS", 0.5)


def batched(server: MockServer, file: Path, kind: str = KINDS[0], batch: BatchSpec = SOON, **more: Any) -> InBatches:
    """Return a model that is asked in batches."""
    args = {"model": "mock", "base_url": server.base_url, "api_key": None, "retry": {"first_wait": 0.01}, **more}
    model = build_model(ModelSpec("m", PartSpec(kind, args, "models[0]"), where="models[0]", further={"batch": batch}))
    assert isinstance(model, InBatches)
    model.ledger_file = file
    return model


def requests(count: int = COUNT) -> list[Request]:
    return [Request(f"s{n}", f"{n}+{n}=?", Decoding(max_out_len=16)) for n in range(count)]


def session(model: InBatches, asked: Sequence[Request], seconds: float | None = None) -> list[Completion]:
    """Ask in one session, which ends after so many seconds if nothing is answered then."""

    found: dict[int, Completion] = {}

    async def answer(number: int) -> None:
        found[number] = await model.complete(asked[number])

    async def ask() -> None:
        try:
            await model.open()
            async with asyncio.timeout(seconds):
                await asyncio.gather(*map(answer, range(len(asked))))
        except TimeoutError:
            pass
        finally:
            await model.aclose()

    asyncio.run(ask())
    return [found[number] for number in sorted(found)]


def texts(found: Sequence[Completion]) -> list[str]:
    return [completion.text for completion in found]


def expected(server: MockServer, kind: str) -> list[str]:
    """Return the answers without batches."""
    args = {"model": "mock", "base_url": server.base_url, "api_key": None}
    model: Any = build_model(ModelSpec("m", PartSpec(kind, args, "models[0]")))

    async def ask() -> list[Completion]:
        await model.open()
        try:
            return list(await asyncio.gather(*map(model.complete, requests())))
        finally:
            await model.aclose()

    return texts(asyncio.run(ask()))


ODD: Final[list[tuple[list[dict[str, Any]], int, int]]] = [
    ([{}], 1, COUNT),
    ([{"reverse": True}], 1, COUNT),
    ([{"reverse": True, "twice": True, "strangers": 2}], 1, COUNT),
    ([{"expire": 2}], 2, COUNT),
    ([{"cancel": COUNT}], 2, COUNT),
    ([{"lose": 3}], 2, COUNT),
    ([{"expire": 2, "cancel": 1, "lose": 1, "reverse": True}, {"expire": 1}], 3, COUNT),
    ([{"vanish": True}], 2, COUNT),
    ([{"drop": True}], 1, COUNT),
    ([{"status": 500}, {"status": 429}, {"drop": True}], 1, COUNT),
    ([{"looks": 3}], 1, COUNT),
]
"""What happens to the batches, how many there are then, and how many answers were paid."""


@pytest.mark.parametrize("kind", KINDS)
def test_every_request_is_answered_and_paid_once(kind: str, server: MockServer, tmp_path: Path) -> None:
    answers = expected(server, kind)
    for number, (fates, created, paid) in enumerate(ODD):
        server.plan_batches(*fates)
        found = session(batched(server, tmp_path / f"{number}.jsonl", kind), requests())
        assert texts(found) == answers, fates
        assert {one.usage.tier for one in found} == {"batch"}
        after = server.batches()
        assert (after["created"], len(after["paid"]), max(Counter(after["paid"]).values())) == (created, paid, 1), fates
        assert not Ledger(tmp_path / f"{number}.jsonl").under_way


@pytest.mark.parametrize("kind", KINDS[:2])
def test_a_session_takes_up_what_an_earlier_one_left_in_flight(kind: str, server: MockServer, tmp_path: Path) -> None:
    answers, file = expected(server, kind), tmp_path / "m.jsonl"
    server.plan_batches({"looks": 200})
    assert session(batched(server, file, kind), requests(), seconds=0.3) == []
    whole = file.read_bytes()
    lines = whole.splitlines(keepends=True)
    assert [flight.state for flight in Ledger(file).under_way] == ["submitted"]
    # A process may end before the id of the batch is on the disk, and in the middle of a line.
    for kept in (whole, lines[0], lines[0] + lines[1][:-1], lines[0] + lines[1][:20]):
        file.write_bytes(kept)
        assert session(batched(server, file, kind), requests(), seconds=0.3) == [], kept
        assert server.batches()["created"] == 1, kept
    found = session(batched(server, file, kind), requests())
    assert texts(found) == answers
    assert (server.batches()["created"], len(server.batches()["paid"])) == (1, COUNT)


@pytest.mark.parametrize("kind", KINDS[:2])
def test_answers_that_were_fetched_and_not_recorded_are_not_paid_again(
    kind: str, server: MockServer, tmp_path: Path
) -> None:
    answers, file = expected(server, kind), tmp_path / "m.jsonl"
    server.plan_batches({"expire": 2})
    session(batched(server, file, kind), requests())
    # As it was when the first batch was fetched, and the process ended: nothing is recorded.
    before_end = [line for line in file.read_bytes().splitlines(keepends=True) if b'"over"' not in line][:3]
    assert b'"fetched"' in before_end[2], before_end
    paid = server.batches()["paid"]
    file.write_bytes(b"".join(before_end))  # its file of answers is gone: they are fetched again
    found = session(batched(server, file, kind), requests())
    assert texts(found) == answers
    assert server.batches()["paid"][: len(paid)] == paid
    assert len(server.batches()["paid"]) == COUNT + 2, "only the two that had expired are asked again"


def test_kept_answers_are_read_from_the_disk(server: MockServer, tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    server.plan_batches()
    session(batched(server, file), requests(3))
    ids = server.batches()["paid"]
    ledger = Ledger(tmp_path / "n.jsonl")
    flight = ledger.prepare(ids)
    ledger.submitted(flight, "batch_1")
    line = '{"custom_id": "%s", "response": {"status_code": 200, "body": %s}}\n'
    body = '{"object": "chat.completion", "choices": [{"message": {"content": "kept"}, "finish_reason": "stop"}]}'
    ledger.fetched(flight, iter((line % (one, body)).encode() for one in ids))
    again = session(batched(server, tmp_path / "n.jsonl"), requests(4))
    assert texts(again) == ["kept"] * 3 + ["6"]
    assert server.batches()["sizes"] == [3, 1]


def test_batches_are_split_by_the_limits(server: MockServer, tmp_path: Path) -> None:
    for number, (batch, sizes) in enumerate(
        [
            (BatchSpec(gather=0.3, poll=0.01, max_requests=4), [4, 2]),
            (BatchSpec(gather=0.02, poll=0.01, max_bytes=1), [1] * COUNT),
            (BatchSpec(gather=0.02, poll=0.01, max_bytes=500), None),
        ]
    ):
        server.plan_batches()
        found = session(batched(server, tmp_path / f"{number}.jsonl", batch=batch), requests())
        assert all(completion.failure is None for completion in found)
        after = server.batches()["sizes"]
        assert sum(after) == COUNT
        assert after == sizes or (sizes is None and 1 < len(after) < COUNT), after


def test_what_a_batch_leaves_open_is_asked_directly(server: MockServer, tmp_path: Path) -> None:
    server.plan_batches({"expire": 2})
    batch = BatchSpec(rest="direct", gather=0.02, poll=0.01)
    found = session(batched(server, tmp_path / "m.jsonl", batch=batch), requests())
    assert texts(found) == expected(server, KINDS[0])
    assert [one.usage.tier for one in found] == ["batch"] * 4 + [None] * 2
    assert (server.batches()["created"], [one.attempts for one in found]) == (1, [1] * 4 + [2] * 2)


def test_a_request_that_always_expires_fails(server: MockServer, tmp_path: Path) -> None:
    server.plan_batches(*[{"expire": 1}] * 3)
    *good, bad = session(batched(server, tmp_path / "m.jsonl"), requests())
    assert all(completion.failure is None for completion in good)
    assert bad.failure is not None
    assert bad.failure.message.startswith("no answer in 3 batches")


@pytest.mark.parametrize("kind", KINDS[:2])
def test_a_failure_for_good_is_a_failure_and_one_for_a_moment_is_asked_again(
    kind: str, server: MockServer, tmp_path: Path
) -> None:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "no such parameter"}}
    busy = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    server.plan_batches()
    server.follow(
        {"text": "1+1", "status": 400, "body": error},
        {"text": "2+2", "times": 1, "status": 529, "body": busy},
    )
    found = session(batched(server, tmp_path / "m.jsonl", kind), requests(3))
    assert [one.failure.kind if one.failure else "" for one in found] == ["", "http_400", ""]
    assert server.batches()["sizes"] == [3, 1]


REFUSED: Final[list[tuple[dict[str, Any], str]]] = [
    ({"refuse": "the model is not for batches"}, "the model is not for batches"),
    ({"refuse": "too much", "code": "token_limit_exceeded"}, "max_requests"),
    ({"status": 403}, "http_403"),
]


def test_a_batch_that_is_refused_is_one_error(server: MockServer, tmp_path: Path) -> None:
    for number, (fate, words) in enumerate(REFUSED):
        server.plan_batches(*[fate] * 3)
        with pytest.raises(ModelError) as caught:
            session(batched(server, tmp_path / f"{number}.jsonl"), requests(2))
        assert words in str(caught.value)
        assert not server.batches()["paid"]
    # The queue of the account is full for a moment.
    server.plan_batches({"refuse": "too much", "code": "token_limit_exceeded"})
    assert all(one.failure is None for one in session(batched(server, tmp_path / "m.jsonl"), requests(2)))


FATES: Final = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(("expire", "cancel", "lose", "strangers"), st.integers(0, 3)),
            **dict.fromkeys(("reverse", "twice", "vanish", "drop"), st.booleans()),
            "status": st.sampled_from([0, 429, 503]),
            "looks": st.integers(1, 3),
        },
    ),
    max_size=4,
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fates=FATES, kind=st.sampled_from(KINDS[:2]), stops=st.lists(st.sampled_from([0.03, 0.06, 0.1]), max_size=3))
def test_whatever_happens_nothing_is_paid_twice(
    fates: list[dict[str, Any]], kind: str, stops: list[float], server: MockServer, tmp_path_factory: Any
) -> None:
    """Sessions end at any moment, and the last one waits. What one answers is recorded, and not asked again."""
    server.plan_batches(*fates)
    file = tmp_path_factory.mktemp("ledger") / "m.jsonl"
    answered: list[str] = []
    for seconds in (*stops, None):
        left = [one for one in requests() if str(2 * int(one.sample_id[1:])) not in answered]
        batch = BatchSpec(gather=0.02, poll=0.01, rounds=9)
        answered += texts(session(batched(server, file, kind, batch), left, seconds))
    assert sorted(map(int, answered)) == [2 * n for n in range(COUNT)]
    assert set(Counter(server.batches()["paid"]).values()) == {1}


def test_equal_requests_share_a_line(server: MockServer, tmp_path: Path) -> None:
    server.plan_batches()
    found = session(batched(server, tmp_path / "m.jsonl"), [*requests(2), *requests(2)])
    assert texts(found)[:2] == texts(found)[2:]
    assert server.batches()["sizes"] == [2]


WRONG: Final[list[tuple[str, dict[str, Any], str]]] = [
    ("ScriptedModel", {}, "cannot be asked in batches"),
    ("OpenAIChatModel", {"model": "m", "stream": True}, "not streamed"),
    ("OpenAIChatModel", {"model": "m", "base_url": ["http://a/v1", "http://b/v1"]}, "several servers"),
    ("OpenAIChatModel", {"model": "m", "client": "openai.AsyncAzureOpenAI"}, "own client"),
]


def test_what_has_no_batches_says_so_before_anything_is_asked(server: MockServer, tmp_path: Path) -> None:
    for kind, args, words in WRONG:
        with pytest.raises(ConfigError, match=words):
            build_model(ModelSpec("m", PartSpec(kind, args, "models[0]"), further={"batch": SOON}))
    model = batched(server, tmp_path / "m.jsonl", base_url=f"{server.base_url}/other")
    with pytest.raises(ModelError, match="has no batch API"):
        session(model, requests(1))
    with pytest.raises(ModelError, match="log-likelihoods"):
        model.check_request(Request("s", "text", LikelihoodQuery(" a")))


def test_its_keys_are_those_of_the_model_itself(server: MockServer, tmp_path: Path) -> None:
    plain: dict[str, Callable[..., Any]] = {"OpenAIChatModel": OpenAIChatModel, "AnthropicModel": AnthropicModel}
    for kind, make in plain.items():
        model = batched(server, tmp_path / "m.jsonl", kind)
        assert model.identity() == make("mock", base_url=server.base_url, api_key=None).identity()
