"""One sample of an agent: its token, its requests to the model, and its limits."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ais_prompt.extensions.agents.heard import Heard
from ais_prompt.extensions.agents.limits import Limits
from ais_prompt.models import Asker, AsyncModel
from ais_prompt.types import (
    Completion,
    Decoding,
    Failure,
    ModelCall,
    Request,
    Usage,
    decoding_to_json,
    message_to_json,
)
from ais_prompt.utils import digest


class SampleOver(Exception):
    """The sample takes no further request; the message says why."""


class AgentSession:
    """The requests of an agent about one sample. It belongs to one event loop.

    Args:
        request: of the sample, by an inferencer.
        ask: asks the model.
        asked: the model.
        limits: of the sample.
        places: as many as the model takes requests at a time.

    Attributes:
        token: the key with which the agent asks.
        over: done when nothing more may be asked, with the failure that ends the sample, or the error that ends the
            task.
    """

    def __init__(
        self, request: Request, ask: Asker, asked: AsyncModel, limits: Limits, places: asyncio.Semaphore
    ) -> None:
        self.token = f"sample-{secrets.token_urlsafe(24)}"
        self.sample_id = request.sample_id
        self.over: asyncio.Future[Failure] = asyncio.get_running_loop().create_future()
        self._request = request
        self._ask = ask
        self._usual = asked.decoding(None, ())
        self._limits = limits
        self._places = places
        self._begin = time.monotonic()
        self._calls: dict[int, tuple[Heard, str, float, Completion | None]] = {}
        self._answered: Counter[str] = Counter()
        self._asking: set[asyncio.Task[Completion]] = set()
        self._tokens = 0
        self._cost = 0.0

    @property
    def steps(self) -> int:
        """The number of requests so far."""
        return len(self._calls)

    async def step(self, heard: Heard, api: str) -> Completion:
        """Answer a request of the agent.

        Raises:
            SampleOver: a limit is reached, or the sample has ended.
        """
        if not self.over.done() and (limit := self._limits.reached(self.steps, self._tokens, self._cost)):
            self.end(Failure("agent_limit", limit))
        if self.over.done():
            raise SampleOver(self._why())
        number = len(self._calls)
        self._calls[number] = heard, api, time.monotonic() - self._begin, None
        task = asyncio.ensure_future(self._asked(number, heard))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)
        try:
            completion = await asyncio.shield(task)
        except asyncio.CancelledError:
            raise SampleOver(self._why()) from None
        except Exception as error:  # it ends the task: the budget is used up, the disk is full, the key is wrong
            if not self.over.done():
                self.over.set_exception(error)
            raise SampleOver(f"the run has ended: {error}") from None
        self._calls[number] = (*self._calls[number][:3], completion)
        return completion

    def end(self, failure: Failure) -> None:
        """End the sample with a failure."""
        if not self.over.done():
            self.over.set_result(failure)

    async def close(self) -> None:
        """Cancel the requests that are under way. The token is of no use from now on."""
        if not self.over.done():
            self.over.cancel()
        for task in tuple(self._asking):
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)

    def with_steps(self, completion: Completion) -> Completion:
        """Return the answer of the agent with its trajectory, and the sum of the tokens."""
        calls = self._trajectory()
        usages = [call.completion.usage for call in calls]
        return replace(
            completion,
            trajectory=calls,
            usage=_sum(usages),
            seconds=completion.seconds or time.monotonic() - self._begin,
            attempts=1,
        )

    async def _asked(self, number: int, heard: Heard) -> Completion:
        decoding = heard.decoding(self._usual)
        content = digest([list(map(message_to_json, heard.messages)), decoding_to_json(decoding)])
        given = self._request
        async with self._places:
            request = Request(
                given.sample_id,
                heard.messages,
                decoding,
                turn=self._answered[content],
                repeat=given.repeat,
                duplicate=given.duplicate,
                step=number,
            )
            self._answered[content] += 1  # before the answer: equal requests may be sent side by side
            completion = await self._ask(request)
        if completion.failure:  # the agent may repeat it: it is the same request again
            self._answered[content] -= 1
        usage = completion.usage
        self._tokens += (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
        self._cost += self._cost_of(completion) or 0.0
        return completion

    def _cost_of(self, completion: Completion) -> float | None:
        if self._ask.price is None:
            return None
        return self._ask.price.cost(completion.usage.prompt_tokens or 0, completion.usage.completion_tokens or 0)

    def _why(self) -> str:
        if self.over.cancelled() or not self.over.done():
            return "the sample of this token has ended"
        error = self.over.exception()
        return str(error) if error else f"the sample has reached its limit {self.over.result().message}"

    def _trajectory(self) -> tuple[ModelCall, ...]:
        calls: list[ModelCall] = []
        before: Sequence[Mapping[str, Any]] = ()
        last: Mapping[str, Any] | None = None
        for heard, api, began, completion in self._calls.values():
            messages = list(map(message_to_json, heard.messages))
            fields = _fields(heard.decoding(self._usual))
            shared = next(
                (place for place, pair in enumerate(zip(messages, before, strict=False)) if pair[0] != pair[1]),
                min(len(messages), len(before)),
            )
            answer = completion or Completion(failure=Failure("cancelled", "the sample ended before the answer came"))
            calls.append(
                ModelCall(
                    shared,
                    tuple(messages[shared:]),
                    None if fields == last else fields,
                    answer,
                    began,
                    api,
                    heard.named,
                    self._cost_of(answer),
                )
            )
            before, last = messages, fields
        return tuple(calls)


def _fields(decoding: Decoding) -> dict[str, Any]:
    values = decoding_to_json(decoding)
    extra = values.pop("extra")
    return {**{name: value for name, value in values.items() if value not in (None, (), [])}, **extra}


def _sum(usages: Sequence[Usage]) -> Usage:
    def added(name: str) -> int | None:
        counts = [count for usage in usages if (count := getattr(usage, name)) is not None]
        return sum(counts) if counts else None

    return Usage(*(added(name) for name in Usage.__struct_fields__))
