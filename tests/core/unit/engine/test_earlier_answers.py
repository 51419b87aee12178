"""Where the answer to a request is found again, and what is written down."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from ais_prompt.engine import EarlierAnswers
from ais_prompt.store import Journal, JournalView, RequestKeys, open_cache
from ais_prompt.types import Completion, Decoding, Failure, Request, ToolRun
from ais_prompt.utils import digest

CACHE = f"cache-{digest({}, 12)}.jsonl"
KEY_OF = RequestKeys({"model": "one"})
REQUEST = Request("a", "1+1=", Decoding(8))
FAILURE = Completion(failure=Failure("timeout", "no answer"))
TRUNCATED = Completion("1 and 1", "length")


def answer(text: str) -> Completion:
    return Completion(text, "stop")


def write(path: Path, *completions: Completion) -> Path:
    path = path.with_name(CACHE) if path.name == "cache" else path
    with Journal.open(path) as journal:
        for completion in completions:
            journal.append(KEY_OF(REQUEST), REQUEST, completion)
    return path


@contextmanager
def opened(folder: Path, *, retry_truncated: int | None = None) -> Iterator[EarlierAnswers]:
    """The memory of a task with the files journal, cache and shard of a folder."""
    with Journal.open(folder / "journal") as journal, open_cache(folder, {}, "cache") as cache:
        shards = JournalView(folder / "shard")
        yield EarlierAnswers(journal, KEY_OF, cache, of_shards=shards, retry_truncated=retry_truncated)


@pytest.mark.parametrize(
    ("places", "found", "from_cache"),
    [
        (["journal", "shard", "cache"], "journal", 0),
        (["shard", "cache"], "shard", 0),
        (["cache"], "cache", 1),
    ],
)
def test_the_journal_counts_before_other_shards_and_those_before_the_cache(
    tmp_path: Path, places: list[str], found: str, from_cache: int
) -> None:
    for place in places:
        write(tmp_path / place, answer(place))
    with opened(tmp_path) as memory:
        assert memory.recall(REQUEST) == answer(found)
        assert memory.recall(replace(REQUEST, prompt="2+2=")) is None
        assert memory.from_cache == from_cache
    with Journal.open(tmp_path / "journal") as journal:  # complete by itself, but for what other shards have
        assert (journal.get(KEY_OF(REQUEST)) is None) == (found == "shard")


def test_failures_are_no_answers_and_do_not_get_into_the_cache(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        assert memory.record(REQUEST, FAILURE) == FAILURE
        assert memory.record(replace(REQUEST, prompt="2+2="), answer("4")) == answer("4")
    assert [len((tmp_path / name).read_bytes().splitlines()) for name in ("journal", CACHE)] == [2, 1]
    with opened(tmp_path) as memory:
        assert memory.recall(REQUEST) is None


@pytest.mark.parametrize("place", ["journal", "cache"])
def test_a_truncated_answer_is_asked_again_until_there_is_a_longer_one(tmp_path: Path, place: str) -> None:
    write(tmp_path / place, TRUNCATED)
    for limit in (None, 8):
        with opened(tmp_path, retry_truncated=limit) as memory:
            assert memory.recall(REQUEST) == TRUNCATED
            assert not memory.truncated
    longer = replace(REQUEST, decoding=Decoding(9), retries=KEY_OF(REQUEST))
    with opened(tmp_path, retry_truncated=9) as memory:
        assert memory.recall(REQUEST) == longer
        assert memory.truncated == {KEY_OF(REQUEST)}
        assert memory.record(longer, FAILURE) == TRUNCATED
    with opened(tmp_path, retry_truncated=9) as memory:
        assert memory.recall(REQUEST) == longer
        kept = replace(answer("1 and 1 is 2"), retried_with=9)
        assert memory.record(longer, answer("1 and 1 is 2")) == kept
    with opened(tmp_path, retry_truncated=9) as memory:
        assert memory.recall(REQUEST) == kept
        assert not memory.truncated
    # Another run that asks with this length from the beginning finds it in the cache.
    with Journal.open(tmp_path / CACHE) as cache:
        assert cache.get(KEY_OF(replace(REQUEST, decoding=Decoding(9)))) == answer("1 and 1 is 2")
        assert cache.get(KEY_OF(REQUEST)) == (TRUNCATED if place == "cache" else None)


CALL = replace(REQUEST, decoding=ToolRun("pay"), step=0)


@pytest.mark.parametrize("ending", [None, Completion(failure=Failure("tool_timeout", "it hangs"))])
def test_a_call_of_a_tool_without_a_known_end_is_not_repeated(tmp_path: Path, ending: Completion | None) -> None:
    with opened(tmp_path) as memory:
        memory.record(REQUEST, answer("first"))
        assert memory.recall(CALL) is None
        memory.begin(CALL)
        if ending:
            memory.record(CALL, ending)
    with opened(tmp_path) as memory:
        found = memory.recall(CALL)
        assert isinstance(found, Completion)
        assert found.failure is not None
        assert found.failure.kind == "tool_cut_off"
        assert "pay was called with 1+1=" in found.failure.message
        harmless = replace(CALL, decoding=ToolRun("pay", has_effects=False))
        assert memory.recall(harmless) is None
        memory.record(harmless, answer("paid"))
    with opened(tmp_path) as memory:
        assert memory.recall(CALL) == answer("paid")


def test_the_result_of_a_tool_is_not_that_of_another_run(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.record(REQUEST, answer("first"))
        memory.begin(CALL)
        memory.record(CALL, answer("paid"))
    (tmp_path / "journal").unlink()
    with opened(tmp_path) as memory:
        assert memory.recall(REQUEST) == answer("first")
        assert memory.recall(CALL) is None


def test_requests_of_an_agent_have_the_keys_of_the_model_that_it_asks(tmp_path: Path) -> None:
    step = replace(REQUEST, step=0)
    with opened(tmp_path) as memory:
        memory.of_asked(RequestKeys({"model": "asked"})).record(step, answer("one"))
    with opened(tmp_path) as memory:
        assert memory.recall(step) is None
        assert memory.of_asked(RequestKeys({"model": "asked"})).recall(replace(step, step=7)) == answer("one")
    with Journal.open(tmp_path / "journal") as journal:
        assert (len(journal), journal.steps) == (1, 1)


@pytest.mark.parametrize("first_fails", [False, True])
def test_tasks_that_share_a_cache_ask_a_request_once(tmp_path: Path, first_fails: bool) -> None:
    """The second task waits for the first, and asks itself if the first gets no answer."""
    asked: list[str] = []

    async def ask(answers: EarlierAnswers, name: str) -> Completion:
        async with answers.claimed(REQUEST) as known:
            if known is not None:
                return known
            asked.append(name)
            await asyncio.sleep(0.01)
            return answers.record(REQUEST, FAILURE if first_fails and name == "first" else answer("2"))

    async def both() -> list[Completion]:
        return await asyncio.gather(*(ask(answers, name) for name, answers in tasks.items()))

    names = {"first": "one", "second": "two"}  # datasets that are asked in the same way
    with ExitStack() as files:
        asking: dict[str, asyncio.Future[None]] = {}
        tasks = {}
        for name, dataset in names.items():
            others = [other for other in names.values() if other != dataset]
            cache = files.enter_context(open_cache(tmp_path / "answers", {}, dataset, others))
            journal = files.enter_context(Journal.open(tmp_path / name))
            tasks[name] = EarlierAnswers(journal, KEY_OF, cache, asking=asking)
        found = asyncio.run(both())
    assert not asking
    assert (asked, found[1]) == (["first", "second"] if first_fails else ["first"], answer("2"))
    with Journal.open(tmp_path / "second") as journal, open_cache(tmp_path / "answers", {}, "two") as alone:
        assert journal.get(KEY_OF(REQUEST)) == answer("2")  # complete by itself
        assert alone is not None
        assert alone.get(KEY_OF(REQUEST), REQUEST) == answer("2")
