"""The page of ``explain --html``: of each cause the pairs, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ais_prompt.report import finite_json, page_pieces

MOST_ON_PAGE: Final = 1_000
"""Pairs of each cause."""
_HERE: Final = Path(__file__).parent
SCRIPTS: Final = ("dom.js", "words.js", "text.js", "differences.js", "pairs.js", _HERE / "explanation.js")


def explanation_page(before: str, after: str, found: Mapping[str, Any]) -> bytes:
    """Return why the scores of two runs or logs differ as a page.

    Args:
        before, after: their names.
        found: ``explanations`` from `ladder_json`, and ``notes``.
    """
    data = {"before": before, "after": after, **finite_json(found)}
    return "".join(page_pieces(f"{before} → {after}", _HERE / "explanation.html", SCRIPTS, data)).encode()
