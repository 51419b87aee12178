"""Tools of a test's config, and an MCP server with one of them (``python own_tools.py``)."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CALLS = Path(os.environ.get("CALLS", "calls.txt"))


@dataclass
class Place:
    row: int
    column: int = 0


def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    The result is exact.

    Args:
        a: the first number,
            however large.
        b: the second number.

    Returns:
        The sum.
    """
    note(f"add {a} {b}")
    return a + b


async def find(place: Place, words: list[str]) -> dict[str, Any]:
    """Find words."""
    return {"row": place.row, "words": words}


def breaks(path: str) -> str:
    raise ValueError(f"there is no {path}")


def hangs() -> None:
    time.sleep(600)


def dies(a: int) -> str:
    """End the run in the middle of a call."""
    note(f"dies {a}")
    if not Path("died.txt").exists():
        Path("died.txt").write_text("once")
        os.kill(os.getpid(), signal.SIGKILL)
    return "survived"


def odd() -> object:
    """Return what JSON has no words for."""
    return object()


def not_json(when: threading.Event) -> str:
    return str(when)


def no_names(*words: str) -> str:
    return str(words)


def note(line: str) -> None:
    with CALLS.open("a") as file:
        file.write(line + "\n")


if __name__ == "__main__":
    try:
        from mcp.server.mcpserver import MCPServer
    except ModuleNotFoundError:  # mcp 1
        from mcp.server.fastmcp import FastMCP as MCPServer

    server = MCPServer("numbers")
    server.tool()(add)
    server.tool()(breaks)
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))  # mcp 2
    else:
        server.run()
