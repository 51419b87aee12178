"""Ratings against base models below the scores of a run; nothing is imported for a run without a judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def print_after_scores(root: Path, console: Console) -> None:
    """Print the ratings of a run if functions of OpenCompass read battles in what its judge says.

    Args:
        root: of the run folder.
        console: where to.
    """
    if not any(root.glob("judge/*")):
        return
    from ais_prompt.extensions.peers.arena import print_table_of, tables_of
    from ais_prompt.store import RunFolder

    for table in tables_of(RunFolder(root)):
        print_table_of(table, console)
