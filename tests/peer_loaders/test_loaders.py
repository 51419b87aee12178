"""Loaders of OpenCompass and AISBench, run by `PeerDataset` on small files.

They run where the packages are: installed, or in folders that ``AISPROMPT_PEER_PATH`` names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import MissingExtra
from ais_prompt.peers.code import session
from ais_prompt.peers.code.dataset import PeerDataset
from ais_prompt.peers.code.sources import peer_package
from tests.peer_loaders.samples import AISBENCH, OPENCOMPASS, SAMPLES
from tests.unit.readers.benchmarks.samples import CASES

LIBRARIES = Path(__file__).parents[1] / "data" / "peer_libraries"
EXPECTED = json.loads((Path(__file__).parents[1] / "data/benchmarks/peer_rows.json").read_text("utf-8"))
PACKAGES = {"opencompass": OPENCOMPASS, "ais_bench": AISBENCH}

pytestmark = pytest.mark.skipif(
    not all(map(peer_package, PACKAGES)), reason="OpenCompass and AISBench are not there; see AISPROMPT_PEER_PATH"
)


@pytest.fixture(autouse=True, scope="module")
def _worker() -> Iterator[None]:
    """Run all loaders in one worker, which has a tokenizer that needs no download."""
    session._SESSION.stop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(LIBRARIES), os.environ.get("PYTHONPATH", "")]))
        yield
        session._SESSION.stop()


def loaded(loader: str, arguments: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    reader = PeerDataset(loader, arguments)
    try:
        return {split: list(reader.read(split)) for split in reader.splits()}
    except MissingExtra as error:
        pytest.skip(str(error))


def in_order(rows: list[dict[str, Any]]) -> list[list[tuple[str, Any]]]:
    return [list(row.items()) for row in json.loads(json.dumps(rows))]


@pytest.mark.parametrize("loader", SAMPLES)
def test_a_loader_reads_its_layout(loader: str, tmp_path: Path) -> None:
    one = SAMPLES[loader]
    found = loaded(loader, one.write(tmp_path))
    test = found.get("test", next(iter(found.values())))
    assert len(test) == one.rows
    assert set(one.columns) <= set(test[0])


@pytest.mark.parametrize("name", CASES)
def test_the_rows_of_loaders_with_a_counterpart_are_the_same(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    found = loaded(f"{PACKAGES[case.peer]}.{name.partition(' ')[0]}", case.call(tmp_path))
    assert {split: in_order(rows) for split, rows in found.items()} == {
        split: in_order(rows) for split, rows in EXPECTED[name].items()
    }
