"""When a failed request is asked again, and how long to wait before."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from msgspec import Struct

from ais_prompt.models.options import Retry
from ais_prompt.types import Completion, Failure

_PASSING_KINDS: Final = {
    "unreachable",
    "connection",
    "timeout",
    "broken_stream",
    "bad_body",
    "empty_choices",
    "http_408",  # request timeout
    "http_409",  # conflict: some servers say so while a model is being loaded
    "http_425",  # too early
    "http_429",  # too many requests
}
# Not `random` itself: its numbers belong to the run and its seed.
_jitter: Final = random.Random()


class Attempt(Struct, frozen=True):
    """What came of asking once.

    Attributes:
        completion: the answer or the failure.
        retry_after: seconds that the server wants to be left alone; None if it did not say.
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
        asked: attempts so far that count, that one included.
        at_most: longest ``Retry-After`` in seconds that is waited for.
    """
    failure = attempt.completion.failure
    if failure is None or asked > retry.retries or not is_passing(failure):
        return None
    at_least = attempt.retry_after or 0.0
    if at_least > max(0.0, at_most):
        return None
    # Jitter comes on top of what the server wants, or all requests would come back in the same moment.
    return at_least + _jitter.uniform(0, min(retry.longest_wait, retry.first_wait * 2.0 ** max(0, asked - 1)))


def is_passing(failure: Failure) -> bool:
    """True if the same request may well be answered a little later."""
    return failure.kind in _PASSING_KINDS or failure.kind.startswith("http_5")


def read_retry_after(header: str | None) -> float | None:
    """Seconds that a ``Retry-After`` header asks for (RFC 9110, 10.2.3): a number or a date; None if it says nothing.

    A time that lies in the past is 0.
    """
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        seconds = _seconds_until(header)
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _seconds_until(date: str) -> float:
    """Seconds until an HTTP date; not a number if it is none."""
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, TypeError, OverflowError):
        return math.nan
    # "-0000" gives a time without a zone; HTTP dates are in UTC.
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
