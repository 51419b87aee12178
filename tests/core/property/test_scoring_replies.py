"""Whatever a server replies, it is read as scores or as a failure."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.models import (
    COMPLETIONS,
    EMPTY,
    TokenLogProbs,
    continued,
    read_log_probs,
    read_top,
    single_token,
    ways_of,
    whole,
)
from ais_prompt.types import Completion, Failure

NAMES = ["choices", "text", "logprobs", "tokens", "token_logprobs", "top_logprobs", "prompt_logprobs", "logprob", "7"]
leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.sampled_from(["So it", "So it is", ""])
anything = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
)
entries = st.lists(st.none() | st.dictionaries(st.just("7"), st.dictionaries(st.just("logprob"), leaves)) | anything)
lists = st.fixed_dictionaries({"tokens": st.lists(leaves, max_size=4), "token_logprobs": st.lists(leaves, max_size=4)})
choices = st.fixed_dictionaries(
    {}, optional={"text": leaves, "logprobs": lists | anything, "prompt_logprobs": entries | anything}
)
replies = st.fixed_dictionaries(
    {"choices": st.lists(choices, min_size=1, max_size=1) | anything},
    optional={"usage": st.fixed_dictionaries({"prompt_tokens": leaves}), "prompt_logprobs": entries},
)
scores = st.builds(
    lambda pairs: TokenLogProbs(tuple(token for token, _ in pairs), tuple(value for _, value in pairs)),
    st.lists(st.tuples(st.sampled_from(["", "a", "\ufffd"]), leaves | anything), max_size=4),
)


@given(replies | anything, st.sampled_from(ways_of(COMPLETIONS, None)))
def test_any_reply_is_read(reply: Any, way: Any) -> None:
    found = read_log_probs(way, "So it", 200, json.dumps(reply).encode())
    if isinstance(found, TokenLogProbs):
        assert len(found.tokens) == len(found.log_probs) > 0
        assert found.log_probs[0] is None
        judged(whole("So it", found))
    assert isinstance(read_top(200, json.dumps(reply).encode()), dict | Failure)


@given(scores, scores)
def test_any_scores_are_judged(before: TokenLogProbs, together: TokenLogProbs) -> None:
    judged(continued("it", before, together))
    judged(whole("it", together))
    assert isinstance(single_token("it", before, together), int | float | Failure)
    judged(whole("it", EMPTY))


def judged(completion: Completion) -> None:
    """It is one number or one failure."""
    assert (completion.likelihood is None) is (completion.failure is not None)
    if completion.likelihood is not None:
        assert completion.likelihood.tokens > 0
        assert -1 < completion.likelihood.nll < float("inf")
