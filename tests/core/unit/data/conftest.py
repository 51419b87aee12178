from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def write_jsonl(tmp_path: Path) -> Callable[[str, Sequence[Mapping[str, Any]]], str]:
    """Writes rows as JSONL to a file below ``tmp_path`` and returns its path."""

    def write(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return str(path)

    return write
