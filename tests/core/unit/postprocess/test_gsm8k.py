from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import DataError
from ais_prompt.evaluators import Gsm8kEvaluator
from ais_prompt.postprocess import (
    gsm8k_dataset_postprocess,
    gsm8k_postprocess,
    math_postprocess_v2,
    number_dataset_postprocess,
    to_decimal,
)
from ais_prompt.registry import POSTPROCESSORS
from tests.support.real_data import GSM8K, needs

SOLUTIONS = Path(os.environ.get("GSM8K_SOLUTIONS", "example_model_solutions.jsonl"))
MODELS = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("She makes 9 * 2 = $18 every day.\n#### 18", "18"),
        ("The answer is 1,000.", "1000"),
        ("The answer is 18.\n\nQuestion: Tom has 5 apples.\nAnswer: 7", "18"),
        ("Question: what?", None),
        ("I do not know.", None),
        ("", None),
    ],
)
def test_the_answer_is_the_last_number_before_a_next_question(text: str, answer: str | None) -> None:
    assert gsm8k_postprocess(text) == answer


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("16 - 3 - 4 = <<16-3-4=9>>9\n#### 18", "18"),
        ("so\n#### 1,450,000", "1450000"),
        ("#### -3", "-3"),
        ("####18\n", "18"),
        ("#### a mark in the text\n#### 7", "7"),
    ],
)
def test_the_gold_stands_after_the_mark(text: str, gold: str) -> None:
    assert gsm8k_dataset_postprocess(text) == gold


@pytest.mark.parametrize("text", ["18", "", "so ####", "####  \n"])
def test_a_gold_without_mark_or_number_is_an_error(text: str) -> None:
    with pytest.raises(DataError, match="####") as caught:
        gsm8k_dataset_postprocess(text)
    assert "dataset_postprocessor" in caught.value.fix


def test_both_are_found_by_name() -> None:
    assert POSTPROCESSORS.get("gsm8k_postprocess")("it is 3") == "3"
    assert POSTPROCESSORS.get("gsm8k_dataset_postprocess")("#### 3") == "3"


@pytest.mark.thorough
@needs(GSM8K)
@pytest.mark.parametrize(("split", "size"), [("test", 1319), pytest.param("train", 7473, marks=pytest.mark.slow)])
def test_every_gold_of_the_real_data_is_a_whole_number(split: str, size: int) -> None:
    lines = (GSM8K / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
    answers = [json.loads(line)["answer"] for line in lines]
    assert len(answers) == size
    for answer in answers:
        written = answer[answer.index("####") + 4 :].strip()
        gold = to_decimal(gsm8k_dataset_postprocess(answer))
        assert gold is not None
        assert gold == int(written.replace(",", ""))
        assert to_decimal(gsm8k_postprocess(answer)) == gold  # the gold solution, read as an answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("He paid $42 for 6 books.", None),  # as a premise would say it
        ("16 - 3 = 13, so she has 13 eggs left after 2 days.", "13"),
        ("So 18 of the 25 riders are men.", "18"),
        ("The final amount of the purchase comes to $60 - $18 = $42.\nJoe has $50 - $42 = $8 left.\nA: 8", "8"),
        ("The answer is 676 - 224, which is 452.", "452"),
        ("The answer is 42, which is 18 less than before.", "42"),
        ("$840 + $756 = $1596\n\nTherefore, she paid a total of $1596 for the service by", None),  # breaks off
        ("The answer is 3/4.", "3/4"),
        ("Answer: 2 1/2 cups", "2 1/2"),
        (r"\boxed{3/4}", "3/4"),
        ("#### 1e3", "1e3"),
        ("First, she buys 3 apples. Then", None),
        ("We'd need the price of the 3 books.", None),
        ("It may be 12. It may also be 15.", None),
        ("Error 404", None),
    ],
)
def test_the_result_of_a_text_without_a_marker(text: str, answer: str | None) -> None:
    assert gsm8k_postprocess(text) == answer


@pytest.mark.skipif(not SOLUTIONS.is_file(), reason="GSM8K_SOLUTIONS names no file of the published solutions")
def test_every_published_verdict_is_reproduced() -> None:
    """The verdicts on solutions of four models in github.com/openai/grade-school-math."""
    rows = [json.loads(line) for line in SOLUTIONS.read_text("utf-8").splitlines()]
    verdicts = 0
    for row in rows:
        gold = row["ground_truth"].rpartition("A: ")[2]
        for model in MODELS:
            score = Gsm8kEvaluator().score(gsm8k_postprocess(row[model]["solution"]), gold)
            assert (score["accuracy"] == 1) == row[model]["is_correct"], row[model]["solution"]
            verdicts += 1
    assert verdicts == 5276


@pytest.mark.parametrize("read", [gsm8k_postprocess, math_postprocess_v2])
def test_a_number_at_the_very_end_of_a_cut_answer_is_not_read(read: Callable[..., Any]) -> None:
    for text in ("The answer is 12", "The answer is 12.", "#### 12"):
        assert (str(read(text)), read(text, cut=True)) == ("12", None)
    assert str(read("The answer is 12 apples.", cut=True)) == "12"


def test_an_answer_that_is_a_number_in_words_is_read() -> None:
    read = {
        "Eight.": "8",
        "**Forty-two**": "42",
        "The answer is seven.": "7",
        "twenty-one apples": "21",
        "two hundred and five thousand": "205000",
        "one hundred and twelve": "112",
        "eight months": "8",
    }
    assert {text: gsm8k_postprocess(text) for text in read} == read


def test_other_sentences_and_parts_of_larger_numbers_are_not() -> None:
    for text in ("There are two cases.", "Two or three.", "one of them", "Six million", "two thirds", "five point two"):
        assert gsm8k_postprocess(text) is None, text


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("None", "None"),
        ("The equation has no solution.", "no solution"),
        ("The answer is 12 and 13.", None),
        ("Either 12 and 13 or no solution.", None),
        ("There may be no solution; perhaps there is one.", None),
        ("It is not true that there is no solution, so 4.", "4"),
        ("None of these is 4.", None),
        ("So the answer is 12. It is not None.", "12"),
    ],
)
def test_words_count_where_an_answer_gives_no_number(text: str, answer: str | None) -> None:
    assert gsm8k_postprocess(text, words=["None", "no solution"]) == answer


@pytest.mark.parametrize(
    ("gold", "number"),
    [
        ("12 cm", "12"),
        ("8 apples", "8"),
        ("18 (apples)", "18"),
        ("30°", "30"),
        ("30 °C", "30"),
        ("3.5 m/s", "3.5"),
        ("9.8 m/s^2", "9.8"),
        ("12 km per hour", "12"),
        ("1,500 cm", "1500"),
        ("-5 kWh", "-5"),
        ("8个苹果", "8"),
        ("3.5千米", "3.5"),
        ("1/2 cup", "1/2"),
        ("2 million people", "2000000"),
    ],
)
def test_the_unit_of_a_gold_is_left_out(gold: str, number: str) -> None:
    assert number_dataset_postprocess(gold) == number


@pytest.mark.parametrize(
    "gold",
    [
        *("CO2", "2 Fast 2 Furious", "12 Angry Men", "9 am", "9:30 p.m.", "44 BC", "12月"),
        *("2nd", "12 May", "5 dozen", "3 and a half", "12A", "12", "3半"),
    ],
)
def test_a_gold_that_is_more_than_a_number_and_its_unit_stays(gold: str) -> None:
    assert number_dataset_postprocess(gold) == gold


@pytest.mark.parametrize(
    "text",
    [
        "**42 apples**\n\nShe started with 50 and gave 8 away.",
        "**Answer: 42**\n\n1. Start with 50\n2. Take 8",
        "**Step 3:** Add 2 and 3.\n✅ **Answer: 42 apples**",
        "42\n\nShe started with 50.",
        "She has **42** left from the original 50.",
        "So Ann has **42 apples**. \n\n(50 − 8 = 42)",
        "Ann had 50, gave 8 away, and now has 42.",
        "Therefore, the total is 42 apples (21 red and 21 green).",
        "So she has $50 - 8 = 42$ apples left, which is 84% of 50.",
        "The revenue of Paris in 2023 was €42.",
        "$42 per month for up to 10 users",
        "Churn was 42% in month 0",
        "She has **42** apples left.\n\nCalculation: 50 - 8 = 42",
        "Ann has **42** apples left, because she started with 50 and gave 8 away.",
    ],
)
def test_the_number_beside_others_that_is_stated_as_the_result_counts(text: str) -> None:
    assert gsm8k_postprocess(text) == "42"


@pytest.mark.parametrize(
    "text",
    [
        "**50** apples. She gave 8 away. How many are left?",
        "It could be **42** or 43.",
        "It is **42** or **43**.",
        "It is not **42**, since 50 - 7 is less.",
        "**42** is a guess, but I am not sure. There were 50.",
        "**1.** Start with 50.\n**2.** Take 8.",
        "If there are **42** of 50, it works.",
        "She has at least **42** left of 50.",
        "Some say **42**, others 50.",
        "Perhaps **42**, she had 50.",
        "**42** of 50; I can't be certain.",
        "Ann had 50, gave 8 away, and now has fewer than 42 or so.",
        "In 2022 it was 900, in 2023 it was 1250.",
        "The revenue in 2023 was not €1,250.",
        "What was the revenue in 2023, €1,250?",
    ],
)
def test_a_number_that_is_only_emphasised_or_beside_a_year_is_not_stated(text: str) -> None:
    assert gsm8k_postprocess(text) is None
