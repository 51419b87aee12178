"""What `check` says of leaks in whole datasets: injected ones are found, shipped and random data raise no alarm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.checks import Findings, check_plan, checked
from ais_prompt.config import Options
from ais_prompt.extensions.leaks.words import drawn
from ais_prompt.plan import Plan
from ais_prompt.types import PartSpec, RunSpec, Sample
from tests.support.parts import dataset_spec, write_rows

Row = dict[str, Any]
WORDS = [f"{first}{vowel}{last}" for first in "bcdfghjklm" for vowel in "aeiou" for last in "lmnprst"]
TEMPLATE = "{question} {note} A: {answer}"


def quiz(random: Random, count: int) -> list[Row]:
    return [
        {
            "question": " ".join(random.choices(WORDS, k=20)) + "?",
            "note": random.choice(WORDS),
            "tests": random.choice(WORDS),
            "answer": random.choice(WORDS),
        }
        for _ in range(count)
    ]


def checked_quiz(
    folder: Path,
    test: Sequence[Mapping[str, Any]],
    train: Sequence[Mapping[str, Any]] = quiz(Random(99), 3),
    retriever: Mapping[str, Any] | None = None,
    template: str = TEMPLATE,
    **reader: Any,
) -> Findings:
    """A thorough check of a dataset whose prompts show the question and the note, after examples if there are any."""
    write_rows(folder / "data/test.jsonl", test)
    write_rows(folder / "data/train.jsonl", train)
    spec = dataset_spec(folder / "data", template)
    if retriever is not None:
        infer, args = spec.infer, {"template": f"</E>{template}", "ice_token": "</E>"}
        part = PartSpec(retriever["type"], {key: retriever[key] for key in retriever if key != "type"}, "retriever")
        ice = PartSpec("PromptTemplate", {"template": template}, "ice")
        prompt = PartSpec("PromptTemplate", args, "prompt")
        spec = replace(spec, infer=replace(infer, ice_template=ice, prompt_template=prompt, retriever=part))
    spec = replace(spec, reader=replace(spec.reader, **reader))
    return check_plan(Plan(RunSpec("run", (), (spec,), folder, None, {})), lambda path: path, thorough=True)


def said(found: Findings) -> list[str]:
    assert found.faults == []
    return [warning.what for warning in found.warnings]


BM25 = {"type": "BM25Retriever", "ice_num": 1, "input_columns": ["question"]}


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(5))
def test_random_data_raises_no_alarm(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    assert said(checked_quiz(tmp_path, quiz(random, 100), quiz(random, 100), BM25)) == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["demo_addition", "demo_chat_sums", "demo_choice", "demo_dialogue"])
def test_shipped_data_raises_no_alarm(name: str) -> None:
    _, warnings = checked(
        Options(models=["demo_chat" if "chat" in name else "demo_base"], datasets=[name]), thorough=True
    )
    assert [warning.what for warning in warnings] == []


def in_note(test: list[Row], train: list[Row]) -> None:
    for row in test:
        row["note"] += f", {row['answer']}"


def in_examples(test: list[Row], train: list[Row]) -> None:
    words = train[7]["question"].split()
    test[5]["question"] = " ".join(["indeed", *words[1:9], "really", *words[10:]])


def twice(test: list[Row], train: list[Row]) -> None:
    test[9]["question"] = test[4]["question"].replace("?", "!")
    test[11]["question"] = test[4]["question"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("leak", "what"),
    [
        (in_note, "the gold occurs in the column 'note', which the prompt shows, in 100.0% of 100 questions"),
        (in_examples, "1 of 100 questions are, with words or punctuation changed, among the rows"),
        (in_examples, "test row 5 is train row 7"),
        (twice, "2 of 100 questions repeat an earlier one of the test split (1 exactly, 1 with words"),
        (twice, "row 9 repeats row 4, row 11 repeats row 4"),
    ],
)
def test_an_injected_leak_is_found(tmp_path: Path, leak: Callable[[list[Row], list[Row]], None], what: str) -> None:
    test, train = quiz(Random(1), 100), quiz(Random(2), 100)
    leak(test, train)
    [warning] = said(checked_quiz(tmp_path, test, train, BM25))
    assert what in warning


WRITTEN = "Q: {}! A: {}\n"


@pytest.mark.thorough
def test_test_questions_that_the_template_writes_are_named(tmp_path: Path) -> None:
    test = quiz(Random(1), 100)
    for row in test[3:5]:  # in another case and punctuation
        example = WRITTEN.format(row["question"].upper().replace(" ", ", "), row["answer"])
        assert said(checked_quiz(tmp_path, test, template=f"{example}{TEMPLATE}"))
    examples = "".join(WRITTEN.format(row["question"], row["answer"]) for row in test[3:5])
    [warning] = said(checked_quiz(tmp_path, test, template=f"{examples}{TEMPLATE}"))
    assert warning == "the template itself has the text of 2 of 100 test questions: test row 3, 4"


def test_examples_of_the_template_that_are_no_test_questions_are_no_leak(tmp_path: Path) -> None:
    test, others = quiz(Random(1), 100), quiz(Random(5), 3)
    half = test[0]["question"].split()[:12]
    examples = "".join(WRITTEN.format(row["question"], row["answer"]) for row in others) + " ".join(half)
    assert said(checked_quiz(tmp_path, test, template=f"{examples} {TEMPLATE}")) == []


def test_a_question_of_a_few_words_may_be_in_a_template_by_chance(tmp_path: Path) -> None:
    test = [{**row, "question": "yes or no?"} if not number else row for number, row in enumerate(quiz(Random(1), 100))]
    assert said(checked_quiz(tmp_path, test, template=f"Is it so, yes or no? Think about it. {TEMPLATE}")) == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("example", "rows"),
    [
        ("Calculate 30+4. A: it equals 34.\n", "test row 30"),
        ("Calculate 30+4. Then 40+4. A: it equals 35, or 36.\n", ""),
        ("Calculate 300+4. A: it equals 304.\n", ""),
    ],
)
def test_a_sum_that_the_template_writes_with_its_answer_is_named(tmp_path: Path, example: str, rows: str) -> None:
    test = [{"question": f"{number}+4=", "note": "", "tests": "", "answer": str(number + 4)} for number in range(100)]
    found = [what for what in said(checked_quiz(tmp_path, test, template=f"{example}{TEMPLATE}")) if "itself" in what]
    assert [what.partition(": ")[2] for what in found] == [rows] * bool(rows)


@pytest.mark.thorough
def test_pairs_of_questions_that_differ_in_a_word_are_the_form_of_a_task(tmp_path: Path) -> None:
    test = quiz(Random(1), 100)
    test += [{**row, "question": f"indeed, {row['question']}"} for row in test]
    assert said(checked_quiz(tmp_path, test)) == []


@pytest.mark.thorough
def test_only_rows_that_may_be_shown_are_searched(tmp_path: Path) -> None:
    test, train = quiz(Random(1), 100), quiz(Random(2), 100)
    in_examples(test, train)
    assert said(checked_quiz(tmp_path, test, train, {"type": "FixKRetriever", "fix_id_list": [1, 2]})) == []
    assert len(said(checked_quiz(tmp_path, test, train, {"type": "FixKRetriever", "fix_id_list": [1, 7]}))) == 1
    assert said(checked_quiz(tmp_path, test, train)) == []


def test_a_column_that_no_prompt_shows_gives_nothing_away(tmp_path: Path) -> None:
    test = quiz(Random(1), 100)
    in_note(test, [])
    assert said(checked_quiz(tmp_path, test, template="{question} A: {answer}")) == []


def test_a_retriever_that_compares_golds_is_found(tmp_path: Path) -> None:
    test, train = quiz(Random(1), 20), quiz(Random(2), 20)
    [warning] = said(checked_quiz(tmp_path, test, train, {**BM25, "input_columns": ["question", "answer"]}))
    assert "the retriever compares rows by their gold, column 'answer'" in warning


@pytest.mark.parametrize(("inputs", "faults"), [(("question",), 1), (("question", "tests"), 0)])
def test_a_gold_column_in_a_prompt_is_a_fault_unless_it_is_part_of_the_question(
    tmp_path: Path, inputs: tuple[str, ...], faults: int
) -> None:
    template = "{question} {tests} A: {answer}"
    columns: dict[str, Any] = {"input_columns": inputs, "gold_columns": ("tests",)}
    found = checked_quiz(tmp_path, quiz(Random(1), 20), template=template, **columns)
    assert len([fault for fault in found.faults if "changes with the gold in column 'tests'" in fault.what]) == faults


@pytest.mark.slow
@pytest.mark.thorough
def test_of_very_long_questions_some_are_drawn_and_the_warning_says_so(tmp_path: Path) -> None:
    test = [{**row, "question": f"{row['question'] * 1_000} {index}"} for index, row in enumerate(quiz(Random(1), 130))]
    test[1:] = [test[1]] * 129
    [warning] = said(checked_quiz(tmp_path, test))
    assert "drawn from 130 questions repeat an earlier one" in warning


@pytest.mark.parametrize(("most", "length", "drawn_rows"), [(200, 10, 100), (30, 10, 30), (200, 1_000_000, 10)])
def test_rows_and_characters_of_a_search_are_bounded(most: int, length: int, drawn_rows: int) -> None:
    text = "x" * length
    samples = [Sample(str(index), index, {"q": text, "other": text * 2}) for index in range(100)]
    found = drawn(samples, range(100), most, ["q"])
    assert found == drawn(samples, range(100), most, ["q"])
    assert len(found) == drawn_rows
    assert sorted({sample.index for sample in found}) == [sample.index for sample in found]
