"""Tabs of the report that extensions bring; each is shown of runs that have its files."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ais_prompt.errors import AisPromptError
from ais_prompt.extension import import_object
from ais_prompt.steps import extensions
from ais_prompt.store import RunFolder

logger = logging.getLogger(__name__)


class ReportTab(NamedTuple):
    """What the pages show of a run that has the files of a tab. Its scripts add the tab, see ``assets/further.js``.

    Attributes:
        data: (run folder) → JSON values, which the report has beside its own.
        line: (run folder) → values of the line in the list of runs.
        version: (run folder) → when the newest file was written, in nanoseconds since 1970; 0 if there is nothing to
            show yet.
        live: (run folder) → what goes on in a run that is running; None if that is nothing.
        is_scored: whether the tab is beside scores: the answers so far are scored while the run lasts.
    """

    data: Callable[[RunFolder], Mapping[str, Any]]
    line: Callable[[RunFolder], Mapping[str, Any]]
    version: Callable[[RunFolder], int]
    live: Callable[[RunFolder], Mapping[str, Any] | None]
    is_scored: bool = True


def tabs_of(folder: RunFolder) -> dict[str, ReportTab]:
    """Return the tabs of a run, by name; no other tab is imported.

    Args:
        folder: of the run, or of the scores of one that is not finished.
    """
    run = folder.whole.root
    entries = {name: entry for one in extensions() for name, entry in one.tabs.items()}
    return {
        name: import_object(entry.home)
        for name, entry in entries.items()
        if any(any(run.glob(pattern)) for pattern in entry.files)
    }


def further_data(folder: RunFolder) -> dict[str, Any]:
    """Return the data of all tabs of a run. A tab beside scores that cannot be read is left out.

    Raises:
        StoreError: a file of a run without scores cannot be read.
    """
    found: dict[str, Any] = {}
    for name, tab in tabs_of(folder).items():
        try:
            found |= tab.data(folder.whole)
        except AisPromptError as error:
            if not tab.is_scored:
                raise
            logger.warning("the report has no tab %r: %s", name, error)
    return found


def time_of_tabs(folder: RunFolder) -> int:
    """Return when the newest file of a tab was written, in nanoseconds since 1970; 0 if there is none."""
    return max((tab.version(folder.whole) for tab in tabs_of(folder).values()), default=0)


def tab_assets(ending: str) -> list[str]:
    """Return the names of the assets of all tabs with an ending, ``.js`` for the scripts."""
    assets = (name for one in extensions() for entry in one.tabs.values() for name in entry.assets)
    return [name for name in assets if name.endswith(ending)]
