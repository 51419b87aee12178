"""What differs between two configs is said in a few words."""

from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.config import differing_values

PROMPT = {"template": {"round": [{"role": "HUMAN", "prompt": "{question}"}]}}
LONG = {"template": {"round": [{"role": "HUMAN", "prompt": "Answer the question in one word: {question}"}]}}


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ({"models": [{"model": "a"}]}, {"models": [{"model": "b"}]}, ["model: 'a' → 'b'"]),
        ({"models": [{"n": 1}]}, {"models": [{"n": 1, "temperature": 0.7}]}, ["temperature: not set → 0.7"]),
        ({"models": [{}]}, {"models": [{"generation_kwargs": {"top_p": 0.9}}]}, ["top_p: not set → 0.9"]),
        ({"eval": {}}, {"eval": {"judge": {"type": "One", "n": 1}}}, ["judge: not set → 'One'"]),
        ({"models": [{"n": 1}] * 2}, {"models": [{"n": 2}] * 2}, ["n: 1 → 2"]),
        ({"datasets": [{}, {}]}, {"datasets": [{}]}, ["datasets: 2 values → 1 value"]),
        (
            {"datasets": [PROMPT]},
            {"datasets": [LONG]},
            ["prompt: '{question}' → 'Answer the question in one word: {ques…"],
        ),
        ({"read": {"type": "one"}}, {"read": "two"}, ["read: 'one' → 'two'"]),
        ({"work_dir": "a", "run_name": "x", "paths_relative_to": "/a"}, {"work_dir": "b"}, []),
    ],
)  # fmt: skip
def test_values_that_differ_have_a_line(before: dict[str, Any], after: dict[str, Any], lines: list[str]) -> None:
    assert differing_values(before, after) == lines
    assert differing_values(after, after) == []
