"""Let the model call tools until it answers (`ToolLoopInferencer`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.agents.mcp_tools import OwnTool
from ais_prompt.extensions.agents.own_tools import run_tool, tools_of
from ais_prompt.extensions.agents.trajectory import AskedStep, trajectory_of
from ais_prompt.inferencers import Conversation, InferenceContext, MultiTurnToolCallInferencer, Preview
from ais_prompt.models import check_at_least
from ais_prompt.postprocess import ToolFormat
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import ChatMessage, Completion, Failure, Prediction, Request, Sample, ToolRun, total_usage

Repeat = Generator[Sequence[Request], Sequence[Completion], Completion]


@INFERENCERS.register_module()
class ToolLoopInferencer(MultiTurnToolCallInferencer):
    """Let the model call tools, and carry the calls out, until it answers without a call.

    The prompt template is the question. A tool is a Python function, whose schema comes from its signature and its
    docstring, or one of an MCP server::

        dict(type='ToolLoopInferencer', tools=['my_tools:search', dict(mcp=['mcp-server-time'])])

    What a tool raises is a result that the model sees. A tool that hangs ends its sample. Each result is recorded
    before the model is asked again. A call that was under way when a run was killed is not repeated: its sample fails,
    and says so. Functions run in the process of the run; docs/sandbox.md is about programs that a model writes.

    Args:
        tools: functions, dotted paths ``module:function``, ``dict(function=..., effects=False)`` for a function that
            may be called twice, ``dict(mcp=[command, ...])`` or ``dict(mcp=URL)``, with ``only=[names]``.
        max_steps: requests to the model; a sample that needs more fails.
        timeout: seconds of one call of a tool.
        max_tokens_total: tokens of all requests of a sample, after which it fails; None for no limit.
        n: how often each question is asked.
        tool_choice, parser, max_out_len: as in `ToolCallInferencer`.

    Attributes:
        n: as given.

    Raises:
        ConfigError: a tool cannot be used, or a number is too small.
    """

    is_open_ended = True

    def __init__(
        self,
        tools: Sequence[str | Mapping[str, Any] | Callable[..., Any]],
        max_steps: int = 20,
        timeout: float = 60.0,
        max_tokens_total: int | None = None,
        n: int = 1,
        tool_choice: str | Mapping[str, Any] | None = None,
        parser: ToolFormat | None = None,
        max_out_len: int | None = None,
    ) -> None:
        super().__init__(tools=[], tool_choice=tool_choice, parser=parser, max_out_len=max_out_len)
        check_at_least(1, max_steps=max_steps, n=n, max_tokens_total=max_tokens_total)
        if isinstance(tools, str) or not tools:
            raise ConfigError(f"tools={tools!r} is no list of tools", where="tools", fix="write ['module:function']")
        self._given = tuple(tools)
        self.max_steps = max_steps
        self.timeout = timeout
        self.max_tokens_total = max_tokens_total
        self.n = n

    @classmethod
    def asks_every_turn(cls, arguments: Mapping[str, Any]) -> bool:  # noqa: ARG003
        """Return False: a prediction is one answer."""
        return False

    @cached_property
    def own_tools(self) -> Mapping[str, OwnTool]:
        """The tools by name; MCP servers are started for theirs."""
        return {tool.name: tool for tool in tools_of(self._given)}

    def converse(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Conversation:
        """Ask and call in turn, ``n`` times."""
        completions = []
        for repeat in range(self.n):
            completion = yield from self._once(sample, shots, context, repeat)
            completions.append(completion)
        answers = [None if one.failure else one.text for one in completions]
        return Prediction(
            sample_id=sample.id,
            index=sample.index,
            origin_prompt=self._prompt(sample, shots, context, self._offered()),
            prediction=answers if self.n > 1 else answers[0],
            gold=sample.gold,
            completions=tuple(completions),
        )

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        """Return the first prompt; its title names the tools."""
        tools = self._offered()
        self._decoding(context, tools)
        filled = context.builder.generation(sample, shots)
        names = "; ".join(tool.line() for tool in self.own_tools.values())
        title = f"step 1 of at most {self.max_steps}, tools: {names}"
        return [Preview(title, filled, self._prompt(sample, shots, context, tools))]

    def perform(self, request: Request) -> Completion:
        """Call the tool of a request."""
        assert isinstance(request.decoding, ToolRun)
        tool = self.own_tools.get(request.decoding.tool)
        if tool is None:
            names = ", ".join(self.own_tools)
            return Completion(f'{{"error": "there is no tool of this name; the tools are {names}"}}', "stop")
        return run_tool(tool, str(request.prompt), self.timeout)

    def _offered(self) -> list[Mapping[str, Any]]:
        return [tool.offered() for tool in self.own_tools.values()]

    def _once(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext, repeat: int) -> Repeat:
        """Ask and call until there is an answer, and return it with the trajectory."""
        tools = self._offered()
        decoding = self._decoding(context, tools)
        history: list[ChatMessage] = []
        steps: list[AskedStep] = []
        called = tokens = 0
        begin = time.monotonic()
        failure: Failure | None = None
        while failure is None:
            if failure := self._limit(len(steps), tokens):
                break
            prompt, began = self._prompt(sample, shots, context, tools, history), time.monotonic() - begin
            [said] = yield [Request(sample.id, prompt, decoding, len(steps), repeat)]
            said = self._with_written_calls(said)
            steps.append(AskedStep(prompt, decoding, said, began))
            tokens += (said.usage.prompt_tokens or 0) + (said.usage.completion_tokens or 0)
            failure = said.failure
            if failure or not said.tool_calls:
                break
            results: list[str] = []
            for call in said.tool_calls:
                run = ToolRun(call.name, call.name in self.own_tools and self.own_tools[call.name].has_effects)
                [ran] = yield [Request(sample.id, call.arguments, run, len(steps) - 1, repeat, step=called)]
                called += 1
                if failure := ran.failure:
                    break
                results.append(ran.text)
            else:
                history += self._reply(said, said.tool_calls, results, len(steps) - 1)
        trajectory = trajectory_of(steps, None)
        last = steps[-1].completion
        answer = Completion(failure=failure) if failure or last is None else replace(last, tool_calls=())
        seconds = time.monotonic() - begin
        return replace(answer, trajectory=trajectory, usage=total_usage(trajectory), seconds=seconds)

    def _limit(self, steps: int, tokens: int) -> Failure | None:
        if steps >= self.max_steps:
            return Failure("agent_limit", f"max_steps={self.max_steps:,}: the model calls tools without an end")
        if self.max_tokens_total is not None and tokens >= self.max_tokens_total:
            return Failure("agent_limit", f"max_tokens_total={self.max_tokens_total:,}: {tokens:,} tokens were used")
        return None
