"""``report.html`` of a run folder, written in one pass over the predictions."""

from __future__ import annotations

import shutil
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final

from ais_prompt.errors import AisPromptError
from ais_prompt.report.html.overview import overview
from ais_prompt.report.html.page import END, page_start
from ais_prompt.report.html.run_files import ShownTask, results_of, sensitivity_of, shown_tasks, summary_of
from ais_prompt.report.html.task import TaskSamples
from ais_prompt.report.html.texts import packed
from ais_prompt.report.html.totals import TaskTotals
from ais_prompt.store.disk import replacing, writing
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import read_predictions
from ais_prompt.utils.progress import tracked

SCRIPTS: Final = (
    "dom.js",
    "text.js",
    "data.js",
    "plots.js",
    "overview.js",
    "answers.js",
    "table.js",
    "search.js",
    "prompt.js",
    "sample.js",
    "report.js",
)


def write_report(folder: RunFolder) -> None:
    """Write ``report.html`` from the summary, results, predictions and record of a run, whole or not at all.

    A task whose files cannot be read stays in the report with the reason.

    Raises:
        StoreError: there is no summary, or the report cannot be written.
    """
    rows = summary_of(folder)
    # The overview comes first in the file but is known last, so the samples wait in a file that has no name.
    with replacing(folder.report) as report, TemporaryFile(dir=folder.root) as samples:
        tasks = enumerate(shown_tasks(folder, rows))
        totals = [_write_samples(number, task, folder, samples) for number, task in tasks]
        data = overview(folder, rows, totals)
        title = f"{data['name']} {data['time']}"
        report.write(page_start(title, "report.html", SCRIPTS, data).encode())
        samples.seek(0)
        shutil.copyfileobj(samples, report)
        report.write(END.encode())


def forget_report(folder: RunFolder) -> None:
    """Remove the report of an earlier session, which tells of other scores.

    Raises:
        StoreError: it cannot be removed.
    """
    with writing(folder.report):
        folder.report.unlink(missing_ok=True)


def _write_samples(number: int, task: ShownTask, folder: RunFolder, stream: BinaryIO) -> TaskTotals:
    """Write the samples of a task and their table; return what the overview says of it."""

    def write(name: str, part: dict[str, Any]) -> None:
        # The browser keeps it as text and does not run it.
        stream.write(f'<script type="text/plain" id="task-{number}-{name}">{packed(part)}</script>\n'.encode())

    samples = TaskSamples(task, write)
    try:
        results = results_of(task, folder)
        samples.totals.sensitivity = sensitivity_of(task, folder)
        predictions = read_predictions(folder.predictions(task.model, task.dataset))
        for prediction in tracked(predictions, f"reporting {task.model}/{task.dataset}", unit="samples"):
            samples.add(prediction, results)
    except AisPromptError as error:
        samples.totals.trouble = str(error)
    samples.end()
    return samples.totals
