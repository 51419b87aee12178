"""The page docs/reference/counterparts.md, from the table of the peers; `tools.reference` writes it."""

from __future__ import annotations

from typing import Final

from ais_prompt.extensions.peers.table import ROWS
from ais_prompt.extensions.peers.table.parts import LOADERS

KINDS: Final = ("evaluators", "postprocessors", "models")
ABOUT: Final = """\
# Counterparts of OpenCompass and AISBench

Parts of the two programs that need no installation of theirs. Scores are the same unless the last column says what
differs. [Their configs](../migrating.md) explains the rest.

## Dataset classes

[`BenchmarkDataset`](../benchmark-data.md#benchmarkdataset) reads their files and gives the same rows.
"""


def page() -> str:
    """Return the page."""
    lines = [ABOUT, ", ".join(f"`{name}`" for name in sorted(LOADERS, key=str.lower))]
    for kind in KINDS:
        lines += ["", f"## {kind.capitalize()}", "", "| theirs | here | what differs |", "|---|---|---|"]
        for row in ROWS[kind]:
            theirs = f"`{row.name}`" + " of AISBench" * (row.module == "ais_bench")
            lines.append(f"| {theirs} | `{row.ours}` | {row.differs} |".replace("|  |", "| |"))
    return "\n".join([*lines, ""])
