"""Dataset classes of the peers that need no code of theirs here."""

from __future__ import annotations

from typing import Final

from ais_prompt.peers.table.row import Row
from ais_prompt.readers.benchmarks.table import LAYOUTS

_DROPPED: Final = {
    "local_mode": "",
    "mode": "",
    "trust_remote_code": "code of a dataset is never run",
}

DATASETS: Final = tuple(Row(name, "BenchmarkDataset", add={"loader": name}, drop=_DROPPED) for name in LAYOUTS)
