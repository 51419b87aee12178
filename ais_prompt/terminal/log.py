"""Log everything of a run to a file, and warnings to standard error; with ``-q`` errors only, with ``-v`` all of it.

A message that thousands of samples may cause is logged once (`ONCE`). Of messages that many tasks cause, standard error
has the first ones (`Alike`). Warnings of work that is done a second time are kept back (`silence`).
"""

from __future__ import annotations

import logging
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from ais_prompt.secrets import SECRETS
from ais_prompt.terminal.progress import above_bars, is_quiet, is_verbose
from ais_prompt.utils import NARROWEST, escaped, kind_of, shortened

ROOT = logging.getLogger("ais_prompt")
ONCE: Final = "once"
"""In ``extra`` of a log call: a key; only the first message with a key is logged."""
SHOWN_ALIKE: Final = 3
"""Messages of one kind that standard error has; the log of the run has all."""
_EXAMPLE: Final = 56
"""Characters of a message that is the example of its kind."""
_SILENT: Final = ContextVar("silent", default=False)


NOTE: Final = logging.INFO + 5
"""Level of what a person may want to know and need not act on."""
logging.addLevelName(NOTE, "NOTE")
FACT: Final = logging.INFO + 4
"""Level of a line that describes a run; it is shown without the name of its level."""
logging.addLevelName(FACT, "FACT")


@contextmanager
def logging_to(file: Path) -> Iterator[None]:
    """Append all messages of ais_prompt to a file while the body runs, tracebacks included.

    A log that cannot be written (a full disk) never ends a run.
    """
    warnings = _StandardError()
    warnings.setLevel(logging.ERROR if is_quiet() else logging.INFO if is_verbose() else FACT)
    warnings.setFormatter(_OnScreen())
    handlers: list[logging.Handler] = [warnings]
    log: _LogFile | None = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        log = _LogFile(file, encoding="utf-8", errors="backslashreplace")
        log.setFormatter(_Printable("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        handlers.append(log)
    except OSError as error:
        ROOT.warning("no log is written: %s", error)
    level, raising = ROOT.level, logging.raiseExceptions
    ROOT.setLevel(logging.INFO)
    logging.raiseExceptions = False
    for handler in handlers:
        handler.addFilter(OnceFilter())
        ROOT.addHandler(handler)
    try:
        yield
    finally:
        logging.raiseExceptions = raising
        ROOT.setLevel(level)
        for handler in reversed(handlers):  # the file first: a message that it lost is a warning
            ROOT.removeHandler(handler)
            handler.close()
            if handler is log and log.error is not None:
                ROOT.warning("%s lacks messages, which changes no score: %s", file, log.error)


class Alike:
    """Counts the messages of each kind (`kind_of`): they differ in the names of their tasks and in values only.

    A message without a name in brackets is always shown: it is an event of the run, such as an outage.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def is_shown(self, text: str) -> bool:
        """Return whether a message is one of the first of its kind, or all messages are to be shown."""
        if "[" not in text:
            return True
        kind = kind_of(text)
        self._counts[kind] += 1
        self._examples.setdefault(kind, text)
        return self._counts[kind] <= SHOWN_ALIKE or is_verbose()

    def more(self) -> Iterator[str]:
        """Yield how many messages of each kind were not shown."""
        for kind, count in self._counts.items():
            if count > SHOWN_ALIKE and not is_verbose():
                example = self._examples[kind].partition("\n")[0].split("] ", 1)[-1]
                yield f"and {count - SHOWN_ALIKE:,} more in logs/run.log: {shortened(example, _EXAMPLE)}"


class OnceFilter(logging.Filter):
    """Drops messages whose `ONCE` was there before. Each log has its own, so that every run has the first."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the message is logged."""
        key = getattr(record, ONCE, None)
        if key in self._seen:
            return False
        if key is not None:
            self._seen.add(key)
        return True


class SilenceFilter(logging.Filter):
    """Drops messages inside `silence`. `logging.disable` would drop messages of other threads, too."""

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002
        """Return whether the message is logged."""
        return not _SILENT.get()


SILENCE: Final = SilenceFilter()
"""For the loggers that can be silenced: a logger takes the same filter only once."""


@contextmanager
def silence() -> Iterator[None]:
    """Log nothing of loggers with the filter `SILENCE` while the body runs; other threads log as before."""
    token = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(token)


class _Printable(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return escaped(SECRETS.hide_in_message(super().format(record)))


class _OnScreen(_Printable):
    """Puts the level in front of a message, and breaks a `FACT` between words where a terminal ends."""

    def __init__(self) -> None:
        super().__init__("%(levelname)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        if record.levelno != FACT:
            return line
        width = shutil.get_terminal_size().columns if sys.stderr.isatty() else len(line)
        return textwrap.fill(line.removeprefix("FACT: "), max(width, NARROWEST), subsequent_indent="  ")


class _StandardError(logging.Handler):
    """Write to the current standard error. The progress display of a run replaces it while it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self._alike = Alike()

    def emit(self, record: logging.LogRecord) -> None:
        if self._alike.is_shown(record.getMessage()):
            self._print(self.format(record))

    def close(self) -> None:
        """Print how many messages were not."""
        for line in self._alike.more():
            self._print(f"WARNING: {line}")
        super().close()

    def _print(self, text: str) -> None:
        with above_bars():
            print(text, file=sys.stderr, flush=True)


class _LogFile(logging.FileHandler):
    """A log whose disk may be full at any time, also when it is closed.

    Attributes:
        error: the first error; None if every message was written.
    """

    error: BaseException | None = None

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802
        """Keep the error of a message."""
        self.error = self.error or sys.exc_info()[1]

    def close(self) -> None:
        """Close the file, which also writes messages that a full disk refused before."""
        try:
            super().close()
        except OSError as error:
            self.error = self.error or error
