"""Stand-ins for parts of the user's own."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Generator, Iterator
from typing import Any, Protocol, runtime_checkable

import pytest

from ais_prompt.errors import ConfigError, DataError, PartError
from ais_prompt.models import ScriptedModel
from ais_prompt.parts import GuardedPart, KeptChecks, part_class
from ais_prompt.types import Activity
from ais_prompt.verbs.tasks import _activity


@runtime_checkable
class Kind(Protocol, metaclass=KeptChecks):
    size: int

    def double(self, number: int) -> int: ...

    async def later(self) -> str: ...

    def each(self) -> Iterator[int]: ...

    def talk(self) -> Generator[str, int, float]: ...


@runtime_checkable
class More(Protocol, metaclass=KeptChecks):
    def extra(self) -> bool: ...


class Part:
    def __init__(self, act: Callable[[], Any] = lambda: None) -> None:
        self.size = 3
        self.act = act
        self.calls = 0

    def double(self, number: int) -> Any:
        self.calls += 1
        return self.act() or 2 * number

    async def later(self) -> Any:
        return self.act() or "later"

    def each(self) -> Any:
        yield 1
        yield self.act() or 2

    def talk(self) -> Any:
        answer = yield "how much?"
        return self.act() or answer / 2


def raising(error: BaseException) -> Callable[[], Any]:
    def act() -> Any:
        raise error

    return act


def stand_in(act: Callable[[], Any] = lambda: None) -> Any:
    return GuardedPart(Part(act), [Kind, More], "my.Part")


def conversation(part: Any) -> float:
    talk = part.talk()
    assert next(talk) == "how much?"
    with pytest.raises(StopIteration) as end:
        talk.send(5)
    return end.value.value  # type: ignore[no-any-return]


CALLS: list[Callable[[Any], Any]] = [
    lambda part: part.double(2),
    lambda part: asyncio.run(part.later()),
    lambda part: list(part.each()),
    conversation,
]


def test_a_stand_in_passes_everything_on() -> None:
    part = stand_in()
    assert (part.double(4), asyncio.run(part.later()), list(part.each()), conversation(part)) == (
        8,
        "later",
        [1, 2],
        2.5,
    )
    assert isinstance(part, Kind)
    assert not isinstance(part, More)
    part.size = 9
    assert (part.size, part.calls, part_class(part).__name__) == (9, 1, "Part")


def test_what_a_part_raises_names_its_line() -> None:
    cases = [
        *(ValueError("no\nway"), SystemExit(3), RecursionError(), StopIteration(), KeyError("a")),
        *(asyncio.CancelledError(), GeneratorExit(), KeyboardInterrupt(), MemoryError()),  # raised with `raise`
        BaseExceptionGroup("two", [KeyboardInterrupt(), asyncio.CancelledError()]),
    ]
    for error in cases:
        for call in CALLS:
            with pytest.raises(PartError) as caught:
                call(stand_in(raising(error)))
            # Python itself turns a StopIteration inside a generator into a RuntimeError.
            assert type(error).__name__ in caught.value.what or "RuntimeError" in caught.value.what
            assert "test_guard.py:" in caught.value.where
            assert len(caught.value.lines()) == 3


@pytest.mark.parametrize("call", CALLS)
def test_what_is_not_the_parts_fault_passes(call: Callable[[Any], Any]) -> None:
    with pytest.raises(DataError):
        call(stand_in(raising(DataError("our own"))))
    with pytest.raises(MemoryError):
        call(stand_in(lambda: bytearray(2**62)))
    with pytest.raises(KeyboardInterrupt):
        call(stand_in(lambda: signal.raise_signal(signal.SIGINT)))


def test_a_cancelled_call_of_a_part_is_cancelled_with_it() -> None:
    ended: list[str] = []

    class Slow(Part):
        async def later(self) -> Any:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("closed")

    async def run() -> None:
        asking = asyncio.ensure_future(GuardedPart(Slow(), [Kind], "my.Slow").later())
        for _ in range(3):
            await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert ended == ["closed"]

    asyncio.run(run())


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_type_names_the_method(call: Callable[[Any], Any]) -> None:
    with pytest.raises(PartError, match=r"wrong type: it(\[\d\])? is b'bytes' \(bytes\), not ") as caught:
        call(stand_in(lambda: b"bytes"))
    assert "test_guard.py:" in caught.value.where


def test_an_attribute_of_the_wrong_type() -> None:
    part = stand_in()
    part.size = "three"
    with pytest.raises(PartError, match="size gives something of the wrong type: it is 'three'"):
        _ = part.size


def test_a_method_that_should_be_awaited() -> None:
    class Hasty(Part):
        def later(self) -> str:  # type: ignore[override]
            return "now"

    with pytest.raises(PartError, match="returns without `await`"):
        asyncio.run(GuardedPart(Hasty(), [Kind], "my.Hasty").later())


def test_a_part_of_another_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match="is no Kind: it has no size, double, later, each, talk"):
        GuardedPart(object(), [Kind], "my.object")


def test_an_exception_that_cannot_be_printed() -> None:
    class Unprintable(Exception):
        def __str__(self) -> str:
            raise ValueError

    with pytest.raises(PartError, match="double raised Unprintable"):
        stand_in(raising(Unprintable())).double(1)


def test_a_display_goes_on_without_the_activity() -> None:
    class Busy(ScriptedModel):
        def activity(self) -> Activity:
            raise PartError("no")

    assert _activity([("http://127.0.0.1:9/v1", Busy())]) == Activity()
