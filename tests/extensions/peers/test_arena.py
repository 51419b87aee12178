"""Ratings of a run against a base model are those of OpenCompass; ``tools/real/record.py`` recorded them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from ais_prompt.extensions.peers.code.running import judged_verdict
from ais_prompt.extensions.peers.tables import ALL, RatingOptions, style_control, tables

RECORDED: Final[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "data/peers/ratings.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("recorded", RECORDED["tables"], ids=lambda one: str(one["options"]))
def test_ratings_are_those_of_the_summarizer(recorded: dict[str, Any]) -> None:
    """Their optimizer stops early: with a tolerance of 1e-15 in place of 2e-9 all are equal to 0.00002."""
    pools = {
        ("", dataset, base): [
            battle
            for model, matches in models.items()
            for battle in judged_verdict({"matches": matches}, len(matches), "function", model).battles
        ]
        for dataset, bases in RECORDED["matches"].items()
        for base, models in bases.items()
    }
    found = list(tables(pools, RatingOptions(**recorded["options"])))
    ours = {
        (table.dataset, table.base_model, row.model_name): (row.rating, row.predicted_win_rate, row.num_battles)
        for table in found
        for row in table.rows
    }
    theirs = {(dataset or ALL, base, model): numbers for dataset, base, model, *numbers in recorded["rows"]}
    assert ours.keys() == theirs.keys()
    for key, (rating, rate, battles) in theirs.items():
        assert ours[key] == (pytest.approx(rating, abs=0.02), pytest.approx(rate, abs=2e-4), battles), key
    assert found[-1].odds == pytest.approx(recorded["odds"], rel=1e-3)
    assert [table.rows for table in found] == [
        sorted(table.rows, key=lambda row: -row.rating) for table in found
    ]  # the best first


def test_an_interval_contains_its_rating() -> None:
    """Those of theirs differ from run to run with style control: no number of them can be compared."""
    [matches] = [models["plain"] for models in RECORDED["matches"]["south"].values()]
    battles = judged_verdict({"matches": matches}, len(matches), "function", "plain").battles
    [table] = tables({("judge", "south", "old"): battles}, RatingOptions())
    rows = {row.model_name: row for row in table.rows}
    base, own = rows["old"], rows["plain"]
    assert (base.rating, base.rating_q025, base.rating_q975, base.predicted_win_rate) == (1000, 1000, 1000, 0.5)
    assert own.rating_q025 is not None
    assert own.rating_q975 is not None
    assert own.rating_q025 < own.rating < own.rating_q975


def test_the_covariates_of_style() -> None:
    relative = style_control([[3, 1], [0, 1]], [[0, 1], [1, 1]], standardize=False)
    assert relative.tolist() == [[0.75, 0.0], [-0.5, 0.0]]
    assert style_control([[3, 1], [0, 1]], [[0, 1], [1, 1]]).tolist() == [[1.0, 0.0], [-1.0, 0.0]]
