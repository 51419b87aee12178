"""Labels of pages in the reader's language, from the one table that the scripts of the pages use too.

``assets/zh.json`` has the Chinese labels, with the terms of docs/zh/glossary.md and of the Chinese pages of OpenCompass
and AISBench. Texts of data are never translated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from ais_prompt.report.language import language
from ais_prompt.report.web.frame import asset
from ais_prompt.utils import text


def labels() -> Mapping[str, str]:
    """Return English label → label in the reader's language; empty if that is English."""
    return {} if language() == "en" else _table(language())


@cache
def _table(name: str) -> Mapping[str, str]:
    table: dict[str, str] = json.loads(asset(f"{name}.json"))
    return table


def say(label: str, /, **values: object) -> str:
    """Return a label in the reader's language; ``{name}`` in it is replaced by the value of that name."""
    return labels().get(label, label).format(**values)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 token``, ``12 个词元``."""
    return f"{number:,} {labels()[noun]}" if noun in labels() else text.counted(number, noun)
