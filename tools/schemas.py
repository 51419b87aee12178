"""Write docs/schemas, the schemas of what ``--json`` prints: ``python -m tools.schemas``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from ais_prompt.verbs import all_documents, schema_of_document

FOLDER: Final = Path(__file__).parents[1] / "docs" / "schemas"


def schemas() -> dict[Path, str]:
    """Return the content of each file."""
    return {
        FOLDER / f"{verb}.json": json.dumps(schema_of_document(verb), indent=2, ensure_ascii=False) + "\n"
        for verb in all_documents()
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in schemas().items():
        path.write_text(text, "utf-8")
