"""Warnings of what the rules lose for the sake of parity: said once for a template, not once for a row."""

from __future__ import annotations

import logging


class WarnOnce:
    """Logs each kind of warning only the first time.

    Args:
        log: where the warnings go.
    """

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._said: set[str] = set()

    def __call__(self, message: str, *values: object) -> None:
        """Warn, as `logging.Logger.warning` does, unless this message was there before with whatever values."""
        if message not in self._said:
            self._said.add(message)
            self._log.warning(message, *values)
