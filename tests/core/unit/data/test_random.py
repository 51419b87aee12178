"""RandomRetriever: the draws of the peers, whatever else happens in the program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import RandomRetriever
from ais_prompt.errors import ConfigError
from tests.core.unit.data.rows import samples

TRAIN = samples(f"train {row}" for row in range(10))
TEST = samples(f"test {row}" for row in range(5))


def test_the_draws_are_those_of_the_peers() -> None:
    drawn = RandomRetriever(ice_num=2, seed=2024).retrieve(TRAIN, TEST)
    assert drawn == [(2, 7), (6, 7), (3, 0), (4, 1), (3, 5)]


@given(rows=st.integers(1, 40), count=st.integers(0, 5), seed=st.integers(0, 2**32 - 1))
def test_the_draws_are_those_of_numpy_s_choice(rows: int, count: int, seed: int) -> None:
    count = min(count, rows)
    state = np.random.RandomState(seed)
    expected = [tuple(state.choice(rows, count, replace=False)) for _ in TEST]
    assert RandomRetriever(count, seed).retrieve(samples(range(rows)), TEST) == expected


def test_the_global_generator_is_neither_read_nor_moved() -> None:
    np.random.seed(1)
    first, after = RandomRetriever(3).retrieve(TRAIN, TEST), np.random.random()
    np.random.seed(1)
    untouched = np.random.random()
    assert RandomRetriever(3).retrieve(TRAIN, TEST) == first
    assert after == untouched


def test_the_front_of_the_test_split_gets_the_same_shots() -> None:
    assert RandomRetriever(3).retrieve(TRAIN, TEST[:2]) == RandomRetriever(3).retrieve(TRAIN, TEST)[:2]


def test_a_row_that_is_left_out_does_not_move_the_draws_of_the_others() -> None:
    shared = [*TEST[:2], *samples(["train 6"]), *TEST[3:]]
    plain, excluding = (RandomRetriever(3, exclude_self=on).retrieve(TRAIN, shared) for on in (False, True))
    assert [*excluding[:2], *excluding[3:]] == [*plain[:2], *plain[3:]]
    assert 6 not in excluding[2]


def test_none_is_none_and_ints_are_plain() -> None:
    assert RandomRetriever(0).retrieve(TRAIN, TEST) == [()] * 5
    assert {type(row) for shots in RandomRetriever(3).retrieve(TRAIN, TEST) for row in shots} == {int}


def test_more_than_there_are_is_refused() -> None:
    with pytest.raises(ConfigError, match="ice_num asks for 11 examples, but the train split has 10 rows"):
        RandomRetriever(11).retrieve(TRAIN, TEST)
    with pytest.raises(ConfigError, match="10 rows, 1 of them equal to a test row"):
        RandomRetriever(10, exclude_self=True).retrieve(TRAIN, TRAIN)


@pytest.mark.parametrize(("arguments", "what"), [({"ice_num": -1}, "ice_num"), ({"seed": -1}, "seed")])
def test_arguments_out_of_range_are_refused(arguments: dict[str, int], what: str) -> None:
    with pytest.raises(ConfigError, match=f"{what} cannot be -1"):
        RandomRetriever(**arguments)
