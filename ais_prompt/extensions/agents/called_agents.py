"""Agents that a run calls: a Python function in its own process, or the server of an agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Final, Literal, Unpack

from ais_prompt.extensions.agents.agent_base import Agent, AgentOptions
from ais_prompt.extensions.agents.sample_session import SAMPLE_HEADER, AgentEndpoint
from ais_prompt.models import FunctionModel, check_address, public_address
from ais_prompt.registry import MODELS
from ais_prompt.types import Completion, Failure, LeftFile, Request, prompt_to_json

_ANSWERS: Final = ("answer", "output", "response", "text")
MOST_REPLY: Final = 16 * 2**20
"""Bytes of a reply."""


@MODELS.register_module()
class FunctionAgentModel(Agent):
    """Call a function for each sample, with the address of its model.

    The function takes the prompt and an endpoint, with ``base_url``, ``api_key``, ``anthropic_base_url`` and
    ``model``; it may be a coroutine. Each request that it sends there is recorded as a step of the sample::

        def answer(question, endpoint):
            client = OpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key)
            ...

        dict(type='FunctionAgentModel', function='my_app.answer', model=dict(type='OpenAIChatModel', model='...'))

    A function that is no coroutine cannot be stopped: its thread goes on after a limit, and gets no further answer. A
    client that reads its address from the environment needs a process of its own: `CommandModel`.

    Args:
        function: the function, or its dotted path. It returns what that of a `FunctionModel` returns.
        model: the model that it asks, a dict like those of ``models``: ``dict(type='OpenAIChatModel', model='...')``.
        prompt_style: what the function gets: ``text``, or ``messages``.
        options: of every agent. Without a ``version``, the function's source tells it from other versions.

    Raises:
        ConfigError: the model cannot be made, there is no such prompt style, or a number is too small.
    """

    def __init__(
        self,
        function: str | Callable[..., Any],
        model: Mapping[str, Any],
        *,
        prompt_style: Literal["text", "messages"] = "text",
        **options: Unpack[AgentOptions],
    ) -> None:
        super().__init__(model, **options)
        self._function = FunctionModel(function, version=self.version, prompt_style=prompt_style)
        self.prompt_style = prompt_style

    @classmethod
    def check_arguments(cls, **arguments: Any) -> None:
        """Import the function.

        Raises:
            ConfigError: there is none.
        """
        cls(**arguments)._function.preflight()

    def own_identity(self) -> Mapping[str, Any]:
        """Return the name and the version of the function."""
        return {name: value for name, value in self._function.identity().items() if name != "type"}

    async def run(
        self,
        request: Request,
        endpoint: AgentEndpoint,
        row: Mapping[str, Any],  # noqa: ARG002
        files: list[LeftFile],  # noqa: ARG002
    ) -> Completion:
        """Call the function."""
        begin = perf_counter()
        answer = await self._function.call(prompt_to_json(request.prompt), endpoint)
        return self._function.completion_of(answer, request, perf_counter() - begin)


@MODELS.register_module()
class ServerAgentModel(Agent):
    """Post each prompt to the server of an agent, ``{"question": ..., "messages": [...]}``, and read its answer.

    The agent asks its model at ``http://127.0.0.1:PORT/v1``. It says which sample a request belongs to by sending the
    header ``X-Aisprompt-Sample`` of the question on, or by using its value as the key. A reply is a text, or JSON with
    ``answer``, ``output``, ``response`` or ``text``, or in the form of Chat Completions::

        dict(type='ServerAgentModel', url='http://127.0.0.1:7000/ask', port=7001,
             model=dict(type='OpenAIChatModel', model='...'))

    Args:
        url: of the agent's server.
        model: the model that it asks, a dict like those of ``models``: ``dict(type='OpenAIChatModel', model='...')``.
        headers: sent with each question.
        options: of every agent.

    Raises:
        ConfigError: the model cannot be made, or a number is too small.
    """

    def __init__(
        self,
        url: str,
        model: Mapping[str, Any],
        *,
        headers: Mapping[str, str] | None = None,
        **options: Unpack[AgentOptions],
    ) -> None:
        super().__init__(model, **options)
        self.url = url
        self.headers = dict(headers or {})

    @property
    def address(self) -> str:
        """The URL, without secrets."""
        return public_address(self.url)

    def own_identity(self) -> Mapping[str, Any]:
        """Return nothing: how the agent is reached does not count; its ``version`` does."""
        return {}

    def preflight(self) -> None:
        """Check the URL and the model.

        Raises:
            ModelError: the URL is none, or the model cannot be used.
        """
        check_address(self.url)
        super().preflight()

    async def run(
        self,
        request: Request,
        endpoint: AgentEndpoint,
        row: Mapping[str, Any],  # noqa: ARG002
        files: list[LeftFile],  # noqa: ARG002
    ) -> Completion:
        """Post the prompt."""
        import aiohttp

        prompt = prompt_to_json(request.prompt)
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        headers = {**self.headers, SAMPLE_HEADER: endpoint.api_key, "X-Aisprompt-Proxy": endpoint.base_url}
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(None)) as client,
                client.post(self.url, json={"question": prompt, "messages": messages}, headers=headers) as reply,
            ):
                content = await reply.content.read(MOST_REPLY)
                text = content.decode("utf-8", errors="replace")
                if reply.status >= 400:
                    return Completion(failure=Failure(f"http_{reply.status}", text[:500] or str(reply.reason)))
        except aiohttp.ClientError as error:
            return Completion(failure=Failure("connection", f"the agent at {self.address} does not answer: {error}"))
        found = _answer_in(text)
        if found is None:
            keys = ", ".join(_ANSWERS)
            return Completion(failure=Failure("no_text", f"the reply has none of {keys}: {text[:200]!r}"))
        return Completion(found, "stop")


def _answer_in(text: str) -> str | None:
    """Return the answer in a reply; None if it is JSON without one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
    if not isinstance(value, dict):
        return text.strip() if not isinstance(value, str) else value
    if isinstance(value.get("choices"), list) and value["choices"]:
        message = value["choices"][0].get("message") if isinstance(value["choices"][0], dict) else None
        return str(message.get("content")) if isinstance(message, dict) else None
    return next((str(value[name]) for name in _ANSWERS if isinstance(value.get(name), str | int | float)), None)
