"""Tools that a model may call, and those of MCP servers: these start when they are first needed, and end with the run.

Source: the specification of the Model Context Protocol, "Tools" and "Transports", by its package ``mcp``.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.parts import exception_line
from ais_prompt.processes import call_in_loop
from ais_prompt.utils import require

START_SECONDS: Final = 60.0
"""Time for a server to start and to name its tools."""
END_SECONDS: Final = 5.0
_FORM: Final = "write dict(mcp=['command', 'word', …]) or dict(mcp='http://127.0.0.1:8000/mcp')"


class OwnTool(Struct, frozen=True):
    """A tool that a model may call.

    Attributes:
        name, description, schema: as the model sees them; the schema is that of the arguments, an object.
        call: takes the arguments and the seconds that it has, and returns a text.
        has_effects: whether calling it twice may differ from calling it once.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    call: Callable[[Mapping[str, Any], float], str]
    has_effects: bool = True

    def offered(self) -> dict[str, Any]:
        """Return the tool in the form of the OpenAI API."""
        function = {"name": self.name, "description": self.description, "parameters": self.schema}
        return {"type": "function", "function": function}

    def line(self) -> str:
        """Return the name with the parameters."""
        properties = self.schema.get("properties", {})
        return f"{self.name}({', '.join(properties)})"


class McpServer:
    """One server, on an event loop in a thread of its own.

    Args:
        given: the words of its command, or its URL (streamable HTTP).

    Raises:
        ModelError: it does not start.
    """

    def __init__(self, given: tuple[str, ...] | str) -> None:
        self._given = given
        self._ready = threading.Event()
        self._fault: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: asyncio.Event | None = None
        self._session: Any = None
        self.tools: list[Any] = []
        self._thread = threading.Thread(target=self._run, name="aisprompt-mcp", daemon=True)
        self._thread.start()
        if not self._ready.wait(START_SECONDS) or self._fault is not None:
            why = "it does not answer" if self._fault is None else exception_line(_cause(self._fault))
            self.close()
            raise ModelError(f"the MCP server {self.name} does not start: {why}", where="tools", fix="try it by itself")

    @property
    def name(self) -> str:
        """The command or the URL."""
        return self._given if isinstance(self._given, str) else " ".join(self._given)

    def call(self, tool: str, arguments: Mapping[str, Any], seconds: float) -> str:
        """Call a tool, and return its result as a text; the error that a server reports is raised."""
        assert self._loop is not None
        work = asyncio.wait_for(self._session.call_tool(tool, dict(arguments)), seconds)
        found = asyncio.run_coroutine_threadsafe(work, self._loop).result()
        texts = [getattr(part, "text", None) or f"[{part.type}]" for part in found.content]
        text = "\n".join(texts) if texts else json.dumps(getattr(found, "structuredContent", None))
        if getattr(found, "isError", getattr(found, "is_error", False)):
            raise RuntimeError(text)
        return text

    def close(self) -> None:
        """End the server."""
        if self._loop is not None and self._over is not None:
            call_in_loop(self._loop, self._over.set)
        self._thread.join(END_SECONDS)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._fault = self._fault or error
        self._ready.set()

    async def _serve(self) -> None:
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client

        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        async with AsyncExitStack() as stack:
            if isinstance(self._given, str):
                from mcp.client import streamable_http as http

                # The client has another name in earlier versions.
                client = getattr(http, "streamable_http_client", None) or http.streamablehttp_client
                streams = await stack.enter_async_context(client(self._given))
            else:
                first, *more = self._given
                command = StdioServerParameters(command=first, args=more, env=dict(os.environ))
                silent = stack.enter_context(Path(os.devnull).open("w"))  # noqa: SIM115  # the stack closes it
                streams = await stack.enter_async_context(stdio_client(command, errlog=silent))
            self._session = await stack.enter_async_context(ClientSession(streams[0], streams[1]))
            await self._session.initialize()
            self.tools = (await self._session.list_tools()).tools
            self._ready.set()
            await self._over.wait()


def _cause(error: BaseException) -> BaseException:
    """Return the first error of a group; servers are started in task groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


_servers: Final[dict[tuple[str, ...] | str, McpServer]] = {}
_lock: Final = threading.Lock()


def mcp_tools(given: Any) -> list[OwnTool]:
    """Return the tools of a server; equal servers of a run are one.

    Args:
        given: the words of its command, or its URL.

    Raises:
        ConfigError: it is neither.
        MissingExtra: the package ``mcp`` is not installed.
        ModelError: it does not start.
    """
    if isinstance(given, str) and given.startswith(("http://", "https://")):
        name: tuple[str, ...] | str = given
    elif isinstance(given, list | tuple) and given:
        name = tuple(str(Path(word).absolute()) if Path(word).is_file() else str(word) for word in given)
    else:
        raise ConfigError(f"this is no MCP server: {given!r:.80}", fix=_FORM)
    require("mcp", extra="mcp", why="a tool of an MCP server")
    with _lock:
        if name not in _servers:
            _servers[name] = McpServer(name)
        server = _servers[name]

    def caller(tool: str) -> Callable[[Mapping[str, Any], float], str]:
        return lambda arguments, seconds: server.call(tool, arguments, seconds)

    return [
        OwnTool(one.name, one.description or "", _schema(one), caller(one.name), _has_effects(one))
        for one in server.tools
    ]


def end_servers(*_: object) -> None:
    """End all servers: at the end of a run, and of the program."""
    with _lock:
        while _servers:
            with suppress(Exception):
                _servers.popitem()[1].close()


atexit.register(end_servers)


def _schema(tool: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = getattr(tool, "inputSchema", None) or getattr(tool, "input_schema", None) or {}
    return {"type": "object", "properties": {}, **found}


def _has_effects(tool: Any) -> bool:
    """Return whether a tool may have effects: all do but those that say so themselves."""
    hints = getattr(tool, "annotations", None)
    names = ("readOnlyHint", "read_only_hint", "idempotentHint", "idempotent_hint")
    return not any(getattr(hints, name, None) for name in names)
