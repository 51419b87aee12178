"""Postprocessors do work in proportion to the length of an answer, however hostile it is.

Work is the number of calls of functions, of Python and of C, so the test does not depend on the speed of a
machine. What regular expressions do within a call is not seen here: `bench.extraction_speed` measures it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ais_prompt.registry import POSTPROCESSORS
from bench.extraction_speed import NAMES, PIECES

pytestmark = pytest.mark.thorough


SHORT, LONG = 1_000, 4_000


def calls(function: Callable[[str], Any], text: str) -> int:
    """How many functions are called while one runs."""
    count = 0

    def profile(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        function(text)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20)
@given(pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join))
def test_four_times_the_text_is_four_times_the_work(name: str, pieces: str) -> None:
    function = POSTPROCESSORS.get(name)
    function(pieces)  # compiles what is compiled once
    short, long = (calls(function, pieces * (size // len(pieces))) for size in (SHORT, LONG))
    assert long <= 6 * short + 200


def test_a_quadratic_function_is_noticed() -> None:
    def quadratic(text: str) -> int:
        return sum(text[place:].count("x", 0, 9) for place in range(len(text)) for _ in range(len(text) // 50))

    assert calls(quadratic, "x" * LONG) > 6 * calls(quadratic, "x" * SHORT) + 200
