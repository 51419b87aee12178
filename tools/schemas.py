"""Write docs/schemas, the schemas of what ``--json`` prints: ``python -m tools.schemas``."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any, Final

import msgspec

from ais_prompt.cli import VERBS
from ais_prompt.types import Document
from ais_prompt.verbs import document_of

FOLDER: Final = Path(__file__).parents[1] / "docs" / "schemas"


def schemas() -> dict[Path, str]:
    """Return the content of each file."""
    return {
        FOLDER / f"{verb}.json": json.dumps(schema_of_document(verb), indent=2, ensure_ascii=False) + "\n"
        for verb in all_documents()
    }


def all_documents() -> dict[str, type[Document]]:
    """Return the document of each verb that has one, those of extensions included."""
    return {verb: found for verb in VERBS if (found := document_of(verb)) is not None}


def schema_of_document(verb: str) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of the document of a verb."""
    schema: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(document_of(verb))))
    for definition in schema.get("$defs", {}).values():
        if "description" in definition:  # a docstring, of which only some versions of msgspec cut the indentation
            definition["description"] = inspect.cleandoc(definition["description"])
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"aisprompt {verb} --json"}
    return {**head, **schema}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in schemas().items():
        path.write_text(text, "utf-8")
