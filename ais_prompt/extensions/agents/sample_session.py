"""One sample of an agent: its token, its requests to the model, and its limits."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter

from msgspec.structs import replace

from ais_prompt.extensions.agents.heard import Heard
from ais_prompt.extensions.agents.sample_limits import SampleLimits
from ais_prompt.extensions.agents.trajectory import AskedStep, cost_of, trajectory_of
from ais_prompt.models import Asker, AsyncModel
from ais_prompt.types import (
    Completion,
    Failure,
    Request,
    decoding_to_json,
    message_to_json,
    total_usage,
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
        self, request: Request, ask: Asker, asked: AsyncModel, limits: SampleLimits, places: asyncio.Semaphore
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
        steps = (
            AskedStep(heard.messages, heard.decoding(self._usual), answer, began, api, heard.named)
            for heard, api, began, answer in self._calls.values()
        )
        calls = trajectory_of(steps, self._ask.price)
        seconds = completion.seconds or time.monotonic() - self._begin
        return replace(completion, trajectory=calls, usage=total_usage(calls), seconds=seconds, attempts=1)

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
        self._cost += cost_of(usage, self._ask.price) or 0.0
        return completion

    def _why(self) -> str:
        if self.over.cancelled() or not self.over.done():
            return "the sample of this token has ended"
        error = self.over.exception()
        return str(error) if error else f"the sample has reached its limit {self.over.result().message}"
