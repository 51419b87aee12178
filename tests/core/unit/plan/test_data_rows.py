"""Files as people have them are scored right: the gold and an ordinary sentence count, another answer does not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ais_prompt.config import Options
from ais_prompt.data import SHAPES, Shape, find_shape
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.plan import KINDS as KINDS_OF_GOLDS
from ais_prompt.plan import (
    DataFile,
    GoldKind,
    Golds,
    Plan,
    PlannedDataset,
    describe_file,
    read_spec,
)
from ais_prompt.verbs import load_config
from tests.core.unit.plan.data_rows import CITIES, KINDS, FileKind, raw_text


def planned(path: Path, **said: Any) -> PlannedDataset:
    dataset = describe_file(DataFile(str(path), **said)).dataset
    config = {"models": [{"type": "ScriptedModel", "abbr": "m"}], "datasets": [dataset]}
    return Plan(read_spec(Options(loaded=load_config(config))).spec).datasets[0]


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def value(dataset: PlannedDataset, number: int, answer: str) -> float:
    evaluator = dataset.evaluator
    assert evaluator is not None
    extracted = dataset.answer_of(answer)
    if extracted is None:
        return 0.0
    return evaluator.score(extracted, dataset.gold_of(dataset.data.test[number].gold))[evaluator.metrics[0]]


def prompt_text(dataset: PlannedDataset, number: int) -> str:
    filled = dataset.prompts.generation(dataset.data.test[number], ())
    turns = (one if isinstance(one, str) else str(one.get("prompt", one.get("content"))) for one in filled)
    return "\n".join(turns).rstrip("\n")


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.process] if kind.compares_formulas else []) for kind in KINDS],
    ids=lambda kind: kind.name,
)
def test_a_file_is_scored_right_without_a_word_about_it(kind: FileKind, tmp_path: Path) -> None:
    path = written(tmp_path, kind.rows)
    dataset = planned(path)
    gold, sentence = kind.gold, kind.sentence
    if gold is None:  # shuffled
        gold = lambda n: dataset.data.test[n].gold  # noqa: E731
        sentence = lambda n: f"The answer is {gold(n)}."  # noqa: E731
    for n in range(12):
        assert value(dataset, n, gold(n)) == 1, (gold(n), dataset.data.test[n].gold)
        assert value(dataset, n, sentence(n)) == 1, sentence(n)
        other = next(k for k in (*range(n + 1, 12), *range(n)) if gold(k) != gold(n))
        assert value(dataset, n, sentence(other)) == 0, sentence(other)
        if kind.hedge is not None:
            assert value(dataset, n, kind.hedge) == 0
        prompt = prompt_text(dataset, n)
        assert not raw_text(prompt), prompt
        if gold(n) in ("A", "B", "C", "D"):
            assert all(re.search(rf"(?<![A-Za-z]){mark}\W+\w", prompt) for mark in "AB"), prompt


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_the_example_of_a_shape_is_recognised_as_that_shape(shape: Shape) -> None:
    rows = [dict(shape.example), dict(shape.example)]
    assert shape in find_shape(rows)[1]


@pytest.mark.parametrize("kind", KINDS_OF_GOLDS[:-1], ids=lambda kind: kind.name)
def test_the_examples_of_a_kind_of_golds_are_recognised_as_that_kind(kind: GoldKind) -> None:
    for gold in kind.examples:
        options = "ABCD" if kind.name in ("letter", "letters") else ""
        values = ["positive", "negative"] * 3 if gold == "positive" else ["no", gold] * 3 if gold == "yes" else [gold]
        values = [True, False] * 3 if gold is True else values
        found = [one.name for one in KINDS_OF_GOLDS if one.scoring(Golds(values, "label", options)) is not None]
        assert found[0] == kind.name, gold


def test_what_is_recognised_is_a_config_that_can_be_read_and_changed(tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "choices": ["x", "y"], "answer": n % 2} for n in range(6)]
    found = describe_file(DataFile(str(written(tmp_path, rows))))
    assert found.dataset["shape"] == {"options": "choices", "answer": "answer", "gold": "from 0"}
    assert found.dataset["reader_cfg"] == {"input_columns": ["question", "options"], "output_column": "answer"}
    assert "counted from 0 (otherwise --set datasets.0.shape.gold='from 1')" in found.sentence


def test_labels_are_named_in_a_guessed_prompt_and_their_absence_in_one_of_the_user_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, [{"text": f"t{n}", "label": ("good", "bad")[n % 2]} for n in range(12)])
    assert prompt_text(planned(path), 0) == "t0\n\nAnswer with one of: bad, good."
    own = describe_file(DataFile(str(path), prompt="{text}"))
    assert own.remarks[-1].what == "the prompt does not name the labels bad, good, so the model has to guess them"
    named = describe_file(DataFile(str(path), prompt="Good or bad? {text}"))
    assert not named.remarks


def test_the_prompt_of_a_user_writes_options_as_lines_and_nothing_for_an_empty_cell(tmp_path: Path) -> None:
    rows = [{"q": "Which?", "note": None, "choices": ["x", "y"], "answer": "A"}]
    dataset = planned(written(tmp_path, rows), prompt="{note}{q}\n{choices}")
    assert prompt_text(dataset, 0) == "Which?\nA. x\nB. y"


def test_examples_show_the_first_of_several_golds(tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "answer": [f"a{n}", f"b{n}"]} for n in range(6)]
    dataset = planned(written(tmp_path, rows), few_shot=1)
    shot = dataset.data.train[dataset.shot_ids[0][0]]
    filled = dataset.prompts.generation(dataset.data.test[0], [shot])
    assert f"a{shot.index}" in str(filled)
    assert "b" not in str(filled).replace("begin", "").replace("prompt", "").replace("BOT", "")


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([{"question": "a?", "answer": "x"}, {"question": ["b"], "answer": "y"}], "unlike the rows before"),
        ([{"question": "a?", "choices": ["p", "q"], "answer": "A"}] * 2 + [{"question": "b?", "choices": ["p", "q"], "answer": "C"}], "names none of the options"),
        ([{"question": "a?", "choices": ["p", "q"], "answer": "A"}] * 2 + [{"question": "b?", "choices": None, "answer": "A"}], "no options of a known form"),
        ([{"messages": [{"role": "user", "content": "a"}]}] * 2 + [{"messages": "b"}], "no list of chat turns"),
    ],
)  # fmt: skip
def test_a_row_of_another_form_is_refused_by_its_number(tmp_path: Path, rows: list[Any], what: str) -> None:
    path = written(tmp_path, rows)
    with pytest.raises(DataError, match=what) as error:
        describe_file(DataFile(str(path)))
    assert error.value.where == f"{path}, row {len(rows) - 1}"
    assert error.value.fix


def test_rows_without_a_gold_and_other_columns_that_may_be_the_answer_are_said(tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "target": None if n == 3 else f"t{n}x", "label": f"l{n}x"} for n in range(6)]
    path = written(tmp_path, rows)
    said = [note.what for note in describe_file(DataFile(str(path))).remarks]
    missing = f"1 row without an answer, the first is {path}:4: they get no score"
    assert said == [missing, "the answer is not {label}: --answer COLUMN changes it"]


def test_a_body_is_part_of_the_question_and_an_object_that_no_prompt_can_write_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, [{"Body": "Ann has 3.", "Question": "How many?", "Answer": 3.0}])
    assert prompt_text(planned(path), 0) == "Ann has 3.\n\nHow many?"
    nested = written(
        tmp_path,
        [{"document": {"html": "<p>It is so.</p>"}, "question": {"text": "Why?"}, "answers": [{"text": "So."}]}],
    )
    with pytest.raises(DataError, match=r"'document' holds .*, which no prompt can write"):
        planned(nested)
    assert prompt_text(planned(nested, prompt="Q: {text}"), 0) == "Q: Why?"


@pytest.mark.parametrize(
    ("row", "prompt"),
    [
        ({"paragraphs": [{"title": "A", "paragraph_text": "One."}], "question": "Why?"}, "A\nOne.\n\nWhy?"),
        ({"question": "Why?", "documents": ["One.", "Two."]}, "One.\nTwo.\n\nWhy?"),
        ({"question": "Why?", "documents": 2}, "Why?"),
        ({"question": "Why?", "dialogue": [{"speaker": "Ann", "text": "Hi."}, {"speaker": "Bob", "text": "Ho."}]}, "Ann: Hi.\n\nBob: Ho.\n\nWhy?"),
        ({"question": "Why?", "sentence": "One."}, "One.\n\nWhy?"),
        ({"input": "One.", "question": "Why?"}, "One.\n\nWhy?"),
        ({"word": "bank", "sentence1": "A bank.", "sentence2": "Bank on it."}, "bank\n\nA bank.\n\nBank on it."),
        ({"table": {"header": ["a"], "rows": [["1|2"], [None]]}, "question": "Why?"}, "| a |\n| --- |\n| 1\\|2 |\n|  |\n\nWhy?"),
        ({"pre_text": ["One."], "post_text": ["Two."], "table": [["a"], ["b"]], "question": "Why?"}, "One.\n\n| a |\n| --- |\n| b |\n\nTwo.\n\nWhy?"),
    ],
)  # fmt: skip
def test_what_a_question_is_about_is_above_it(tmp_path: Path, row: dict[str, Any], prompt: str) -> None:
    path = written(tmp_path, [{**row, "answer": f"word {number} of many"} for number in range(4)])
    assert prompt_text(planned(path), 0) == prompt
    named = re.findall(r"\{(\w+)\}", describe_file(DataFile(str(path))).sentence.partition(" → ")[0])
    assert len(named) == (1 if prompt == "Why?" else len(row)), "all columns of the prompt are named"


@pytest.mark.parametrize(
    ("value", "is_said"),
    [
        ("A man of 45 years has had pain in the chest for hours.", True),
        (["He smokes and drinks.", "His father died of it."], True),
        ({"history": "He smokes and drinks.", "family": "His father died of it."}, True),
        ("一名45岁男子胸痛两小时。", True),
        ("chest pain", False),
        ("d41d8cd98f00b204e9800998ecf8427e", False),
        (45, False),
        ("What is the most likely of all of these diagnoses?", False),
        ("Question: What is the most likely of all of these diagnoses? Answer:", False),
    ],
)
def test_a_column_that_a_question_may_be_about_is_said_where_the_prompt_leaves_it_out(
    tmp_path: Path, value: Any, is_said: bool
) -> None:
    question = "What is the most likely of all of these diagnoses?"
    told = {
        "vignette": value,
        "explanation": "It is the heart, as the pain in the chest shows.",
        "cot_content": "Why? " * 9,
    }
    path = written(tmp_path, [{"question": question, **told, "answer": "the heart"}])
    what = "the prompt leaves out {vignette}: if the question is about it, write it with --prompt"
    assert [note.what for note in describe_file(DataFile(str(path))).remarks] == [what] * is_said
    assert not describe_file(DataFile(str(path), "{question}")).remarks


@pytest.mark.parametrize(
    "row",
    [
        {"story": "One.", "questions": ["Why?", "How?"], "answers": ["So.", "Not."]},
        {"concept_set_idx": 3, "concepts": ["ski", "hill"], "target": "He skis down the hill."},
        {"chosen": "Human: hi\n\nAssistant: hello", "rejected": "Human: hi\n\nAssistant: no"},
    ],
)
def test_lists_of_questions_numbers_and_chosen_answers_are_no_question(tmp_path: Path, row: dict[str, Any]) -> None:
    path = written(tmp_path, [row])
    with pytest.raises(ConfigError, match=r"no column of .* has a known name for the question"):
        planned(path)


def test_rows_without_an_answer_of_squad_2_are_said(tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "answers": {"text": ["x"] if n % 2 else [], "answer_start": []}} for n in range(6)]
    path = written(tmp_path, rows)
    [note] = describe_file(DataFile(str(path))).remarks
    assert note.what == f"3 rows without an answer, the first is {path}:1: they get no score"


def test_answers_that_are_kept_back_get_no_score(tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "sol1": "a towel", "sol2": "water", "label": n % 3 - 1} for n in range(6)]
    dataset = planned(written(tmp_path, rows))
    assert [row.gold for row in dataset.data.test] == ["", "A", "B"] * 2
    kept = planned(written(tmp_path, [{**row, "label": -1} for row in rows]))
    assert prompt_text(kept, 0) == "0?\nA. a towel\nB. water"
    words = [
        {"premise": f"{n}.", "hypothesis": "So.", "gold_label": ("-", "neutral", "entailment")[n % 3]} for n in range(9)
    ]
    path = written(tmp_path, words)
    assert describe_file(DataFile(str(path))).dataset["shape"] == {"answer": "gold_label", "unknown": ("-",)}
    # Where other answers are signs, these are signs too.
    signs = written(tmp_path, [{"question": f"Which sign, {n}?", "answer": "+-*"[n % 3]} for n in range(9)])
    assert "shape" not in describe_file(DataFile(str(signs))).dataset


def test_letters_of_options_that_are_nowhere_are_refused(tmp_path: Path) -> None:
    path = written(
        tmp_path, [{"question": f"Which city, {n}?", "image": f"{n}.png", "answer": "ABCD"[n % 4]} for n in range(8)]
    )
    with pytest.raises(ConfigError, match=r"letters of options, and no column of .* has known options"):
        planned(path)


def test_a_first_line_that_is_a_row_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mmlu.csv"
    path.write_text("What is the capital of Peru?,Rome,Lima,B\nWhat is the capital of Cuba?,Havana,Oslo,A\n")
    with pytest.raises(ConfigError, match=r"has no names of columns: its first line is 'What is the capital of Peru"):
        planned(path)
    path.write_text("What did the user ask?,Expected answer\nWho is it?,Ann\n")
    assert prompt_text(planned(path), 0) == "Who is it?"


def test_questions_in_the_same_words_with_different_answers_are_said(tmp_path: Path) -> None:
    rows = [
        {"Country": country, "Question": "What is its capital?", "Answer": city} for country, city in CITIES.items()
    ]
    said = [note.what for note in describe_file(DataFile(str(written(tmp_path, rows)))).remarks]
    apart = "--prompt with {Country} may tell them apart"
    assert said == [f"12 rows are asked in the same words and have different answers: {apart}"]


def test_what_the_system_says_is_sent_before_a_chat(tmp_path: Path) -> None:
    chat = [{"from": "human", "value": "Who?"}, {"from": "gpt", "value": "Ann"}]
    path = written(tmp_path, [{"system": "Be brief.", "conversations": chat}])
    assert prompt_text(planned(path), 0) == "Be brief.\nWho?"


def test_names_of_labels_in_parquet_are_used(tmp_path: Path) -> None:
    features = {
        "text": {"dtype": "string", "_type": "Value"},
        "label": {"names": ["bad", "good"], "_type": "ClassLabel"},
    }
    table = pa.table({"text": ["So so."] * 7, "label": [0, 1, 0, 1, 0, 1, -1]})
    path = tmp_path / "reviews.parquet"
    pq.write_table(table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})}), path)
    dataset = planned(path)
    assert prompt_text(dataset, 0) == "So so.\n\nAnswer with one of: bad, good."
    assert [row.gold for row in dataset.data.test] == ["bad", "good"] * 3 + [None]


def test_keys_of_objects_can_be_named(tmp_path: Path) -> None:
    path = written(tmp_path, [{"id": 1, "translation": {"de": "Hallo", "en": "Hello"}}])
    dataset = planned(path, prompt="Translate: {de}", answer="en")
    assert (prompt_text(dataset, 0), dataset.data.test[0].gold) == ("Translate: Hallo", "Hello")
    with pytest.raises(ConfigError) as error:
        planned(path)
    assert error.value.fix == '--prompt "…{column}…" with: id, translation, de, en'


@pytest.mark.parametrize(
    ("golds", "said"),
    [
        ([*map(str, range(1000, 1019)), "None"], "1 of 20 answers is no number, the first is FILE:20 ('None'): it is right where the model says the same"),
        ([f"2024-05-{n}" for n in range(10, 28)] + ["May 2024", "1969"], "2 of 20 answers are no date, the first is FILE:19 ('May 2024'): they are right where the model says the same"),
        ([*map(str, range(1000, 1019)), "It is\nlong."], "1 of 20 answers cannot be read by the scorer, the first is FILE:20 ('It is\\nlong.'): it gets no right marks; --evaluator names another"),
        ([f"The city of town number {n} lies by a river, and has a bridge and a mill." for n in range(9)], "answers are texts of about 16 words, and only one that repeats them is right: --evaluator RougeEvaluator or BleuEvaluator compares words, and a judge reads meaning"),
        ([f"SELECT name FROM t WHERE id = {n}" for n in range(9)], "answers are programs or queries, and only one that repeats them is right: other evaluators are in docs/evaluators.md, and a judge reads meaning"),
        ([f"{n} cm" for n in range(20)], "units are not compared: of answers such as '0 cm' the number counts"),
    ],
)  # fmt: skip
def test_golds_of_another_kind_than_their_column_are_said(tmp_path: Path, golds: list[str], said: str) -> None:
    path = written(tmp_path, [{"question": f"{number}?", "answer": gold} for number, gold in enumerate(golds)])
    assert [note.what for note in describe_file(DataFile(str(path))).remarks] == [said.replace("FILE", str(path))]


def test_a_tenth_of_other_golds_is_allowed_and_no_more(tmp_path: Path) -> None:
    for odd, kind in ((2, "number"), (3, "text")):
        rows = [{"question": f"{n}?", "answer": "None" if n < odd else str(1000 + n)} for n in range(20)]
        assert describe_file(DataFile(str(written(tmp_path, rows)))).kind == kind
