"""Ratings as rows: on the scale of Elo, and as files."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct

from ais_prompt.extensions.ratings.fitted_ratings import RatedModel, elo
from ais_prompt.extensions.ratings.rate import DatasetRatings, rate_run
from ais_prompt.report import StoredResults, csv_lines
from ais_prompt.store import replacing, safe_name

HEADER: Final = (
    *("dataset", "model", "best_rank", "worst_rank", "rating", "stderr", "elo", "elo_low", "elo_high", "win_rate"),
    "verdicts",
)


class EloRow(Struct, frozen=True):
    """The rating of a model on the scale of Elo.

    Attributes:
        elo: 1000 is the mean of all models, or the anchor.
        low, high: of the 95 % interval; None if unknown.
    """

    elo: float
    low: float | None
    high: float | None

    @property
    def interval_text(self) -> str:
        """``962–1038``, or empty."""
        return "" if self.low is None or self.high is None else f"{self.low:.0f}–{self.high:.0f}"


def rows_of(found: DatasetRatings) -> list[EloRow]:
    """Return a row for each model, the best first."""
    return [
        EloRow(elo(one.rating), *((None, None) if one.interval is None else map(elo, one.interval)))
        for one in found.ratings.models
    ]


def rank_text(one: RatedModel) -> str:
    """Return ``2``, or ``2–4``."""
    return str(one.best_rank) if one.best_rank == one.worst_rank else f"{one.best_rank}–{one.worst_rank}"


def matrix_of(found: DatasetRatings) -> tuple[list[str], list[list[str]]]:
    """Return the models, the best first, and the points of each against each other one, with the number of verdicts."""
    names = [one.model for one in found.ratings.models]
    records = {}
    for one in found.ratings.pairs:
        number = one.wins + one.ties + one.losses
        if number:
            points = (one.wins + one.ties / 2) / number
            records[one.better, one.worse] = f"{100 * points:.0f} · {number:.0f}"
            records[one.worse, one.better] = f"{100 * (1 - points):.0f} · {number:.0f}"
    return names, [[records.get((row, column), "") for column in names] for row in names]


def write_ratings(run: StoredResults, folder: Path) -> list[Path]:
    """Write the ratings of a run, a CSV for each dataset, and return the files.

    Raises:
        AisPromptError: the run cannot be read, or a file cannot be written.
    """
    written = []
    for found in rate_run(run.folder):
        rows = []
        for one, row in zip(found.ratings.models, rows_of(found), strict=True):
            values = (one.best_rank, one.worst_rank, one.rating, one.stderr, row.elo, row.low, row.high, one.win_rate)
            rows.append(dict(zip(HEADER, (found.dataset, one.model, *values, one.battles), strict=True)))
        path = folder / f"{safe_name(found.dataset)}.csv"
        with replacing(path) as stream:
            stream.write(csv_lines(HEADER, rows).encode())
        written.append(path)
    return written
