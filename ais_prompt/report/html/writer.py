"""``report.html`` of a run folder, written in one pass over the predictions."""

from __future__ import annotations

import shutil
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final

from ais_prompt.errors import AisPromptError
from ais_prompt.report.html.overview import TaskFacts, overview, task_facts
from ais_prompt.report.html.page import END, page_start
from ais_prompt.report.html.rows import length_column
from ais_prompt.report.html.run_files import ShownTask, results_of, shown_tasks, summary_of
from ais_prompt.report.html.task import TaskSamples
from ais_prompt.report.html.texts import packed
from ais_prompt.store.disk import replacing, writing
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import read_predictions

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
        tasks = shown_tasks(folder, rows)
        parts = [_write_samples(number, task, folder, samples) for number, task in enumerate(tasks)]
        data = overview(folder, rows, [facts for facts, _ in parts])
        title = f"{data['name']} {data['time']}"
        report.write(page_start(title, "report.html", SCRIPTS, data).encode())
        for number, (_, table) in enumerate(parts):
            report.write(_block(f"table-{number}", table))
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


def _write_samples(number: int, task: ShownTask, folder: RunFolder, stream: BinaryIO) -> tuple[TaskFacts, str]:
    """Write the chunks of a task; return what the overview says of it, and its packed table."""

    def write(chunk_number: int, chunk: dict[str, Any]) -> None:
        stream.write(_block(f"chunk-{number}-{chunk_number}", packed(chunk)))

    samples, trouble = TaskSamples(write), ""
    try:
        results = results_of(task, folder)
        for prediction in read_predictions(folder.predictions(task.model, task.dataset)):
            samples.add(prediction, results)
    except AisPromptError as error:
        trouble = str(error)
    samples.end_chunk()
    unit = length_column(samples.columns)
    facts = task_facts(task, samples.columns, unit, trouble)
    return facts, packed({**samples.columns, "chunks": samples.chunks})


def _block(name: str, content: str) -> bytes:
    """Data that the browser keeps as text and does not run."""
    return f'<script type="text/plain" id="{name}">{content}</script>\n'.encode()
