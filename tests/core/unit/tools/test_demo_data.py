"""The demo data: what lies in the repository is what the tool writes, and no test sum can have been learned."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from demo.arithmetic import LABELS, is_held_out
from demo.documents import FORMS, draw_document
from demo.make_data import DATA_DIR, DATA_SETS, ROWS, write_all

Pair = tuple[int, int]


def read_rows(name: str, split: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA_DIR / name / f"{split}.jsonl").read_text().splitlines()]


def turns_of(row: dict[str, Any]) -> Iterator[tuple[str, int | None]]:
    """Each question of a row with its gold number; None where the gold is a label."""
    if isinstance(row["question"], str):
        yield row["question"], None if row["answer"] in LABELS else int(row["answer"])
    else:
        yield from zip(row["question"], map(int, row["answer"]), strict=True)


def pairs_of(row: dict[str, Any]) -> Iterator[Pair]:
    """The operands as a reader of the file sees them: two numbers of a question, or the answer before and one."""
    before = 0
    for question, answer in turns_of(row):
        numbers = [int(number) for number in re.findall(r"\d+", question)]
        left, right = numbers if len(numbers) == 2 else (before, *numbers)
        yield min(left, right), max(left, right)
        before = answer or 0


def all_pairs(split: str) -> set[Pair]:
    return {pair for name in DATA_SETS for row in read_rows(name, split) for pair in pairs_of(row)}


def test_the_files_are_what_the_tool_writes(tmp_path: Path) -> None:
    write_all(tmp_path)
    written = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.jsonl")}
    shipped = {path.relative_to(DATA_DIR): path.read_bytes() for path in DATA_DIR.rglob("*.jsonl")}
    assert written == shipped


def test_no_pair_of_operands_is_both_trained_and_tested() -> None:
    train, test = all_pairs("train"), all_pairs("test")
    assert len(train) > 100
    assert len(test) > 100
    assert not train & test


@pytest.mark.thorough
def test_training_documents_hold_no_tested_pair() -> None:
    rng, tested = Random(0), all_pairs("test")
    for _ in range(2000):
        for problem in draw_document(rng).problems:
            pair = min(problem.left, problem.right), max(problem.left, problem.right)
            assert pair not in tested
            assert not is_held_out(*pair)


@pytest.mark.parametrize("form", [form for form, _, _ in FORMS], ids=lambda form: form.__name__)
def test_the_problems_of_a_document_are_those_in_its_text(form: Any) -> None:
    """Without this, the test above could be passed by a document that hides its sums."""
    rng = Random(1)
    for _ in range(200):
        document = form(rng, 1)
        for problem in document.problems:
            assert str(problem.right) in document.text
            assert str(problem.answer) in document.text
        signs = set(re.findall(r"(\d+)[+-](\d+)=", document.text))
        assert signs <= {(str(problem.left), str(problem.right)) for problem in document.problems}


@pytest.mark.parametrize("split", ROWS)
@pytest.mark.parametrize("name", ["addition", "chat"])
def test_gold_answers_are_right(name: str, split: str) -> None:
    for row in read_rows(name, split):
        left, right = (int(number) for number in re.findall(r"\d+", row["question"]))
        adds = re.search(r"\+|plus|[Aa]dd", row["question"])
        expected = left + right if adds else abs(left - right)  # "Subtract 3 from 9." names the smaller one first
        assert int(row["answer"]) == expected


@pytest.mark.parametrize("split", ROWS)
def test_dialogues_go_on_from_the_answer_before(split: str) -> None:
    for row in read_rows("dialogue", split):
        before = 0
        for question, answer in turns_of(row):
            left, right = ([before, *map(int, re.findall(r"\d+", question))])[-2:]
            adds = re.search(r"\+|plus|more", question)
            assert answer == (left + right if adds else left - right)
            before = answer


@pytest.mark.parametrize("split", ROWS)
def test_choices_have_one_right_option_and_balanced_labels(split: str) -> None:
    rows = read_rows("choice", split)
    for row in rows:
        left, sign, right = re.findall(r"\d+|[+-]", row["question"])
        expected = int(left) + int(right) if sign == "+" else int(left) - int(right)
        assert [label for label in LABELS if int(row[label]) == expected] == [row["answer"]]
        assert len({row[label] for label in LABELS}) == len(LABELS)
    assert {sum(row["answer"] == label for row in rows) for label in LABELS} == {len(rows) // len(LABELS)}
