"""What a terminal receives, and what stays on its screen."""

from __future__ import annotations

import io
import os
import pty
import re
import termios
import threading
from collections.abc import Callable

from tests.support.waiting import WATCHDOG_SECONDS


def in_terminal(work: Callable[[io.TextIOBase], None], columns: int = 80) -> str:
    """What a terminal receives while ``work`` writes to it."""
    controller, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, columns))
    received: list[bytes] = []

    def read() -> None:
        # Linux answers EIO when the other side is closed.
        try:
            while chunk := os.read(controller, 4096):
                received.append(chunk)
        except OSError:
            pass

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(terminal, "w", encoding="utf-8") as stream:
        work(stream)
    reader.join(timeout=WATCHDOG_SECONDS)
    os.close(controller)
    return b"".join(received).decode()


def screen(received: str) -> list[str]:
    """The lines that stay, without what moves the cursor or colours the text."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", received)
    lines = [line.rpartition("\r")[2].rstrip() for line in plain.replace("\r\n", "\n").split("\n")]
    return [line for line in lines if line]
