"""Streamed answers of Anthropic's Messages API.

Source: the API reference of Anthropic, "Streaming Messages".
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, Final

from ais_prompt.models.api.stream import StreamReader
from ais_prompt.models.api.wire import BadBody, fields_of, read_json, text_of
from ais_prompt.models.wires.anthropic.replies import message_completion
from ais_prompt.types import Completion

_PIECES: Final = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
"""Type of a delta → its field with a piece of a block."""


class MessageStream(StreamReader):
    """Assembles one message from its events.

    Args:
        clock: as for `StreamReader`.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        super().__init__(clock)
        self._message: dict[str, Any] | None = None
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, list[str]] = {}
        self._stopped = False

    @property
    def _ended(self) -> bool:
        return self._stopped

    def _take(self, event: dict[str, Any]) -> bool:
        kind, index = text_of(event.get("type")), event.get("index")
        if kind == "message_start" and isinstance(event.get("message"), dict):
            self._message = dict(event["message"])
        elif kind == "content_block_start" and type(index) is int and isinstance(event.get("content_block"), dict):
            self._blocks[index], self._pieces[index] = dict(event["content_block"]), []
        elif kind == "content_block_delta" and type(index) is int and index in self._blocks:
            return self._piece(index, fields_of(event.get("delta")))
        elif kind == "message_delta" and self._message is not None:
            usage = fields_of(self._message.get("usage")) | fields_of(event.get("usage"))
            self._message |= {**fields_of(event.get("delta")), "usage": usage}
        elif kind == "message_stop":
            self._stopped = True
        return False

    def _piece(self, index: int, delta: Any) -> bool:
        """Take a piece of a block; return whether it has content."""
        field = _PIECES.get(text_of(delta.get("type")))
        piece = delta.get(field) if field else None
        if not isinstance(piece, str):
            return False
        self._pieces[index].append(piece)
        return bool(piece)

    def _assemble(self) -> Completion:
        if self._message is None:
            raise BadBody("the stream holds no message")
        return message_completion({**self._message, "content": [self._block(index) for index in sorted(self._blocks)]})

    def _block(self, index: int) -> dict[str, Any]:
        block, text = self._blocks[index], "".join(self._pieces[index])
        kind = block.get("type")
        if kind in ("text", "thinking"):
            return {**block, kind: text_of(block.get(kind)) + text}
        if kind == "tool_use" and text:
            try:
                return {**block, "input": read_json(text.encode())}
            except BadBody:  # an answer that was cut ends in the middle of its arguments
                return {**block, "input": text}
        return block
