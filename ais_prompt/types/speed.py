"""How fast a served model answered, so that an evaluation doubles as a benchmark of its server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, convert, to_builtins


class Times(Struct, frozen=True):
    """How times in seconds are spread: their mean, their median, and what 90 and 99 in 100 of them do not exceed."""

    mean: float
    p50: float
    p90: float
    p99: float


class Speed(Struct, frozen=True):
    """The requests of one task in one session; what was answered before has no part in it.

    Attributes:
        requests: how many there were.
        failed: how many of them have no answer.
        attempts: how often the server was asked, retries included.
        input_tokens, output_tokens: of the answered requests, as far as the server told.
        seconds: from the first request to the last answer.
        concurrency: how many requests were in flight on average (by Little's law: their latencies, added up, over
            ``seconds``).
        latency: from sending a request to the end of its answer; of answered requests, their last attempt only. None
            if nothing was answered.
        first_token: to the first token, of streamed answers.
        token: between the tokens of a streamed answer, a mean for each answer.
    """

    requests: int
    failed: int
    attempts: int
    input_tokens: int
    output_tokens: int
    seconds: float
    concurrency: float
    latency: Times | None = None
    first_token: Times | None = None
    token: Times | None = None

    @property
    def requests_per_second(self) -> float:
        """Answers a second."""
        return (self.requests - self.failed) / self.seconds if self.seconds else 0.0

    @property
    def output_tokens_per_second(self) -> float:
        """Tokens of answers a second, of all requests together."""
        return self.output_tokens / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, the rates among them."""
        rates = {
            "requests_per_second": self.requests_per_second,
            "output_tokens_per_second": self.output_tokens_per_second,
        }
        return {**to_builtins(self), **rates}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Speed:
        """The inverse of `to_json`."""
        return convert(values, cls)
