"""Rows of a file for a load, with ``.meta.json`` of AISBench beside it."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import DataError
from ais_prompt.extensions.perf.load_rows import AnswerLengths, LengthLimits, LoadRowsDataset, LoadSettings


def rows_of(folder: Path, meta: Any = None, seed: int = 0) -> list[dict[str, Any]]:
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps({"question": f"q{n}", "max_tokens": n + 5}) + "\n" for n in range(4)))
    if meta is not None:
        (folder / "mine.jsonl.meta.json").write_text(meta if isinstance(meta, str) else json.dumps(meta))
    return [dict(row) for row in LoadRowsDataset(str(path), seed=seed).read("test")]


def test_without_settings_each_row_comes_once(tmp_path: Path) -> None:
    assert rows_of(tmp_path) == [{"question": f"q{n}", "max_out_len": n + 5} for n in range(4)]


def test_a_length_in_csv_is_called_the_same(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("question,max_tokens\nhow?,12\n")
    assert list(LoadRowsDataset(str(tmp_path), "mine.csv").read("test")) == [{"question": "how?", "max_out_len": "12"}]


@pytest.mark.parametrize("count", [1, 4, 9, "9"])
def test_rows_come_again(tmp_path: Path, count: Any) -> None:
    rows = rows_of(tmp_path, {"request_count": count})
    assert [row["question"] for row in rows] == [f"q{n % 4}" for n in range(int(count))]


def test_draws_repeat_with_their_seed(tmp_path: Path) -> None:
    meta = {"request_count": 3, "sampling_mode": "random"}
    draws = [[row["question"] for row in rows_of(tmp_path, meta, seed)] for seed in (1, 1, *range(2, 12))]
    assert draws[0] == draws[1]
    assert len({tuple(draw) for draw in draws}) > 1
    assert all(len(set(draw)) == 3 for draw in draws)
    shuffled = [row["question"] for row in rows_of(tmp_path, {"request_count": 3, "sampling_mode": "shuffle"})]
    assert sorted(shuffled) == ["q0", "q1", "q2"]


def test_lengths_from_a_range_replace_those_of_the_rows(tmp_path: Path) -> None:
    meta = {"output_config": {"method": "uniform", "params": {"min_value": "100", "max_value": 101}}}
    rows = rows_of(tmp_path, {**meta, "request_count": 200})
    assert {row["max_out_len"] for row in rows} == {100, 101}


def test_a_share_is_multiplied_as_in_aisbench() -> None:
    limits = LengthLimits(percentage_distribute=[(5, 0.29), (6, 0.71)])
    assert AnswerLengths("percentage", limits).draw(100, random.Random(0)).count(5) == 28


@given(
    st.integers(1, 300), st.lists(st.tuples(st.integers(1, 4096), st.sampled_from([0.25, 0.5])), min_size=1, max_size=3)
)
def test_shares_of_lengths(rows: int, parts: list[tuple[int, float]]) -> None:
    """Each length has its share, rounded down; the last one has what is left."""
    parts = [*parts, (7, 1 - sum(share for _, share in parts))] if sum(share for _, share in parts) < 1 else [(7, 1.0)]
    lengths = AnswerLengths("percentage", LengthLimits(percentage_distribute=parts)).draw(rows, None)  # type: ignore[arg-type]
    expected = [length for length, share in parts for _ in range(int(share * rows))]
    assert lengths == expected + [parts[-1][0]] * (rows - len(expected))
    assert sum(Counter(lengths).values()) == rows


@pytest.mark.parametrize(
    "meta",
    [
        "{",
        "[]",
        "null",
        b"\xff".decode("latin-1"),
        {"request_count": 0},
        {"request_count": -2},
        {"request_count": "many"},
        {"sampling_mode": "best"},
        {"colour": 1},
        {"output_config": {"method": "normal", "params": {}}},
        {"output_config": {"method": "uniform", "params": {"min_value": 2, "max_value": 1}}},
        {"output_config": {"method": "uniform", "params": {"min_value": 2}}},
        {"output_config": {"method": "percentage", "params": {"percentage_distribute": [[5, 0.5]]}}},
        {"output_config": {"method": "percentage", "params": {"percentage_distribute": [[0, 1.0]]}}},
        {"output_config": {"method": "percentage", "params": {}}},
    ],
)
def test_wrong_settings_name_their_file(tmp_path: Path, meta: Any) -> None:
    with pytest.raises(DataError) as caught:
        rows_of(tmp_path, meta)
    assert "mine.jsonl.meta.json" in str(caught.value)
    assert caught.value.fix


def test_settings_that_are_named_must_exist(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"question": "q"}\n')
    with pytest.raises(DataError, match=r"other\.json"):
        LoadRowsDataset(str(path), meta_path=str(tmp_path / "other.json")).read("test")


def test_no_rows_are_no_rows() -> None:
    assert LoadSettings(request_count=3).rows([], None) == []  # type: ignore[arg-type]
