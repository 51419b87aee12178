"""The variants of a run in its report; nothing else is imported for a run without any."""

from __future__ import annotations

from typing import Final

from ais_prompt.extensions.variants.variant_views import compared_variants
from ais_prompt.report import ReportTab, summary_of
from ais_prompt.store import RunFolder


def variants_data(folder: RunFolder) -> dict[str, str]:
    """Return the HTML of the variants of a run, as ``variants``; nothing if it has none.

    Raises:
        AisPromptError: its results cannot be read.
    """
    if not any(row.base_model for row in summary_of(folder)):
        return {}
    from ais_prompt.extensions.variants.variant_page import variants_html

    return {"variants": variants_html(compared_variants(folder.root, None))}


TAB: Final = ReportTab(data=variants_data, line=lambda _: {}, version=lambda _: 0, live=lambda _: None)
