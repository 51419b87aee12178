"""The names of OpenCompass and AISBench, and what each means here. One file a kind of part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from ais_prompt.catalog import PARTS
from ais_prompt.extensions.peers.table.bare import BARE
from ais_prompt.extensions.peers.table.evaluators import EVALUATORS
from ais_prompt.extensions.peers.table.models import MODELS
from ais_prompt.extensions.peers.table.parts import DATASETS, INFERENCERS, POSTPROCESSORS, RETRIEVERS, TEMPLATES
from ais_prompt.extensions.peers.table.row import PartRow

ROWS: Final[Mapping[str, tuple[PartRow, ...]]] = {
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


class PeerPart(Struct, frozen=True):
    """A part of a peer.

    Attributes:
        path: dotted path of their class or function; a bare name if only the table knows it.
        args: arguments that a registered name implies.
    """

    path: str
    args: Mapping[str, Any] = {}


def peer_part(kind: str, name: Any, peer: str = PEERS[0]) -> PeerPart | None:
    """Return the part of a peer that a ``type`` means; None if it is no part of theirs.

    Args:
        kind: the kind of part, as in `ais_prompt.catalog`.
        name: the ``type``: a dotted path, or a name of one of their registries.
        peer: whose config it is: where both have a name, theirs is meant.
    """
    if not isinstance(name, str):
        return None
    if name.partition(".")[0] in PEERS:
        return PeerPart(name)
    if bare := BARE.get(kind, {}).get(name):
        return PeerPart(bare.ais_bench if bare.ais_bench and peer == PEERS[1] else bare.path, bare.args)
    is_ours = "." in name or name in PARTS[kind]
    return None if is_ours or find_row(kind, name) is None else PeerPart(name)


def find_row(kind: str, path: str) -> PartRow | None:
    """Return the row of a part, that of its module before that of any module; None if there is none."""
    module, _, name = path.rpartition(".")
    rows = [row for row in ROWS[kind] if row.name == name and f"{module}.".startswith(_prefix(row))]
    return max(rows, key=lambda row: len(row.module), default=None)


def _prefix(row: PartRow) -> str:
    return f"{row.module}." if row.module else ""
