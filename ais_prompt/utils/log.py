"""Log everything of a run to a file, and warnings to standard error; with ``-q`` errors only, with ``-v`` all of it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ais_prompt.utils.log_once import OnceFilter
from ais_prompt.utils.progress import above_bars
from ais_prompt.utils.secrets import SECRETS
from ais_prompt.utils.text import escaped
from ais_prompt.utils.verbosity import is_quiet, is_verbose

ROOT = logging.getLogger("ais_prompt")


@contextmanager
def logging_to(file: Path) -> Iterator[None]:
    """Append all messages of ais_prompt to a file while the body runs, tracebacks included.

    A log that cannot be written (a full disk) never ends a run.
    """
    handlers: list[logging.Handler] = [_warnings()]
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(_everything(file))
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
        for handler in handlers:
            ROOT.removeHandler(handler)
            handler.close()


class _Printable(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return escaped(SECRETS.hide_in_message(super().format(record)))


class _StandardError(logging.Handler):
    """Write to the current standard error. The progress display of a run replaces it while it is shown."""

    def emit(self, record: logging.LogRecord) -> None:
        with above_bars():
            print(self.format(record), file=sys.stderr, flush=True)


def _warnings() -> logging.Handler:
    handler = _StandardError()
    handler.setLevel(logging.ERROR if is_quiet() else logging.INFO if is_verbose() else logging.WARNING)
    handler.setFormatter(_Printable("%(levelname)s: %(message)s"))
    return handler


def _everything(file: Path) -> logging.Handler:
    handler = logging.FileHandler(file, encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(_Printable("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    return handler
