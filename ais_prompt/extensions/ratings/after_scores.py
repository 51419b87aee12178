"""Ratings below the scores of a run; nothing is imported for a run without a judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def print_after_scores(root: Path, console: Console) -> None:
    """Print the ratings of a run if its judge compared several models.

    Args:
        root: of the run folder.
        console: where to.
    """
    if not any(root.glob("judge/*")):
        return
    from ais_prompt.extensions.ratings.printed import print_ratings
    from ais_prompt.extensions.ratings.rate import rate_run
    from ais_prompt.store import RunFolder

    for one in rate_run(RunFolder(root)):
        print_ratings(one, console)
