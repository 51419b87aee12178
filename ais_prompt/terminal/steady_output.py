"""Write to standard output and standard error so that writing never fails.

The results of a run are in its folder. A reader that ended, a full disk, a terminal that is gone or a pipe that nothing
reads must not end the run. `standard_stream` returns a stream that drops text it cannot write, and keeps the error.
"""

from __future__ import annotations

import errno
import io
import os
import select
from typing import Final, TextIO

PIECE: Final = 4096
"""Bytes that a pipe takes without blocking if poll(2) says that it can be written: PIPE_BUF of Linux."""

STDERR_PATIENCE: Final = 1.0
"""Seconds that a message waits for the reader of standard error. Results on standard output wait without a limit."""


class SteadyFile(io.RawIOBase):
    """A file descriptor to which writing always succeeds, as far as its users can see.

    Args:
        descriptor: where it writes. After an error it is the null device, also for processes that inherit it.
        patience: seconds to wait for a reader that does not read; None to wait as long as it takes.

    Attributes:
        error: why something was dropped; None if everything was written.
        is_terminal: whether it was a terminal at first.
    """

    def __init__(self, descriptor: int, patience: float | None) -> None:
        super().__init__()
        self.error: OSError | None = None
        self.name = f"<descriptor {descriptor}>"
        self.is_terminal = os.isatty(descriptor)
        self._descriptor = descriptor
        self._patience = patience
        self._stalled = False

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Return whether it is a terminal, or was a terminal that is gone."""
        return self.is_terminal

    def write(self, content: object, /) -> int:
        """Write bytes, and return how many there were."""
        left = memoryview(content).cast("B")  # type: ignore[arg-type]
        size = len(left)
        try:
            while left and self._is_writable():
                try:
                    left = left[os.write(self._descriptor, left[:PIECE]) :]
                except BlockingIOError:  # another writer was faster
                    continue
        except OSError as error:
            self.error = error
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, self._descriptor)
            os.close(nothing)
        return size

    def _is_writable(self) -> bool:
        """Wait until the descriptor takes more; False if its reader does not read."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLOUT)
        # A reader that made one write wait unsuccessfully gets no more time until it reads again.
        seconds = 0.0 if self._stalled else self._patience
        self._stalled = not poll.poll(None if seconds is None else 1000 * seconds)
        if self._stalled and self.error is None:
            self.error = OSError(errno.EAGAIN, "nothing reads it")
        return not self._stalled


def standard_stream(stream: TextIO | None, patience: float | None) -> tuple[TextIO, SteadyFile | None]:
    """Return a text stream like the given stream that never fails, and the file beneath it.

    Characters that its encoding has not (``PYTHONIOENCODING=ascii``, the locale POSIX) are written as escapes.

    Args:
        stream: standard output or standard error; None if it was closed before Python started.
        patience: as for `SteadyFile`, and 10 seconds at most if the descriptor does not block.

    Returns:
        The stream itself, and None, if it has no descriptor (a notebook, a test) or the system has no poll(2).
    """
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8"), None  # noqa: PTH123
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError, AttributeError):
        return stream, None
    if not isinstance(stream, io.TextIOWrapper) or not hasattr(select, "poll"):
        return stream, None
    stream.flush()
    if not os.get_blocking(descriptor):
        patience = 10.0 if patience is None else patience
    file = SteadyFile(descriptor, patience)
    beneath = file if stream.write_through else io.BufferedWriter(file)
    steady = io.TextIOWrapper(
        beneath,
        stream.encoding,
        "backslashreplace" if stream.errors in ("strict", "surrogateescape") else stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
    return steady, file


def open_standard_descriptors() -> None:
    """Open the null device as each of standard input, output and error that is closed.

    Else the next file that is opened, such as the journal, would get its number, and what libraries print.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
