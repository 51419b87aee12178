"""Faults planted into data of the forms that people publish are found, and the data as they are raise no alarm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ais_prompt
from ais_prompt.extensions.leaks.search import is_garbled
from tests.support.parts import write_rows

Row = dict[str, Any]
WORDS = [f"{first}{vowel}{last}" for first in "bcdfghjklm" for vowel in "aeiou" for last in "lmnprst"]
NAMES = ["Ann", "Bob", "Cleo", "Dan", "Eve", "Finn"]


def sentence(random: Random, words: int) -> str:
    return " ".join(random.choices(WORDS, k=words))


def template_like(random: Random) -> list[Row]:
    """A task whose questions are alike, with choices in the text, such as those of BIG-Bench Hard."""
    rows = []
    for _ in range(200):
        who = random.sample(NAMES, 5)
        swaps = ". Then, ".join("{} and {} swap presents".format(*random.sample(who, 2)) for _ in range(3))
        holds = ", ".join(f"{name} has a {random.choice(WORDS)} present" for name in who)
        choices = "\n".join(f"({letter}) {random.choice(WORDS)} present" for letter in "ABCDE")
        rows.append(
            {
                "question": f"{', '.join(who)} are at a party. At the start they hold presents: {holds}. "
                f"As the party goes on, they swap. First, {swaps}. At the end, {who[0]} has the\n"
                f"Options:\n{choices}",
                "answer": f"({random.choice('ABCDE')})",
            }
        )
    return rows


def stories(random: Random) -> list[Row]:
    """Several yes-or-no questions about each long story."""
    rows = []
    for _ in range(60):
        story = sentence(random, 80)
        for _ in range(3):
            question = f"{story}. Did {random.choice(NAMES)} {sentence(random, 5)}?\nOptions:\n- Yes\n- No"
            rows.append({"question": question, "answer": random.choice(["Yes", "No"])})
    return rows


def open_numbers(random: Random) -> list[Row]:
    return [{"question": f"{sentence(random, 30)}?", "answer": str(random.randint(1, 500))} for _ in range(200)]


def in_columns(random: Random) -> list[Row]:
    """Choices in columns, the fifth only of some questions."""
    rows = []
    for _ in range(200):
        row = {"question": f"{sentence(random, 15)}?", **{letter: sentence(random, 4) for letter in "ABCD"}}
        row["E"] = sentence(random, 4) if random.random() < 0.3 else ""
        rows.append({**row, "answer": random.choice("ABCD")})
    return rows


def in_chinese(random: Random) -> list[Row]:
    signs = "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏闰余成岁律吕调阳云腾致雨露结为霜金生丽水玉出昆冈"
    return [
        {"question": "".join(random.choices(signs, k=30)) + "？", "answer": str(random.randint(1, 99))}
        for _ in range(200)
    ]


FORMS = [template_like, stories, open_numbers, in_columns, in_chinese]


def warnings_of(folder: Path, rows: list[Row]) -> list[str]:
    write_rows(folder / "data/test.jsonl", rows)
    columns = [column for column in rows[0] if column != "answer"]
    dataset = {
        "type": "LocalDataset",
        "path": str(folder / "data"),
        "reader_cfg": {"input_columns": columns, "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": {
                "type": "PromptTemplate",
                "template": " ".join(f"{{{column}}}" for column in columns) + " Answer: {answer}",
            },
            "retriever": {"type": "ZeroRetriever"},
            "inferencer": {"type": "GenInferencer"},
        },
        "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
    }
    found = ais_prompt.check({"models": [{"type": "ScriptedModel"}], "datasets": [dataset]})
    return [warning.what for warning in found.warnings]


@pytest.mark.thorough
@pytest.mark.parametrize("make", FORMS)
def test_data_without_a_fault_raise_no_alarm(tmp_path: Path, make: Callable[[Random], list[Row]]) -> None:
    assert warnings_of(tmp_path, make(Random(1))) == []


def copied(rows: list[Row]) -> None:
    rows.append(dict(rows[5]))


def written_otherwise(rows: list[Row]) -> None:
    rows.append({**rows[5], "question": rows[5]["question"].upper().replace(",", " ;").replace("？", "?")})


def answered_otherwise(rows: list[Row]) -> None:
    rows.append({**rows[5], "answer": next(row["answer"] for row in rows if row["answer"] != rows[5]["answer"])})


def impossible(rows: list[Row]) -> None:
    rows[9]["answer"] = "Z"


def constant(rows: list[Row]) -> None:
    for row in rows:
        row["answer"] = rows[0]["answer"]


def empty(rows: list[Row]) -> None:
    rows[3]["question"] = ""
    rows[50]["question"] = "  "


def without_gold(rows: list[Row]) -> None:
    rows[3]["answer"] = ""


def half_read(rows: list[Row]) -> None:
    for row in rows[::4]:
        row["question"] = f"Café “{row['question']}”".encode().decode("latin-1")


def told(rows: list[Row]) -> None:
    for row in rows:
        row["question"] += f" (solution: {row['answer']})"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("plant", "what"),
    [
        (copied, "1 of {} questions repeat an earlier one of the test split (1 exactly"),
        (written_otherwise, "1 of {} questions repeat an earlier one of the test split"),
        (answered_otherwise, "; 1 with another gold): row {last} repeats row 5"),
        (impossible, "the gold is no possible answer, unlike those of all other rows, in 1 of {} rows (row 9): 'Z'"),
        (constant, "all {} golds are the same: a model that always answers"),
        (empty, "the column 'question' is empty in 2 of {} rows (row 3, 50)"),
        (without_gold, "the column 'answer' is empty in 1 of {} rows (row 3)"),
        (half_read, "the column 'question' has text that was read with the wrong encoding in"),
        (told, "in the column 'question', which the prompt shows, in 100.0% of {} questions"),
    ],
)
@pytest.mark.parametrize("make", FORMS)
def test_a_planted_fault_is_found(
    tmp_path: Path, make: Callable[[Random], list[Row]], plant: Callable[[list[Row]], None], what: str
) -> None:
    rows = make(Random(1))
    plant(rows)
    found = warnings_of(tmp_path, rows)
    assert any(what.format(len(rows), last=len(rows) - 1) in warning for warning in found), found


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=4, max_size=40))
def test_chinese_read_with_another_encoding_is_garbled(text: str) -> None:
    assert is_garbled(text.encode().decode("latin-1"))
    assert is_garbled(text.encode().decode("gb18030", "replace"))


def test_text_in_any_language_is_not_garbled() -> None:
    cases = [
        *[
            "naïve café",
            "Ärger über Öl",
            "ÀÉÎÕÜ",
            "«où»",
            "São Paulo, Ação",
            "£5 – €6",
            "x² ± ½",
            "Привет, мир",
            "γεια",
            "München „Franz Josef Strauß“ ist",
            "LE CAFÉ”",
        ],
        *["你好世界", "原汁原味", "啪啪啪啪", "惟思息战", "以下哪项是正确的？", "こんにちは世界", "안녕하세요 여러분"],
    ]
    for text in cases:
        assert not is_garbled(text)
