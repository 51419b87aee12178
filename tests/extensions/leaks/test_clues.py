"""Golds that another column gives away are found; data by chance raises no alarm."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.extensions.leaks.clues import ALPHA, alarming, find_choices, find_clues
from ais_prompt.types import Sample

Row = dict[str, Any]
WORDS = [f"w{first}{second}" for first in "abcdefghij" for second in "abcdefghij"]
LETTERS = "ABCD"


def alarms(rows: Sequence[Row], columns: Sequence[str], gold: str = "gold") -> list[str]:
    samples = [Sample(str(index), index, row, row[gold]) for index, row in enumerate(rows)]
    clues = find_clues(samples, columns, lambda sample: [str(sample.gold)])
    return [str(clue) for clue in alarming(clues)]


def open_rows(random: Random, count: int = 200) -> list[Row]:
    """Questions with a gold that has nothing to do with them, though it may stand there by chance."""
    return [{"q": " ".join(random.choices(WORDS, k=8)), "gold": random.choice(WORDS)} for _ in range(count)]


def choice_rows(random: Random, count: int = 200) -> list[Row]:
    rows = []
    for _ in range(count):
        texts = [" ".join(random.choices(WORDS, k=random.randint(1, 4))) for _ in LETTERS]
        question = " ".join(random.choices(WORDS, k=8))
        rows.append({"q": question, **dict(zip(LETTERS, texts, strict=True)), "gold": random.choice(LETTERS)})
    return rows


@pytest.mark.thorough
@pytest.mark.parametrize("make", [open_rows, choice_rows])
def test_data_by_chance_raises_alarms_no_more_often_than_stated(make: Callable[[Random, int], list[Row]]) -> None:
    sets = 100
    found = [bool(alarms(make(Random(seed), 40), "qABCD" if make is choice_rows else "q")) for seed in range(sets)]
    assert sum(found) <= 3 * ALPHA * sets


@given(st.integers(0, 2**32), st.integers(1, 3))
def test_three_rows_are_never_an_alarm(seed: int, count: int) -> None:
    assert alarms(choice_rows(Random(seed), count), "qABCD") == []


@pytest.mark.parametrize("share", [0.15, 1.0])
def test_a_gold_in_the_question_is_found_and_its_rows_are_named(share: float) -> None:
    rows = open_rows(Random(1))
    for row in rows[: round(share * len(rows))]:
        row["q"] += f" ({row['gold']}!)"
    [what] = alarms(rows, ["q"])
    assert what.startswith("the gold occurs in the column 'q', which the prompt shows, in ")
    chance = re.search(r"of 200 questions, and by chance in (.*)%", what)
    assert chance is not None
    assert 5 < float(chance[1]) < 10
    assert "(p < 0.0002): test rows 0, 1, 2" in what


@pytest.mark.thorough
def test_a_letter_that_stands_in_every_question_is_no_clue_and_one_that_is_the_gold_is() -> None:
    random = Random(2)
    rows = [{"q": f"Is A or B right? {random.choice(WORDS)}", "gold": random.choice("AB")} for _ in range(200)]
    assert alarms(rows, ["q"]) == []
    for row in rows:
        row["source"] = f"exam {row['gold']} of 1999"
    assert ["column 'source'" in what for what in alarms(rows, ["q", "source"])] == [True]


def test_a_small_number_that_is_often_in_a_question_is_no_clue() -> None:
    random = Random(3)
    rows = [
        {"q": f"{random.randint(1, 9)} and {random.randint(1, 9)}", "gold": random.randint(1, 9)} for _ in range(300)
    ]
    assert alarms(rows, ["q"]) == []


def test_a_chinese_gold_is_found_without_blanks() -> None:
    random = Random(4)
    cities = ["北京", "上海", "广州", "深圳", "南京", "武汉"]
    rows = [{"q": f"首都在哪里？{city}吗？", "gold": city} for city in random.choices(cities, k=60)]
    assert len(alarms(rows, ["q"])) == 1


def told(row: Row) -> None:
    row["q"] += f" {row[row['gold']]}"


@pytest.mark.parametrize("label", ["", "({}) ", "{}. "])
def test_the_text_of_the_right_choice_in_the_question_is_found(label: str) -> None:
    rows = choice_rows(Random(5))
    assert alarms(rows, "qABCD") == []
    for row in rows[::3]:
        told(row)
    for row in rows:
        row |= {letter: label.format(letter) + row[letter] for letter in LETTERS}
    [what] = alarms(rows, "qABCD")
    assert what.startswith("the right choice is the only one that occurs elsewhere in the prompt in ")


def listed(random: Random, count: int = 250) -> list[Row]:
    """Questions that list two to seven choices themselves."""
    rows = []
    for _ in range(count):
        letters = "ABCDEFG"[: random.randint(2, 7)]
        choices = "\n".join(f"({letter}) {random.choice(WORDS)}" for letter in letters)
        rows.append({"q": f"{random.choice(WORDS)}?\n{choices}", "gold": f"({random.choice(letters)})"})
    return rows


@pytest.mark.thorough
def test_labels_of_choices_that_the_question_lists_are_no_clue_and_one_more_is() -> None:
    rows = listed(Random(10))
    assert not any("occurs" in what for what in alarms(rows, ["q"]))
    without_a = [row for row in rows if row["gold"] != "(A)"]
    assert not any("occurs" in what for what in alarms(without_a, ["q"]))
    for row in rows:
        row["q"] += f" (solution: {row['gold']})"
    assert any("the right one occurs most often in the column 'q'" in what for what in alarms(rows, ["q"]))


@pytest.mark.parametrize(
    ("row", "columns", "golds"),
    [
        ({"A": "x", "B": "y", "q": "?"}, ["q", "A", "B"], ["A", "B"]),
        ({"option_a": "x", "option_b": "y"}, ["option_a", "option_b"], ["A", "B"]),
        ({"opt1": "x", "opt2": "y"}, ["opt1", "opt2"], ["1", "2"]),
        ({"sol0": "x", "sol1": "y"}, ["sol0", "sol1"], ["x", "y"]),
        ({"A": "x", "B": "y"}, ["A", "B"], ["0", "1"]),
        ({"choices": ["x", "y"]}, ["choices"], ["A", "B"]),
        ({"choices": ["x", "y"]}, ["choices"], ["1", "2"]),
        ({"choices": {"text": ["x", "y"], "label": ["1", "2"]}}, ["choices"], ["1", "2"]),
    ],
)
def test_choices_are_found_in_the_ways_data_sets_hold_them(row: Row, columns: list[str], golds: list[str]) -> None:
    choices = find_choices(columns, [row, row], golds)
    assert choices is not None
    assert (choices.texts, choices.golds) == ([["x", "y"], ["x", "y"]], [0, 1])


@pytest.mark.parametrize(
    ("row", "golds"),
    [
        ({"a": "x", "q": "y"}, ["x"]),
        ({"list": ["x", "y"]}, ["z"]),
        ({"list": ["x", None]}, ["x"]),
        ({"list": {"text": ["x", "y"], "label": None}}, ["x"]),
        ({"list": {"text": ["x", "y"], "label": ["1", "2", "3"]}}, ["3"]),
        ({"list": {"role": "user"}}, ["user"]),
        ({}, ["12"]),
    ],
)
def test_other_columns_are_no_choices(row: Row, golds: list[str]) -> None:
    assert find_choices(list(row), [row], golds) is None


def test_golds_that_are_one_of_the_choices_are_no_leak() -> None:
    rows = choice_rows(Random(7))
    for row in rows:
        row["gold"] = row[row["gold"]]
    assert alarms(rows, "qABCD") == []
