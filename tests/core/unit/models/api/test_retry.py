"""When to retry, and how long to wait before."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.models import Attempt, Retry, attempts_sent, is_temporary, read_retry_after, wait_before_retry
from ais_prompt.types import Completion, Failure


def failed(kind: str, retry_after: float | None = None) -> Attempt:
    return Attempt(Completion(failure=Failure(kind, "words")), retry_after)


def test_temporary_failures_are_retried() -> None:
    passing = ["unreachable", "connection", "timeout", "broken_stream", "bad_body", "empty_choices"]
    passing += [f"http_{status}" for status in (408, 409, 425, 429, 500, 502, 503, 504, 529)]
    lasting = ["too_long"] + [f"http_{status}" for status in (301, 400, 401, 403, 404, 422)]
    assert all(is_temporary(Failure(kind, "")) for kind in passing)
    assert not any(is_temporary(Failure(kind, "")) for kind in lasting)


@given(st.integers(1, 40), st.none() | st.floats(0, 300))
def test_the_wait_grows_is_bounded_and_never_shorter_than_retry_after(asked: int, retry_after: float | None) -> None:
    retry = Retry(retries=40, first_wait=0.5, longest_wait=8)
    wait = wait_before_retry(retry, failed("http_429", retry_after), asked, 300)
    least = retry_after or 0
    assert wait is not None
    assert least <= wait <= least + min(8, 0.5 * 2 ** (asked - 1))


def test_retries_end() -> None:
    retry = Retry(retries=2)
    assert wait_before_retry(retry, failed("timeout"), 2, 9) is not None
    assert wait_before_retry(retry, failed("timeout"), 3, 9) is None
    assert wait_before_retry(retry, Attempt(Completion("an answer")), 1, 9) is None
    assert wait_before_retry(retry, failed("http_429", 3600), 1, 900) is None, "an hour is not waited for"
    assert wait_before_retry(retry, failed("timeout"), 1, -5) is not None, (
        "only a wait that the server asks for is bounded"
    )


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0),
        ("2", 2),
        ("0.25", 0.25),
        ("-5", 0),
        (None, None),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("1e999", None),
        ("-inf", None),
        ("9" * 30, 1e30),
        ("0x10", None),
        ("1,5", None),
    ],
)
def test_retry_after_in_seconds(header: str | None, seconds: float | None) -> None:
    assert read_retry_after(header, None) == seconds


@pytest.mark.parametrize("zone", ["GMT", "-0000", "+0000"])
def test_retry_after_as_a_date_counts_from_the_clock_of_the_server(zone: str) -> None:
    sent = f"Wed, 21 Oct 2015 07:28:00 {zone}"
    for header, seconds in (
        (f"Wed, 21 Oct 2015 07:29:30 {zone}", 90),
        (f"Thu, 22 Oct 2015 07:28:00 {zone}", 86_400),
        (sent, 0),
        (f"Wed, 21 Oct 2015 07:27:00 {zone}", 0),
        ("5", 5),
    ):
        assert read_retry_after(header, sent) == seconds


@pytest.mark.parametrize("date", [None, "", "today"])
def test_retry_after_as_a_date_counts_from_now_if_the_server_has_no_clock(date: str | None) -> None:
    soon = read_retry_after(format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True), date)
    assert soon is not None
    assert 3600 < soon <= 7200
    assert read_retry_after("Wed, 21 Oct 2015 07:28:00 GMT", date) == 0


@given(st.text(), st.text())
def test_any_header_can_be_parsed(header: str, date: str) -> None:
    seconds = read_retry_after(header, date)
    assert seconds is None or 0 <= seconds < float("inf")


@pytest.mark.parametrize(("arguments", "attempts"), [((), 1), (("stopped",), 1), ((0,), 0), ((3,), 3)])
def test_a_cancelled_request_says_how_often_it_was_sent(arguments: tuple[object, ...], attempts: int) -> None:
    assert attempts_sent(asyncio.CancelledError(*arguments)) == attempts
