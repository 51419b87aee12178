"""From rows as people have them to columns that a template can write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import GoldOfOptions, LocalDataset, Option, parse_shape, right_places
from ais_prompt.errors import ConfigError, DataError

LETTERS = "ABCDEFGH"


@pytest.mark.parametrize(
    "value",
    [
        ["red", "blue"],
        ["A. red", "B. blue"],
        {"text": ["red", "blue"], "label": ["A", "B"]},
        {"A": "red", "B": "blue"},
        [{"text": "red", "label": "A"}, {"text": "blue", "label": "B"}],
        [{"A": "red"}, {"B": "blue"}],
        '["red", "blue"]',
        "['red', 'blue']",
        "A. red\nB. blue",
        "(A) red (B) blue",
        "red|blue",
        "red\nblue",
    ],
)
def test_options_of_every_form_become_lines_and_columns(value: Any) -> None:
    row = parse_shape({"options": "o", "answer": "a"}).row({"q": "?", "o": value, "a": "B"})
    assert (row["options"], row["A"], row["B"], row["C"], row["count"]) == ("A. red\nB. blue", "red", "blue", "", 2)
    assert row["answer"] == "B"


@pytest.mark.parametrize(
    "value",
    [
        [{"title": "One", "paragraph_text": "A b. C d.", "idx": 0}, {"title": "Two", "paragraph_text": "E f."}],
        [["One", ["A b.", " C d."]], ["Two", ["E f."]]],
        {"title": ["One", "Two"], "sentences": [["A b. ", "C d."], ["E f."]]},
        {"passage_text": ["One\nA b. C d.", "Two\nE f."], "is_selected": [0, 1]},
        {"contexts": ["One\nA b. C d.", "Two\nE f."], "labels": ["RESULTS", "METHODS"], "meshes": ["x"]},
        {"title": "One", "content": "A b. C d.\n\nTwo\nE f.", "tokens": ["A", "b"]},
    ],
)
def test_passages_of_every_form_become_paragraphs_below_their_titles(value: Any) -> None:
    row = parse_shape({"question": ["context", "q"]}).row({"context": value, "q": "Why?"})
    assert row["question"] == "One\nA b. C d.\n\nTwo\nE f.\n\nWhy?"


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1},
        [{"type": "image_url"}],
        [["A", [1]]],
        [[["a"], ["b"]], [["c"], ["d"]]],
        {},
        [{"text": "a"}, {"url": "b"}],
        {"a": ["b"], "c": [1]},
        {"id": 1, "a": ["b"]},
    ],
)
def test_what_is_no_passage_is_refused(value: Any) -> None:
    with pytest.raises(DataError, match=r"'context' holds .*, which no prompt can write"):
        parse_shape({"texts": ["context"]}).row({"context": value})


@given(
    st.lists(st.text("abcdef ", min_size=1).map(str.strip).filter(bool), min_size=2, max_size=8, unique=True), st.data()
)
def test_the_right_option_is_found_in_every_way_to_name_it(texts: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(texts) - 1))
    options = [Option(str(number), text) for number, text in enumerate(texts, 1)]
    letter = LETTERS[place]
    ways: list[tuple[GoldOfOptions, Any]] = [
        ("letter", letter),
        ("letter", f"({letter.lower()})"),
        ("letter", f"{letter}. {texts[place]}"),
        ("text", texts[place].upper()),
        ("from 0", place),
        ("from 1", str(place + 1)),
        ("from 1", place + 1.0),
        ("label", place + 1),
    ]
    for form, gold in ways:
        # Letters are labels that are letters; here labels are numbers.
        of = [Option("", option.text) for option in options] if form == "letter" else options
        assert right_places(of, gold, form) == [place], (form, gold)


@pytest.mark.parametrize("gold", [["A", "C"], "AC", "A, C", "A and C", '["A", "C"]'])
def test_several_right_options_are_one_text(gold: Any) -> None:
    row = parse_shape({"options": "o", "answer": "a"}).row({"o": ["x", "y", "z"], "a": gold})
    assert row["answer"] == "AC"


def test_the_parts_of_a_shape_make_plain_columns() -> None:
    shape = parse_shape(
        {"inside": ["vars"], "question": ["context", "q"], "answer": "assert.0.value", "texts": ["flag"]}
    )
    row = {"vars": {"q": "Why?", "context": None, "flag": True}, "assert": [{"type": "equals", "value": "So."}]}
    made = shape.row(row)
    assert (made["question"], made["answer"], made["flag"]) == ("Why?", "So.", "true")


def test_the_last_turn_of_a_chat_is_the_answer() -> None:
    turns = [{"from": "system", "value": "S"}, {"from": "human", "value": "Q"}, {"from": "gpt", "value": "A"}]
    made = parse_shape({"messages": "c"}).row({"c": turns})
    assert made["messages"] == [{"role": "system", "content": "S"}, {"role": "user", "content": "Q"}]
    assert made["answer"] == "A"


def test_right_and_wrong_options_are_shuffled_by_the_question_alone() -> None:
    shape = parse_shape({"options": ["w1", "w2", "w3"], "right": "r", "question": ["q"]})
    rows = [shape.row({"q": f"Q{n}?", "r": "R", "w1": "1", "w2": "2", "w3": "3"}) for n in range(40)]
    assert all(row[row["answer"]] == "R" for row in rows)
    assert {row["answer"] for row in rows} == set("ABCD")
    again = shape.row({"q": "Q0?", "r": "R", "w1": "1", "w2": "2", "w3": "3", "id": 9})
    assert again["options"] == rows[0]["options"]


def test_a_row_of_another_shape_is_named(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    rows = [{"q": "1?", "o": ["x", "y"], "a": "A"}, {"q": "2?", "o": ["x", "y"], "a": "D"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError, match="'a' names none of the options: 'D'") as error:
        LocalDataset(str(path), shape={"options": "o", "answer": "a"}).read("q")
    assert error.value.where == f"{path}, row 1"
    with pytest.raises(DataError, match="the column 'x', which is not there"):
        LocalDataset(str(path), shape={"options": "x"}).read("q")


@pytest.mark.parametrize("shape", [{"option": "o"}, {"gold": "second"}, {"texts": "q"}, "o"])
def test_a_shape_that_cannot_be_is_refused(shape: Any) -> None:
    with pytest.raises(ConfigError, match="shape cannot be used"):
        LocalDataset("q.jsonl", shape=shape)
