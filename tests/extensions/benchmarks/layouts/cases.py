"""Calls of loaders of benchmarks, and the files that they read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct


class Case(Struct, frozen=True):
    """A call of a loader.

    Attributes:
        files: path below a folder → content; JSON is written for what is no text.
        path: what is given as ``path``, below the folder; None if the call has ``data_files`` instead.
        arguments: other arguments.
        peer: the package whose loader it is.
    """

    files: Mapping[str, Any]
    path: str | None = ""
    arguments: Mapping[str, Any] = {}
    peer: str = "opencompass"

    def call(self, folder: Path) -> dict[str, Any]:
        """Return the arguments of the loader, after writing the files."""
        for name, content in self.files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        if self.path is None:
            return {"path": "json", "data_files": str(folder / next(iter(self.files))), "split": "train"}
        return {"path": f"{folder}/{self.path}", **self.arguments}


def lines(*rows: Any) -> str:
    """Return rows as JSONL."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def of_file(*rows: Any, peer: str = "opencompass", **arguments: Any) -> Case:
    """Return the call of a loader of one JSONL file."""
    return Case({"rows.jsonl": lines(*rows)}, "rows.jsonl", arguments, peer)


def of_hub(*rows: Any) -> Case:
    """Return the call of a loader that gives ``data_files`` to `datasets`."""
    return Case({"rows.json": lines(*rows)}, None)


def of_folder(files: Mapping[str, Any], peer: str = "opencompass", **arguments: Any) -> Case:
    """Return the call of a loader of a folder."""
    return Case(files, "", arguments, peer)
