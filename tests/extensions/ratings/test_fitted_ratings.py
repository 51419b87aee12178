"""Ratings agree with second implementations, and say what limits them."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.extensions.ratings.bradley_terry import POSITION, Battle
from ais_prompt.extensions.ratings.fitted_ratings import Ratings, elo, fit_ratings
from ais_prompt.extensions.ratings.stored_battles import length_control
from tests.support.lazy import Lazy

optimize = Lazy("scipy.optimize")
statsmodels = Lazy("statsmodels.api")


def drawn(seed: int, questions: int, strengths: list[float], *, ties: float = 0.0, length: float = 0.0) -> list[Battle]:
    """Return battles of all pairs in both orders, where the first position is worth 0.3, with a length as a feature."""
    draw = np.random.default_rng(seed)
    battles = []
    for question in range(questions):
        for pair in combinations(range(len(strengths)), 2):
            for first, second in (pair, pair[::-1]):
                feature = float(draw.normal())
                gap = strengths[first] - strengths[second] + 0.3 + length * feature
                weights = np.array([math.exp(gap / 2), math.exp(-gap / 2), ties])
                points = (1.0, 0.0, 0.5)[draw.choice(3, p=weights / weights.sum())]
                battles.append(Battle(f"m{first}", f"m{second}", points, str(question), (feature,)))
    return battles


def table(battles: list[Battle], models: int) -> Any:
    """Return the design of the battles for another implementation: models, position, features."""
    rows = np.zeros((len(battles), models))
    for row, one in zip(rows, battles, strict=True):
        row[int(one.first[1:])] += 1
        row[int(one.second[1:])] -= 1
    return np.column_stack([rows, np.ones(len(battles)), [one.features for one in battles]])


def ratings_of(found: Ratings) -> list[float]:
    return [one.rating for one in sorted(found.models, key=lambda one: one.model)]


def effects_of(found: Ratings) -> list[float]:
    return [one.value for one in found.effects if one.value is not None]


@pytest.mark.thorough
def test_without_ties_it_is_the_logistic_regression_of_statsmodels() -> None:
    battles = drawn(1, 20, [0.8, 0.1, 0.0, -0.9], length=0.5)
    design = table(battles, 4)[:, 1:]  # the first model has rating 0
    reference = statsmodels.Logit([one.points for one in battles], design).fit(disp=0, tol=1e-12)
    found = fit_ratings(battles, features=["length"], anchor="m0", resamples=0)
    assert ratings_of(found)[0] == 0
    assert [*ratings_of(found)[1:], *effects_of(found)] == pytest.approx(reference.params.tolist(), abs=1e-6)
    assert [one.name for one in found.effects] == [POSITION, "length"]


@pytest.mark.thorough
def test_ties_are_those_of_davidson() -> None:
    battles = drawn(2, 15, [0.5, 0.0, -0.5], ties=0.7, length=-0.4)
    design, points = table(battles, 3), np.array([one.points for one in battles])

    def loss(values: Any) -> float:
        gap = design @ np.append(0, values[:-1])
        tie = np.sqrt(np.exp(gap)) * np.exp(values[-1])  # nu * sqrt(p q), with q = 1
        total = np.exp(gap) + 1 + tie
        chance = np.select([points == 1, points == 0], [np.exp(gap), np.ones_like(gap)], tie) / total
        return float(-np.log(chance).sum())

    reference = optimize.minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-7}).x
    found = fit_ratings(battles, features=["length"], anchor="m0", resamples=0)
    assert [*ratings_of(found)[1:], *effects_of(found)] == pytest.approx(reference[:-1].tolist(), abs=1e-4)
    assert found.tie == pytest.approx(math.exp(reference[-1]), rel=1e-4)


@pytest.mark.thorough
def test_the_ridge_is_that_of_the_style_control_of_chatbot_arena() -> None:
    battles = drawn(3, 8, [1.0, 0.0, -1.0], ties=0.5, length=0.8)
    design, points = table(battles, 3), np.array([one.points for one in battles])
    design = np.delete(design, 3, axis=1)  # without the first position

    def loss(values: Any) -> float:  # FastChat, `contextual_bt_loss_and_grad` with alpha = ln(10) and reg = 0.5
        chance = 1 / (1 + np.exp(-(design @ np.append(values[:3] * math.log(10), values[3:]))))
        return float(-(np.log(chance) * points + np.log(1 - chance) * (1 - points)).sum() + 0.25 * values @ values)

    reference = optimize.minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x
    ridge = (0.5 / math.log(10) ** 2, 0.5)
    found = fit_ratings(battles, features=["length"], position=False, ties="half", ridge=ridge, resamples=0)
    assert [elo(one) for one in ratings_of(found)] == pytest.approx((reference[:3] * 400 + 1000).tolist(), abs=0.01)
    assert effects_of(found) == pytest.approx(reference[3:].tolist(), abs=1e-4)
    assert found.tie == 0


def test_the_scale_of_elo() -> None:
    assert elo(0) == 1000
    assert elo(math.log(10)) == pytest.approx(1400)


def test_the_covariate_of_length() -> None:
    assert length_control([10, 20], [20, 10]) == pytest.approx([-math.tanh(0.5**0.5), math.tanh(0.5**0.5)])
    assert length_control([10], [20]) == [0.0]


def test_two_models_with_ties_have_the_record_as_their_win_rate() -> None:
    battles = [Battle("a", "b", points, str(at)) for at, points in enumerate([1.0] * 5 + [0.5] * 2 + [0.0] * 3)]
    found = fit_ratings(battles, position=False)
    [pair] = found.pairs
    assert (pair.better, pair.wins, pair.ties, pair.losses) == ("a", 5, 2, 3)
    assert pair.win_rate == pytest.approx(0.6)
    assert not pair.is_separated
    assert pair.battles_to_separate is not None
    assert [(one.best_rank, one.worst_rank) for one in found.models] == [(1, 2), (1, 2)]
    assert found.notes == ()


@pytest.mark.thorough
def test_a_perfect_record_is_finite_and_noted() -> None:
    for questions, separated in ((3, False), (40, True)):
        battles = [Battle(*pair, 1.0, str(at)) for at in range(questions) for pair in ("ab", "bc", "ac")]
        found = fit_ratings([*battles, *(Battle(one.second, one.first, 0.0, one.question) for one in battles)])
        assert [one.model for one in found.models] == ["a", "b", "c"]
        assert all(math.isfinite(one.rating) for one in found.models)
        assert all(one.is_separated == separated for one in found.pairs)
        assert [note.split(":")[0] for note in found.notes] == [
            "won every battle against the others",
            "lost every battle against the others",
            "the likelihood has no maximum",
        ]


def test_groups_that_never_met_are_noted_and_not_separated() -> None:
    pairs = [("a", "b"), ("c", "d")]
    battles = [Battle(*pair, float(at % 4 != 3), str(at)) for at in range(60) for pair in pairs]
    found = fit_ratings(battles, position=False)
    assert found.notes[0] == "never compared, so their ratings have no common scale: a, b; c, d"
    separated = {(one.better, one.worse) for one in found.pairs if one.is_separated}
    assert separated == {("a", "b"), ("c", "d")}
    assert {one.interval for one in found.pairs if {one.better, one.worse} == {"a", "d"}} == {None}


def test_an_effect_that_the_models_determine_is_unknown() -> None:
    found = fit_ratings([Battle("a", "b", float(at % 3 > 0), str(at)) for at in range(9)])
    assert [one.value for one in found.effects] == [None]
    assert found.notes == ("first position: the battles do not tell its effect from ratings",)


def test_one_question_has_no_intervals() -> None:
    found = fit_ratings([Battle("a", "b", 1.0, "q"), Battle("b", "a", 1.0, "q")])
    assert [one.interval for one in found.models] == [None, None]
    assert "no intervals: they need battles about two questions" in found.notes


def test_battles_about_a_question_are_drawn_together() -> None:
    single = [Battle("a", "b", float(at % 3 > 0), str(at)) for at in range(30)]
    [pair] = fit_ratings(single, position=False).pairs
    [copied] = fit_ratings(single * 5, position=False).pairs
    assert pair.interval is not None
    assert copied.interval == pytest.approx(pair.interval, abs=1e-6)


@pytest.mark.parametrize(
    ("battles", "features", "message"),
    [
        ([], (), "no battles"),
        ([Battle("a", "b", 1, "q")], ("length",), "1 features"),
        ([Battle("a", "b", 0.3, "q")], (), "half"),
    ],
)
def test_what_cannot_be_fitted(battles: list[Battle], features: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_ratings(battles, features=features)


MODELS = st.sampled_from("abcd")
BATTLES = st.lists(
    st.builds(
        lambda pair, points, question: Battle(*pair, points, question),
        st.tuples(MODELS, MODELS).filter(lambda pair: pair[0] != pair[1]),
        st.sampled_from([0.0, 0.5, 1.0]),
        st.sampled_from("qrst"),
    ),
    min_size=1,
    max_size=30,
)


@given(BATTLES, st.booleans(), st.sampled_from(["davidson", "half"]))
def test_any_battles_have_finite_ratings_and_the_order_of_battles_is_nothing(
    battles: list[Battle], position: bool, ties: Any
) -> None:
    found = fit_ratings(battles, position=position, ties=ties, resamples=10)
    numbers = [one.rating for one in found.models] + [one.win_rate for one in found.pairs] + [found.tie]
    assert all(math.isfinite(number) for number in numbers)
    assert sum(one.rating for one in found.models) == pytest.approx(0, abs=1e-6)
    assert all(one.best_rank <= place <= one.worst_rank for place, one in enumerate(found.models, 1))
    assert sum(one.wins + one.ties + one.losses for one in found.pairs) == len(battles)
    again = fit_ratings(battles[::-1], position=position, ties=ties, resamples=0)
    assert ratings_of(again) == pytest.approx(ratings_of(found), abs=1e-6)


@given(BATTLES)
def test_battles_seen_from_the_other_side_have_the_opposite_effect_of_the_position(battles: list[Battle]) -> None:
    mirrored = [Battle(one.second, one.first, 1 - one.points, one.question) for one in battles]
    found, other = (fit_ratings(each, resamples=0) for each in (battles, mirrored))
    assert ratings_of(other) == pytest.approx(ratings_of(found), abs=1e-6)
    assert effects_of(other) == pytest.approx([-value for value in effects_of(found)], abs=1e-6)
