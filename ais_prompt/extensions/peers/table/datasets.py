"""Dataset classes of the peers that need no code of theirs here."""

from __future__ import annotations

from typing import Final

from ais_prompt.extensions.benchmarks.layouts.table import LAYOUTS
from ais_prompt.extensions.peers.table.row import PartRow

_DROPPED: Final = {
    "local_mode": "data are looked up in the same places in either mode",
    "mode": "no loader of this layout reads it",
    "trust_remote_code": "code of a dataset is never run",
}

_OPENCOMPASS: Final = ("CustomDataset", "HLEDataset")
"""Classes of which AISBench has others of the same name: it reads a file of options, or other columns."""


def _module(name: str) -> str:
    return "opencompass" if name in _OPENCOMPASS else ""


_IN_PACKAGES: Final = {"BFCLDataset": {"path": {"": "bfcl_eval/data"}}}
"""Class → argument → what its value means, where it means the data of an installed package."""


DATASETS: Final = tuple(
    PartRow(
        name,
        "BenchmarkDataset",
        module=_module(name),
        add={"loader": name},
        drop=_DROPPED,
        values=_IN_PACKAGES.get(name, {}),
    )
    for name in LAYOUTS
)
