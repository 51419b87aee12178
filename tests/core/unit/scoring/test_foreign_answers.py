"""Answers made elsewhere: every one finds its question, or is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import DataError, StoreError
from ais_prompt.scoring import Answer, match, predictions, read_answers
from ais_prompt.types import ChatMessage, Completion, Prediction, Sample

SAMPLES = [Sample(f"id-{number}", number, {"question": "?"}, str(number)) for number in range(4)]


def matched(*answers: dict[str, Any]) -> tuple[list[Prediction], list[str]]:
    """The predictions, and the remarks."""
    found = match([Answer(f"file:{number}", values) for number, values in enumerate(answers, start=1)], SAMPLES)
    return list(predictions(found, SAMPLES, "answer")), found.remarks(SAMPLES)


def kinds(made: list[Prediction]) -> list[str | None]:
    return [one.completions[0].failure.kind if one.completions[0].failure else one.prediction for one in made]


def test_answers_are_found_by_id_or_by_index() -> None:
    made, remarks = matched(
        {"id": "id-2", "prediction": "c"},
        {"index": 0, "prediction": "a"},
        {"id": "id-1", "index": 3, "prediction": "b"},
        {"index": 3, "prediction": "4"},
    )
    assert kinds(made) == ["a", "b", "c", "4"]
    assert [(one.sample_id, one.index, one.gold) for one in made] == [(s.id, s.index, s.gold) for s in SAMPLES]
    assert remarks == []


def test_missing_doubled_and_foreign_answers_are_named_and_never_guessed() -> None:
    made, remarks = matched(
        {"id": "id-0", "prediction": "a"},
        {"id": "id-1", "prediction": "b"},
        {"id": "id-1", "prediction": "B"},
        {"id": "id-9", "prediction": "?"},
        {"index": 4, "prediction": "?"},
        {"index": -1, "prediction": "?"},
        {"id": "id-3", "prediction": None},
    )
    assert kinds(made) == ["a", "doubled", "missing", "missing"]
    assert remarks == [
        "1 questions have no answer, and count as failed: id-2",
        "1 questions have several answers, and count as failed: id-1",
        "3 answers belong to no question, and are left out: file:4, file:5, file:6",
    ]


def test_another_gold_is_a_sign_of_shifted_answers() -> None:
    _, remarks = matched(*({"index": number, "prediction": "a", "gold": str(number + 1)} for number in range(4)))
    assert remarks == [
        "4 answers come with another gold than the data's, which counts: id-0, id-1, id-2, id-3",
    ]


def test_several_answers_to_each_question() -> None:
    made, _ = matched({"index": 0, "prediction": ["a", None, "3"]}, {"index": 1, "prediction": ["b", "b", "b"]})
    assert made[0].prediction == ["a", None, "3"]
    assert [bool(completion.failure) for completion in made[0].completions] == [False, True, False]
    assert (made[2].prediction, len(made[2].completions)) == ([None] * 3, 3)


def test_what_is_told_of_an_answer_is_kept() -> None:
    told = {"text": "a", "finish_reason": "length", "usage": {}, "seconds": 1.0, "attempts": 1}
    prompt = [{"role": "HUMAN", "prompt": "Hi"}, {"role": "user", "content": "ho"}]
    made, _ = matched({"index": 0, "prediction": "a", "origin_prompt": prompt, "completions": [told]})
    assert made[0].truncated
    assert made[0].origin_prompt == (ChatMessage("user", "Hi"), ChatMessage("user", "ho"))


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"prediction": "a"}, "neither 'id' nor 'index'"),
        ({"index": "0", "prediction": "a"}, "neither 'id' nor 'index'"),
        ({"index": 0}, "no 'prediction'"),
        ({"index": 0, "prediction": "a", "completions": [{}]}, "completions cannot be read"),
        ({"id": "other", "prediction": "a"}, "none of 1 answer belongs to a question"),
    ],
)
def test_an_answer_that_cannot_be_used_says_where(values: dict[str, Any], what: str) -> None:
    with pytest.raises(DataError, match=what) as caught:
        matched(values)
    assert caught.value.where == "file:1"
    assert caught.value.fix


def test_nothing_cannot_be_matched() -> None:
    with pytest.raises(DataError, match="not one answer"):
        match([], SAMPLES)
    with pytest.raises(DataError, match="not one question"):
        match([Answer("file:1", {"index": 0, "prediction": "a"})], [])


def test_both_kinds_of_file(tmp_path: Path) -> None:
    lines, whole, listed = tmp_path / "a.jsonl", tmp_path / "a.json", tmp_path / "b.json"
    lines.write_text('{"id": "x", "prediction": "a"}\n\n{"index": 1, "prediction": "\\ud800"}\n')
    whole.write_text(json.dumps({"0": {"origin_prompt": "?", "prediction": "a", "gold": "b"}}))
    listed.write_text(json.dumps([{"id": "x", "prediction": "a"}]))
    assert [answer.where for answer in read_answers(lines)] == [f"{lines}:1", f"{lines}:3"]
    assert [answer.values["index"] for answer in read_answers(whole)] == [0]
    assert [answer.values["id"] for answer in read_answers(listed)] == ["x"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.jsonl", "{"), ("a.json", "{"), ("a.json", '{"x": {}}'), ("a.json", "[1]"), ("a.jsonl", "[]")],
)
def test_a_file_that_cannot_be_read_says_where(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError) as caught:
        list(read_answers(tmp_path / name))
    assert name in caught.value.where
    with pytest.raises(StoreError):
        list(read_answers(tmp_path / "none.jsonl"))


answers = st.fixed_dictionaries({"index": st.integers(-2, 6), "prediction": st.text(max_size=3) | st.none()})


@given(st.lists(answers, max_size=12).filter(lambda given: any(0 <= one["index"] < 4 for one in given)))
def test_every_answer_is_a_prediction_or_is_named(given: list[dict[str, Any]]) -> None:
    made, remarks = matched(*given)
    assert [one.sample_id for one in made] == [sample.id for sample in SAMPLES]
    for number, one in enumerate(made):
        own = [answer["prediction"] for answer in given if answer["index"] == number]
        assert one.prediction == (own[0] if len(own) == 1 else None)
        assert one.failed == (len(own) != 1 or own[0] is None)
    foreign = sum(not 0 <= one["index"] < 4 for one in given)
    assert any(remark.startswith(f"{foreign} answers belong to no question") for remark in remarks) == (foreign > 0)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, 29, 0.5, True, {"text": "a"}])
@pytest.mark.parametrize("told", [{}, {"completions": [Completion("29", "stop").to_json()]}])
def test_what_is_no_text_is_failed_with_a_reason(value: object, told: dict[str, object]) -> None:
    found = match(
        [
            Answer("file:1", {"index": 0, "prediction": value, **told}),
            Answer("file:2", {"index": 1, "prediction": "b"}),
        ],
        SAMPLES,
    )
    first, second, *_ = predictions(found, SAMPLES, "answer")
    assert first.failed
    assert first.prediction is None
    failure = first.completions[0].failure
    assert failure is not None
    assert failure.kind == ("missing" if value is None else "not_text")
    assert repr(value) in failure.message or value is None
    assert not second.failed


@pytest.mark.parametrize("value", [0, 3, True, -1.5, [0.25, 0.75]])
def test_a_measured_prediction_is_kept_as_it_is(value: object) -> None:
    """Labels can be integers, and choices have probabilities; they are no texts, and not several answers."""
    found = match([Answer("file:1", {"index": 0, "prediction": value}, is_measured=True)], SAMPLES)
    first = next(predictions(found, SAMPLES, "answer"))
    assert (first.prediction, first.failed, len(first.completions)) == (value, False, 1)


@pytest.mark.parametrize(
    ("theirs", "ours", "same"),
    [
        ({"b": [1, 2], "a": "x", "absent": None}, {"a": "x", "b": (1, 2)}, True),
        ({"a": {"c": 1, "b": 2}}, {"a": {"b": 2, "c": 1}}, True),
        (3, "3", True),
        ({"a": 1}, {"a": 2}, False),
        ([1, 2], [2, 1], False),
    ],
)
def test_golds_are_compared_by_their_content(theirs: object, ours: object, same: bool) -> None:
    found = match(
        [Answer("file:1", {"index": 0, "prediction": "x", "gold": theirs})], [Sample("a", 0, {"g": ours}, ours)]
    )
    assert found.other_gold == ([] if same else ["a"])


def test_one_of_several_answers_that_is_no_text_fails_alone() -> None:
    found = match([Answer("file:1", {"index": 0, "prediction": ["a", float("nan"), None]})], SAMPLES)
    first = next(predictions(found, SAMPLES, "answer"))
    assert first.prediction == ["a", None, None]
    assert [bool(one.failure) for one in first.completions] == [False, True, True]


def test_thoughts_in_answers_are_said() -> None:
    texts = ("<think>2?</think>1", "[THINK]2?[/THINK]1", "<my_thoughts>2?</my_thoughts>1", "1, I think")
    _, remarks = matched(*({"index": number, "prediction": text} for number, text in enumerate(texts)))
    assert len(remarks) == 1
    assert remarks[0].startswith("3 answers have thoughts in their text, and are scored with them")
