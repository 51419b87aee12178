"""Read a streamed answer: server-sent events, cut anywhere, into one completion.

`StreamReader` is the base of the readers of all wire formats: it finds the events, and a format reads their data.
Source: the HTML standard, "Server-sent events".
"""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import perf_counter
from typing import Any, Final, Literal, TypeAlias

from msgspec.structs import replace

from ais_prompt.models.api.server_words import reported_failure, server_words
from ais_prompt.models.api.wire import BadBody, read_json
from ais_prompt.types import Completion, Failure

PieceKind: TypeAlias = Literal["a", "r", "t", "o"]
"""What an event of a stream brings: a piece of the answer, of the reasoning or of a tool call; or something other.

Others are the role at the beginning, empty pieces, the finish reason, and token counts.
"""
OTHER: Final = "o"
_LAST: Final = b"[DONE]"
"""The last event of OpenAI's older endpoints."""
_FIELDS: Final = (b"data", b"event", b"id", b"retry", b"")
_MOST_OTHER: Final = 100_000
"""Bytes of a body that is no stream, which are kept."""
MAX_EVENTS: Final = 1_000_000
"""Most events of a stream; an answer has about one for each token."""


class StreamReader(ABC):
    """Assembles one streamed answer. Each attempt has its own reader, so nothing of a broken one gets into the next.

    Args:
        clock: returns the time in seconds; the request starts now.

    Attributes:
        times: when each event came, on the clock.
        kinds: what each event brought.
        served: the name of the model that answers, and its ``system_fingerprint``, as far as the server says them.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._start = clock()
        self._rest = bytearray()
        self._events = 0
        self._begun = False
        self._data: list[bytes] = []
        self.times: list[float] = []
        self.kinds: list[PieceKind] = []
        self.served = ""
        self._done = False  # whether the server has said that the answer is complete
        self._fault: Failure | None = None
        self._other = bytearray()  # the body, as long as it is no stream of events

    @abstractmethod
    def _take(self, event: dict[str, Any]) -> PieceKind:
        """Take the data of one event; return what it brings. Set `_done` if the answer is complete with it.

        Raises:
            BadBody: it is an error, or not in the form of this server.
        """

    @abstractmethod
    def _assemble(self) -> Completion:
        """Return the answer of all events.

        Raises:
            BadBody: they are no answer.
        """

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the body, cut anywhere."""
        self._rest += piece
        if b"\n" not in piece and b"\r" not in piece:  # a line of many pieces is not split again for each of them
            return
        # The standard splits lines at LF, CR and CR LF. After a CR an LF may still come.
        lines = bytes(self._rest).splitlines(keepends=True)
        self._rest = bytearray(lines.pop() if lines and not lines[-1].endswith(b"\n") else b"")
        for line in lines:
            self._line(line.rstrip(b"\r\n"))

    def completion(self) -> Completion:
        """Return the answer at the end of the stream; a stream that broke off is a failure that may be retried."""
        self.feed(b"\n\n")  # ends a line that a CR ended; some servers leave out the empty line after the last event
        # An event was an error. What came before it is no answer.
        if self._fault:
            return Completion(failure=self._fault)
        # Cut off: neither a last event nor a finish reason came.
        if not self._done:
            return Completion(
                failure=self._reported() or Failure("broken_stream", "the stream ended before the answer did")
            )
        try:
            completion = self._assemble()
        except BadBody as error:
            return Completion(failure=Failure("broken_stream", str(error)))
        if completion.failure is not None:
            return completion
        # A piece counts as a token if the server sends no counts.
        times = [time for time, kind in zip(self.times, self.kinds, strict=True) if kind != OTHER]
        tokens = completion.usage.completion_tokens or len(times)
        several = len(times) > 1 and tokens > 1
        return replace(
            completion,
            first_token_seconds=times[0] - self._start if times else None,
            token_seconds=(times[-1] - times[0]) / (tokens - 1) if several else None,
        )

    def _reported(self) -> Failure | None:
        """Return what the server says in a body that is no stream, such as an error with the status of an answer."""
        if self._events or not (words := server_words(bytes(self._other))):
            return None
        with suppress(BadBody):
            if failure := reported_failure(read_json(bytes(self._other))):
                return failure
        return Failure("bad_body", f"the reply is no stream of events: {words}")

    def _line(self, line: bytes) -> None:
        if not self._begun:
            self._begun, line = True, line.removeprefix(codecs.BOM_UTF8)
        name, _, value = line.partition(b":")
        if not self._events and name not in _FIELDS and len(self._other) < _MOST_OTHER:
            self._other += line + b"\n"
        if line and name == b"data":
            self._data.append(value.removeprefix(b" "))
        elif not line and self._data:
            event, self._data = b"\n".join(self._data), []
            self._events += 1
            if self._events > MAX_EVENTS:
                self._fault = Failure("reply_too_large", f"the stream has more than {MAX_EVENTS} events")
            if not self._fault:
                self._event(event)

    def _event(self, data: bytes) -> None:
        if data.strip() == _LAST:
            self._done = True
            return
        try:
            event = read_json(data)
            self._fault = reported_failure(event)
            if self._fault:
                return
            if not isinstance(event, dict) or event.get("error"):
                raise BadBody("the stream holds an error")
            kind = self._take(event)
            self.served = self.served or served_by(event)
            self.kinds.append(kind)
            self.times.append(self._clock())
        except BadBody as error:
            self._fault = Failure("broken_stream", f"{error}: {server_words(data)}")


def served_by(reply: Mapping[str, Any]) -> str:
    """Return the name of the model in a reply or event, and its ``system_fingerprint``; empty without a name."""
    words = (reply.get("model"), reply.get("system_fingerprint"))
    return " ".join(word for word in words if isinstance(word, str) and word)
