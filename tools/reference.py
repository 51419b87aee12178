"""Write docs/reference.md from the tables that the checks use: ``python -m tools.reference``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ais_prompt.config.schema import TABLES, Table
from tools.stub import STUB, stub

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference.md"
INTRODUCTION: Final = """\
# Keys of a config

Every dict that a config may hold, and every key that it may have. An unknown key is a fault, which `check` reports with
the nearest known name, the file and the line. `python -m tools.reference` writes this page from the tables of `check`.

The arguments of a part (a model, reader, retriever, inferencer, template, evaluator) are the parameters of its class.
`aisprompt list` names the classes, and their docstrings describe the parameters.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *map(_section, TABLES)])


def _section(table: Table) -> str:
    where = f"`{table.where}`. " if table.where else ""
    rows = [f"| `{key.name}` | {key.kind} | {key.meaning} | {key.default} |" for key in table.keys]
    head = ["| key | value | meaning | default |", "|---|---|---|---|"]
    return "\n".join([f"## {table.title}", "", f"{where}{table.about}", "", *head, *rows, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    STUB.write_text(stub(), encoding="utf-8")
