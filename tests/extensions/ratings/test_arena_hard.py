"""Win rates and ratings are those that the code of Arena-Hard computes from the same verdicts.

The table is written by ``python -m tools.real.judgements``, which names its source and the licence of that code. The
verdicts are made up there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

import pytest
from msgspec.structs import replace

from ais_prompt.extensions.ratings.bradley_terry import Battle
from ais_prompt.extensions.ratings.fitted_ratings import fit_ratings
from ais_prompt.extensions.ratings.stored_battles import arena_hard_style
from ais_prompt.judges import PairwiseEvaluator

TABLE: Final = json.loads((Path(__file__).parents[2] / "data" / "judgements" / "arena_hard.json").read_text("utf-8"))
BASELINE: Final = TABLE["baseline"]
STYLES: Final = TABLE["styles"]
EVALUATOR: Final = PairwiseEvaluator(first=["A>>B", "A>B"], second=["B>A", "B>>A"], tie="A=B", order_change="mean")
POINTS: Final = {"A": 1.0, "=": 0.5, "B": 0.0}


def win_rate(rating: float) -> float:
    """Return the probability of a win against the baseline, as Arena-Hard predicts it."""
    return 1 / (1 + math.exp(-rating))


class Game(NamedTuple):
    """A verdict: question, model, its points against the baseline, and whether it is strong."""

    question: int
    model: str
    points: float
    strong: bool


def games() -> Iterator[Game]:
    """Yield the verdicts of the questions that have both, as ``load_judgments`` does."""
    for model, verdicts in TABLE["verdicts"].items():
        for question, (baseline_first, model_first) in enumerate(verdicts):
            if baseline_first is not None and model_first is not None:
                yield Game(question, model, 1 - points_of(baseline_first), ">>" in baseline_first)
                yield Game(question, model, points_of(model_first), ">>" in model_first)


def points_of(label: str) -> float:
    return POINTS["=" if "=" in label else label[0]]


def battles(weight: int, *, both_orders: bool = False) -> list[Battle]:
    """Return the verdicts as battles with styles; a strong one counts ``weight`` times."""
    rows = [one for one in games() for _ in range(weight if one.strong else 1)]
    made = [Battle(one.model, BASELINE, one.points, str(number)) for number, one in enumerate(rows)]
    pairs = [(STYLES[one.model][one.question], STYLES[BASELINE][one.question]) for one in rows]
    if both_orders:
        made += [Battle(one.second, one.first, 1 - one.points, one.question) for one in made]
        pairs += [pair[::-1] for pair in pairs]
    styles = arena_hard_style(*zip(*pairs, strict=True)).tolist()
    return [replace(one, features=tuple(style)) for one, style in zip(made, styles, strict=True)]


def test_the_win_rate_is_theirs_with_a_weight_of_one() -> None:
    means: dict[str, list[float]] = {}
    for model, verdicts in TABLE["verdicts"].items():
        for baseline_first, model_first in verdicts:
            said = [
                None if text is None else EVALUATOR.verdict(f"[[{text}]]") for text in (model_first, baseline_first)
            ]
            if (points := EVALUATOR.vote(said)) is not None:
                means.setdefault(model, []).append(points)
    assert {model: fmean(each) for model, each in means.items()} == pytest.approx(TABLE["weight 1"]["means"])


@pytest.mark.parametrize("weight", [1, 3])
def test_the_ratings_with_style_control_are_theirs(weight: int) -> None:
    theirs = TABLE[f"weight {weight}"]
    found = fit_ratings(
        battles(weight),
        features=("length", "headers", "lists", "bold"),
        position=False,
        ties="half",
        anchor=BASELINE,
        resamples=0,
    )
    rates = {one.model: win_rate(one.rating) for one in found.models}
    effects = [one.value for one in found.effects]
    converged = theirs["style fit, converged"]  # in single precision
    assert rates == pytest.approx(converged["win rates"], abs=5e-4)
    assert effects == pytest.approx(converged["coefficients"], abs=5e-3)
    # Their leaderboard ends after 50 steps, before the maximum.
    assert rates == pytest.approx(theirs["style fit"]["win rates"], abs=5e-3)


@pytest.mark.thorough
def test_the_intervals_are_theirs_if_each_verdict_is_a_question() -> None:
    theirs = TABLE["weight 1"]["style leaderboard"]
    found = fit_ratings(
        battles(1),
        features=("length", "headers", "lists", "bold"),
        position=False,
        ties="half",
        anchor=BASELINE,
        resamples=200,
    )
    for one in found.models:
        score, low, high = theirs[one.model]
        assert one.stderr is not None
        ends = [win_rate(one.rating + sign * 1.645 * one.stderr) for sign in (-1, 1)]
        # 100 resamples each.
        assert win_rate(one.rating) == pytest.approx(score, abs=0.03)
        assert ends == pytest.approx([low, high], abs=0.04)


def test_each_pair_in_both_orders_compares_at_equal_style() -> None:
    """They centre the covariates of model less baseline: their win rate is that at the mean difference of styles."""
    options: dict[str, Any] = {"position": False, "ties": "half", "anchor": BASELINE, "resamples": 0}
    names = ("length", "headers", "lists", "bold")
    centred, equal = (fit_ratings(battles(1, both_orders=both), features=names, **options) for both in (False, True))
    shift = {one.model: one.rating for one in centred.models}
    moved = [shift[one.model] - one.rating for one in equal.models if one.model != BASELINE]
    assert moved == pytest.approx([moved[0]] * len(moved), abs=1e-6)
    assert not math.isclose(moved[0], 0, abs_tol=1e-3)
