"""Tools of the user's own: Python functions. Their schema comes from the signature and the docstring."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace
from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import ArgsKwargs, to_json

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.agents.mcp_tools import OwnTool, mcp_tools
from ais_prompt.parts import defined_at, ends_program, exception_line
from ais_prompt.registry import import_dotted
from ais_prompt.types import Completion, Failure
from ais_prompt.utils import parse_written

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ARGS: Final = re.compile(r"^\s*(?:Args|Arguments|Parameters):\s*$")
_ARG: Final = re.compile(r"^\s*(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")
_FORM: Final = "write a function, 'module:function', dict(function='module:function', effects=False) or dict(mcp=…)"


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
    raise ConfigError(f"this is no tool: {given!r:.80}", fix=_FORM)


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
    start = next((place for place, line in enumerate(lines) if _ARGS.match(line)), None)
    if start is None:
        return text.strip(), {}
    arguments: dict[str, str] = {}
    name = ""
    for line in lines[start + 1 :]:
        if line and not line[0].isspace():  # the next section
            break
        if found := _ARG.match(line):
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
