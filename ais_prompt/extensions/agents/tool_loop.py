"""Let a model call tools and carry the calls out, until it answers without a call (`ToolLoopInferencer`).

Tools of the user's own are Python functions. Their schema comes from the signature and the docstring.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from msgspec.structs import replace
from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import ArgsKwargs, to_json

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.agents.mcp_tools import OwnTool, mcp_tools
from ais_prompt.extensions.agents.trajectory import AskedStep, trajectory_of
from ais_prompt.inferencers import Conversation, InferenceContext, MultiTurnToolCallInferencer, Preview
from ais_prompt.models import check_at_least
from ais_prompt.parts import defined_at, ends_program, exception_line
from ais_prompt.postprocess import ToolFormat
from ais_prompt.registry import INFERENCERS, import_dotted
from ais_prompt.types import ChatMessage, Completion, Failure, Prediction, Request, Sample, ToolRun, total_usage
from ais_prompt.utils import parse_written

Repeat = Generator[Sequence[Request], Sequence[Completion], Completion]

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ARGUMENTS_SECTION: Final = re.compile(r"^\s*(?:Args|Arguments|Parameters):\s*$")
_ARGUMENT: Final = re.compile(r"^\s*(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")
_TOOL_FORM: Final = (
    "write a function, 'module:function', dict(function='module:function', effects=False) or dict(mcp=…)"
)


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


def tools_of(given: Sequence[Any]) -> list[OwnTool]:
    """Return the tools of a config; MCP servers are started for theirs.

    Raises:
        ConfigError: one is no tool, has parameters that JSON has no words for, or shares its name with another.
        MissingExtra: the package for MCP servers is not installed.
    """
    found: list[OwnTool] = []
    for place, one in enumerate(given):
        try:
            found += _tools(one)
        except ConfigError as error:
            error.where = error.where or f"tools[{place}]"
            raise
    names = [tool.name for tool in found]
    if double := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"two tools are named {double!r}", where="tools", fix="rename one of them")
    return found


def _tools(given: Any) -> list[OwnTool]:
    if callable(given) or isinstance(given, str):
        return [_function_tool(given)]
    if isinstance(given, Mapping) and given.keys() <= {"function", "effects"} and "function" in given:
        return [_function_tool(given["function"], has_effects=bool(given.get("effects", True)))]
    if isinstance(given, Mapping) and given.keys() <= {"mcp", "effects", "only"} and "mcp" in given:
        tools = [tool for tool in mcp_tools(given["mcp"]) if tool.name in given.get("only", (tool.name,))]
        effects = given.get("effects")
        return tools if effects is None else [replace(tool, has_effects=bool(effects)) for tool in tools]
    raise ConfigError(f"this is no tool: {given!r:.80}", fix=_TOOL_FORM)


def _function_tool(given: str | Callable[..., Any], *, has_effects: bool = True) -> OwnTool:
    function = given if callable(given) else import_dotted(given.replace(":", "."))
    name = getattr(function, "__name__", type(function).__name__)
    where = defined_at(function)
    if not _NAME.fullmatch(name):
        raise ConfigError(f"the tool {name!r} has a name that APIs do not take", where=where, fix="give it a name")
    kinds = {one.kind for one in inspect.signature(function).parameters.values()}
    if kinds & {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL}:
        what = f"the tool {name!r} takes arguments without names"
        raise ConfigError(what, where=where, fix="give each parameter a name")
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(function)  # type: ignore[arg-type]
        schema = adapter.json_schema()
    except (PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError) as error:
        what = f"the parameters of the tool {name!r} cannot be written as JSON: {str(error).splitlines()[0]}"
        raise ConfigError(what, where=where, fix="use str, int, float, bool, list, dict or a dataclass") from None
    summary, arguments = _described(inspect.getdoc(function) or "")
    schema = _with_descriptions({"type": "object", "properties": {}, **schema}, arguments)
    return OwnTool(name, summary, schema, _caller(adapter), has_effects)


def _caller(adapter: TypeAdapter[Any]) -> Callable[[Mapping[str, Any], float], str]:
    def call(arguments: Mapping[str, Any], seconds: float) -> str:
        value = adapter.validate_python(ArgsKwargs((), dict(arguments)))
        if inspect.isawaitable(value):
            value = asyncio.run(asyncio.wait_for(value, seconds))
        return value if isinstance(value, str) else to_json(value).decode()

    return call


def run_tool(tool: OwnTool, arguments: str, timeout: float) -> Completion:
    """Call a tool, and return its result as the text. What it raises is a result too; only hanging is a failure.

    Args:
        tool: the tool.
        arguments: JSON, as the model wrote them.
        timeout: in seconds.
    """
    try:
        given = parse_written(arguments or "{}")
    except ValueError as error:
        return _result({"error": f"the arguments are no JSON: {error}"})
    if not isinstance(given, dict):
        return _result({"error": "the arguments are no JSON object"})
    found: list[Completion] = []

    def work() -> None:
        try:
            found.append(Completion(tool.call(given, timeout), "stop"))
        except ValidationError as error:
            faults = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False)]
            found.append(_result({"error": "; ".join(faults)}))
        except BaseException as error:
            if ends_program(error) and not isinstance(error, SystemExit):
                raise
            found.append(_result({"error": exception_line(error)}))

    thread = threading.Thread(target=work, name="aisprompt-tool", daemon=True)
    thread.start()
    thread.join(timeout)
    if not found:
        return Completion(failure=Failure("tool_timeout", f"{tool.name} returned nothing within {timeout:g} s"))
    return found[0]


def _result(value: Mapping[str, Any]) -> Completion:
    return Completion(json.dumps(value, ensure_ascii=False), "stop")


def _described(text: str) -> tuple[str, dict[str, str]]:
    """Return a docstring without its list of arguments, and the description of each argument (Google style)."""
    lines = text.splitlines()
    start = next((place for place, line in enumerate(lines) if _ARGUMENTS_SECTION.match(line)), None)
    if start is None:
        return text.strip(), {}
    arguments: dict[str, str] = {}
    name = ""
    for line in lines[start + 1 :]:
        if line and not line[0].isspace():  # the next section
            break
        if found := _ARGUMENT.match(line):
            name = found[1]
            arguments[name] = found[2]
        elif name:
            arguments[name] = f"{arguments[name]} {line.strip()}".strip()
    return "\n".join(lines[:start]).strip(), arguments


def _with_descriptions(schema: dict[str, Any], arguments: Mapping[str, str]) -> dict[str, Any]:
    properties = {
        name: {**values, **({"description": arguments[name]} if name in arguments else {})}
        for name, values in schema["properties"].items()
    }
    return {**schema, "properties": properties}
