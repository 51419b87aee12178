"""Notices that a server is away, so that the dataset is not burnt on it, and finds out when it is back."""

from __future__ import annotations

import logging
from typing import Final

from ais_prompt.types import Failure

logger = logging.getLogger(__name__)

FAILURES: Final = 20
"""So many passing failures in a row, whichever requests they belong to, are an outage."""
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 30.0
PATIENCE: Final = 900.0
"""Seconds after which a server that stays away is taken to be gone: requests then fail again."""


class Outage:
    """Whether the server is away. Times are seconds of any clock that does not go back.

    An outage begins after `FAILURES` passing failures in a row, or as soon as the server takes no connection; but only
    if it has answered before, for otherwise the config may be wrong, which the user wants to know at once. While it
    lasts nobody asks but one request at a time, after a pause that doubles; its failures are those of the server and do
    not count for it. The first answer, whatever it says, ends it.

    Attributes:
        has_answered: whether the server has ever said something about a request, be it good or bad.
        next_look: when to look again, while an outage lasts.
        reason: what is waited for then: ``http_429`` if the server named the time, else that it is away.
    """

    def __init__(self) -> None:
        self._in_a_row = 0
        self.has_answered = False
        self._since: float | None = None
        self._pause = 0.0
        self._told = False
        self.next_look = 0.0
        self.reason = ""

    @property
    def lasts(self) -> bool:
        """Whether the server is taken to be away."""
        return self._since is not None

    def answered(self) -> None:
        """The server has said something about a request, be it good or bad."""
        if self._told:
            logger.warning("the server answers again")
        self._in_a_row = 0
        self.has_answered = True
        self._since = None
        self._told = False

    def failed(self, failure: Failure, at_least: float, now: float) -> bool:
        """A request has failed in passing.

        Args:
            failure: how.
            at_least: seconds that the server wants to be left alone.
            now: the time.

        Returns:
            True if that is the server's failure and does not count for the request.
        """
        self._in_a_row += 1
        if self._since is None:
            if not self.has_answered or (self._in_a_row < FAILURES and failure.kind != "unreachable"):
                return False
            self._since, self._pause = now, FIRST_PAUSE / 2
        elif now < self.next_look:
            return True  # it was under way when the outage began
        if now - self._since > PATIENCE:
            return False
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        throttled = failure.kind == "http_429" and at_least > 0
        pause = at_least if throttled else max(self._pause, at_least)
        self.next_look = now + pause
        self.reason = failure.kind if throttled else "the server is away"
        number = f"{self._in_a_row} failure{'s' if self._in_a_row > 1 else ''}"
        # A server that says when it will answer again is not in trouble; progress shows what is waited for.
        level = logging.INFO if throttled else logging.WARNING
        logger.log(level, "pausing %.3g s after %s in a row (%s: %s)", pause, number, failure.kind, failure.message)
        self._told = self._told or not throttled
        return True
