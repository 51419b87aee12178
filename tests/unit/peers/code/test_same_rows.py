"""The published wheels give the rows and scores that the tests of our counterparts expect.

Needs them unpacked: ``AISPROMPT_PEER_PATH=OPENCOMPASS:AIS_BENCH pytest tests/unit/peers/code/test_same_rows.py``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ais_prompt.errors import MissingExtra
from ais_prompt.evaluators.batch import AnswerBatch
from ais_prompt.peers.code.dataset import PeerDataset
from ais_prompt.peers.code.evaluator import PeerEvaluator
from ais_prompt.peers.code.sources import peer_package
from ais_prompt.utils.peer_packages import PEER_PATH
from tests.unit.readers.benchmarks.samples import CASES

DATA = Path(__file__).parents[3] / "data/benchmarks"
ROWS = json.loads((DATA / "peer_rows.json").read_text(encoding="utf-8"))
SCORES = json.loads((DATA / "peer_scores.json").read_text(encoding="utf-8"))
PACKAGES = {"opencompass": "opencompass.datasets", "ais_bench": "ais_bench.benchmark.datasets"}

pytestmark = pytest.mark.skipif(PEER_PATH not in os.environ, reason=f"{PEER_PATH} names no wheels")


@pytest.mark.parametrize("name", CASES)
def test_rows(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    if peer_package(case.peer) is None:
        pytest.skip(f"{PEER_PATH} has no {case.peer}")
    reader = PeerDataset(f"{PACKAGES[case.peer]}.{name.partition(' ')[0]}", case.call(tmp_path))
    try:
        splits = {split: list(reader.read(split)) for split in reader.splits()}
    except MissingExtra as error:
        pytest.skip(str(error))
    assert json.loads(json.dumps(splits)) == ROWS[name]


@pytest.mark.parametrize("case", SCORES, ids=lambda case: case["type"].rpartition(".")[2])
def test_scores(case: dict[str, Any]) -> None:
    predictions, golds = case["predictions"], case["references"]
    batch = AnswerBatch(predictions, golds, [""] * len(predictions), rows=lambda: pa.table({"question": predictions}))
    try:
        found = PeerEvaluator(case["type"], case["arguments"]).score_all(batch)
    except MissingExtra as error:
        pytest.skip(str(error))
    assert {metric: found.metrics[metric] for metric in case["scores"]} == pytest.approx(case["scores"])
