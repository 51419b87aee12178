"""Write lines of CSV that spreadsheets take as data, never as formulas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

# https://owasp.org/www-community/attacks/CSV_Injection; East Asian editions also take the wide forms.
_FORMULA: Final = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
_NEEDS_QUOTES: Final = re.compile(r'[",\r\n]')
_NUMBER: Final = re.compile(r"[+-]?(\d[\d,_]*\.?\d*|\.\d+)([eE][+-]?\d+)?\s?%?", re.ASCII)


def csv_lines(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], *, header: bool = True) -> str:
    """Return rows as CSV.

    A text that a spreadsheet would compute (``=1+1``, ``@SUM(A1)``, ``-x``, a tab or line break in front) gets an
    apostrophe in front, which spreadsheets show as text. Numbers, also those in texts, stay as they are.

    Args:
        columns: names of the columns, and keys of the rows.
        rows: None and missing values are empty fields.
        header: whether the names are the first line.
    """
    lines: list[Sequence[Any]] = [columns] if header else []
    lines += [[row.get(name) for name in columns] for row in rows]
    return "".join(f"{','.join(map(_field, line))}\n" for line in lines)


def _field(cell: Any) -> str:
    """Return a field as RFC 4180 has it. Before Python 3.13, csv puts no quotes around a carriage return."""
    text = "" if cell is None else str(cell)
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        text = f"'{text}"
    return '"{}"'.format(text.replace('"', '""')) if _NEEDS_QUOTES.search(text) else text
