"""A Python function as an agent (`FunctionAgentModel`), in the process of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Literal, Unpack

from ais_prompt.extensions.agents.agent_base import Agent, AgentOptions
from ais_prompt.extensions.agents.sample_session import AgentEndpoint
from ais_prompt.models import FunctionModel
from ais_prompt.registry import MODELS
from ais_prompt.types import Completion, LeftFile, Request, prompt_to_json


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
