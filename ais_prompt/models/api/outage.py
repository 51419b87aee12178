"""The state of one server that does not answer: an outage costs time, not retries.

An outage begins after `OUTAGE_FAILURES` temporary failures in a row, when the server refuses a connection, or when a
request has used up its retries and nothing was answered meanwhile. It begins only if the server has answered before:
otherwise the config may be wrong, which should be an error at once. A server passes through these states:

    up      requests go to it; failures in a row are counted
    away    one request at a time probes it, after a pause that doubles; failures do not use up retries
    gone    away for too long: requests that fail now have failed for good

The first answer, good or bad, leads back to *up*.
"""

from __future__ import annotations

import logging
from typing import Final

from ais_prompt.types import Failure

logger = logging.getLogger(__name__)
AWAY: Final = "the server is away"
"""Why requests wait during an outage."""
OUTAGE_FAILURES: Final = 20
"""An outage begins after this many temporary failures in a row, of whichever requests."""
FIRST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 30.0
LONGEST_SPARE_PAUSE_SECONDS: Final = 4.0
"""The same if other servers take the requests: a probe then delays only one of them."""
OUTAGE_LIMIT_SECONDS: Final = 900.0
"""Length of an outage in seconds after which the server counts as gone, and requests fail again."""
LONE_LIMIT_SECONDS: Final = 60.0
"""The same if only one request has failed since the last answer: the server may be up, and fail at this prompt only."""
_SEVERAL: Final = object()
"""In place of the request that has failed: several have."""


class Outage:
    """The outage state of one server. Times are seconds of any clock that does not go back.

    Args:
        address: where the server is, without secrets.

    Attributes:
        answers: how many requests the server has answered, good or bad.
        next_probe: time of the next probe during an outage.
        reason: why requests wait: ``http_429`` if the server named the time, else that the server is away.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._in_a_row = 0
        self._request: object = None
        self._began_early = False
        self.answers = 0
        self._since: float | None = None
        self._pause = 0.0
        self._warned = False
        self.next_probe = 0.0
        self.reason = ""

    @property
    def lasts(self) -> bool:
        """Whether there is an outage."""
        return self._since is not None

    @property
    def limit(self) -> float:
        """Length of the outage in seconds after which the server counts as gone."""
        is_of_one = self._began_early and self._request is not _SEVERAL
        return LONE_LIMIT_SECONDS if is_of_one else OUTAGE_LIMIT_SECONDS

    def seconds(self, now: float) -> float:
        """Return how long the outage has lasted; 0 without one."""
        return 0.0 if self._since is None else now - self._since

    def answered(self) -> None:
        """Record that the server answered a request, good or bad."""
        if self._warned:
            logger.warning("the server answers again: %s", self._address)
        self._in_a_row = 0
        self._request = None
        self.answers += 1
        self._since = None
        self._warned = False

    def failed(
        self,
        failure: Failure,
        at_least: float,
        now: float,
        request: object = None,
        *,
        spare: bool = False,
        gone: bool = False,
        exhausted: bool = False,
    ) -> bool:
        """Record a temporary failure.

        Args:
            failure: the failure.
            at_least: seconds of the ``Retry-After``; 0 without one.
            now: the time.
            request: which request failed.
            spare: whether another server can take the requests; then one that never answered may be away too.
            gone: whether the outage has lasted too long, and requests fail again.
            exhausted: whether the request has used up its retries, and nothing was answered meanwhile.

        Returns:
            True if the failure is part of an outage, and does not use up a retry of the request.
        """
        self._in_a_row += 1
        self._request = request if self._request in (None, request) else _SEVERAL
        if self._since is None:
            # Up. One failure is a matter of its request; many in a row, or a refused connection, begin an outage.
            many = failure.kind == "unreachable" or self._in_a_row >= OUTAGE_FAILURES
            if not (many and (self.answers or spare)) and not (exhausted and self.answers):
                return False
            self._since, self._pause = now, FIRST_PAUSE_SECONDS / 2
            self._began_early = not many
        elif now < self.next_probe:
            # Away, and it is not time for a probe: the request was in flight when the outage began.
            return True
        if gone:
            # Gone: away for so long that requests fail again.
            return False
        # Away: this failure began the outage, or a probe has failed. The pause before the next probe grows.
        throttled = failure.kind == "http_429" and at_least > 0
        self._pause = min(2 * self._pause, LONGEST_SPARE_PAUSE_SECONDS if spare else LONGEST_PAUSE_SECONDS)
        pause = at_least if throttled else max(self._pause, at_least)
        self.next_probe = now + pause
        self.reason = failure.kind if throttled else AWAY
        self._log_pause(failure, pause, spare=spare, throttled=throttled)
        return True

    def _log_pause(self, failure: Failure, pause: float, *, spare: bool, throttled: bool) -> None:
        number = f"{self._in_a_row} failure{'s' if self._in_a_row > 1 else ''}"
        # A server that names a time is throttling, not down; the progress display shows why requests wait. A server may
        # be away for hours where others take its requests.
        level = logging.INFO if throttled or (spare and self._warned) else logging.WARNING
        what = "asking other servers for" if spare else "pausing"
        logger.log(level, "%s %.3g s after %s in a row (%s: %s)", what, pause, number, failure.kind, failure.message)
        self._warned = self._warned or not throttled
