"""Rows of benchmarks of programs."""

from __future__ import annotations

import base64
import json
import pickle
import zlib

import pytest

from ais_prompt.extensions.benchmarks.cards.publisher_rows import big_code_bench
from ais_prompt.extensions.benchmarks.cards.publisher_rows import tests_of as read_tests


def test_tests_are_read_and_a_pickle_calls_nothing() -> None:
    cases = [{"input": "1", "output": "1", "testtype": "stdin"}]
    packed = base64.b64encode(zlib.compress(pickle.dumps(json.dumps(cases)))).decode()
    assert read_tests(packed) == read_tests(json.dumps(cases)) == cases
    hostile = base64.b64encode(zlib.compress(pickle.dumps(print))).decode()
    for text in (hostile, "no base64", base64.b64encode(b"no zlib").decode()):
        with pytest.raises(ValueError, match="the tests cannot be read"):
            read_tests(text)


def test_libraries_are_a_list_or_a_text() -> None:
    row = dict.fromkeys(
        ("task_id", "complete_prompt", "instruct_prompt", "canonical_solution", "code_prompt", "test"), ""
    )
    for libraries in ("['json', 'pandas']", ["json", "pandas"]):
        assert big_code_bench({**row, "libs": libraries})["libs"] == ["json", "pandas"]
