"""Datasets of ``chatml_datasets``: what OpenCompass has for all of them is read from its own config."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import ConfigFaults
from ais_prompt.extensions.peers.custom import SHARED
from ais_prompt.extensions.peers.translate import translate

SHARED_CONFIG = """
chatobj_custom_reader_cfg = dict(input_columns=['question'], output_column='answer')
chatobj_custom_infer_cfg = dict(
    prompt_template=dict(type='RawPromptTemplate', messages=[dict(role='user', content='{question} Box it.')]),
    retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer'))
optional_evaluator = dict(
    math_evaluator=dict(type='MATHVerifyEvaluator'),
    mcq_rule_evaluator=dict(
        type='AccEvaluator', pred_postprocessor=dict(type='match_answer_pattern', answer_pattern='([A-D])')),
    cascade_evaluator=dict(type='CascadeEvaluator', rule_evaluator=dict(), llm_evaluator=dict(), parallel=False),
)
"""


@pytest.fixture(autouse=True)
def _opencompass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "opencompass" / SHARED
    config.parent.mkdir(parents=True)
    config.write_text(SHARED_CONFIG)
    monkeypatch.setenv("AISPROMPT_PEER_PATH", str(tmp_path))


def datasets(**changes: Any) -> list[dict[str, Any]]:
    item = {"abbr": "own", "path": "own.jsonl", "evaluator": {"type": "math_evaluator"}, **changes}
    values, _ = translate({"models": [], "datasets": [{"abbr": "other"}], "chatml_datasets": [item]})
    assert "chatml_datasets" not in values
    found: list[dict[str, Any]] = values["datasets"]
    return found


def test_one_that_opencompass_has_put_among_the_datasets_means_its_parts() -> None:
    made = {
        "abbr": "own",
        "type": "ChatMLDataset",
        "path": "own.jsonl",
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {"inferencer": {"type": "GenInferencer"}},
        "eval_cfg": {"evaluator": {"type": "MATHVerifyEvaluator"}},
    }
    item = {"abbr": "own", "path": "own.jsonl", "evaluator": {"type": "math_evaluator"}}
    values, notes = translate({"models": [], "datasets": [made], "chatml_datasets": [item]})
    [own] = values["datasets"]
    assert own["type"] != "ChatMLDataset"
    assert any("MATHVerifyEvaluator" in note.what for note in notes)  # theirs reads less than ours


def test_they_follow_the_other_datasets() -> None:
    other, own = datasets(n=4, test_range="[:2]")
    assert other["abbr"] == "other"
    assert (own["abbr"], own["n"], own["reader_cfg"]["test_range"]) == ("own", 4, "[:2]")
    assert own["cls"] == "opencompass.datasets.ChatMLDataset"
    assert own["kwargs"] == {"path": "own.jsonl"}
    assert own["infer_cfg"]["prompt_template"]["messages"][0]["content"] == "{question} Box it."


def test_the_pattern_of_multiple_choice() -> None:
    _, own = datasets(evaluator={"type": "mcq_rule_evaluator", "answer_pattern": "Answer: ([A-J])"})
    assert own["eval_cfg"]["evaluator"] == {"type": "AccEvaluator"}
    assert "Answer: ([A-J])" in str(own["eval_cfg"]["pred_postprocessor"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"path": None}, "no 'path'"),
        ({"evaluator": {"type": "magic"}}, "no evaluator 'magic'"),
        ({"abbr": ""}, "'abbr'"),
    ],
)
def test_faults_name_the_item(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigFaults, match=said) as caught:
        datasets(**changes)
    assert "chatml_datasets[0]" in str(caught.value)


def test_without_opencompass_there_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ais_prompt.extensions.peers.custom.peer_package", lambda _: None)
    with pytest.raises(ConfigFaults, match="needs OpenCompass"):
        datasets()


def test_an_item_that_is_no_dict_is_a_fault() -> None:
    with pytest.raises(ConfigFaults) as caught:
        translate({"datasets": [], "chatml_datasets": ["chat.jsonl"]}, place=lambda where: where)
    assert caught.value.lines()[0].endswith("it is no dict")
