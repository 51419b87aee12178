"""Visit the server of ``aisprompt view`` as its page does: with the token, and asking for scores when they are due."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass
from typing import Any

from tests.support.waiting import WATCHDOG_SECONDS


@dataclass
class Visitor:
    """Somebody who has opened an address that `aisprompt view` printed."""

    printed: str

    @property
    def page(self) -> str:
        """The address without the token."""
        return self.printed.strip().partition("?")[0]

    def read(self, part: str = "", query: str = "", method: str = "GET") -> bytes:
        """Return the content of a part below the page; a ``part`` with ``://`` is an address of its own."""
        address = part if "://" in part else self.page + part
        token = self.printed.strip().partition("?")[2]
        request = urllib.request.Request(f"{address}?{query}&{token}", method=method)
        request.add_header("X-Aisprompt-Report", "1")
        with urllib.request.urlopen(request, timeout=WATCHDOG_SECONDS) as reply:
            content: bytes = reply.readline() if part == "/events" else reply.read()
        return content

    def json(self, part: str, query: str = "") -> Any:
        return json.loads(self.read(part, query))

    def state(self) -> dict[str, Any]:
        """Return the first event; have the server score what is due."""
        state: dict[str, Any] = json.loads(self.read("/events").removeprefix(b"data: "))
        if state["is_due"]:
            self.read("/score", method="POST")
        return state
