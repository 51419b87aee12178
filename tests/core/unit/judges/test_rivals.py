"""Who meets whom if a judge compares the models of a run with each other."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.judges import pairs_per_question, round_of
from ais_prompt.types import ReferenceAnswersSpec

NAMES = tuple("abcdefg")
SIZES = st.integers(2, 7)


def spec(size: int, *, models: tuple[str, ...] = ("all",), rounds: int | None = None) -> ReferenceAnswersSpec:
    return ReferenceAnswersSpec(models=models, rounds=rounds, among=NAMES[:size])


@given(SIZES, st.text(min_size=1, max_size=8))
def test_in_each_round_a_model_meets_one_of_those_before_it(size: int, sample: str) -> None:
    rounds = {pair: round_of(spec(size), sample, *pair) for pair in combinations(NAMES[:size], 2)}
    for place, later in enumerate(NAMES[1:size], 1):
        assert sorted(rounds[earlier, later] for earlier in NAMES[:place]) == list(range(place))  # type: ignore[type-var]


@given(SIZES, st.text(min_size=1, max_size=8), st.integers(1, 3))
def test_a_model_that_is_added_changes_no_pair_of_the_others(size: int, sample: str, rounds: int) -> None:
    for pair in combinations(NAMES[: size - 1], 2):
        before = round_of(spec(size - 1, rounds=rounds), sample, *pair)
        assert round_of(spec(size, rounds=rounds), sample, *pair[::-1]) == before


def test_one_round_meets_all_rivals_equally_often_over_the_questions() -> None:
    met = Counter(
        pair
        for sample in map(str, range(1200))
        for pair in combinations(NAMES[:4], 2)
        if round_of(spec(4, rounds=1), sample, *pair) is not None
    )
    for later, share in (("b", 1200), ("c", 600), ("d", 400)):
        assert all(abs(met[earlier, later] - share) < 80 for earlier in NAMES[: NAMES.index(later)])
    assert sum(pairs_per_question(spec(4, rounds=1), name) for name in NAMES[:4]) == 2 * 3


def test_a_list_of_baselines_compares_every_model_with_each_of_them() -> None:
    found = spec(4, models=("b", "d"))
    assert {name: found.rivals(name) for name in NAMES[:4]} == {
        "a": ("b", "d"),
        "b": ("a", "c", "d"),
        "c": ("b", "d"),
        "d": ("a", "b", "c"),
    }
    assert pairs_per_question(found, "a") == 2
