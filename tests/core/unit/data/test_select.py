"""Rule S1 of the peers; the cases were recorded by running OpenCompass and AISBench."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from ais_prompt.data import select
from ais_prompt.errors import ConfigError


@pytest.mark.parametrize(
    ("wanted", "size", "rows"),
    [
        pytest.param("[:3]", 8, [0, 1, 2], id="ret-reader-002"),
        pytest.param("[::3]", 8, [0, 3, 6], id="ret-reader-004"),
        pytest.param("[-2:]", 8, [6, 7], id="ret-reader-005"),
        pytest.param(3, 8, [0, 5, 7], id="ret-reader-006"),
        pytest.param(0.3, 10, [1, 5, 6], id="ret-reader-008"),
        pytest.param(0.1, 3, [], id="ret-reader-009"),
        pytest.param(-2, 4, [0, 1, 2, 3], id="ret-reader-013"),
        pytest.param("[:1] + [2]", 3, [0, 2], id="ret-reader-016"),
    ],
)
def test_recorded_cases(wanted: int | float | str, size: int, rows: Sequence[int]) -> None:
    assert list(select(wanted, size)) == rows


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        (None, [0, 1, 2, 3, 4, 5]),
        ("", [0, 1, 2, 3, 4, 5]),
        (0, [0, 1, 2, 3, 4, 5]),
        (6, [0, 1, 2, 3, 4, 5]),
        (60.5, [0, 1, 2, 3, 4, 5]),
        ("[ 1 : 5 : 2 ]", [1, 3]),
        ("[::-2]", [5, 3, 1]),
        ("[:99]", [0, 1, 2, 3, 4, 5]),
        ("[9:]", []),
        ("[0, 5, 3]", [0, 5, 3]),
        ("[4]", [4]),
        ("[-1, 0,]", [5, 0]),
        ("[2,2] + [2]", [2, 2, 2]),
        ("[1:][::2]", [1, 3, 5]),
        ("[:4] [-1]+[0]", [3, 0]),
    ],
)
def test_every_form(wanted: int | float | str | None, rows: Sequence[int]) -> None:
    assert list(select(wanted, 6)) == rows


def test_a_number_is_its_own_seed() -> None:
    shuffled = list(range(1000))
    random.Random(100).shuffle(shuffled)
    assert list(select(100, 1000)) == shuffled[:100]
    assert select(100.0, 1000) == select(100, 1000) == select(0.1, 1000)


def test_a_slice_of_a_large_split_costs_nothing() -> None:
    assert select("[10:]", 10**12) == range(10, 10**12)


def test_anything_else_is_refused_with_an_example() -> None:
    cases = [
        *("[:", ":3", "[]", "[a:b]", "[1:2:3:4]", "[1;2]", "[[1]]", "[1.5]", "10", "[1 2]", "[,]", "[- 1:]"),
        *("[:1] - [2]", "[:1] +", "+ [1]", "[:1]*2", "[:3] if True else []", "[__import__('os').getpid()]"),
        "[" + "9" * 30 + ":]",
    ]
    for text in cases:
        with pytest.raises(ConfigError, match="is not a range of rows") as caught:
            select(text, 5)
        assert text in caught.value.what
        assert "[:100]" in caught.value.fix


@pytest.mark.parametrize("text", ["[5]", "[0, 5]", "[-6]", "[:2][2]"])
def test_a_row_that_is_not_there(text: str) -> None:
    with pytest.raises(ConfigError, match="names a row that is not there"):
        select(text, 5)


def test_a_row_of_an_empty_split() -> None:
    with pytest.raises(ConfigError, match="there are no rows"):
        select("[0]", 0)


def test_a_step_of_zero() -> None:
    with pytest.raises(ConfigError, match="step of 0"):
        select("[::0]", 5)


@pytest.mark.parametrize("number", [2.5, float("nan")])
def test_a_number_that_is_not_whole(number: float) -> None:
    with pytest.raises(ConfigError, match="not a whole number"):
        select(number, 5)
