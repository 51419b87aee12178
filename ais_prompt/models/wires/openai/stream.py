"""Streamed answers of chat and text completions.

Source: the API reference of OpenAI, "Streaming".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from ais_prompt.models.api.stream import StreamReader
from ais_prompt.models.api.wire import BadBody
from ais_prompt.models.wires.openai.replies import (
    completion_of,
    content_of,
    first_choice,
    reasoning_of,
    refusal_of,
    tool_calls_of,
)
from ais_prompt.types import Completion, Failure


class ChatStream(StreamReader):
    """Assembles the chunks of a chat completion or a text completion.

    Args:
        clock: as for `StreamReader`.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        super().__init__(clock)
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._usage: Any = None
        self._finish_reason: Any = None
        self._has_choice = False

    @property
    def _ended(self) -> bool:
        return self._finish_reason is not None

    def _assemble(self) -> Completion:
        if not self._has_choice:
            return Completion(failure=Failure("empty_choices", "the server sent no choice at all"))
        text, refusal, reasoning = map("".join, (self._text, self._refusal, self._reasoning))
        calls = tool_calls_of({"tool_calls": list(self._calls.values())})
        return completion_of(text, refusal, self._finish_reason, self._usage, reasoning, calls)

    def _take(self, event: dict[str, Any]) -> bool:
        self._usage = event.get("usage") or self._usage
        choices = event.get("choices")
        if not choices:  # the last piece has only the usage
            return False
        choice = first_choice(choices) if isinstance(choices, list) else None
        if not isinstance(choice, dict):
            raise BadBody("the stream holds no choice")
        # Others are not requested, but some servers send them.
        return self._choice(choice) if choice.get("index") in (0, None) else False

    def _choice(self, choice: Mapping[str, Any]) -> bool:
        self._has_choice = True
        delta = choice.get("delta")
        text, thought = content_of(delta.get("content") if isinstance(delta, dict) else choice.get("text"))
        reasoning, refusal = reasoning_of(delta) or thought, refusal_of(delta)
        self._text.append(text)
        self._reasoning.append(reasoning)
        self._refusal.append(refusal)
        called = self._call(delta)
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
        return bool(text or reasoning or refusal or called)

    def _call(self, delta: Any) -> bool:
        """Take the pieces of tool calls: the first has the name, all have a part of the arguments."""
        pieces = delta.get("tool_calls") if isinstance(delta, dict) else None
        found = [piece for piece in pieces if isinstance(piece, dict)] if isinstance(pieces, list) else []
        for piece in found:
            index, function = piece.get("index", 0), piece.get("function")
            if type(index) is not int or not isinstance(function, dict):
                continue
            call = self._calls.setdefault(index, {"function": {"name": "", "arguments": ""}})["function"]
            for name in call:
                call[name] += function[name] if isinstance(function.get(name), str) else ""
        return bool(found)
