"""What is kept of earlier texts, and what is found again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.models.hf_prefix_cache import PrefixCache, Tokens
from ais_prompt.models.likelihood import common_length

TEXT = st.lists(st.integers(0, 2), min_size=1, max_size=6).map(tuple)


def layers(name: str) -> list[tuple[str, str]]:
    return [(f"keys of {name}", f"values of {name}")]


@given(st.lists(TEXT, max_size=12), TEXT)
def test_the_longest_beginning_is_found(texts: list[Tokens], asked: Tokens) -> None:
    cache = PrefixCache(1000)
    for text in texts:
        cache.keep(text, layers(str(text)))
    length, found = cache.longest(asked)
    assert length == max((common_length(text, asked) for text in texts), default=0)
    assert not length or found in [layers(str(text)) for text in texts if text[:length] == asked[:length]]


@given(st.lists(TEXT, max_size=20), st.integers(0, 12))
def test_no_more_tokens_are_kept_than_allowed(texts: list[Tokens], limit: int) -> None:
    cache = PrefixCache(limit)
    for text in texts:
        cache.keep(text, layers("x"))
        kept = {other for other in texts if cache.longest(other)[0] == len(other)}
        longest_only = {one for one in kept if not any(one != other and other[: len(one)] == one for other in kept)}
        assert sum(map(len, longest_only)) <= limit
        assert len(text) > limit or text in kept


def test_the_least_recently_used_text_is_given_up() -> None:
    cache = PrefixCache(4)
    cache.keep((1, 1), layers("first"))
    cache.keep((2, 2), layers("second"))
    assert cache.longest((1, 1, 5)) == (2, layers("first"))
    cache.keep((3, 3), layers("third"))
    assert [cache.longest(text)[0] for text in ((1, 1), (2, 2), (3, 3))] == [2, 0, 2]


def test_a_text_that_is_kept_again_takes_no_more_room() -> None:
    cache = PrefixCache(4)
    cache.keep((1, 1), layers("first"))
    for _ in range(3):
        cache.keep((2, 2), layers("second"))
    assert cache.longest((1, 1))[0] == 2
