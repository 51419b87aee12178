"""The columns of a judge's prompt, and what the peers' functions know of a question."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import DataError
from ais_prompt.evaluators import AnswerBatch
from ais_prompt.extensions.peers.code.judged import PeerJudgeEvaluator, ShownAnswer, columns, orders, reference, rounds
from ais_prompt.extensions.peers.code.running import NoVerdict, judged_verdict

DIALOGUE = [
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": ""},
    {"role": "user", "content": "two"},
]
TALK = [{"round": 1, "user": "one", "assistant": "a"}, {"round": 2, "user": "two", "assistant": "b"}]


def batch(rows: list[dict[str, Any]], answers: list[Any], golds: list[Any] | None = None) -> AnswerBatch:
    numbers: Callable[[], range] = lambda: range(len(rows))  # noqa: E731
    return AnswerBatch(answers, golds, [None] * len(rows), lambda: rows, row_numbers=numbers, model="m", dataset="d")


@pytest.mark.parametrize(
    ("answers", "pack", "expected"),
    [
        (["Two words 三"], False, {"prediction": "Two words 三", "_en_word_count": 2, "_cn_word_count": 1}),
        ([TALK], False, {"prediction_r1": "a", "prediction_r2": "b"}),
        ([TALK, TALK[:1]], False, {"prediction_r1": "a", "prediction_r2": "b", "prediction1_r1": "a"}),
        ([TALK[:1]], True, {"prediction": "[{'round': 1, 'user': 'one', 'assistant': 'a'}]"}),
    ],
)
def test_answers_have_the_columns_of_the_peer(answers: list[Any], pack: bool, expected: dict[str, Any]) -> None:
    named = {f"prediction{name}" if name.startswith("_") else name: value for name, value in expected.items()}
    assert columns([ShownAnswer("m", answer) for answer in answers], pack=pack) == named


@pytest.mark.parametrize(
    ("dialogue", "answers", "expected"),
    [
        (DIALOGUE, ["a", "b"], TALK),
        (DIALOGUE, ["a", "b", "c"], TALK),
        ("no list", ["a"], [{"round": 1, "user": "", "assistant": "a"}]),
    ],
)
def test_rounds_are_what_was_said_in_turn(dialogue: Any, answers: list[str], expected: list[dict[str, Any]]) -> None:
    assert rounds(dialogue, answers) == expected


@given(st.integers(1, 40))
def test_the_random_order_is_that_of_the_peer(count: int) -> None:
    drawn = random.Random(666)
    expected = []
    for position in range(count):
        pair = [0, 1]
        drawn.shuffle(pair)
        expected.append((position, tuple(pair)))
    assert list(orders("random", range(count))) == expected
    # Leaving rows out does not change the order of the others.
    assert [order for _, order in orders("random", range(0, count, 2))] == [order for _, order in expected[::2]]


def test_both_orders_are_all_of_the_first_then_all_of_the_second() -> None:
    assert list(orders("double", [5, 7])) == [(0, (0, 1)), (1, (0, 1)), (0, (1, 0)), (1, (1, 0))]


def test_a_comparison_is_known_with_its_models() -> None:
    shown = [ShownAnswer("old", "x"), ShownAnswer("m", "y")]
    assert reference({"kind": 1}, shown, ["old"]) == {
        "kind": 1,
        "answer1": "old",
        "answer2": "m",
        "base_models": ["old"],
    }
    kept = reference({}, shown, ["old"], keep_predictions=True)
    assert (kept["prediction1"], kept["prediction2"]) == ("x", "y")
    assert reference("a gold", shown[:1]) == "a gold"


@given(st.text(), st.text())
def test_a_prompt_in_a_row_is_filled_with_answers_that_are_never_filled_again(answer: str, other: str) -> None:
    answer = f"{answer}{{question}}{{prediction_en_word_count}}"
    row = {"question": other, "prompt": "Q: {question} A: {prediction}!"}
    [asked] = PeerJudgeEvaluator().questions(batch([row], [answer]))
    assert asked.fields["prompt"] == f"Q: {{question}} A: {answer}!"
    assert asked.fields["prediction"] == answer


VALUES = st.one_of(st.none(), st.booleans(), st.integers(-(2**80), 2**80), st.floats(allow_nan=False), st.text())


@given(st.lists(st.dictionaries(st.sampled_from(["a", "b"]), st.one_of(VALUES, st.lists(VALUES))), min_size=1))
def test_the_values_of_other_rows_change_no_question(others: list[dict[str, Any]]) -> None:
    """Arrow has no column of texts and numbers, and turns 5 into 5.0 beside 7.5."""
    row = {"a": "{prediction}?", "b": 5}
    asked = PeerJudgeEvaluator().questions(batch([row, *others], ["it"] * (1 + len(others))))
    assert len(asked) == 1 + len(others)
    assert asked[0].fields["a"] == "it?"


def test_each_prompt_of_a_gold_is_a_question() -> None:
    evaluator = PeerJudgeEvaluator(prompt_list=True)
    gold = {"kind": "x", "judge_prompt_list": ["Is {prediction} nice?", "long?"]}
    asked = evaluator.questions(batch([{"q": "1"}], ["it"], [gold]))
    assert [one.fields["prediction"] for one in asked] == ["Is it nice?", "long?"]
    assert asked[0].fields["reference"] == {"kind": "x", "judge_prompt": "Is {prediction} nice?"}
    with pytest.raises(DataError, match="no judge_prompt_list"):
        evaluator.questions(batch([{"q": "1"}], ["it"], ["a gold"]))


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"d.json": '{"0": {"prediction": "x"}, "1": {"prediction": "y"}}'}, "."),
        ({"d_0.json": '{"0": {"prediction": "x"}}', "d_1.json": '{"0": {"prediction": "y"}}'}, "."),
        ({"mine.json": '{"0": {"prediction": "x"}, "1": {"prediction": "y"}}'}, "mine.json"),
    ],
)
def test_answers_of_a_baseline_are_read_as_the_peer_keeps_them(
    tmp_path: Path, files: dict[str, str], name: str
) -> None:
    for file, content in files.items():
        (tmp_path / file).write_text(content)
    evaluator = PeerJudgeEvaluator(baselines=[{"abbr": "old", "path": str(tmp_path / name)}], order="double")
    asked = evaluator.questions(batch([{"q": "1"}, {"q": "2"}], ["p", "q"]))
    shown = [(one.answer, one.fields["prediction"], one.fields["prediction2"]) for one in asked]
    assert shown == [(0, "x", "p"), (1, "y", "q"), (0, "p", "x"), (1, "q", "y")]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "there are no answers of the model 'old' to 'd'"),
        ("[]]", "it does not hold predictions"),
        ('{"0": {"answer": "x"}}', "it does not hold predictions"),
        ("{}", "there is no answer to row 0"),
    ],
)
def test_answers_of_a_baseline_that_are_not_there_are_named(tmp_path: Path, content: str | None, what: str) -> None:
    if content is not None:
        (tmp_path / "d.json").write_text(content)
    evaluator = PeerJudgeEvaluator(baselines=[{"abbr": "old", "path": str(tmp_path)}])
    with pytest.raises(DataError, match=what):
        evaluator.questions(batch([{"q": "1"}], ["p"]))


def test_the_number_for_the_whole_dataset_comes_first() -> None:
    found = judged_verdict({"logic": 3.0, "总分": 2.5, "details": {}}, 4, "f", "m")
    assert list(found.metrics) == ["总分", "logic"]


def test_comparisons_become_a_win_rate() -> None:
    sides = {"model_a": "old", "model_b": "m"}
    matches = [{"winner": winner, **sides} for winner in ("model_b", "model_a", "tie", "model_b")]
    assert judged_verdict({"matches": matches}, 4, "f", "m").metrics == {"win_rate": 62.5}
    with pytest.raises(NoVerdict, match="f found no verdict"):
        judged_verdict({"matches": []}, 4, "f", "m")
