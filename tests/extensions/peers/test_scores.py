"""Our counterparts give the numbers that OpenCompass 0.5.4 gave for the same answers, in tests/data/benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.evaluators import make_evaluator
from ais_prompt.extensions.peers.postprocessors import math_postprocess_peer
from ais_prompt.extensions.peers.table import find_row
from ais_prompt.extensions.peers.translate import translate
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import SampleScore, Score

DATA = Path(__file__).parents[2] / "data/benchmarks"
SCORES = json.loads((DATA / "peer_scores.json").read_text(encoding="utf-8"))
ANSWERS = json.loads((DATA / "peer_answers.json").read_text(encoding="utf-8"))
NOTHING = ("", None, "NO ANSWER FOUND")


def translated(key: str, part: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The ``reader_cfg`` of a dataset, and the part of its ``eval_cfg``, after translation."""
    infer = {
        "prompt_template": {"type": "opencompass.openicl.icl_prompt_template.PromptTemplate", "template": "{q}"},
        "inferencer": {"type": "opencompass.openicl.icl_inferencer.GenInferencer"},
    }
    dataset = {"type": "opencompass.datasets.GSM8KDataset", "path": "x", "reader_cfg": {"input_columns": ["q"]}}
    values, _ = translate({"datasets": [dataset | {"infer_cfg": infer, "eval_cfg": {key: part}}]})
    [found] = values["datasets"]
    return found["reader_cfg"], found["eval_cfg"][key]


def scores_of(part: dict[str, Any], predictions: list[Any], golds: list[Any]) -> dict[str, Score]:
    arguments = {key: value for key, value in part.items() if key != "type"}
    evaluator = make_evaluator(part["type"], arguments)
    samples = [
        SampleScore(str(number), "scored", answer, gold, evaluator.score(answer, gold))
        for number, (answer, gold) in enumerate(zip(predictions, golds, strict=True))
    ]
    return {score.metric: score for score in evaluator.aggregate(samples)}


@pytest.mark.thorough
@pytest.mark.parametrize("case", SCORES, ids=lambda case: case["type"].rpartition(".")[2])
def test_scores_are_those_of_the_peer(case: dict[str, Any]) -> None:
    _, part = translated("evaluator", {"type": case["type"], **case["arguments"]})
    assert not part["type"].startswith("Peer")
    scores = scores_of(part, case["predictions"], case["references"])
    shared = scores.keys() & case["scores"].keys()
    first = next(iter(scores))
    expected = {metric: case["scores"][metric] for metric in shared} or {first: next(iter(case["scores"].values()))}
    assert {metric: 100 * (scores[metric].value or 0) for metric in expected} == pytest.approx(expected)


@pytest.mark.thorough
@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: case["type"].rpartition(".")[2])
def test_answers_are_those_of_the_peer(case: dict[str, Any]) -> None:
    _, part = translated("pred_postprocessor", {"type": case["type"], **case["arguments"]})
    find = POSTPROCESSORS.function(part["type"], {key: value for key, value in part.items() if key != "type"})
    if part["type"] == "math_postprocess_v2":  # ours understands more; the peer's own is for --peer-scores
        find = math_postprocess_peer
    found = [find(text) for text in case["texts"]]
    assert [None if one in NOTHING else one for one in case["answers"]] == [None if one == "" else one for one in found]


def test_a_gold_without_letters_is_in_no_answer() -> None:
    _, part = translated("evaluator", {"type": "opencompass.datasets.TriviaQAEvaluator"})
    assert scores_of(part, ["Rome"], [["..."]])["accuracy"].value == 0


def test_programs_get_the_columns_of_their_tests() -> None:
    reader, part = translated("evaluator", {"type": "opencompass.datasets.HumanEvalEvaluator", "k": [1]})
    assert reader["gold_columns"] == ["prompt", "test", "entry_point"]
    assert part == {"type": "HumanEvalEvaluator"}


@pytest.mark.process
def test_mbpp_finds_the_program_as_the_peer_does() -> None:
    gold = {"test_list_2": "assert add(1, 2) == 3", "task_id": 7}
    answers = ["[BEGIN]\n'def add(a, b):\n    return a + b'\n[DONE]", "```python\ndef add(a, b):\n    return a\n```"]
    _, part = translated("evaluator", {"type": "opencompass.datasets.MBPPPassKEvaluator"})
    part["allow_code_execution"] = "unsafe"
    assert scores_of(part, answers, [gold, gold])["accuracy"].value == 0.5


def test_mbpp_plus_is_left_to_the_peer() -> None:
    _, part = translated("evaluator", {"type": "opencompass.datasets.MBPPEvaluator", "metric": "MBPPPlus"})
    assert part["type"] == "PeerEvaluator"


@pytest.mark.parametrize("case", SCORES, ids=lambda case: case["type"].rpartition(".")[2])
def test_a_summarizer_finds_the_main_metric_by_the_name_of_the_peer(case: dict[str, Any]) -> None:
    row = find_row("evaluators", case["type"])
    assert row is not None
    _, part = translated("evaluator", {"type": case["type"], **case["arguments"]})
    evaluator = make_evaluator(part["type"], {key: value for key, value in part.items() if key != "type"})
    theirs = next(iter(case["scores"]))
    assert row.metrics.get(theirs, theirs) in evaluator.metrics
