"""Ends exchanges that take too long."""

from __future__ import annotations

import asyncio

from ais_prompt.models.http_connection import Connection


class Deadlines:
    """The deadlines of all exchanges that are under way. One timer serves them, set for the next that is due.

    A timer for each exchange (`asyncio.timeout`) takes a twentieth of all that a request costs.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._due: dict[Connection, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def set(self, connection: Connection, due: float) -> None:
        """End what is under way on a connection when the loop's clock shows ``due``."""
        self._due[connection] = due
        if self._timer is None or due < self._timer.when():
            self._set_timer(due)

    def clear(self, connection: Connection) -> None:
        """It is over."""
        del self._due[connection]

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self, due: float) -> None:
        self.close()
        self._timer = self._loop.call_at(due, self._end_those_due)

    def _end_those_due(self) -> None:
        self._timer = None
        now = self._loop.time()
        for connection, due in self._due.items():
            if due <= now:
                connection.time_out()
        if later := [due for due in self._due.values() if due > now]:
            self._set_timer(min(later))
