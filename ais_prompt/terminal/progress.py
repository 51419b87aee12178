"""Show the progress of long work on standard error, unless ``-q`` asks for silence.

It is shown on the progress display of a run, if there is one. Otherwise a terminal or notebook shows a tqdm bar, and a
log gets a line now and then. Short work shows nothing. Nothing is written to standard output.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from threading import RLock
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from ais_prompt.utils import printable

T = TypeVar("T")
Advance: TypeAlias = Callable[[int], None]
"""Count this many more units as done; 0 shows new facts."""
Facts: TypeAlias = Callable[[], str]
"""Returns what is shown instead of the count, or beside it."""
DELAY = 1.0
"""Seconds until a bar appears. Shorter work shows none."""
LOG_INTERVAL = 10.0
"""Seconds between two lines in a log."""
_displays: list[Display] = []
"""Displays that own the terminal. The last one shows all work."""
_bars: list[_Bar] = []
"""Bars of unfinished work."""
QUIET: Final = -1
"""Results and errors only: no progress, no warnings, no hints."""
NORMAL: Final = 0
VERBOSE: Final = 1
"""All messages of the log of a run too."""
_levels: Final = [NORMAL]


class Display(Protocol):
    """Shows the progress of one piece of work while a context is open."""

    def __call__(
        self, description: str, total: int | None, unit: str, facts: Facts | None = None
    ) -> AbstractContextManager[Advance]: ...


def tracked(items: Iterable[T], description: str, total: int | None = None, unit: str = "rows") -> Iterator[T]:
    """Yield items, and show how many of them are done.

    Args:
        items: the items of the work.
        description: the work, such as ``scoring demo/addition``.
        total: how many items there are; their `len` if left out, unknown if they have none.
        unit: name of an item, in the plural.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    with tracking(description, total, unit) as advance:
        for item in items:
            yield item
            advance(1)


def tracking(
    description: str, total: int | None, unit: str, facts: Facts | None = None
) -> AbstractContextManager[Advance]:
    """Show the progress of work that is not a loop over items; yield the function that counts.

    Args:
        description: the work, such as ``reading train.jsonl``.
        total: how many units there are; None if unknown.
        unit: name of a unit, in the plural; ``B`` for bytes.
        facts: returns what is shown instead of the count, or beside it.
    """
    if is_quiet():
        return nullcontext(lambda _count: None)
    display = _displays[-1] if _displays else _bar
    return display(printable(description), total, unit, facts)


@contextmanager
def waiting(description: str) -> Iterator[Callable[[], None]]:
    """Show for how many seconds something is waited for; yield the function to call now and then meanwhile.

    Args:
        description: the event that is waited for, such as ``starting the server of demo``.
    """
    start, shown = time.monotonic(), 0
    with tracking(description, None, "seconds") as advance:

        def tick() -> None:
            nonlocal shown
            passed = int(time.monotonic() - start)
            advance(passed - shown)
            shown = passed

        yield tick


@contextmanager
def shown_on(display: Display) -> Iterator[None]:
    """Show all work on a display that owns the terminal, which bars would disturb."""
    _displays.append(display)
    try:
        yield
    finally:
        _displays.remove(display)


def close_bars() -> None:
    """Remove all bars from the terminal, before an error is printed.

    The traceback of the error keeps the generator of a loop over `tracked` items alive, and with it the bar.
    """
    for bar in list(_bars):
        bar.close()


@contextmanager
def above_bars() -> Iterator[None]:
    """Hide the bars while the body writes to standard error."""
    for bar in list(_bars):
        bar.clear()
    try:
        yield
    finally:
        for bar in list(_bars):
            bar.refresh()


def in_notebook() -> bool:
    """Return whether this is a notebook: there is an IPython kernel."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config


@contextmanager
def verbosity(level: int) -> Iterator[None]:
    """Print as much as ``level`` says while the body runs, in all threads of this process."""
    _levels.append(level)
    try:
        yield
    finally:
        _levels.pop()


def is_quiet() -> bool:
    """Return whether only results and errors are printed."""
    return _levels[-1] <= QUIET


def is_verbose() -> bool:
    """Return whether all messages are printed."""
    return _levels[-1] >= VERBOSE


class _Bar:
    """A bar of tqdm that is made at the first count after the delay, so that short work does not even import tqdm.

    Without a terminal or notebook it is a line of text at each interval.
    """

    def __init__(self, description: str, total: int | None, unit: str, facts: Facts | None) -> None:
        self._facts = facts
        self._drawn = sys.stderr.isatty() or in_notebook()
        self._what = {"desc": description, "total": total, "unit": unit if unit == "B" else f" {unit}"}
        self._start = time.monotonic()
        self._done = 0
        self._tqdm: Any = None

    def advance(self, count: int) -> None:
        """Count more units as done."""
        if self._tqdm is not None:
            self._note_facts()
            self._tqdm.update(count)
            if not count:
                self.refresh()
            return
        self._done += count
        waited = time.monotonic() - self._start
        if waited >= (DELAY if self._drawn else LOG_INTERVAL):
            self._tqdm = self._make()
            if not self._tqdm.disable:  # by the environment variable TQDM_DISABLE
                self._tqdm.start_t -= waited
                self._tqdm.n = self._done
                self._note_facts()
                self._tqdm.refresh()

    def _note_facts(self) -> None:
        if self._facts is not None:
            self._tqdm.set_description_str(f"{self._facts()} · {self._what['desc']}", refresh=False)

    def _make(self) -> Any:
        how: dict[str, Any] = {"mininterval": 0.2, "dynamic_ncols": True}
        if not self._drawn:
            how = {"mininterval": LOG_INTERVAL, "ncols": 0, "file": _Lines()}
        elif sys.stderr.isatty() and 0 in (size := os.get_terminal_size(sys.stderr.fileno())):
            # tqdm shows nothing if the terminal does not report its size.
            how = {"mininterval": 0.2, "ncols": (size.columns or 80) - 1, "nrows": 24}
        if self._facts is not None and self._drawn:
            how["bar_format"] = "{desc} [{elapsed}] {bar}"
        elif self._facts is not None:
            how |= {"bar_format": "{desc} [{elapsed}]", "ncols": None}  # with 0 columns tqdm ignores the format
        # delay: do not draw before anything is counted. miniters: look at the clock at each count, because work that
        # becomes slower would look as if it were stuck. smoothing: show the mean rate since the start.
        return _tqdm(in_notebook())(
            **self._what, **how, unit_scale=self._what["unit"] == "B", leave=False, delay=1e-9, miniters=1, smoothing=0
        )

    def clear(self) -> None:
        """Hide the bar until it is refreshed."""
        if self._tqdm is not None and self._drawn:
            self._tqdm.clear()

    def refresh(self) -> None:
        """Draw the bar again."""
        if self._tqdm is not None and self._drawn:
            self._tqdm.refresh()

    def close(self) -> None:
        """Remove the bar for good; later counts show nothing."""
        if self._tqdm is not None:
            self._tqdm.close()


class _Lines:
    """A stream that writes each new state of a bar as a line to standard error."""

    def write(self, text: str) -> None:
        if line := text.strip():
            print(line, file=sys.stderr, flush=True)

    def flush(self) -> None:
        """Do nothing: each line is flushed."""


@contextmanager
def _bar(description: str, total: int | None, unit: str, facts: Facts | None = None) -> Iterator[Advance]:
    bar = _Bar(description, total, unit, facts)
    _bars.append(bar)
    try:
        yield bar.advance
    finally:
        bar.close()
        _bars.remove(bar)


@lru_cache
def _tqdm(notebook: bool) -> Any:
    """Return the class of bars. Importing ``tqdm.auto`` takes longer, and only matters in a notebook."""
    if notebook:
        from tqdm import TqdmWarning

        with warnings.catch_warnings():  # without ipywidgets the bars are text, which is no reason to warn
            warnings.simplefilter("ignore", TqdmWarning)
            from tqdm.auto import tqdm
    else:
        from tqdm import tqdm
    # No monitor thread, and no multiprocessing lock, which would fix the start method of the process.
    quiet: Any = type("Bar", (tqdm,), {"monitor_interval": 0})
    quiet.set_lock(RLock())
    return quiet
