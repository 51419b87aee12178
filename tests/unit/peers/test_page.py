"""docs/migrating.md lists every counterpart, and what differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ais_prompt.peers.table import ROWS

PAGE = (Path(__file__).parents[3] / "docs/migrating.md").read_text(encoding="utf-8").partition("## Datasets")[2]


@pytest.mark.parametrize("kind", ["evaluators", "postprocessors", "models"])
def test_every_counterpart_is_listed(kind: str) -> None:
    rows = [
        f"| `{row.name}`{' of AISBench' * (row.module == 'ais_bench')} | `{row.ours}` | {row.differs} |".replace(
            "|  |", "| |"
        )
        for row in ROWS[kind]
    ]
    assert [row for row in rows if row not in PAGE] == []
    listed = {line.split("`")[1] for line in PAGE.splitlines() if line.startswith("| `")}
    assert not listed - {row.name for rows in ROWS.values() for row in rows}
