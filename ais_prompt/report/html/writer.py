"""``report.html`` of a run folder, written in one pass over the predictions."""

from __future__ import annotations

import shutil
from tempfile import TemporaryFile
from typing import BinaryIO, Final

from ais_prompt.report.html.indexing import line_starts
from ais_prompt.report.html.overview import TaskOverview, overview
from ais_prompt.report.html.pages import END, page_pieces
from ais_prompt.report.html.run_files import ShownTask, shown_tasks, summary_of
from ais_prompt.report.html.run_prompts import prompts_part
from ais_prompt.report.html.task_parts import write_parts
from ais_prompt.store.disk import replacing, writing
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.links import refuse_links

SCRIPTS: Final = (
    "dom.js",
    "words.js",
    "text.js",
    "data.js",
    "served.js",
    "live.js",
    "plots.js",
    "charts.js",
    "export.js",
    "breakdown.js",
    "heatmap.js",
    "scores.js",
    "matrix.js",
    "answers.js",
    "run.js",
    "tabs.js",
    "table.js",
    "search.js",
    "render.js",
    "prompt.js",
    "differences.js",
    "beside.js",
    "sample.js",
    "filters.js",
    "report.js",
)
LIBRARIES: Final = ("marked", "temml")
"""Markdown and LaTeX. Files in ``assets/vendor``, each with its license."""
MOST_SAMPLES: Final = 100_000
"""Maximum number of samples in one report, about 40 MB; of more, some of each task are in it, evenly spaced."""


def write_report(folder: RunFolder) -> None:
    """Write ``report.html`` from the summary, results, predictions and record of a run, whole or not at all.

    A task whose files cannot be read stays in the report with the reason.

    Args:
        folder: of the run.

    Raises:
        StoreError: there is no summary, or the report cannot be written.
    """
    refuse_links(folder)
    rows = summary_of(folder)
    # The overview comes first in the file but is known last, so the samples wait in a temporary file.
    with replacing(folder.report) as report, TemporaryFile(dir=folder.root) as samples:
        tasks = shown_tasks(folder, rows)
        sizes = [_size(task, folder) for task in tasks]
        kept = min(1.0, MOST_SAMPLES / max(sum(sizes), 1))
        overviews = [_write_task(number, task, folder, samples, kept) for number, task in enumerate(tasks)]
        shown = sum(int(size * kept) for size in sizes)
        data = {**overview(folder, rows, overviews), "kept": shown if kept < 1 else None}
        title = f"{data['name']} {data['time']}"
        prompts = prompts_part(folder)
        pieces = page_pieces(title, "report.html", SCRIPTS, data, LIBRARIES, prompts=prompts)
        report.writelines(map(str.encode, pieces))
        samples.seek(0)
        shutil.copyfileobj(samples, report)
        report.write(END.encode())


def forget_report(folder: RunFolder) -> None:
    """Remove the report of an earlier session, which shows other scores.

    Raises:
        StoreError: it cannot be removed.
    """
    with writing(folder.report):
        folder.report.unlink(missing_ok=True)


def _size(task: ShownTask, folder: RunFolder) -> int:
    """Return how many samples a task has."""
    return sum(1 for _ in line_starts(folder.predictions(task.model, task.dataset)))


def _write_task(number: int, task: ShownTask, folder: RunFolder, stream: BinaryIO, kept: float) -> TaskOverview:
    """Write a share of the samples of a task and their table; return the overview of all of them."""

    def write(name: str, content: str) -> None:
        # The browser keeps it as text and does not run it.
        stream.write(f'<script type="text/plain" id="task-{number}-{name}">{content}</script>\n'.encode())

    return write_parts(task, folder, write, kept)
