"""The cache of prefixes: what is kept, and what is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.models import Block, PrefixCache, Tokens, common_length

pytestmark = pytest.mark.torch


TEXT = st.lists(st.integers(0, 2), min_size=1, max_size=6).map(tuple)
BATCH = st.lists(TEXT, min_size=1, max_size=4)


def block(*texts: Tokens) -> Block:
    columns = max(map(len, texts))
    return Block(texts, [columns - len(text) for text in texts], [("keys", "values")], columns)


@given(st.lists(BATCH, max_size=6), TEXT)
def test_the_longest_beginning_is_found(batches: list[list[Tokens]], asked: Tokens) -> None:
    cache = PrefixCache(1000)
    for texts in batches:
        cache.keep(block(*texts))
    found = cache.longest(asked)
    length = found.length if found else 0
    assert length == max((common_length(text, asked) for texts in batches for text in texts), default=0)
    assert not found or found.block.texts[found.row][:length] == asked[:length]


@given(st.lists(BATCH, max_size=12), st.integers(0, 30))
def test_no_more_is_kept_than_allowed(batches: list[list[Tokens]], limit: int) -> None:
    cache = PrefixCache(limit)
    for texts in batches:
        new = block(*texts)
        cache.keep(new)
        found = [cache.longest(text) for other in batches for text in other]
        assert sum(one.size for one in {one.block for one in found if one}) <= limit
        for text in texts:
            known = cache.longest(text)
            assert new.size > limit or (known and known.length == len(text))


def lengths(cache: PrefixCache, *texts: Tokens) -> list[int]:
    found = [cache.longest(text) for text in texts]
    return [one.length if one else 0 for one in found]


def test_the_least_recently_used_block_is_dropped() -> None:
    cache = PrefixCache(4)
    cache.keep(block((1, 1)))
    cache.keep(block((2, 2)))
    assert lengths(cache, (1, 1, 5)) == [2]
    cache.keep(block((3, 3)))
    assert lengths(cache, (1, 1), (2, 2), (3, 3)) == [2, 0, 2]


def test_a_text_in_two_blocks_is_known_until_both_are_dropped() -> None:
    cache = PrefixCache(6)
    cache.keep(block((1, 1), (2, 2)))
    cache.keep(block((1, 1)))
    cache.keep(block((3, 3)))
    assert lengths(cache, (1, 1), (2, 2), (3, 3)) == [2, 0, 2]


def test_padding_counts() -> None:
    cache = PrefixCache(5)
    cache.keep(block((1, 1, 1), (2,)))
    assert lengths(cache, (1, 1, 1), (2,)) == [0, 0]
