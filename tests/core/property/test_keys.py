"""A key changes exactly with what decides the answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.models import OpenAIChatModel, OpenAICompletionModel, address_of, cache_identity, full_identity
from ais_prompt.store import RequestKeys
from ais_prompt.types import ChatMessage, Decoding, LikelihoodQuery, Request

texts = st.text(max_size=6)
messages = st.lists(st.builds(ChatMessage, texts, texts), min_size=1, max_size=3).map(tuple)
prompts = texts | messages
decodings = st.builds(
    Decoding,
    st.integers(1, 4),
    st.sampled_from([None, 0.0, 0.5]),
    stop=st.lists(texts, max_size=1).map(tuple),
    seed=st.none() | st.integers(0, 2),
    extra=st.dictionaries(st.sampled_from(["top_k", "tools"]), st.integers(0, 2), max_size=1),
) | st.builds(LikelihoodQuery, st.none() | texts)
small = st.integers(0, 2)
requests = st.builds(Request, texts, prompts, decodings, turn=small, repeat=small, duplicate=small)
ways = st.fixed_dictionaries(
    {},
    optional={
        "base_url": st.sampled_from(["http://one:1/v1", "http://one:2/v1", "http://two:1/v1", "https://one:1/api/v1"]),
        "api_key": st.sampled_from(["KEY_A", "KEY_B"]),
        "timeout": st.floats(1, 9),
        "retry": st.integers(0, 9),
        "stream": st.booleans(),
        "max_concurrency": st.integers(1, 9),
        "headers": st.dictionaries(st.sampled_from(["X-A", "X-B"]), st.sampled_from(["a", "b"]), max_size=2),
        "request_rate": st.floats(1, 9),
        "deadline": st.floats(1, 9),
        "max_tokens_field": st.sampled_from(["max_tokens", "max_completion_tokens"]),
    },
)
"""Options that say how a model is reached, and decide no answer."""


def key(request: Request, model: str = "m", way: dict[str, Any] | None = None) -> str:
    return RequestKeys(OpenAIChatModel(model, **(way or {})).identity())(request)


@given(requests, ways, ways, texts)
def test_the_way_to_a_model_and_the_name_of_a_sample_leave_the_key(
    request: Request, one: dict[str, Any], other: dict[str, Any], sample_id: str
) -> None:
    assert key(request, way=one) == key(replace(request, sample_id=sample_id), way=other)


@given(requests, requests)
def test_equal_keys_mean_that_all_is_equal_that_decides(one: Request, other: Request) -> None:
    assert (key(one) == key(other)) == (replace(one, sample_id="") == replace(other, sample_id=""))


@pytest.mark.thorough
@given(requests, st.data())
def test_each_part_that_decides_is_in_the_key(request: Request, data: st.DataObject) -> None:
    parts = {"prompt": prompts, "decoding": decodings, "turn": small, "repeat": small, "duplicate": small}
    for name, values in parts.items():
        before = getattr(request, name)
        value = data.draw(values.filter(lambda value, before=before: value != before))
        assert key(replace(request, **{name: value})) != key(request), name
    assert key(request, "another") != key(request)


@given(requests)
def test_a_given_identity_and_think_tags_are_in_the_key(request: Request) -> None:
    ways = ({}, {"identity": "a"}, {"identity": "b"}, {"think_tags": ("[", "]")})
    assert len({key(request, way=way) for way in ways}) == len(ways)


@given(ways, ways)
def test_caches_are_kept_apart_by_address_unless_an_identity_is_given(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    first, second = OpenAICompletionModel("default", **one), OpenAICompletionModel("default", **other)
    assert (cache_identity(first) == cache_identity(second)) == (address_of(first) == address_of(second))
    first, second = (OpenAICompletionModel("default", **way, identity="llama-70b") for way in (one, other))
    assert cache_identity(first) == cache_identity(second)
    assert full_identity(first)["base_url"] == address_of(first)
