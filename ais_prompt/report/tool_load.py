"""Show the tables of a load as another tool names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console

from ais_prompt.perf.tool_tables import ToolSection, Value
from ais_prompt.utils.tables import Column, print_heading, print_table

_WIDTH: Final = 50
"""Columns of a table of names and values, as in vLLM and SGLang."""


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
