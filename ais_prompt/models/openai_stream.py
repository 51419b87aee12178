"""An answer that comes piece by piece, as server-sent events in the form of OpenAI.

Sources: the HTML standard, "Server-sent events"; the API reference of OpenAI, "Streaming".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Final

from ais_prompt.models.openai_wire import BadBody, finish_reason_of, read_json, reasoning_of, server_words, usage_of
from ais_prompt.types import Completion, Failure, Usage

STREAMED: Final = {"stream": True, "stream_options": {"include_usage": True}}
"""What a body has besides, for its answer to come in pieces and the tokens to be told all the same."""

_LAST: Final = b"[DONE]"


class StreamReader:
    """Puts one streamed answer together. Each attempt has its own, so nothing of a broken one gets into the next.

    Args:
        clock: tells the time in seconds; the request is taken to start now.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._start = clock()
        self._rest = b""
        self._data: list[bytes] = []
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._times: list[float] = []  # of the pieces that hold something
        self._usage = Usage()
        self._finish_reason: Any = None
        self._has_choice = self._done = False
        self._fault: Failure | None = None

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the body, wherever they are cut."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self._line(line.removesuffix(b"\r"))

    def completion(self) -> Completion:
        """The answer, when the stream is over; a stream that broke off is a failure that may be tried again."""
        self.feed(b"\n\n")  # some servers leave out the empty line after the last event
        if self._fault:
            return Completion(failure=self._fault)
        if not self._done and self._finish_reason is None:
            return Completion(failure=Failure("broken_stream", "the stream ended before the answer did"))
        if not self._has_choice:
            return Completion(failure=Failure("empty_choices", "the server sent no choice at all"))
        return Completion(
            text="".join(self._text),
            finish_reason=finish_reason_of(self._finish_reason),
            usage=self._usage,
            reasoning="".join(self._reasoning),
            first_token_seconds=self._times[0] - self._start if self._times else None,
            token_seconds=self._token_seconds(),
        )

    def _token_seconds(self) -> float | None:
        """Mean seconds between tokens; where the server does not count them, a piece is taken for one."""
        tokens = self._usage.completion_tokens or len(self._times)
        return (self._times[-1] - self._times[0]) / (tokens - 1) if self._times and tokens > 1 else None

    def _line(self, line: bytes) -> None:
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
        if chunk.get("usage"):
            self._usage = usage_of(chunk["usage"])
        choices = chunk.get("choices")
        if not choices:  # the last piece has only the usage
            return
        if not isinstance(choices, list) or not isinstance(choices[0], dict):
            raise BadBody("the stream holds no choice")
        self._choice(choices[0])

    def _choice(self, choice: Mapping[str, Any]) -> None:
        self._has_choice = True
        delta = choice.get("delta")
        text = delta.get("content") if isinstance(delta, dict) else choice.get("text")
        if not isinstance(text, str | None):
            raise BadBody("the stream holds no text")
        thought = reasoning_of(delta)
        if text or thought:
            self._times.append(self._clock())
        self._text.append(text or "")
        self._reasoning.append(thought)
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
