"""A comparison of two runs as a page of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.report.html.page import END, page_start

SCRIPTS: Final = ("dom.js", "text.js", "comparison.js")


def comparison_page(before: str, after: str, found: Mapping[str, Any]) -> bytes:
    """The page; it holds all it needs, and may neither load nor send anything.

    Args:
        before, after: names of the runs.
        found: from `ais_prompt.report.comparison.comparison_json`.
    """
    data = {"before": before, "after": after, **found}
    return (page_start(f"{before} → {after}", "comparison.html", SCRIPTS, data) + END).encode()
