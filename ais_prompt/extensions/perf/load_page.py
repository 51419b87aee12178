"""The pictures of a load, one file each that holds everything: ``<dataset>_plot.html``, its requests and how many were
in flight, and ``<dataset>_rps_distribution_plot.html``, its rates. AISBench has files of these names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ais_prompt.extensions.perf.page import read_charts
from ais_prompt.report import page_pieces
from ais_prompt.store import RunFolder, replacing
from ais_prompt.types import TaskSpec

_ASSETS: Final = f"{__package__}:assets"
SCRIPTS: Final = (
    *("dom.js", "words.js", "text.js", "data.js", "plots.js", "charts.js"),
    *(f"{_ASSETS}/load.js", f"{_ASSETS}/load_page.js"),
)
PAGES: Final[Mapping[str, str]] = {"requests": "_plot.html", "rates": "_rps_distribution_plot.html"}
"""What a page shows → the end of its name."""


def write_load_pages(task: TaskSpec, folder: RunFolder) -> None:
    """Write the pages of a load from its ``_charts.json``.

    Raises:
        StoreError: a file cannot be read or written.
    """
    names = task.model.abbr, task.dataset.abbr
    charts = read_charts(*names, folder)
    for kind, ending in PAGES.items():
        data = {"name": task.name, "kind": kind, "charts": charts}
        with replacing(folder.load_file(*names, ending)) as stream:
            stream.writelines(map(str.encode, page_pieces(task.name, f"{_ASSETS}/load_page.html", SCRIPTS, data)))
