"""Streamed answers: server-sent events in the form of OpenAI.

Sources: the HTML standard, "Server-sent events"; the API reference of OpenAI, "Streaming".
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.models.openai.wire import (
    BadBody,
    completion_of,
    first_choice,
    read_json,
    reasoning_of,
    refusal_of,
    server_words,
)
from ais_prompt.types import Completion, Failure

STREAMED: Final = {"stream": True, "stream_options": {"include_usage": True}}
"""Further fields of a request whose answer is streamed with its token counts."""

_LAST: Final = b"[DONE]"


class StreamReader:
    """Assembles one streamed answer. Each attempt has its own reader, so nothing of a broken one gets into the next.

    Args:
        clock: returns the time in seconds; the request starts now.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._start = clock()
        self._rest = b""
        self._begun = False
        self._data: list[bytes] = []
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._times: list[float] = []  # when each piece with content came
        self._refusal: list[str] = []
        self._usage: Any = None
        self._finish_reason: Any = None
        self._has_choice = self._done = False
        self._fault: Failure | None = None

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the body, cut anywhere."""
        # The standard splits lines at LF, CR and CR LF. After a CR an LF may still come.
        lines = (self._rest + piece).splitlines(keepends=True)
        self._rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        for line in lines:
            self._line(line.rstrip(b"\r\n"))

    def completion(self) -> Completion:
        """Return the answer at the end of the stream; a stream that broke off is a failure that may be retried."""
        self.feed(b"\n\n")  # ends a line that a CR ended; some servers leave out the empty line after the last event
        if self._fault:
            return Completion(failure=self._fault)
        if not self._done and self._finish_reason is None:
            return Completion(failure=Failure("broken_stream", "the stream ended before the answer did"))
        if not self._has_choice:
            return Completion(failure=Failure("empty_choices", "the server sent no choice at all"))
        text, refusal, reasoning = map("".join, (self._text, self._refusal, self._reasoning))
        completion = completion_of(text, refusal, self._finish_reason, self._usage, reasoning)
        return replace(
            completion,
            first_token_seconds=self._times[0] - self._start if self._times else None,
            token_seconds=self._token_seconds(completion.usage.completion_tokens),
        )

    def _token_seconds(self, counted: int | None) -> float | None:
        """Return the mean seconds between tokens; a piece counts as a token if the server sends no counts."""
        tokens = counted or len(self._times)
        several = len(self._times) > 1 and tokens > 1
        return (self._times[-1] - self._times[0]) / (tokens - 1) if several else None

    def _line(self, line: bytes) -> None:
        if not self._begun:
            self._begun, line = True, line.removeprefix(codecs.BOM_UTF8)
        name, _, value = line.partition(b":")
        if line and name == b"data":
            self._data.append(value.removeprefix(b" "))
        elif not line and self._data:
            event, self._data = b"\n".join(self._data), []
            if not self._fault:
                self._event(event)

    def _event(self, data: bytes) -> None:
        if data.strip() == _LAST:
            self._done = True
            return
        try:
            self._chunk(read_json(data))
        except BadBody as error:
            self._fault = Failure("broken_stream", f"{error}: {server_words(data)}")

    def _chunk(self, chunk: Any) -> None:
        if not isinstance(chunk, dict) or chunk.get("error"):
            raise BadBody("the stream holds an error")
        self._usage = chunk.get("usage") or self._usage
        choices = chunk.get("choices")
        if not choices:  # the last piece has only the usage
            return
        choice = first_choice(choices) if isinstance(choices, list) else None
        if not isinstance(choice, dict):
            raise BadBody("the stream holds no choice")
        if choice.get("index") in (0, None):  # others are not requested, but some servers send them
            self._choice(choice)

    def _choice(self, choice: Mapping[str, Any]) -> None:
        self._has_choice = True
        delta = choice.get("delta")
        text = delta.get("content") if isinstance(delta, dict) else choice.get("text")
        if not isinstance(text, str | None):
            raise BadBody("the stream holds no text")
        reasoning, refusal = reasoning_of(delta), refusal_of(delta)
        if text or reasoning or refusal:
            self._times.append(self._clock())
        self._text.append(text or "")
        self._reasoning.append(reasoning)
        self._refusal.append(refusal)
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
