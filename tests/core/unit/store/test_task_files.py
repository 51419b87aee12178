"""Predictions and results: what is written is what is read."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.errors import ConfigError, DataError, StoreError
from ais_prompt.metrics import mean_scores
from ais_prompt.store import (
    read_details,
    read_json,
    read_predictions,
    read_results,
    read_scores,
    write_json_atomic,
    write_predictions,
    write_results,
)
from ais_prompt.types import STATUSES, ChatMessage, Completion, Failure, Prediction, SampleScore, Usage

TEXTS = st.text(st.characters(exclude_categories=[]), max_size=20)
GOLDS = st.none() | TEXTS | st.integers() | st.floats(allow_nan=False) | st.lists(TEXTS, max_size=2)
PARTS = st.tuples(st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS}))
PROMPTS = TEXTS | st.lists(st.builds(ChatMessage, st.just("user"), TEXTS | PARTS), max_size=2).map(tuple)
COMPLETIONS = st.builds(
    Completion,
    text=TEXTS,
    finish_reason=st.sampled_from([None, "stop", "length"]),
    usage=st.builds(Usage, st.none() | st.integers(0, 9), st.none()),
    failure=st.none() | st.builds(Failure, TEXTS, TEXTS, st.booleans()),
)
PREDICTIONS = st.builds(
    Prediction,
    sample_id=TEXTS,
    index=st.integers(0, 9),
    origin_prompt=PROMPTS,
    prediction=GOLDS,
    gold=GOLDS,
    completions=st.lists(COMPLETIONS, max_size=2).map(tuple),
)
PREDICTION = Prediction("a1b2", 0, "1+1=", "二\ud800\u2028", "2", (Completion("二\ud800\u2028", "stop"),))


@pytest.mark.thorough
@settings(max_examples=40)
@given(st.lists(PREDICTIONS, max_size=4))
def test_any_predictions_come_back_in_the_order_of_the_samples(predictions: list[Prediction]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model" / "dataset.jsonl"
        write_predictions(path, predictions)
        assert list(read_predictions(path)) == sorted(predictions, key=lambda prediction: prediction.index)


def test_predictions_larger_than_what_memory_keeps_come_back_in_order(tmp_path: Path) -> None:
    predictions = [replace(PREDICTION, index=index, sample_id=f"{index} " * 2_000) for index in range(50)]
    write_predictions(tmp_path / "p.jsonl", reversed(predictions))
    assert list(read_predictions(tmp_path / "p.jsonl")) == predictions
    assert list(tmp_path.iterdir()) == [tmp_path / "p.jsonl"]


def test_a_prediction_is_a_line_that_a_person_can_read(tmp_path: Path) -> None:
    write_predictions(tmp_path / "p.jsonl", [PREDICTION])
    line = (tmp_path / "p.jsonl").read_text(encoding="utf-8")
    assert '"prediction":"二\\ud800' in line
    keys = ["id", "index", "origin_prompt", "prediction", "gold", "shots_used", "completions"]
    assert list(json.loads(line)) == keys


def test_predictions_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    write_predictions(path, [PREDICTION])

    def broken() -> Iterator[Prediction]:
        yield PREDICTION
        yield PREDICTION
        raise StoreError("the journal cannot be read")

    with pytest.raises(StoreError, match="journal"):
        write_predictions(path, broken())
    assert list(read_predictions(path)) == [PREDICTION]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"id": "x"}', "not a prediction: .*missing required field"),
        ('{"id": "x", "index": 0, "origin_prompt": 7, "prediction": 1, "gold": 1, "completions": []}', "TypeError"),
        (
            '{"id": "x", "index": 0, "origin_prompt": "", "prediction": 1, "gold": 1, "completions": [1]}',
            "not a prediction",
        ),
        ('{"id": ', "not JSON"),
    ],
)
def test_a_line_that_is_no_prediction_is_named(tmp_path: Path, line: str, what: str) -> None:
    path = tmp_path / "p.jsonl"
    write_predictions(path, [PREDICTION])
    with path.open("a") as stream:
        stream.write(line + "\n")
    predictions = read_predictions(path)
    assert next(predictions) == PREDICTION
    with pytest.raises(DataError, match=what) as caught:
        next(predictions)
    assert caught.value.where == f"{path}:2"


def test_predictions_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there are no answers yet") as caught:
        list(read_predictions(tmp_path / "p.jsonl"))
    assert "-m infer" in caught.value.fix


@pytest.mark.parametrize("value", [{}, {"accuracy": 0.5, "text": "二\ud800", "counts": {"scored": 1}, "none": None}])
def test_results_come_back(tmp_path: Path, value: dict[str, Any]) -> None:
    path = tmp_path / "results" / "r.json"
    write_json_atomic(path, {"old": 1})
    write_json_atomic(path, value)
    assert read_json(path) == value
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(("content", "what"), [(b"{", "not JSON"), (b"\xff", "not JSON"), (b"[]", "not a JSON object")])
def test_a_file_that_holds_no_results(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=what) as caught:
        read_json(path)
    assert caught.value.where == str(path)


def test_results_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "results" / "demo" / "sums.json"
    for read in (read_results, read_scores, lambda path: list(read_details(path))):
        with pytest.raises(ConfigError, match="there are no scores yet") as caught:
            read(path)
        assert caught.value.fix == f"make them: aisprompt score {tmp_path}"
    with pytest.raises(StoreError, match="cannot read"):
        read_json(path)


SAMPLES = st.builds(
    SampleScore,
    sample_id=TEXTS,
    status=st.sampled_from(STATUSES),
    extracted=GOLDS,
    gold=GOLDS,
    values=st.builds(dict, accuracy=st.floats(0, 1)),
    reason=TEXTS,
)


@given(samples=st.lists(SAMPLES, max_size=5))
@settings(max_examples=50)
def test_scores_and_details_come_back_one_by_one(samples: list[SampleScore]) -> None:
    scores = mean_scores(("accuracy",), samples)
    head = {"model": "m", "scores": [score.to_json() for score in scores]}
    details = [sample.to_json() for sample in samples]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.json"
        write_results(path, head, details)
        assert read_scores(path) == scores
        assert list(read_details(path)) == samples
        assert read_json(path)["details"] == details


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b'{"scores": [', "not JSON"),
        (b'{\n  "model": "m",\n  "details": [\n  ]\n}\n', "no results: Expected 'array'"),
        (b'{\n  "scores": [],\n  "details": [\n  ]\n}\n', "not one score"),
        (b'{\n  "scores": [\n    3\n  ],\n  "details": [\n  ]\n}\n', "no results: Expected 'object'"),
    ],
)
def test_a_file_without_scores(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=what) as caught:
        read_scores(path)
    assert caught.value.where == str(path)


@pytest.mark.parametrize(
    ("detail", "what"),
    [(b"{broken", "not JSON"), (b"3", "not a JSON object"), (b"{}", "missing required field 'sample_id'")],
)
def test_a_file_with_broken_details(tmp_path: Path, detail: bytes, what: str) -> None:
    path = tmp_path / "r.json"
    write_results(path, {"scores": []}, [SampleScore("first", "unparsed").to_json()])
    path.write_bytes(path.read_bytes().replace(b"\n  ]\n}\n", b",\n    " + detail + b"\n  ]\n}\n"))
    details = read_details(path)
    assert next(details).sample_id == "first"
    with pytest.raises(StoreError, match=what):
        next(details)
