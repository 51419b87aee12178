"""What all agents share: their options, the model that they ask, the proxy, and one session for each sample."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from msgspec.structs import asdict, replace

from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.extensions.agents.asked_model import make_asked
from ais_prompt.extensions.agents.sample_session import SECONDS, STEPS, AgentEndpoint, AgentSession, SampleLimits
from ais_prompt.inferencers import ends_task, failure_of
from ais_prompt.models import Asker, PromptStyle, StartsServer, check_at_least
from ais_prompt.postprocess import ToolFormat
from ais_prompt.types import Activity, Completion, Decoding, Failure, LeftFile, LikelihoodQuery, Prompt, Request
from ais_prompt.utils import counted

if TYPE_CHECKING:
    from ais_prompt.extensions.agents.proxy import Proxy
    from ais_prompt.models import ServerToStart, StartedServers


MOST_TOKENS = 4096
"""Part of each request of an inferencer. The agent decides how long its answers are."""


class AgentOptions(TypedDict, total=False):
    """Names and types of the options.

    Attributes:
        version: tells the agent from its earlier and later versions; answers of another version are not reused.
        max_concurrency: samples at the same time. How many requests the model gets at a time is its own option.
        max_steps, max_tokens_total, max_cost, timeout: limits of a sample: requests to the model, tokens of all of
            them, their cost, seconds. Which one was reached is the failure of the sample.
        needs_calls: whether a sample without any request to the model fails.
        parser: how a local model writes calls of tools: ``hermes``, ``qwen``, ``llama3`` or ``mistral``.
        port: of the proxy; 0 for any that is free.
        max_out_len: is not passed on; the agent decides how long its answers are.
    """

    version: str | int | None
    max_concurrency: int
    max_steps: int
    max_tokens_total: int | None
    max_cost: float | None
    timeout: float
    needs_calls: bool
    parser: ToolFormat | None
    port: int
    max_out_len: int


class Agent(ABC):
    """The base of all agents.

    Args:
        model: the model that the agent asks, a dict like those of ``models``.
        version, max_concurrency, max_steps, max_tokens_total, max_cost, timeout: see `AgentOptions`.
        needs_calls, parser, port, max_out_len: see `AgentOptions`.

    Attributes:
        asked: the model.

    Raises:
        ConfigError: the model cannot be made, or a number is too small.
    """

    prompt_style: PromptStyle = "text"
    max_seq_len = None

    def __init__(
        self,
        model: Mapping[str, Any],
        *,
        version: str | int | None = None,
        max_concurrency: int = 4,
        max_steps: int = STEPS,
        max_tokens_total: int | None = None,
        max_cost: float | None = None,
        timeout: float = SECONDS,
        needs_calls: bool = True,
        parser: ToolFormat | None = None,
        port: int = 0,
        max_out_len: int = MOST_TOKENS,
    ) -> None:
        check_at_least(1, max_concurrency=max_concurrency, max_steps=max_steps, max_tokens_total=max_tokens_total)
        check_at_least(0, max_cost=max_cost, port=port)
        if not timeout > 0:
            raise ConfigError(f"timeout={timeout:g} leaves no time", where="timeout", fix="write seconds above 0")
        self.asked = make_asked(model, parser)
        self.max_concurrency = max_concurrency
        self.max_out_len = max_out_len
        self.limits = SampleLimits(max_steps, max_tokens_total, max_cost, timeout)
        self.version = version
        self._needs_calls = needs_calls
        self._name = str(model.get("model") or model.get("path") or model["type"])
        self._port = port
        self._proxy: Proxy | None = None
        self._places = asyncio.Semaphore(self.asked.max_concurrency)

    @abstractmethod
    def own_identity(self) -> Mapping[str, Any]:
        """Return what tells the agent from others, as plain JSON values."""

    @abstractmethod
    async def run(
        self, request: Request, endpoint: AgentEndpoint, row: Mapping[str, Any], files: list[LeftFile]
    ) -> Completion:
        """Let the agent answer one sample. A failure is returned, not raised.

        Args:
            request: of the sample.
            endpoint: where the agent asks its model.
            row: the columns of the sample.
            files: takes the files that the agent leaves, also if it is cancelled.
        """

    def identity(self) -> Mapping[str, Any]:
        """Return what decides the answers: the agent, its model and its limits."""
        version = {} if self.version is None else {"version": self.version}
        limits = {name: value for name, value in asdict(self.limits).items() if name != "timeout"}
        own = {"type": type(self).__name__, **self.own_identity(), **version}
        return {**own, "limits": limits, "model": self.asked.identity()}

    def decoding(self, max_out_len: int | None, stop: Sequence[str]) -> Decoding:
        """Return the stop texts; the agent decides how it asks its model."""
        return Decoding(self.max_out_len if max_out_len is None else max_out_len, stop=tuple(stop))

    def preflight(self) -> None:
        """Check the model.

        Raises:
            ModelError: it cannot be used.
        """
        self.asked.preflight()

    def tokenizer(self) -> Any | None:
        """Return None."""
        return None

    def count_tokens(self, prompt: Prompt) -> int | None:  # noqa: ARG002
        """Return None."""
        return None

    @property
    def server(self) -> ServerToStart | None:
        """The server that is started for the model; None if it runs elsewhere."""
        return self.asked.server if isinstance(self.asked, StartsServer) else None

    def start_with(self, servers: StartedServers, name: str) -> None:
        """Take the servers of the run for the model."""
        if isinstance(self.asked, StartsServer):
            self.asked.start_with(servers, name)

    def close(self) -> None:
        """Close the model."""
        self.asked.close()

    async def open(self) -> None:
        """Open the model, and listen for the requests of agents.

        Raises:
            ModelError: the model cannot be used, or the port is in use.
        """
        from ais_prompt.extensions.agents.proxy import Proxy

        await self.asked.open()
        self._places = asyncio.Semaphore(self.asked.max_concurrency)
        self._proxy = Proxy(self.asked, self._name, self._port)
        try:
            await self._proxy.start()
        except OSError as error:
            what = f"the proxy of the agents cannot listen on port {self._port}: {error.strerror or error}"
            raise ModelError(what, where="port", fix="leave port out for any port that is free") from None

    async def aclose(self) -> None:
        """Stop listening, and close the connections of the model."""
        if self._proxy is not None:
            await self._proxy.close()
        await self.asked.aclose()

    def activity(self) -> Activity:
        """Return that of the model."""
        return self.asked.activity()

    async def complete(self, request: Request) -> Completion:  # noqa: ARG002
        """Return a failure: only a run records what an agent asks."""
        return Completion(failure=Failure("agent", "an agent answers in a run only", fatal=True))

    async def answer(self, request: Request, ask: Asker) -> Completion:
        """Let the agent answer one sample, record its requests, and keep it to its limits."""
        if isinstance(request.decoding, LikelihoodQuery):
            return Completion(failure=Failure("cannot_score", "an agent has no log-likelihoods", fatal=True))
        assert self._proxy is not None
        session = AgentSession(request, ask, self.asked, self.limits, self._places)
        endpoint = self._proxy.enter(session)
        begin = time.monotonic()
        files: list[LeftFile] = []
        running = asyncio.ensure_future(self.run(request, endpoint, ask.row, files))
        try:
            ends: list[asyncio.Future[Any]] = [running, session.over]
            await asyncio.wait(ends, timeout=self.limits.timeout, return_when="FIRST_COMPLETED")
            if session.over.done():
                completion = Completion(failure=session.over.result())  # or the error that ends the task
            elif running.done():
                completion = self._checked(_result(running), session)
            else:
                asked = counted(session.steps, "request")
                what = f"timeout={self.limits.timeout:g}: the agent did not end, after {asked}"
                completion = Completion(failure=Failure("agent_limit", what))
        finally:
            self._proxy.leave(session)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await session.close()
        return session.with_steps(replace(completion, seconds=time.monotonic() - begin, files=tuple(files)))

    def _checked(self, completion: Completion, session: AgentSession) -> Completion:
        if completion.failure or session.steps or not self._needs_calls:
            return completion
        what = (
            "the agent answered without a request to its model: it does not use the address in OPENAI_BASE_URL or "
            "ANTHROPIC_BASE_URL. If it needs no model, set needs_calls=False"
        )
        return Completion(failure=Failure("agent_no_calls", what))


def _result(running: asyncio.Future[Completion]) -> Completion:
    """Return the answer of an agent, or the failure for the exception that it raised."""
    try:
        return running.result()
    except Exception as error:
        if ends_task(error):
            raise
        return Completion(failure=failure_of(error, "the agent"))
