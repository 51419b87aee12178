"""What a file with questions is taken for: its columns, its encoding, and how it is scored."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import LocalDataset
from ais_prompt.errors import ConfigError
from ais_prompt.plan import DataFile, describe_file, describe_rows
from ais_prompt.prompts import PromptTemplate

SOURCE = {"type": "LocalDataset", "path": "q.csv"}


def described(row: dict[str, Any], **said: Any) -> dict[str, Any]:
    return describe_rows(list(row), [row], DataFile("q.csv", **said), SOURCE).dataset


def prompt_of(dataset: dict[str, Any]) -> str:
    text: str = dataset["infer_cfg"]["prompt_template"]["template"]["round"][0]["prompt"]
    return text


@pytest.mark.parametrize(
    ("row", "prompt", "parts"),
    [
        ({"question": "1+1?", "answer": 2}, "{question}", ("gsm8k_postprocess", "Gsm8kEvaluator")),
        ({"id": "7", "Input": "Capital?", "Target": "Rome"}, "{Input}", (None, "ContainsEvaluator")),
        ({"问题": "首都?", "标准答案": "北京"}, "{问题}", (None, "ContainsEvaluator")),
        ({"context": "…", "question": "Who?", "answer": "Ann"}, "{context}\n\n{question}", (None, "Contains…")),
        ({"question": "Which?", "A": "x", "B": "y", "answer": "B"}, "{question}\nA. {A}\nB. {B}\nAnswer with", "BOTH"),
        ({"题目": "哪?", "选项A": "x", "选项B": "y", "答案": "A"}, "{题目}\nA. {选项A}\nB. {选项B}\n请回答", "BOTH"),
        ({"question": "Why?", "id": 1}, "{question}", None),
        ({"id": 1, "Frage": "1+1?", "Antwort": "2"}, "{Frage}", ("gsm8k_postprocess", "Gsm8kEvaluator")),
        ({"instruction": "Add.", "input": "1 1", "output": "2"}, "{instruction}\n\n{input}", ("gsm8k", "Gsm8k")),
        ({"text": "1+1?", "answer": ""}, "{text}", None),
    ],
)
def test_columns_are_found_by_their_names_and_golds_decide_the_scoring(
    row: dict[str, Any], prompt: str, parts: Any
) -> None:
    dataset = described(row)
    assert prompt_of(dataset).startswith(prompt)
    if parts is None:
        assert "eval_cfg" not in dataset
        return
    extract, evaluator = ("first_option_postprocess", "AccEvaluator") if parts == "BOTH" else parts
    assert dataset["eval_cfg"]["evaluator"]["type"].startswith(evaluator.rstrip("…"))
    assert str(dataset["eval_cfg"].get("pred_postprocessor", {}).get("type")).startswith(str(extract))


def test_what_the_user_says_counts_before_what_is_guessed() -> None:
    row = {"text": "1+1?", "sum": "2", "answer": "unused"}
    dataset = described(row, prompt=r"Add.\n{{ text }}", answer="sum", postprocessor="my.part", evaluator="EMEvaluator")
    assert prompt_of(dataset) == "Add.\n{text}"
    assert dataset["reader_cfg"] == {"input_columns": ["text"], "output_column": "sum"}
    assert dataset["eval_cfg"] == {"evaluator": {"type": "EMEvaluator"}, "pred_postprocessor": {"type": "my.part"}}
    assert "pred_postprocessor" not in described(row, answer="sum", postprocessor="none")["eval_cfg"]


@given(st.lists(st.sampled_from(["{q}", "{{q}}", "{{name}}", '{"a": 1}', "{}", "{ 1 }", "}{", "x", "\n"]), min_size=1))
def test_only_columns_are_filled_and_other_braces_are_sent(pieces: list[str]) -> None:
    if not {"{q}", "{{q}}"} & set(pieces):
        pieces = [*pieces, "{q}"]
    text = " ".join(pieces)
    template = PromptTemplate(prompt_of(described({"q": "", "answer": "1"}, prompt=text)))
    expected = " ".join({"{q}": "V", "{{q}}": "V", "{{name}}": "{name}"}.get(piece, piece) for piece in pieces)
    assert template.render({"q": "V", "answer": "1"}) == expected


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        ({"prompt": "{Question}"}, "columns: question, answer; braces that are to be sent are written {{Question}}"),
        ({"prompt": "Hello"}, 'write "…{question}…"; columns: question, answer'),
        ({"answer": "anwser"}, "columns: question, answer"),
    ],
)
def test_a_column_that_is_not_there_is_an_error_with_the_columns(said: dict[str, Any], fix: str) -> None:
    with pytest.raises(ConfigError) as error:
        described({"question": "?", "answer": "!"}, **said)
    assert error.value.fix == fix


@pytest.mark.parametrize(
    ("row", "fix"),
    [
        ({"Spam": "Wie", "Ham": "!", "Eggs": "x"}, '--prompt "…{column}…" with: Spam, Ham, Eggs'),
        ({"question": {"a": 1}, "answer": "!"}, '--prompt "…{column}…" with: question, answer, a'),
        ({"question": "", "answer": "!"}, '--prompt "…{column}…" with: question, answer'),
        ({"answer": "!"}, '--prompt "…{column}…" with: answer'),
        (
            {"question": "?", "choices": [{"a": {}}], "answer": "x"},
            "--answer with the column of the right option, or --prompt with others: question, choices, answer",
        ),
    ],
)
def test_a_file_without_a_known_column_asks_for_a_prompt(row: dict[str, Any], fix: str) -> None:
    with pytest.raises(ConfigError) as error:
        described(row)
    assert error.value.fix == fix


def test_a_prompt_decides_which_column_is_the_answer() -> None:
    row = {"country": "Peru", "capital": "Lima"}
    assert described(row, prompt="Of {country}?")["reader_cfg"] == {
        "input_columns": ["country"],
        "output_column": "capital",
    }
    reversed_ = described({"question": "1+1", "answer": "2"}, prompt="Ask for {answer}")
    assert reversed_["reader_cfg"] == {"input_columns": ["answer"], "output_column": "question"}
    both = described({"question": "1+1", "answer": "2"}, prompt="{question} = {answer}")
    assert both["reader_cfg"] == {"input_columns": ["question"], "output_column": "answer"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_files_as_excel_writes_them(tmp_path: Path, encoding: str, delimiter: str) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([["问题", "答案"], ['一, "二"; 三\n?', "四"]])
    file = tmp_path / "excel.csv"
    file.write_text(text.getvalue(), encoding, newline="")
    dataset, sentence, *_ = describe_file(DataFile(str(file)))
    reader = {key: value for key, value in dataset.items() if key in ("path", "delimiter", "encoding")}
    assert list(LocalDataset(**reader).read("excel")) == [{"问题": '一, "二"; 三\n?', "答案": "四"}]
    assert sentence.startswith(f"{file} · 1 row · {{问题}} → {{答案}}, a text ")


def test_examples_come_from_the_train_split_or_from_other_rows(tmp_path: Path) -> None:
    for split in ("train", "validation"):
        (tmp_path / f"{split}.jsonl").write_text(f'{{"question": "{split}", "answer": "1"}}\n' * 2)
    folder, *_ = describe_file(DataFile(str(tmp_path), few_shot=1))
    assert folder["reader_cfg"]["test_split"] == "validation"
    assert folder["infer_cfg"]["retriever"] == {"type": "FixKRetriever", "fix_id_list": [0]}
    single, *_ = describe_file(DataFile(str(tmp_path / "train.jsonl"), few_shot=1))
    assert single["infer_cfg"]["retriever"] == {"type": "RandomRetriever", "ice_num": 1, "exclude_self": True}
