"""Ratings in the report."""

from __future__ import annotations

from typing import Any, Final

from ais_prompt.extensions.ratings.rate import rate_run
from ais_prompt.extensions.ratings.tables import matrix_of, rank_text, rows_of
from ais_prompt.report import ReportTab, finite_json
from ais_prompt.store import RunFolder


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
