"""The cache of prefixes: what is kept, and what is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.models import Block, PrefixCache, Tokens, common_length

pytestmark = pytest.mark.torch


TEXT = st.lists(st.integers(0, 2), min_size=1, max_size=6).map(tuple)


def block(text: Tokens) -> Block:
    return Block([text], [("keys", "values")])


@given(st.lists(TEXT, max_size=20), TEXT)
def test_the_longest_beginning_is_found(texts: list[Tokens], asked: Tokens) -> None:
    cache = PrefixCache(1000)
    for text in texts:
        cache.keep(block(text))
    found = cache.longest(asked)
    length = found.length if found else 0
    assert length == max((common_length(text, asked) for text in texts), default=0)
    assert not found or found.text == asked[:length]


@given(st.lists(TEXT, max_size=40), st.integers(0, 30))
def test_no_more_is_kept_than_allowed(texts: list[Tokens], limit: int) -> None:
    cache = PrefixCache(limit)
    for text in texts:
        cache.keep(block(text))
        found = [cache.longest(other) for other in texts]
        kept = {one.block.texts[0] for one in found if one}
        assert sum(map(len, kept)) <= limit
        known = cache.longest(text)
        assert len(text) > limit or (known and known.length == len(text))


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


def test_a_text_that_is_kept_again_counts_once() -> None:
    cache = PrefixCache(4)
    for text in ((1, 1), (2, 2), (1, 1), (3, 3)):
        cache.keep(block(text))
    assert lengths(cache, (1, 1), (2, 2), (3, 3)) == [2, 0, 2]
