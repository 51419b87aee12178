"""Ratings of a run: as values, as rows on the scale of Elo, as files, and in the report."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct, field

from ais_prompt.extensions.ratings.fitted_ratings import RatedModel, RatedPair, Ratings, elo, fit_ratings
from ais_prompt.extensions.ratings.stored_battles import LENGTH, STYLES, Battles, battles_of
from ais_prompt.report import ReportTab, StoredResults, csv_lines, finite_json
from ais_prompt.store import RunFolder, replacing, safe_name
from ais_prompt.types import Document

Control: TypeAlias = Literal["length", "style"]
"""Covariates of answers: their length as in AlpacaEval, or length and Markdown as in Arena-Hard's style control."""

HEADER: Final = (
    *("dataset", "model", "best_rank", "worst_rank", "rating", "stderr", "elo", "elo_low", "elo_high", "win_rate"),
    "verdicts",
)


class DatasetRatings(Struct, frozen=True):
    """The ratings of the models on a dataset.

    Attributes:
        dataset: its ``abbr``.
        verdicts: how many verdicts there are.
        questions: about how many questions, or clusters of them.
        ratings: of the models.
    """

    dataset: str
    verdicts: int
    questions: int
    ratings: Ratings

    def neighbours(self) -> list[RatedPair]:
        """Return the pairs of models next to each other in the table, the best first."""
        names = [one.model for one in self.ratings.models]
        pairs = {(one.better, one.worse): one for one in self.ratings.pairs}
        return [pairs[both] for both in pairwise(names) if both in pairs]


def rate_run(
    folder: RunFolder, *, control: Control | None = None, anchor: str | None = None, ties_are_half: bool = False
) -> list[DatasetRatings]:
    """Return the ratings on each dataset of a run whose judge compared several models; none if it has no such dataset.

    Args:
        folder: of the run, which is scored.
        control: covariates of the answers; None for none.
        anchor: the model whose rating is 0.
        ties_are_half: count a tie as half a win, as the arenas do, instead of Davidson's model.

    Raises:
        AisPromptError: the run cannot be read.
    """
    return [_rated(one, control, anchor, ties_are_half) for one in battles_of(folder)]


def _rated(found: Battles, control: Control | None, anchor: str | None, ties_are_half: bool) -> DatasetRatings:
    battles = found.battles
    features: tuple[str, ...] = ()
    if control == "length":
        battles, features = found.with_length(), (LENGTH,)
    elif control == "style":
        battles, features = found.with_style(), STYLES
    ratings = fit_ratings(
        battles,
        features=features,
        ties="half" if ties_are_half else "davidson",
        anchor=anchor,
    )
    return DatasetRatings(found.dataset, len(battles), len({one.question for one in battles}), ratings)


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


class RatingsDocument(Document, kw_only=True):
    """What ``ratings`` prints.

    Attributes:
        folder: of the run.
        datasets: the ratings on each dataset whose judge compared several models: ``dataset``, ``verdicts``,
            ``questions`` and ``ratings``, with the fields of `Ratings`; ratings are log odds.
    """

    kind: Literal["ratings"]
    folder: str = ""
    datasets: list[dict[str, Any]] = field(default_factory=list)


def ratings_json(folder: RunFolder) -> dict[str, Any]:
    """Return what the report shows of ratings, as JSON values.

    Returns:
        ``ratings``: for each dataset its name, numbers of verdicts and questions, the models, the matrix and the notes.

    Raises:
        AisPromptError: the run cannot be read.
    """
    found = []
    for one in rate_run(folder):
        names, cells = matrix_of(one)
        models = [
            {
                "model": rated.model,
                "rank": rank_text(rated),
                "elo": row.elo,
                "low": row.low,
                "high": row.high,
                "win_rate": rated.win_rate,
                "verdicts": rated.battles,
            }
            for rated, row in zip(one.ratings.models, rows_of(one), strict=True)
        ]
        apart = [
            {"pair": [pair.better, pair.worse], "more": pair.battles_to_separate}
            for pair in one.neighbours()
            if not pair.is_separated
        ]
        effects = [
            {"name": effect.name, "value": effect.value, "interval": effect.interval}
            for effect in one.ratings.effects
            if effect.value is not None
        ]
        found.append(
            {
                "dataset": one.dataset,
                "verdicts": one.verdicts,
                "questions": one.questions,
                "models": models,
                "matrix": {"names": names, "cells": cells},
                "apart": apart,
                "effects": effects,
                "notes": list(one.ratings.notes),
            }
        )
    values: dict[str, Any] = finite_json({"ratings": found})
    return values


def _version(folder: RunFolder) -> int:
    """Return when the newest scores were written; the ratings follow from them."""
    return max((path.stat().st_mtime_ns for path in folder.root.glob("results/*/*.json")), default=0)


TAB: Final = ReportTab(data=ratings_json, line=lambda _: {}, version=_version, live=lambda _: None)
