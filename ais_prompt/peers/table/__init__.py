"""The names of OpenCompass and AISBench, and what each means here. One file a kind of part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ais_prompt.peers.table.bare import BARE
from ais_prompt.peers.table.datasets import DATASETS
from ais_prompt.peers.table.evaluators import EVALUATORS
from ais_prompt.peers.table.infer import INFERENCERS, RETRIEVERS, TEMPLATES
from ais_prompt.peers.table.models import MODELS
from ais_prompt.peers.table.postprocessors import POSTPROCESSORS
from ais_prompt.peers.table.row import Row

ROWS: Final[Mapping[str, tuple[Row, ...]]] = {
    "models": MODELS,
    "readers": DATASETS,
    "retrievers": RETRIEVERS,
    "templates": TEMPLATES,
    "inferencers": INFERENCERS,
    "evaluators": EVALUATORS,
    "postprocessors": POSTPROCESSORS,
}
"""Kind of part, as in `ais_prompt.catalog` → its rows."""

PEERS: Final = ("opencompass", "ais_bench")
"""The packages of the peers."""


def peer_path(kind: str, name: str) -> str | None:
    """Return the dotted path of a part of a peer; None if ``name`` is no part of theirs.

    Args:
        kind: the kind of part.
        name: the ``type`` in the config: a dotted path, or a bare name of one of their registries.
    """
    if name.partition(".")[0] in PEERS:
        return name
    return BARE[kind].get(name) if kind in BARE else None


def find_row(kind: str, path: str) -> Row | None:
    """Return the row of a part, that of its module before that of any module; None if there is none."""
    module, _, name = path.rpartition(".")
    rows = [row for row in ROWS[kind] if row.name == name and f"{module}.".startswith(_prefix(row))]
    return max(rows, key=lambda row: len(row.module), default=None)


def _prefix(row: Row) -> str:
    return f"{row.module}." if row.module else ""
