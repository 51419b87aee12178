"""What the check of a config says of retrievers and of the encoder inside one, before anything is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.checks import check_plan
from ais_prompt.plan import Plan
from ais_prompt.types import PartSpec, RunSpec
from tests.support.parts import dataset_spec, write_rows

RETRIEVER = "datasets[0].infer_cfg.retriever"


def faults(folder: Path, kind: str, **args: Any) -> list[tuple[str, str]]:
    """Where and what, of a dataset of three rows whose retriever has these arguments."""
    file = write_rows(folder / "rows.jsonl", [{"question": f"{n}+1", "answer": str(n + 1)} for n in range(3)])
    data = dataset_spec(file)
    template = {"template": "</E>{question}{answer}", "ice_token": "</E>"}
    infer = replace(
        data.infer,
        ice_template=PartSpec(
            "PromptTemplate", {"template": "{question}{answer}"}, "datasets[0].infer_cfg.ice_template"
        ),
        prompt_template=PartSpec("PromptTemplate", template, "datasets[0].infer_cfg.prompt_template"),
        retriever=PartSpec(kind, args, RETRIEVER),
        allow_overlap=True,
    )
    run = RunSpec("run", (), (replace(data, infer=infer),), folder, None, {})
    return [(fault.where, fault.what) for fault in check_plan(Plan(run), lambda path: path).faults]


ENCODER = {"type": "CharacterNgramEncoder"}


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        ("RandomRetriever", {"ice_num": 2, "exclude_self": True}),
        ("SlidingWindowRetriever", {"k": 2, "ice_num": 1}),
        ("BM25Retriever", {"ice_num": 2, "input_columns": ["question"]}),
        ("TopkRetriever", {"ice_num": 2, "input_columns": ["question"], "encoder": ENCODER}),
    ],
)
def test_a_good_retriever_has_no_faults(tmp_path: Path, kind: str, args: dict[str, Any]) -> None:
    assert faults(tmp_path, kind, **args) == []


@pytest.mark.parametrize(
    ("encoder", "where", "what"),
    [
        ({"n": 2}, ".encoder", "'encoder' needs a 'type'"),
        ({"type": "CharacterNgramEncodr"}, ".encoder.type", "there is no encoder named 'CharacterNgramEncodr'"),
        ({**ENCODER, "m": 2}, ".encoder.m", "CharacterNgramEncoder has no argument 'm'"),
        ({**ENCODER, "n": 0}, "", "n of CharacterNgramEncoder must be at least 1, not 0"),
        ("CharacterNgramEncoder", "", "'CharacterNgramEncoder' is not an encoder"),
    ],
)
def test_a_fault_of_the_encoder_says_where_it_is(tmp_path: Path, encoder: Any, where: str, what: str) -> None:
    assert faults(tmp_path, "TopkRetriever", encoder=encoder) == [(RETRIEVER + where, what)]


def test_faults_of_the_retriever_and_its_encoder_come_together(tmp_path: Path) -> None:
    found = faults(tmp_path, "TopkRetriever", ice_num="two", k=1, encoder={**ENCODER, "n": "x", "m": 1})
    assert [where.removeprefix(RETRIEVER) for where, _ in found] == [".k", ".ice_num", ".encoder.m", ".encoder.n"]


@pytest.mark.torch
def test_more_shots_than_rows_are_seen_without_loading_anything(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()  # a folder without a model: to load it would be a fault
    encoder = {"type": "HuggingFaceEncoder", "path": str(tmp_path / "model")}
    args: dict[str, Any] = {"encoder": encoder, "input_columns": ["question"]}
    assert faults(tmp_path, "TopkRetriever", ice_num=3, **args) == []
    [(where, what)] = faults(tmp_path, "TopkRetriever", ice_num=4, **args)
    assert (where, what) == (RETRIEVER, "ice_num asks for 4 examples, but the train split has 3 rows")
