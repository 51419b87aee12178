"""Prompts of a trace."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import DataError
from ais_prompt.extensions.perf.synthetic import MooncakeTraceDataset
from ais_prompt.models import load_tokenizer

TOKENIZER = str(Path(__file__).parents[3] / "configs/data/demo_model")
TRACE = [
    {"timestamp": 300, "input_length": 1100, "output_length": 7, "hash_ids": [1, 2, 9]},
    {"timestamp": 100, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]},
    {"timestamp": 200, "input_text": "What is 1+1?", "output_length": 3},
]


def rows(folder: Path, trace: list[dict[str, Any]], **arguments: Any) -> list[dict[str, Any]]:
    path = folder / "trace.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in trace))
    return list(MooncakeTraceDataset(str(path), **arguments).read("test"))


def test_prompts_have_their_lengths_and_share_the_beginnings_of_the_trace(tmp_path: Path) -> None:
    first, text, last = rows(tmp_path, TRACE)
    assert [row["timestamp"] for row in (first, text, last)] == [100, 200, 300]
    assert [len(row["prompt"].split()) for row in (first, last)] == [600, 1100]
    assert (text["prompt"], text["max_out_len"]) == ("What is 1+1?", 3)
    assert last["prompt"].startswith(first["prompt"])
    assert rows(tmp_path, TRACE) == [first, text, last]
    assert rows(tmp_path, TRACE, random_seed=1)[0] != first


@pytest.mark.torch
def test_with_a_tokenizer_lengths_are_exact(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(TOKENIZER, {}, {}, trust_remote_code=False)
    found = rows(tmp_path, TRACE[:2], tokenizer_path=TOKENIZER)
    assert [len(tokenizer.encode(row["prompt"], add_special_tokens=False)) for row in found] == [600, 1100]


def test_a_part_of_a_trace_can_be_taken(tmp_path: Path) -> None:
    part = rows(tmp_path, TRACE, fixed_schedule_start_offset=150, fixed_schedule_end_offset=250)
    assert [row["timestamp"] for row in part] == [200]
    first = rows(tmp_path, TRACE, fixed_schedule_auto_offset=True, fixed_schedule_end_offset=100)
    assert [row["timestamp"] for row in first] == [100, 200]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"input_length": 5, "hash_ids": [1]}, "needs timestamp"),
        ({"timestamp": 1, "input_length": 5}, "needs input_length and hash_ids"),
        ({"timestamp": 1, "input_length": 513, "hash_ids": [1]}, "2 blocks of 512, and the row has 1"),
        ({"timestamp": math.nan, "input_text": "a"}, "cannot come after nan ms"),
        ({"timestamp": math.inf, "input_text": "a"}, "cannot come after inf ms"),
        ({"timestamp": -5, "input_text": "a"}, "cannot come after -5 ms"),
        ({"timestamp": True, "input_text": "a"}, "needs timestamp"),
        ({"timestamp": 1, "input_text": "a", "output_length": "many"}, "output_length cannot be 'many'"),
        ({"timestamp": 1, "input_text": "a", "output_length": -1}, "output_length cannot be -1"),
        ({"timestamp": 1, "input_length": True, "hash_ids": [1]}, "needs input_length and hash_ids"),
        ({"timestamp": 1, "input_length": -5, "hash_ids": []}, "cannot have -5 tokens"),
        ({"timestamp": 1, "input_length": 5, "hash_ids": [[1]]}, "neither a number nor a text"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, row: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words) as error:
        rows(tmp_path, [row, row])
    assert error.value.where.endswith("trace.jsonl:1")


def test_a_part_without_requests_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none of the 3 requests"):
        rows(tmp_path, TRACE, fixed_schedule_start_offset=1000)
