"""What a config of OpenCompass or AISBench becomes."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from ais_prompt.peers import translate
from ais_prompt.peers.parts import REGISTRIES
from ais_prompt.peers.table import ROWS

OPENICL = "opencompass.openicl"


def peer_dataset(**changes: Any) -> dict[str, Any]:
    """A dataset as OpenCompass loads it."""
    return {
        "type": "opencompass.datasets.XDataset",
        "abbr": "x",
        "path": "opencompass/x",
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": {
                "type": f"{OPENICL}.icl_prompt_template.PromptTemplate",
                "template": "{question}",
            },
            "retriever": {"type": f"{OPENICL}.icl_retriever.ZeroRetriever"},
            "inferencer": {"type": f"{OPENICL}.icl_inferencer.GenInferencer"},
        },
        "eval_cfg": {"evaluator": {"type": f"{OPENICL}.icl_evaluator.AccEvaluator"}},
        **changes,
    }


def translated(**changes: Any) -> tuple[dict[str, Any], list[str]]:
    """The dataset after translation, and what the notes say."""
    values, notes = translate({"datasets": [peer_dataset(**changes)]})
    return values["datasets"][0], [note.what for note in notes]


def test_a_config_of_our_own_stays_as_it_is() -> None:
    values = {"models": [{"type": "ScriptedModel", "colour": 1}], "datasets": [{"path": "x", "infer_cfg": {"a": 1}}]}
    assert translate(deepcopy(values)) == (values, ())


def test_parts_get_our_names_and_a_loader_its_adapter() -> None:
    dataset, notes = translated()
    assert dataset["type"] == "PeerDataset"
    assert dataset["cls"] == "opencompass.datasets.XDataset"
    assert dataset["kwargs"] == {"path": "opencompass/x"}
    assert dataset["infer_cfg"]["inferencer"] == {"type": "GenInferencer"}
    assert dataset["eval_cfg"]["evaluator"] == {"type": "AccEvaluator"}
    assert notes == []


def test_the_loaded_config_is_not_changed() -> None:
    values = {"datasets": [peer_dataset()]}
    before = deepcopy(values)
    translate(values)
    assert values == before


@pytest.mark.parametrize("kind", ROWS)
def test_every_row_names_a_part_of_ours(kind: str) -> None:
    for row in ROWS[kind]:
        for name in filter(None, (row.ours, row.exact)):
            assert name in REGISTRIES[kind].shipped, f"{row.name}: {name}"


@pytest.mark.parametrize("kind", ROWS)
def test_no_name_has_two_rows(kind: str) -> None:
    names = [(row.name, row.module) for row in ROWS[kind]]
    assert len(set(names)) == len(names)


def test_an_option_that_has_no_meaning_here_is_a_note() -> None:
    infer = peer_dataset()["infer_cfg"]
    infer["inferencer"] |= {"batch_size": 8, "max_out_len": 7}
    dataset, notes = translated(infer_cfg=infer)
    assert dataset["infer_cfg"]["inferencer"] == {"type": "GenInferencer", "max_out_len": 7}
    assert len(notes) == 1
    assert "batch_size" in notes[0]


def test_peer_scores_choose_the_function_with_the_peers_results() -> None:
    scoring = {"pred_postprocessor": {"type": "opencompass.utils.text_postprocessors.first_option_postprocess"}}
    values = {"datasets": [peer_dataset(eval_cfg=scoring)]}
    ours, notes = translate(values)
    theirs, silent = translate(values, peer_scores=True)
    assert ours["datasets"][0]["eval_cfg"]["pred_postprocessor"]["type"] == "first_option_postprocess"
    assert theirs["datasets"][0]["eval_cfg"]["pred_postprocessor"]["type"] == "first_option_postprocess_peer"
    assert [note.fix for note in notes] == ["for the peer's numbers: --peer-scores"]
    assert silent == ()


def test_a_loader_with_a_layout_needs_no_code_of_the_peer() -> None:
    arguments = {"path": "opencompass/mmlu", "name": "astronomy", "local_mode": True}
    dataset, notes = translated(type="opencompass.datasets.MMLUDataset", **arguments)
    assert dataset["type"] == "BenchmarkDataset"
    assert {key: dataset[key] for key in ("loader", "path", "name")} == {
        "loader": "MMLUDataset",
        "path": "opencompass/mmlu",
        "name": "astronomy",
    }
    assert "local_mode" not in dataset
    assert notes == []
