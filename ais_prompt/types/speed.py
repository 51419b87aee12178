"""Speed of a served model, so that an evaluation doubles as a benchmark of its server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, convert, field, to_builtins


class Activity(Struct, frozen=True):
    """The requests of a model at one moment, for progress displays.

    Attributes:
        in_flight: requests that are sent and not answered yet.
        waiting: requests that wait to be sent, or sent again.
        reason: why the first of them waits: its last failure, a rate limit, or an outage of the server.
        seconds: seconds until that one is sent.
        away: address and seconds of each server that does not answer now; the address is empty for an only one.
    """

    in_flight: int = 0
    waiting: int = 0
    reason: str = ""
    seconds: float = 0.0
    away: tuple[tuple[str, float], ...] = ()


class Times(Struct, frozen=True):
    """A distribution of times in seconds: mean, median, 90th and 99th percentile."""

    mean: float
    p50: float
    p90: float
    p99: float


class Speed(Struct, frozen=True):
    """Speed of one task in one session; answers from the journal or cache are not counted.

    Attributes:
        requests: number of requests.
        failed: requests without an answer.
        attempts: number of requests sent, retries included.
        input_tokens, output_tokens: tokens of the answered requests, as far as the server reports them.
        seconds: seconds from the first request to the last answer.
        concurrency: mean number of requests in flight (Little's law: sum of the latencies over ``seconds``).
        latency: seconds from sending a request to the end of its answer, of the last attempt of answered requests;
            None if nothing was answered.
        first_token: seconds to the first token of streamed answers.
        token: seconds between the tokens of streamed answers, one mean per answer.
        replicas: address → number of its answers, if the model has several servers; else empty.
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
    replicas: Mapping[str, int] = field(default_factory=dict)

    @property
    def requests_per_second(self) -> float:
        """Answered requests per second."""
        return (self.requests - self.failed) / self.seconds if self.seconds else 0.0

    @property
    def output_tokens_per_second(self) -> float:
        """Generated tokens per second, over all requests."""
        return self.output_tokens / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, including the rates; ``replicas`` is left out if it is empty."""
        rates = {
            "requests_per_second": self.requests_per_second,
            "output_tokens_per_second": self.output_tokens_per_second,
        }
        values = {**to_builtins(self), **rates}
        if not self.replicas:
            del values["replicas"]
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Speed:
        """Read back the values of `to_json`."""
        return convert(values, cls)
