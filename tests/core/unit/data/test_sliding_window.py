"""SlidingWindowRetriever: the rows before the question's own place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import SlidingWindowRetriever
from ais_prompt.errors import ConfigError
from tests.core.unit.data.rows import samples


def test_the_first_windows_are_padded_with_the_last_rows() -> None:
    windows = SlidingWindowRetriever(k=2).retrieve(samples("abcdef"), samples("wxyz"))
    assert windows == [(4, 5), (5, 0), (0, 1), (1, 2)]


@given(rows=st.integers(1, 12), k=st.integers(0, 12), tests=st.integers(1, 13))
def test_a_window_is_the_k_rows_before(rows: int, k: int, tests: int) -> None:
    k, tests = min(k, rows), min(tests, rows + 1)
    windows = SlidingWindowRetriever(k).retrieve(samples(range(rows)), samples(range(tests)))
    for row, window in enumerate(windows):
        before = [*range(rows), *range(row)]  # the train split once in front, for the padding
        assert window == tuple(before[len(before) - k :])


def test_leaving_itself_out_reaches_further_back() -> None:
    train = samples("abca")  # the question "a" is in rows 0 and 3
    retriever = SlidingWindowRetriever(k=2, exclude_self=True)
    assert retriever.retrieve(train, train) == [
        (1, 2),  # neither 3 nor 0
        (3, 0),
        (0, 1),
        (1, 2),  # the same for the second "a"
    ]


@pytest.mark.parametrize(
    ("k", "train", "test", "what"),
    [
        (5, "abcd", "x", "k asks for 5 examples, but the train split has 4 rows"),
        (1, "ab", "wxyz", "the train split has 2 rows, but the window of the last of 4 test rows ends at train row 2"),
        (1, "", "x", "the train split has 0 rows"),
    ],
)
def test_a_train_split_that_is_too_short_is_refused(k: int, train: str, test: str, what: str) -> None:
    for ask in (SlidingWindowRetriever(k).retrieve, SlidingWindowRetriever(k).trial):
        with pytest.raises(ConfigError, match=what):
            ask(samples(train), samples(test))


def test_no_window_needs_no_rows() -> None:
    assert SlidingWindowRetriever(0).retrieve([], samples("xyz")) == [(), (), ()]
    with pytest.raises(ConfigError, match="k cannot be -1"):
        SlidingWindowRetriever(-1)
