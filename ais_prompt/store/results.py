"""JSON files of a run folder, replaced whole: results, ``run.json``, ``summary.json``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ais_prompt.errors import StoreError
from ais_prompt.store.disk import reading, replacing
from ais_prompt.utils.jsonl import decode, encode


def write_json_atomic(path: Path, value: Mapping[str, Any]) -> None:
    """Write an object as indented JSON, whole or not at all.

    Raises:
        StoreError: it cannot be written; what the file held before stays as it was.
    """
    with replacing(path) as stream:
        stream.write(encode(value, indent=2))


def write_results(path: Path, head: Mapping[str, Any], details: Iterable[Mapping[str, Any]]) -> None:
    """Write the results of a task as JSON, whole or not at all: ``head``, and ``details`` with one sample a line.

    Raises:
        StoreError: they cannot be written; what the file held before stays as it was.
    """
    with replacing(path) as stream:
        stream.write(encode(head, indent=2).removesuffix(b"\n}\n"))
        stream.write(b',\n  "details": [')
        for number, detail in enumerate(details):
            stream.write((b",\n    " if number else b"\n    ") + encode(detail).rstrip(b"\n"))
        stream.write(b"\n  ]\n}\n")


def read_json(path: Path) -> dict[str, Any]:
    """Read a file of `write_json_atomic`.

    Raises:
        StoreError: there is no such file, it cannot be read or it is not such a file.
    """
    with reading(path, mend="score first: -m eval, or -m all"):
        content = path.read_bytes()
    try:
        value = decode(content.decode(), own=True)
    except ValueError as error:
        raise StoreError(
            f"the file is not JSON: {error}", where=str(path), mend="remove it and go on with -r"
        ) from None
    if not isinstance(value, dict):
        raise StoreError("the file is not a JSON object", where=str(path), mend="remove it and go on with -r")
    return value
