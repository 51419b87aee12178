"""A dataset that is only a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import ConfigFaults
from ais_prompt.extensions.peers.translate import translate


def custom(tmp_path: Path, row: dict[str, Any], **keys: Any) -> dict[str, Any]:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(row) + "\n")
    values, _ = translate({"datasets": [{"path": str(path), **keys}]})
    found: dict[str, Any] = values["datasets"][0]
    return found


def test_columns_named_by_letters_are_choices(tmp_path: Path) -> None:
    dataset = custom(tmp_path, {"question": "?", "A": "x", "B": "y", "answer": "A"})
    asked, said = dataset["infer_cfg"]["prompt_template"]["template"]["round"]
    assert asked["prompt"] == "Question: {question}\nA. {A}\nB. {B}"
    assert said["prompt"] == "Answer: {answer}"
    assert dataset["abbr"] == "mine"
    assert dataset["eval_cfg"]["pred_postprocessor"]["options"] == "AB"


def test_the_evaluator_of_opencompass_for_its_scores(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"question": "?", "A": "x", "B": "y", "answer": "A"}) + "\n")
    values, _ = translate({"datasets": [{"path": str(path)}]}, peer_scores=True)
    scoring = values["datasets"][0]["eval_cfg"]
    assert scoring["evaluator"]["cls"].endswith("OptionSimAccEvaluator")
    assert scoring["evaluator"]["kwargs"] == {"options": ["A", "B"]}
    assert "pred_postprocessor" not in scoring


def test_choices_by_likelihood(tmp_path: Path) -> None:
    row = {"question": "?", "A": "x", "B": "y", "answer": "A"}
    infer = custom(tmp_path, row, infer_method="ppl")["infer_cfg"]
    assert infer["inferencer"] == {"type": "PPLInferencer"}
    assert infer["prompt_template"]["template"]["B"]["round"][1]["prompt"] == "Answer: B"


def test_the_file_beside_the_data(tmp_path: Path) -> None:
    """What the config says comes before ``.meta.json``, and that before what the columns say."""
    row = {"question": "?", "A": "x", "B": "y", "key": "A"}
    meta = {"abbr": "theirs", "output_column": "key", "human_prompt": "Q: {question}", "test_range": "[:1]"}
    (tmp_path / "mine.jsonl.meta.json").write_text(json.dumps({**meta, "infer_method": "ppl"}))
    dataset = custom(tmp_path, row, abbr="ours")
    assert dataset["abbr"] == "ours"
    assert dataset["reader_cfg"] == {
        "input_columns": ["question", "A", "B"],
        "output_column": "key",
        "test_range": "[:1]",
    }
    asked, said = dataset["infer_cfg"]["prompt_template"]["template"]["B"]["round"]
    assert (asked["prompt"], said["prompt"]) == ("Q: {question}", "Answer: B")


@pytest.mark.parametrize(
    ("keys", "what", "fix"),
    [
        ({"data_type": "circular-mcq"}, "has no options to turn", "name their columns A, B"),
        ({"data_type": "cloze"}, "'cloze' is not known here", "'qa' asks without options"),
        ({"colour": 1}, "'colour' is no key", "data_type"),
    ],
)
def test_what_cannot_be_done_is_a_fault(tmp_path: Path, keys: dict[str, Any], what: str, fix: str) -> None:
    with pytest.raises(ConfigFaults) as caught:
        custom(tmp_path, {"question": "?", "answer": "A"}, **keys)
    [fault] = caught.value.faults
    assert what in fault.what
    assert fix in str(fault.fix)


@pytest.mark.parametrize(
    ("method", "evaluator"),
    [
        (
            "gen",
            {"cls": "opencompass.datasets.custom.CircularOptionSimAccEvaluator", "kwargs": {"options": ["A", "B"]}},
        ),
        ("ppl", {"cls": "opencompass.datasets.circular.CircularEvaluator"}),
    ],
)
def test_options_are_turned_by_the_code_of_opencompass(tmp_path: Path, method: str, evaluator: dict[str, Any]) -> None:
    row = {"question": "?", "A": "x", "B": "y", "answer": "A"}
    dataset = custom(tmp_path, row, data_type="circular-mcq", infer_method=method)
    assert dataset["cls"] == "opencompass.datasets.custom.CircularCustomDataset"
    assert dataset["kwargs"] == {"path": dataset["kwargs"]["path"], "option_keys": ["A", "B"], "answer_key": "answer"}
    assert dataset["eval_cfg"]["evaluator"] == {"type": "PeerEvaluator", **evaluator}
    once = custom(tmp_path, row, infer_method=method)
    assert dataset["infer_cfg"] == once["infer_cfg"]
    assert dataset["abbr"] == once["abbr"]


def test_a_question_without_choices_or_gold(tmp_path: Path) -> None:
    dataset = custom(tmp_path, {"question": "?"})
    assert "eval_cfg" not in dataset
    assert dataset["infer_cfg"]["prompt_template"]["template"] == {"round": [{"role": "HUMAN", "prompt": "{question}"}]}


@pytest.mark.parametrize("text", ["", "[1]\n", "{"])
def test_a_file_that_cannot_be_read_is_a_fault(tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text(text)
    with pytest.raises(ConfigFaults, match="1 fault"):
        translate({"datasets": [{"path": str(path)}]})


SERVICE = {"type": "ais_bench.benchmark.models.VLLMCustomAPIChat", "abbr": "m", "attr": "service", "model": "m"}


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (
            {"question": "?", "A": "x", "B": "y", "answer": "A"},
            "Question: {question}\nA. {A}\nB. {B}\nAnswer: {answer}",
        ),
        ({"question": "?", "answer": "A"}, "Question: {question}\nAnswer: {answer}"),
        ({"question": "?"}, "{question}"),
    ],
)
def test_a_model_of_aisbench_is_asked_as_there(tmp_path: Path, row: dict[str, Any], text: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(row) + "\n")
    values, _ = translate({"models": [SERVICE], "datasets": [{"path": str(path)}]})
    dataset = values["datasets"][0]
    assert dataset["infer_cfg"]["prompt_template"]["template"] == text
    assert dataset["type"] == "LoadRowsDataset"
    assert dataset["infer_cfg"]["inferencer"]["max_out_len"] == "max_out_len"


def test_lengths_among_the_inputs_of_aisbench_are_asked_for() -> None:
    openicl = "ais_bench.benchmark.openicl"
    infer = {
        "prompt_template": {"type": f"{openicl}.icl_prompt_template.PromptTemplate", "template": "{question}"},
        "inferencer": {"type": f"{openicl}.icl_inferencer.GenInferencer"},
    }
    for columns, expected in ((["question", "max_out_len"], "max_out_len"), (["question"], None)):
        reader = {"input_columns": columns, "output_column": "answer"}
        source = {"type": "ais_bench.benchmark.datasets.CustomDataset", "path": "mine.jsonl", "abbr": "own"}
        values, _ = translate({"datasets": [{**source, "reader_cfg": reader, "infer_cfg": infer}]})
        dataset = values["datasets"][0]
        assert dataset["type"] == "LoadRowsDataset"
        assert dataset["infer_cfg"]["inferencer"].get("max_out_len") == expected


def test_the_settings_of_a_load_are_left_to_the_reader(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl.meta.json").write_text(json.dumps({"request_count": 3}))
    assert custom(tmp_path, {"question": "?", "answer": "A"})["type"] == "LoadRowsDataset"
