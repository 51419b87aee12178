"""Asking for many tasks at once: when each is opened and closed, whatever becomes of the others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

import pytest

from ais_prompt.engine import Endpoint, Engine, TaskJob
from ais_prompt.errors import AisPromptError, ModelError, StoreError
from ais_prompt.inferencers import Conversation, RunningConversation
from ais_prompt.models import ScriptedModel
from ais_prompt.types import Completion, Decoding, Prediction, Request


def conversation(text: str) -> Conversation:
    [completion] = yield [Request(text, text, Decoding(max_out_len=8))]
    return Prediction(text, 0, text, completion.text, None, (completion,))


class Task:
    """A job in memory, which notes what is done to it in a list that all tasks share."""

    def __init__(self, name: str, model: Any, count: int, log: list[tuple[str, str]], **fails: Exception) -> None:
        self.name = name
        self.model = model
        self.asked: list[str] = []
        self.begun: list[str] = []
        self._left = iter(range(count))
        self._log = log
        self._fails = fails

    def _note(self, what: str) -> None:
        self._log.append((what, self.name))
        if what in self._fails:
            raise self._fails[what]

    def open(self) -> None:
        self._note("open")

    def begin(self) -> None:
        self._note("begin")

    def next(self) -> RunningConversation | None:
        number = next(self._left, None)
        return None if number is None else RunningConversation(conversation(f"{self.name} {number}"), lambda _: None)

    def admit(self, count: int) -> int:
        return count

    def claimed(self, request: Request) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def record(self, request: Request, completion: Completion) -> Completion:
        self.asked.append(request.sample_id)
        if "record" in self._fails:
            raise self._fails["record"]
        return completion

    def cancelled(self, attempts: int) -> None:
        self._note("cancelled")

    def finished(self, conversation: RunningConversation) -> None:
        assert conversation.prediction is not None

    def conclude(self) -> None:
        self._note("conclude")

    def close(self) -> None:
        self._note("close")

    def abandon(self, error: BaseException) -> None:
        self._log.append(("abandon", self.name))


class Ends:
    """Notes how each task ended."""

    def __init__(self) -> None:
        self.errors: dict[str, AisPromptError | None] = {}
        self._lock = threading.Lock()

    def __call__(self, job: TaskJob, error: AisPromptError | None) -> None:
        assert isinstance(job, Task)
        with self._lock:
            assert job.name not in self.errors
            self.errors[job.name] = error


def ask(tasks: list[Task], then: Callable[[Engine], None] = lambda _: None) -> Ends:
    ends = Ends()
    with Engine(ends) as engine:
        for task in tasks:
            engine.submit(task)
        then(engine)
        engine.wait()
    return ends


def test_every_task_is_asked_completely_and_few_are_open_at_a_time() -> None:
    log: list[tuple[str, str]] = []
    model = ScriptedModel(default="x", delay=0.02, max_concurrency=300)  # places for more tasks than may be open
    counts = [number % 4 for number in range(200)]
    tasks = [Task(str(number), model, counts[number], log) for number in range(200)]
    ends = ask(tasks)
    assert list(ends.errors.values()) == [None] * 200
    assert [len(task.asked) for task in tasks] == counts
    assert [name for what, name in log if what == "open"] == [str(number) for number in range(200)]
    assert [name for what, name in log if what == "begin"] == [str(number) for number in range(200)]
    opened = most = 0
    for what, _ in log:
        opened += {"open": 1, "close": -1}.get(what, 0)
        most = max(most, opened)
    assert opened == 0
    assert most <= 65


def test_tasks_fail_alone_wherever_they_fail() -> None:
    log: list[tuple[str, str]] = []
    model = ScriptedModel(default="x", max_concurrency=2)
    places = ("open", "begin", "record", "conclude", "close")
    tasks = [Task(place, model, 4, log, **{place: ModelError(f"{place} failed")}) for place in places]
    odd = Task("odd", model, 4, log, record=ValueError("nothing foresaw this"))
    tasks += [odd, Task("good", model, 4, log)]
    ends = ask(tasks)
    found = {name: error and error.what for name, error in ends.errors.items()}
    assert found == {
        **{place: f"{place} failed" for place in places},
        "odd": "unexpected ValueError: nothing foresaw this",
        "good": None,
    }
    assert sorted(name for what, name in log if what == "abandon") == [
        "begin",
        "conclude",
        "odd",
        "open",
        "record",
    ]


class FailingTask(Task):
    """Ends with the first failure, as a task does with a wrong key."""

    def record(self, request: Request, completion: Completion) -> Completion:
        self.begun.append(request.sample_id)
        if completion.failure is not None:
            raise ModelError(completion.failure.kind)
        return super().record(request, completion)


def test_what_is_true_of_a_model_ends_all_its_tasks_and_those_of_no_other() -> None:
    log: list[tuple[str, str]] = []
    wrong_key = {"failure": "http_401", "fatal": True}
    refused = ScriptedModel(default=wrong_key, max_concurrency=4)
    tasks = [FailingTask(str(number), refused, 9, log) for number in range(30)]
    good = Task("good", ScriptedModel(default="x", max_concurrency=4), 9, log)
    ends = ask([*tasks, good])
    assert {name: error and error.what for name, error in ends.errors.items()} == {
        **{task.name: "http_401" for task in tasks},
        "good": None,
    }
    assert sum(len(task.asked) for task in tasks) <= 4
    assert len(good.asked) == 9


def test_a_server_that_is_not_there_ends_all_tasks_of_its_model_however_few_rows_they_have() -> None:
    class SmallTask(Task):
        def conclude(self) -> None:
            raise ModelError("all 2 requests so far failed")

    log: list[tuple[str, str]] = []
    model = ScriptedModel(default={"failure": "unreachable"}, max_concurrency=2)
    tasks = [SmallTask(str(number), model, 2, log) for number in range(30)]
    ends = ask(list(tasks))
    assert {error and error.what for error in ends.errors.values()} == {"all 2 requests so far failed"}
    assert sum(len(task.asked) for task in tasks) <= 6


@pytest.mark.parametrize("kind", ["http_401", "unreachable", "http_404"])
def test_an_address_is_asked_once_if_it_refuses_the_key_or_is_not_there(kind: str) -> None:
    """What is true of all models at an address is asked once; what is true of one model, once a model."""

    class Served(ScriptedModel):
        address = "http://127.0.0.1:1/v1"

    log: list[tuple[str, str]] = []
    failure = {"failure": kind, "fatal": kind != "unreachable"}
    models = [Served(default=failure, max_concurrency=8) for _ in range(4)]
    tasks = [FailingTask(f"{number} {data}", models[number], 9, log) for number in range(4) for data in range(5)]
    ends = ask(list(tasks))
    assert {error and error.what for error in ends.errors.values()} == {kind}
    assert sum(len(task.begun) for task in tasks) == (4 if kind == "http_404" else 1)


def test_the_first_request_is_alone_until_it_is_answered() -> None:
    at_once: list[int] = []

    class Counted(ScriptedModel):
        now = 0

        async def complete(self, request: Request) -> Completion:
            self.now += 1
            at_once.append(self.now)
            await asyncio.sleep(0.01)
            self.now -= 1
            return await super().complete(request)

    log: list[tuple[str, str]] = []
    model = Counted(default="x", max_concurrency=4)
    assert ask([Task("sums", model, 9, log)]).errors == {"sums": None}
    assert at_once[:2] == [1, 1]
    assert max(at_once) == 4


def test_a_model_that_has_just_answered_loses_one_task_only() -> None:
    """A gateway may forbid one prompt: what it refuses then is not true of the model."""
    log: list[tuple[str, str]] = []
    model = ScriptedModel(answers={"bad": {"failure": "http_403", "fatal": True}}, default="x", max_concurrency=1)
    tasks = [FailingTask(name, model, 3, log) for name in ("1", "bad", "2", "bad too", "3")]
    ends = ask(tasks)
    assert {name for name, error in ends.errors.items() if error} == {"bad", "bad too"}


def test_a_dataset_that_a_model_cannot_answer_ends_its_own_task_only() -> None:
    log: list[tuple[str, str]] = []
    model = ScriptedModel(answers={"bad": {"failure": "cannot_score", "fatal": True}}, default="x", max_concurrency=2)
    ends = ask([FailingTask(name, model, 3, log) for name in ("bad", "1", "2")])
    assert {name for name, error in ends.errors.items() if error} == {"bad"}


def test_a_disk_that_is_full_ends_all_tasks() -> None:
    log: list[tuple[str, str]] = []
    slow = ScriptedModel(default="x", delay=60)
    tasks = [
        Task("slow", slow, 3, log),
        Task("full", ScriptedModel(default="x"), 3, log, record=StoreError("no space left on the disk")),
    ]
    with pytest.raises(StoreError, match="no space left"):
        ask(tasks)
    assert {("abandon", "slow"), ("abandon", "full")} <= set(log)


def test_a_disk_that_is_full_at_the_end_of_a_task_ends_all() -> None:
    log: list[tuple[str, str]] = []
    slow = Task("slow", ScriptedModel(default="x", delay=60), 3, log)
    full = Task("full", ScriptedModel(default="x"), 2, log, conclude=StoreError("no space left on the disk"))
    with pytest.raises(StoreError, match="no space left"):
        ask([slow, full])
    assert ("abandon", "slow") in log


def test_tasks_are_abandoned_when_the_block_raises() -> None:
    log: list[tuple[str, str]] = []

    def interrupt(_: Engine) -> None:
        while ("begin", "slow") not in log:
            threading.Event().wait(0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask([Task("slow", ScriptedModel(default="x", delay=60), 3, log)], interrupt)
    assert log[-1] == ("abandon", "slow")


def test_without_tasks_there_is_nothing_to_wait_for() -> None:
    assert ask([]).errors == {}


def test_what_is_submitted_first_begins_before_what_waits() -> None:
    log: list[tuple[str, str]] = []
    model = ScriptedModel(default="x", max_concurrency=1)
    ends = Ends()

    async def ask() -> None:
        endpoint = Endpoint(ends)
        for name in ("1", "2", "3"):
            endpoint.submit(Task(name, model, 5, log))
        endpoint.submit(Task("judge of 1", model, 5, log), first=True)
        endpoint.finish()
        await endpoint.run()

    asyncio.run(ask())
    assert [name for what, name in log if what == "begin"] == ["judge of 1", "1", "2", "3"]
    assert set(ends.errors.values()) == {None}


def test_waiting_ends_when_what_is_waited_for_has_come() -> None:
    log: list[tuple[str, str]] = []
    ends = Ends()
    slow = Task("slow", ScriptedModel(default="x", delay=60), 1, log)

    class Stop(Exception):
        pass

    def stop() -> None:
        with Engine(ends) as engine:
            engine.submit(slow)
            engine.submit(Task("quick", ScriptedModel(default="x"), 1, log))
            engine.wait(until=lambda: "quick" in ends.errors)
            raise Stop

    with pytest.raises(Stop):
        stop()
    assert ends.errors == {"quick": None}
