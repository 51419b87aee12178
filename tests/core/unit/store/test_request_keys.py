from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.store import RequestKeys
from ais_prompt.types import ChatMessage, Decoding, LikelihoodQuery, Request, ToolRun
from ais_prompt.utils import digest

MESSAGES = (ChatMessage("user", "1+1="),)
REQUEST = Request("a1b2", "1+1=", Decoding(max_out_len=8), turn=1, repeat=2)

texts = st.text(st.characters(codec=None), max_size=8)
decodings = st.one_of(
    st.builds(
        Decoding,
        st.integers(1, 9),
        st.none() | st.floats(0, 2),
        stop=st.lists(texts, max_size=2).map(tuple),
        extra=st.dictionaries(texts, st.integers() | texts, max_size=2),
    ),
    st.builds(LikelihoodQuery, st.none() | texts, st.lists(texts, max_size=2).map(tuple)),
    st.builds(ToolRun, texts, st.booleans()),
)
prompts = texts | st.lists(st.builds(ChatMessage, texts, texts), max_size=2).map(tuple)
numbers = st.integers(0, 9)
steps = st.none() | numbers
counts = {"turn": numbers, "repeat": numbers, "duplicate": numbers, "step": steps}
requests = st.builds(Request, texts, prompts, decodings, brought=texts, **counts)


@given(identity=st.dictionaries(texts, texts | st.integers()), asked=st.lists(requests, max_size=4))
def test_a_key_is_the_digest_of_model_and_request(identity: dict[str, object], asked: list[Request]) -> None:
    key_of = RequestKeys(identity)
    for request in asked:
        assert key_of(request) == "2:" + digest({"model": identity, "request": request.content()})


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, prompt="1+2="),
        replace(REQUEST, prompt=MESSAGES),
        replace(REQUEST, turn=0),
        replace(REQUEST, repeat=0),
        replace(REQUEST, duplicate=1),
        replace(REQUEST, brought="12ab"),
        replace(REQUEST, decoding=Decoding(max_out_len=9)),
        replace(REQUEST, decoding=Decoding(max_out_len=8, temperature=0.0)),
        replace(REQUEST, decoding=Decoding(max_out_len=8, stop=("\n",))),
        replace(REQUEST, decoding=Decoding(max_out_len=8, extra={"top_k": 1})),
    ],
)
def test_all_that_decides_an_answer_is_in_its_key(other: Request) -> None:
    key_of = RequestKeys({"path": "model"})
    assert key_of(other) != key_of(REQUEST)


def test_the_model_is_in_the_key_and_the_order_of_its_settings_is_not() -> None:
    key = RequestKeys({"path": "model", "dtype": "float32"})(REQUEST)
    assert RequestKeys({"dtype": "float32", "path": "model"})(REQUEST) == key
    assert RequestKeys({"path": "other", "dtype": "float32"})(REQUEST) != key


def test_a_request_of_an_agent_is_that_of_its_sample_whenever_it_comes() -> None:
    key_of, first = RequestKeys({}), replace(REQUEST, step=0)
    assert key_of(first) == key_of(replace(first, step=3))
    assert key_of(first) != key_of(replace(first, sample_id="other"))
    assert key_of(first) != key_of(REQUEST)


def test_whether_a_tool_has_effects_is_not_in_the_key_of_its_call() -> None:
    key_of = RequestKeys({})
    assert key_of(replace(REQUEST, decoding=ToolRun("a"))) == key_of(replace(REQUEST, decoding=ToolRun("a", False)))
