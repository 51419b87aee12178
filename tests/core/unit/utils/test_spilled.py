from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.utils import IN_MEMORY, PIECE, Spilled
from ais_prompt.utils import temporary as spill

values = st.lists(st.none() | st.text(max_size=3) | st.tuples(st.integers(), st.floats(allow_nan=False)), max_size=30)


def in_small_pieces(given: list[object]) -> Spilled[object]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "IN_MEMORY", 50)
        return Spilled(given)


@given(values, st.integers(1, 5))
def test_it_is_like_a_list(given: list[object], piece: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "PIECE", piece)
        kept = in_small_pieces(given)
        assert len(kept) == len(given)
        assert list(kept) == list(kept) == given
        assert list(reversed(kept)) == given[::-1]
        assert [kept[number] for number in range(-len(given), len(given))] == given * 2


@given(values, st.integers(1, 5), st.slices(30))
def test_a_slice_is_a_list(given: list[object], piece: int, part: slice) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "PIECE", piece)
        assert in_small_pieces(given)[part] == given[part]


@pytest.mark.parametrize("number", [3, -4])
def test_there_are_no_other_numbers(number: int) -> None:
    with pytest.raises(IndexError):
        Spilled("abc")[number]


def test_it_grows_while_it_is_read() -> None:
    kept = Spilled([0])
    for value in kept:
        if value < 3 * PIECE:
            assert kept[value] == value
            kept.append(value + 1)
    assert list(kept) == list(range(3 * PIECE + 1))


def test_values_that_cannot_be_pickled_are_kept_all_the_same() -> None:
    functions: list[Callable[[], int]] = [lambda number=number: number for number in range(PIECE + 1)]
    kept = Spilled(functions)
    assert [function() for function in kept] == list(range(PIECE + 1))
    assert kept[-2]() == PIECE - 1


@pytest.mark.thorough
def test_memory_does_not_grow_with_the_values() -> None:
    tracemalloc.start()
    try:
        kept = Spilled("x" * 1_000 + str(number) for number in range(30_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(kept) == 30_000
    # The bytes that stay in memory are copied once when they move to the file; 30 MB in all.
    assert peak < 3 * IN_MEMORY
