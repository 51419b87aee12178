"""The language of labels: of the report, and of tables and hints in a terminal. Messages and files stay English.

Each label is translated in one place: ``zh.json`` beside this file has what only tables of a terminal have,
``hints_zh.json`` the hints, ``web/assets/zh.json`` what pages have, an extension the words of its tabs. The terms are
those of docs/zh/glossary.md and of the Chinese pages of OpenCompass and AISBench. Texts of data are never translated.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

from ais_prompt.utils import text

VARIABLE: Final = "AISPROMPT_LANG"
_GAP: Final = re.compile(r"( {2,}| (?=aisprompt )|: |:$)")
"""What separates the columns of a hint, a label from its value, and a purpose from its command."""


def label_language() -> Literal["en", "zh"]:
    """Return the language that ``AISPROMPT_LANG`` names, or without it ``LC_ALL``, ``LC_MESSAGES`` or ``LANG``."""
    for name in (VARIABLE, "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def labels() -> Mapping[str, str]:
    """Return English label → label in the reader's language; empty if that is English."""
    return {} if label_language() == "en" else _table(label_language())


def term(word: str) -> str:
    """Return a word in the reader's language, as it is if there is no translation."""
    return labels().get(word, word)


def say(label: str, /, **values: object) -> str:
    """Return a label in the reader's language; ``{name}`` in it is replaced by the value of that name."""
    return term(label).format(**values)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 token``, ``12 个词元``."""
    return f"{number:,} {term(noun)}" if noun in labels() else text.counted(number, noun)


def hint_in_language(hint: str) -> str:
    """Return lines of a terminal whose labels are in the reader's language, their columns where they were.

    Only whole hints are looked up: names of data in a line may be words of a table.
    """
    if label_language() == "en":
        return hint
    from rich.cells import cell_len

    words = _read(f"ais_prompt.report:hints_{label_language()}.json")
    lines = []
    for line in hint.split("\n"):
        shown, column = "", 0
        for piece in _GAP.split(line):
            column += len(piece)
            shown += words.get(piece, piece)
            if piece.isspace():
                shown += " " * (column - cell_len(shown))
        lines.append(shown)
    return "\n".join(lines)


@cache
def _table(name: str) -> Mapping[str, str]:
    from ais_prompt.report.web.assets import tab_assets

    shipped = (f"ais_prompt.report:{name}.json", f"ais_prompt.report.web:assets/{name}.json")
    places = [*shipped, *(asset for asset in tab_assets(".json") if asset.endswith(f"/{name}.json"))]
    return {label: translated for place in places for label, translated in _read(place).items()}


@cache
def _read(place: str) -> Mapping[str, str]:
    """Read a table at ``PACKAGE:PATH``."""
    from ais_prompt.report.web.assets import asset

    table: dict[str, str] = json.loads(asset(place))
    return table
