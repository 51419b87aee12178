"""`Moments`: when the steps of one attempt happened, for measuring a server."""

from __future__ import annotations

from collections.abc import Callable

from ais_prompt.models.transport.base import Sink


class Moments:
    """A `Sink` that notes when the steps of one attempt happen, in seconds of one clock. What did not happen is None.

    The clock is read once for each piece of the body, before the piece is parsed.

    Args:
        clock: returns the time in seconds.

    Attributes:
        connected: when there was a connection, new or reused.
        sent: when the last byte of the request was handed to the system.
        first_byte: when the first piece of the body came.
        last_read: when the last piece came; before the first one, when this was made.
        take: takes the pieces of a streamed answer; None collects them in ``body``.
        body: the body of an answer that is not streamed.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.connected: float | None = None
        self.sent: float | None = None
        self.first_byte: float | None = None
        self.last_read = clock()
        self.take: Sink | None = None
        self.body = bytearray()

    def __call__(self, piece: bytes) -> None:
        """Take a piece of the body."""
        self.last_read = self.clock()
        if self.first_byte is None:
            self.first_byte = self.last_read
        if self.take is None:
            self.body += piece
        else:
            self.take(piece)
