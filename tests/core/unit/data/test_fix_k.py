from __future__ import annotations

import pytest

from ais_prompt.data import FixKRetriever
from ais_prompt.errors import ConfigError
from ais_prompt.types import Sample

TRAIN = [Sample(f"train-{number}", number, {"q": str(number)}) for number in range(3)]
TEST = [Sample(f"test-{number}", number, {"q": str(number)}) for number in range(2)]


@pytest.mark.parametrize("ids", [[0, 1], [2, 0], [1, 1], [2], []])
def test_the_same_rows_in_the_given_order(ids: list[int]) -> None:
    assert list(FixKRetriever(ids).retrieve(TRAIN, TEST)) == [tuple(ids)] * 2


@pytest.mark.parametrize("bad", [3, 100, -1])
def test_an_id_that_is_no_row(bad: int) -> None:
    with pytest.raises(ConfigError, match=f"row {bad}, but the train split has 0 to 2"):
        FixKRetriever([0, bad]).retrieve(TRAIN, TEST)


def test_there_is_nothing_to_show() -> None:
    with pytest.raises(ConfigError, match="no rows"):
        FixKRetriever([0]).retrieve([], TEST)


def test_it_gives_shots_even_when_it_was_told_of_none() -> None:
    assert FixKRetriever([]).gives_shots
