"""``report.html`` of a run folder, written in one pass over the predictions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final

from ais_prompt.errors import AisPromptError
from ais_prompt.preview import questions
from ais_prompt.report.web.assets import Lines, packed
from ais_prompt.report.web.further import further_data, time_of_tabs
from ais_prompt.report.web.index import line_starts
from ais_prompt.report.web.overview import COLUMNS, TaskTotals, overview, samples_of
from ais_prompt.report.web.pages import REPORT_LIBRARIES, REPORT_SCRIPTS, page_pieces
from ais_prompt.report.web.prompt_page import prompts_part
from ais_prompt.report.web.run_files import shown_tasks, summary_of, time_of_summary
from ais_prompt.report.web.sample import judgement_places, read_judgements, sample_json
from ais_prompt.store import RunFolder, refuse_links, replacing, writing
from ais_prompt.types import Prediction

MOST_SAMPLES: Final = 100_000
"""Maximum number of samples in one report, about 40 MB; of more, some of each task are in it, evenly spaced."""
CHUNK_SAMPLES: Final = 200
"""Maximum number of samples that a browser unpacks to show one of them."""
CHUNK_CHARACTERS: Final = 1_000_000
"""Number of characters of different lines that ends a chunk."""


def write_report(folder: RunFolder) -> None:
    """Write ``report.html`` from the summary, results, predictions and record of a run, whole or not at all.

    A task whose files cannot be read stays in the report with the reason. Of a run that has only further
    tabs, the report has these and no answers.

    Args:
        folder: of the run.

    Raises:
        StoreError: there is no summary, or the report cannot be written.
    """
    refuse_links(folder)
    further = further_data(folder)
    rows = [] if time_of_tabs(folder) and not time_of_summary(folder) else summary_of(folder)
    tasks = [TaskTotals(task) for task in shown_tasks(folder, rows)]
    sizes = [sum(1 for _ in line_starts(folder.predictions(one.task.model, one.task.dataset))) for one in tasks]
    kept = min(1.0, MOST_SAMPLES / max(sum(sizes), 1))
    # The overview comes first in the file but is known last, so the samples wait in a temporary file.
    with replacing(folder.report) as report, TemporaryFile(dir=folder.root) as samples:
        for number, one in enumerate(tasks):
            for name, value in _parts(one, folder, kept):
                # The browser keeps it as text and does not run it.
                element = f'<script type="text/plain" id="task-{number}-{name}">{packed(value)}</script>\n'
                samples.write(element.encode())
        shown = sum(int(size * kept) for size in sizes)
        data = {**overview(folder, rows, tasks), **further, "kept": shown if kept < 1 else None}
        title, prompts = f"{data['name']} {data['time']}", prompts_part(folder)
        samples.seek(0)
        frame = title, "report.html", REPORT_SCRIPTS, data, REPORT_LIBRARIES
        report.writelines(map(str.encode, page_pieces(*frame, prompts=prompts, further=map(bytes.decode, samples))))


def forget_report(folder: RunFolder) -> None:
    """Remove the report of an earlier session, which shows other scores.

    Raises:
        StoreError: it cannot be removed.
    """
    with writing(folder.report):
        folder.report.unlink(missing_ok=True)


class _Chunk:
    """Samples that the browser unpacks together.

    Attributes:
        lines: of all their texts.
        predictions, rows, samples: of each.
    """

    def __init__(self) -> None:
        self.lines = Lines()
        self.predictions: list[Prediction] = []
        self.rows: list[dict[str, Any]] = []
        self.samples: list[dict[str, Any]] = []


def _parts(totals: TaskTotals, folder: RunFolder, kept: float) -> Iterator[tuple[str, Any]]:
    """Yield name and JSON value of each part of a task: ``chunk-N``, counted from 0, and then its ``table``.

    A chunk has ``lines`` and ``samples``. The table has the columns of all samples, and in ``chunks`` how many samples
    each chunk holds.

    Args:
        totals: of the task; all its samples are added.
        folder: of the run.
        kept: the share of the samples that have parts, 0 to 1, evenly spaced.
    """
    table: dict[str, list[Any]] = {**{name: [] for name in COLUMNS}, "chunks": []}
    for number, chunk in enumerate(_chunks(totals, folder, kept)):
        yield f"chunk-{number}", {"lines": chunk.lines.to_json(), "samples": chunk.samples}
        for name in chunk.rows[0]:
            table[name] += [row[name] for row in chunk.rows]
        table["question"] += questions(chunk.predictions)
        table["chunks"].append(len(chunk.rows))
    if table["chunks"]:
        yield "table", table


def _chunks(totals: TaskTotals, folder: RunFolder, kept: float) -> Iterator[_Chunk]:
    chunk = _Chunk()
    try:
        judged: defaultdict[str, list[tuple[Path, int]]] = defaultdict(list)
        for sample_id, path, start in judgement_places(folder, totals.task.model, totals.task.dataset):
            judged[sample_id].append((path, start))
        for place, (prediction, detail, row) in enumerate(samples_of(totals, folder)):
            if int((place + 1) * kept) == int(place * kept):
                continue
            sample = sample_json(prediction, detail, chunk.lines, read_judgements(judged[prediction.sample_id]))
            chunk.predictions.append(prediction)
            chunk.rows.append(row)
            chunk.samples.append(sample)
            if len(chunk.samples) == CHUNK_SAMPLES or chunk.lines.size >= CHUNK_CHARACTERS:
                yield chunk
                chunk = _Chunk()
    except AisPromptError as error:  # of the judgements; those of the samples are noted already
        totals.trouble = str(error)
    if chunk.rows:
        yield chunk
