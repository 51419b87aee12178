"""`evaluate`: a model or function on rows, without a config."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy
import pytest

import ais_prompt
from tests.support.cli import run_cli
from tests.support.servers import MockServer

ROWS = [{"question": f"{n}+{n}", "answer": str(2 * n)} for n in range(6)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def total(text: str) -> str:
    left, right = text.split("+")
    return f"It is {int(left) + int(right)}."


def last_word(text: str) -> str:
    return text.split()[-1].rstrip(".")


def test_pairs_and_columns_are_rows() -> None:
    pairs = [(row["question"], row["answer"]) for row in ROWS]
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    for data in (pairs, [*map(list, pairs)], columns, {name: tuple(values) for name, values in columns.items()}):
        run = ais_prompt.evaluate(data, function=total, quiet=True)
        assert (run.rows[0].score, run.rows[0].n) == (1.0, 6), data


def test_numbers_and_booleans_that_a_function_returns_are_texts() -> None:
    for value, gold in ((4, "4"), (4.5, "4.5"), (True, "True"), (Decimal("0.10"), "0.10"), (numpy.int64(4), "4")):
        run = ais_prompt.evaluate(
            [{"question": "2+2", "answer": gold}], function=lambda _, value=value: value, extract="none", quiet=True
        )
        assert run.samples(to="arrow").column("prediction").to_pylist() == [gold]
        assert run.errors == {}


def half(answer: str, gold: str) -> float:
    return 0.5 if answer == gold else 0.0


@pytest.mark.process
def test_several_evaluators_are_a_list_and_one_of_them_a_function() -> None:
    run = ais_prompt.evaluate(ROWS, function=total, evaluator=["EMEvaluator", half], quiet=True)
    assert {row.metric: row.score for row in run.rows} == {"exact_match": 1.0, "half": 0.5}


def first_word(text: str) -> str:
    return text.split()[0]


@pytest.mark.process
def test_a_postprocessor_that_loses_most_phrasings_is_told_before_anything_is_asked() -> None:
    for extract, told in ((first_word, True), (None, False)):
        run = ais_prompt.evaluate(ROWS, function=total, extract=extract, quiet=True)
        assert any("ordinary phrasings" in one.what for one in run.warnings) == told, extract


def test_the_cause_of_a_failure_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    def broken(_: str) -> str:
        raise ValueError("no network")

    for quiet in (True, False):
        run = ais_prompt.evaluate(ROWS, function=broken, quiet=quiet)
        assert list(run.errors) == ["broken/data"]
        printed = capsys.readouterr().err
        assert printed.count("broken raised ValueError: no network") == 1
        assert "reuse='latest'" in printed
        assert "`-r`" not in printed


@pytest.mark.thorough
@pytest.mark.parametrize("data", [ROWS, "sums.jsonl", Path("sums.jsonl"), {"train": ROWS, "test": ROWS}])
def test_a_function_is_evaluated_on_rows_and_files(data: Any) -> None:
    run = ais_prompt.evaluate(data, function=total, quiet=True)
    assert (run.rows[0].score, run.rows[0].n, run.rows[0].model) == (1.0, 6, "total")
    assert "{answer}, a number" in run.warnings[0].what


@pytest.mark.process
def test_each_guess_can_be_replaced() -> None:
    asked: list[str] = []

    def app(text: str) -> str:
        asked.append(text)
        return total(text.removeprefix("Add: "))

    rows = [{"sum": row["question"], "right": row["answer"]} for row in ROWS]
    run = ais_prompt.evaluate(
        rows,
        function=app,
        prompt="Add: {sum}",
        answer="right",
        extract=last_word,
        evaluator=lambda found, gold: float(found == gold),
        limit=3,
        name="own",
        quiet=True,
    )
    assert sorted(asked) == [f"Add: {n}+{n}" for n in range(3)]
    assert (run.rows[0].score, run.name.partition("/")[0]) == (1.0, "own")
    assert [row["extracted"] for row in run.samples(to="arrow").to_pylist()] == ["0", "2", "4"]


@pytest.mark.process
def test_parts_are_named_or_described() -> None:
    for extract, score in (
        ("none", 0.0),
        ("last_word", 1.0),
        ({"type": "after_phrase_postprocess", "phrase": "is"}, 1),
    ):
        named = f"{__name__}.{extract}" if extract == "last_word" else extract
        run = ais_prompt.evaluate(ROWS, function=total, extract=named, evaluator="Gsm8kEvaluator", quiet=True)
        assert run.rows[0].score == score, extract


def test_other_rows_are_shown_before_each_question() -> None:
    lengths: list[int] = []

    def app(messages: str) -> str:
        lengths.append(len(messages.splitlines()))
        return "0"

    ais_prompt.evaluate(ROWS, function=app, few_shot=2, quiet=True)
    assert set(lengths) == {5}  # two questions with their answers


def test_a_server_and_a_described_model_are_evaluated(server: MockServer) -> None:
    for run in (
        ais_prompt.evaluate(ROWS, url=server.base_url, model="m", quiet=True),
        ais_prompt.evaluate(ROWS, model={"type": "ScriptedModel", "default": "4"}, quiet=True),
    ):
        assert (run.rows[0].n, run.rows[0].failed) == (6, 0)


def test_the_run_is_scored_and_resumed_like_any_other() -> None:
    run = ais_prompt.evaluate(ROWS, function=total, quiet=True)
    assert run_cli("score", str(run.path)).returncode == 0
    again = ais_prompt.evaluate(ROWS, function=total, reuse="latest", quiet=True)
    assert again.path == run.path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "give one of url, model and function"),
        ({"function": total, "url": "http://127.0.0.1:9/v1"}, "give one of url, model and function"),
        ({"function": total, "prompt": "{Question}"}, "no column 'Question'"),
        ({"function": total, "answer": "gold"}, "there is no column 'gold'"),
        ({"function": total, "data": [{"a": 1, "b": 2, "c": 3}]}, "has a known name for the question"),
    ],
)
def test_faults_are_in_the_words_of_python(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ais_prompt.ConfigError) as error:
        ais_prompt.evaluate(**{"data": ROWS, **arguments})
    assert words in error.value.what
    assert "--" not in "".join(error.value.lines())
