"""The variants of a run in its report; nothing is imported for a run without any."""

from __future__ import annotations

from typing import Final

from ais_prompt.errors import AisPromptError
from ais_prompt.report.web.run_files import summary_of
from ais_prompt.store import RunFolder

VARIANTS_STYLE: Final = """
.variants table{border-collapse:collapse;margin:.5rem 0 1rem}
.variants th,.variants td{padding:.2rem .7rem;text-align:right;white-space:pre}
.variants th,.variants td{border-bottom:1px solid var(--line,#8884)}
.variants th:first-child,.variants td:first-child,.variants td.name{text-align:left;white-space:normal}
.variants td.best{font-weight:700}.variants td.worse{opacity:.6}
.front-plot{max-width:46rem;width:100%;height:auto;font:11px sans-serif;fill:currentColor}
.front-plot .axis,.front-plot .front{fill:none;stroke:currentColor;stroke-opacity:.5}
.front-plot .front{stroke-dasharray:4 3}.front-plot .end{text-anchor:end}
.front-plot g line{stroke-opacity:.5;stroke-width:1.5}
.front-plot .model0 line{stroke:#3b76c4}.front-plot .model0 circle{fill:#3b76c4}
.front-legend .model0{color:#3b76c4;margin-right:1rem}
.front-plot .model1 line{stroke:#c9562c}.front-plot .model1 circle{fill:#c9562c}
.front-legend .model1{color:#c9562c;margin-right:1rem}
.front-plot .model2 line{stroke:#3a8f5c}.front-plot .model2 circle{fill:#3a8f5c}
.front-legend .model2{color:#3a8f5c;margin-right:1rem}
.front-plot .model3 line{stroke:#9a54b4}.front-plot .model3 circle{fill:#9a54b4}
.front-legend .model3{color:#9a54b4;margin-right:1rem}
.front-plot .model4 line{stroke:#a3812b}.front-plot .model4 circle{fill:#a3812b}
.front-legend .model4{color:#a3812b;margin-right:1rem}
.front-plot .model5 line{stroke:#3f8f95}.front-plot .model5 circle{fill:#3f8f95}
.front-legend .model5{color:#3f8f95;margin-right:1rem}
"""


def variants_part(folder: RunFolder) -> str:
    """Return the HTML of the variants of a run; empty if it has none, or its results cannot be read."""
    try:
        if not any(row.base_model for row in summary_of(folder)):  # most runs have none
            return ""
        from ais_prompt.comparison import read_stored_run, variant_groups
        from ais_prompt.report.web.variant_page import variants_html

        return variants_html(variant_groups(read_stored_run(str(folder.root))))
    except AisPromptError:  # of a task that cannot be read the report has a note
        return ""
