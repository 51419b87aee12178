"""Show the tables of a load as other tools print them.

Those of AISBench are equal to the character. Source: `_output_to_screen` of its `default_perf.py`, which prints the two
files with tabulate's format ``fancy_grid``.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from rich.console import Console

from ais_prompt.extensions.perf.aisbench import AisbenchTables
from ais_prompt.extensions.perf.documents import ToolSection, Value
from ais_prompt.terminal import Column, print_heading, print_table

_WIDTH: Final = 50
"""Columns of a table of names and values, as in vLLM and SGLang."""
HEADER_ROOM: Final = 2
"""Columns that a table of tabulate is at least wider than its header."""


def print_sections(sections: Sequence[ToolSection], console: Console) -> None:
    """Print the tables of one task.

    Args:
        sections: of the tool.
        console: where to.
    """
    for section in sections:
        if section.columns:
            print_heading(section.title, console)
            columns = [Column("", is_name=True, right=False), *map(Column, section.columns)]
            print_table(columns, [[name, *map(_cell, values)] for name, values in section.rows.items()], console)
        else:
            lines = [f"{f' {section.title} ':-^{_WIDTH}}"]
            lines += [f"{name:<40} {_cell(value)}" for name, (value,) in section.rows.items()]
            console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def _cell(value: Value) -> str:
    return "" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)


def aisbench_screen(tables: AisbenchTables, task: str, folder: str) -> str:
    """Return the text for one task.

    Args:
        tables: of the load.
        task: ``model/dataset``.
        folder: with the files of the model.
    """
    metrics = list(csv.reader(tables.csv.splitlines()))
    common = [
        ["Common Metric", "Stage", "Value"],
        *([name, stage, value] for name, of in json.loads(tables.json).items() for stage, value in of.items()),
    ]
    parts = [
        f"Performance Results of task [{task}]: ",
        fancy_grid(metrics),
        fancy_grid(common),
        f"Performance Result files located in {folder}.",
    ]
    return "\n".join(parts)


def fancy_grid(rows: Sequence[Sequence[Any]]) -> str:
    """Return a table as tabulate's ``fancy_grid`` does: numbers centred, texts to the left.

    Args:
        rows: the header first.
    """
    columns = [[str(row[place]) for row in rows] for place in range(len(rows[0]))]
    widths = [max(len(header) + HEADER_ROOM, *map(len, cells)) for header, *cells in columns]
    centred = [all(cell.isdecimal() for cell in cells) for _, *cells in columns]

    def line(cells: Sequence[str]) -> str:
        padded = (
            f"{cell:^{width}}" if is_number else cell.ljust(width)
            for cell, width, is_number in zip(cells, widths, centred, strict=True)
        )
        return f"│ {' │ '.join(padded)} │"

    def rule(left: str, fill: str, middle: str, right: str) -> str:
        return f"{left}{middle.join(fill * (width + 2) for width in widths)}{right}"

    def lines() -> Iterator[str]:
        header, *body = zip(*columns, strict=True)
        yield rule("╒", "═", "╤", "╕")
        yield line(header)
        yield rule("╞", "═", "╪", "╡")
        for number, cells in enumerate(body):
            if number:
                yield rule("├", "─", "┼", "┤")
            yield line(cells)
        yield rule("╘", "═", "╧", "╛")

    return "\n".join(lines())
