"""Evaluators of OpenCompass and AISBench give the scores that the tests of our counterparts expect."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import MissingExtra
from ais_prompt.evaluators import AnswerBatch
from ais_prompt.extensions.peers.code.evaluators import PeerEvaluator
from ais_prompt.extensions.peers.peer_packages import PEER_FOLDERS

SCORES = json.loads((Path(__file__).parents[2] / "data/benchmarks/peer_scores.json").read_text(encoding="utf-8"))

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(PEER_FOLDERS.variable not in os.environ, reason=f"{PEER_FOLDERS.variable} names no wheels"),
]


@pytest.mark.parametrize("case", SCORES, ids=lambda case: case["type"].rpartition(".")[2])
def test_scores(case: dict[str, Any]) -> None:
    predictions, golds = case["predictions"], case["references"]
    rows = [{"question": prediction} for prediction in predictions]
    batch = AnswerBatch(predictions, golds, [""] * len(predictions), rows=lambda: rows)
    try:
        found = PeerEvaluator(case["type"], case["arguments"]).score_all(batch)
    except MissingExtra as error:
        pytest.skip(str(error))
    assert {metric: found.metrics[metric] for metric in case["scores"]} == pytest.approx(case["scores"])
