"""Dataset classes of the peers that need no code of theirs here."""

from __future__ import annotations

from typing import Final

from ais_prompt.peers.table.row import Row

DATASETS: Final[tuple[Row, ...]] = ()
