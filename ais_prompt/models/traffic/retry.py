"""When to retry a failed request, and how long to wait before."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from msgspec import Struct

from ais_prompt.models.options import Retry
from ais_prompt.types import Completion, Failure

_TEMPORARY_KINDS: Final = {
    "unreachable",
    "connection",
    "timeout",
    "broken_stream",
    "broken_answer",
    "bad_body",
    "empty_choices",
    "http_408",  # request timeout
    "http_409",  # conflict: some servers return it while they load a model
    "http_425",  # too early
    "http_429",  # too many requests
}
THROTTLED: Final = ("http_429", "http_503", "http_529")
"""The server has too much to do; 529 is Anthropic's status for it."""

# Not the module `random`: its state belongs to the seed of the run.
_jitter: Final = random.Random()


class Attempt(Struct, frozen=True):
    """The outcome of one attempt.

    Attributes:
        completion: the answer or the failure.
        retry_after: seconds of the ``Retry-After`` header; None without one.
    """

    completion: Completion
    retry_after: float | None = None


def wait_before_retry(retry: Retry, attempt: Attempt, asked: int, at_most: float) -> float | None:
    """Return the seconds to wait before a retry; None if the request is not sent again.

    Exponential back-off with full jitter: before retry n a random time up to ``first_wait * 2**(n-1)`` is waited.
    Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.

    Args:
        retry: how often and how soon.
        attempt: the last attempt.
        asked: attempts that count so far, including the last one.
        at_most: longest ``Retry-After`` in seconds that is waited for.
    """
    failure = attempt.completion.failure
    if failure is None or asked > retry.retries or not is_temporary(failure):
        return None
    at_least = attempt.retry_after or 0.0
    if at_least > max(0.0, at_most):
        return None
    # Jitter is added to Retry-After, or all requests would come back at the same moment.
    return at_least + _jitter.uniform(0, min(retry.longest_wait, retry.first_wait * 2.0 ** max(0, asked - 1)))


def is_temporary(failure: Failure) -> bool:
    """Return whether a failure is temporary, so that a retry makes sense."""
    return failure.kind in _TEMPORARY_KINDS or failure.kind.startswith("http_5")


def read_retry_after(header: str | None, date: str | None) -> float | None:
    """Parse a ``Retry-After`` header into seconds (RFC 9110, 10.2.3); None if it is missing or invalid.

    It is a number or a date. A date in the past is 0.

    Args:
        header: the ``Retry-After`` header.
        date: the ``Date`` header of the same reply, from which a date counts: the clocks of two machines differ.
            Without one it counts from the clock of this machine.
    """
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        sent = _moment(date or "") or datetime.now(UTC)
        moment = _moment(header)
        seconds = math.nan if moment is None else (moment - sent).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _moment(date: str) -> datetime | None:
    """Return the time of an HTTP date; None if it is not a date."""
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, TypeError, OverflowError):
        return None
    return moment.replace(tzinfo=moment.tzinfo or UTC)  # "-0000" gives no zone; HTTP dates are in UTC
