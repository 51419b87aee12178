"""One sample of an agent: the address and token with which it asks, its requests to the model, and its limits."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.extensions.agents.heard import Heard
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

STEPS, SECONDS = 50, 600.0

HOST: Final = "127.0.0.1"
SAMPLE_HEADER: Final = "X-Aisprompt-Sample"
"""Has the token of the sample, where the key of the agent's client is fixed."""


class AgentEndpoint(NamedTuple):
    """What an agent needs to ask its model.

    Attributes:
        base_url: for clients of OpenAI's APIs.
        anthropic_base_url: for clients of Anthropic's API.
        api_key: the token of the sample, for both.
        model: a name for the model; every other name means the same.
        sample_id: of the sample.
    """

    base_url: str
    anthropic_base_url: str
    api_key: str
    model: str
    sample_id: str

    def environment(self) -> dict[str, str]:
        """Return the variables by which clients find the proxy."""
        return {
            "OPENAI_BASE_URL": self.base_url,
            "OPENAI_API_BASE": self.base_url,
            "OPENAI_API_KEY": self.api_key,
            "ANTHROPIC_BASE_URL": self.anthropic_base_url,
            "ANTHROPIC_API_KEY": self.api_key,
            "AISPROMPT_MODEL": self.model,
            "AISPROMPT_SAMPLE": self.sample_id,
        }


class SampleLimits(Struct, frozen=True):
    """Limits of a sample. One that is reached ends the sample as a failure, which says the limit.

    Attributes:
        max_steps: requests to the model.
        max_tokens_total: tokens of all prompts and answers together; None for no limit.
        max_cost: in the currency of the model's ``price``; None for no limit.
        timeout: seconds from the start of the agent to its end.
    """

    max_steps: int = STEPS
    max_tokens_total: int | None = None
    max_cost: float | None = None
    timeout: float = SECONDS

    def reached(self, steps: int, tokens: int, cost: float) -> str:
        """Return the limit that allows no further request, and what was used; empty if none does."""
        if steps >= self.max_steps:
            return f"max_steps={self.max_steps:,}: the agent sent {steps + 1:,} requests"
        if self.max_tokens_total is not None and tokens >= self.max_tokens_total:
            return f"max_tokens_total={self.max_tokens_total:,}: {tokens:,} tokens were used"
        if self.max_cost is not None and cost >= self.max_cost:
            return f"max_cost={self.max_cost:,}: {cost:.4g} was spent"
        return ""


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
