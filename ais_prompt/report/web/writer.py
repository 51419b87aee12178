"""``report.html`` of a run folder, written in one pass over the predictions."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Final

from ais_prompt.errors import AisPromptError
from ais_prompt.preview import questions, stored_prompts
from ais_prompt.report.language import label_language
from ais_prompt.report.web.assets import packed
from ais_prompt.report.web.further import further_data, time_of_tabs
from ais_prompt.report.web.judgements import judgement_places
from ais_prompt.report.web.overview import COLUMNS, UNITS, TaskTotals, overview, samples_of
from ais_prompt.report.web.pages import REPORT_LIBRARIES, REPORT_SCRIPTS, page_pieces
from ais_prompt.report.web.prompt_page import prompts_part
from ais_prompt.report.web.run_files import asking_in_parts, shown_tasks, summary_of, time_of_summary
from ais_prompt.report.web.sample import SampleChunk
from ais_prompt.store import RunFolder, read_run_file, refuse_links, replacing, writing
from ais_prompt.types import Prediction
from ais_prompt.utils import digest, file_digest, program_digest

if TYPE_CHECKING:
    from ais_prompt.evaluators import AsksInParts

MOST_BYTES: Final = 50_000_000
"""Bytes of packed samples that a report holds: about 100,000 samples. Of more it holds none; `aisprompt view` does."""
CHUNK_SAMPLES: Final = 200
"""Maximum number of samples that a browser unpacks to show one of them."""
CHUNK_CHARACTERS: Final = 1_000_000
"""Number of characters of different lines that ends a chunk."""

_NOT_SHOWN: Final = {"report.html", "run.json", "journal", "logs", "partial", "servers", "shards", "view"}
"""Files and folders of a run folder that change without a change of its report; of ``view`` it shows the prompts."""


def write_report(folder: RunFolder) -> None:
    """Write ``report.html`` from the summary, results, predictions and record of a run, whole or not at all.

    A task whose files cannot be read stays in the report with the reason. Of a run that has only further
    tabs, the report has these and no answers. A report that shows the same already is kept: only a session that
    changed nothing is not in it.

    Args:
        folder: of the run.

    Raises:
        StoreError: there is no summary, or the report cannot be written.
    """
    refuse_links(folder)
    made_of = f"<!-- made of {_inputs_digest(folder)} -->\n"
    if _ends_with(folder.report, made_of):
        return
    further = further_data(folder)
    rows = [] if time_of_tabs(folder) and not time_of_summary(folder) else summary_of(folder)
    tasks = [TaskTotals(task) for task in shown_tasks(folder, rows)]
    # The overview comes first in the file but is known last, so the samples wait in a temporary file.
    with replacing(folder.report) as report, TemporaryFile(dir=folder.root) as samples:
        asking = asking_in_parts(folder)
        for number, one in enumerate(tasks):
            own = asking.get(one.task.dataset, {})
            for name, value in _parts(one, folder, own, lambda: samples.tell() <= MOST_BYTES):
                # The browser keeps it as text and does not run it.
                element = f'<script type="text/plain" id="task-{number}-{name}">{packed(value)}</script>\n'
                samples.write(element.encode())
        fits = samples.tell() <= MOST_BYTES
        if not fits:
            samples.truncate(0)
        data = {**overview(folder, rows, tasks), **further, "has_samples": fits}
        title, prompts = f"{data['name']} {data['time']}", prompts_part(folder)
        samples.seek(0)
        frame = title, "report.html", REPORT_SCRIPTS, data, REPORT_LIBRARIES
        pieces = page_pieces(*frame, prompts=prompts, further=map(bytes.decode, samples))
        report.writelines(map(str.encode, pieces))
        report.write(made_of.encode())


def _inputs_digest(folder: RunFolder) -> str:
    """Return a digest of all that the report shows except sessions, and of what writes it."""
    facts = {name: value for name, value in read_run_file(folder).items() if name not in ("sessions", "used")}
    shown = [path for path in folder.root.iterdir() if path.name[0] != "." and path.name not in _NOT_SHOWN]
    files = [file for path in shown for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()]
    digests = [(str(path.relative_to(folder.root)), _digest_of(path)) for path in sorted(files)]
    kept = [view.to_json() for view, _ in stored_prompts(folder)]
    return digest([program_digest(), label_language(), str(folder.root.resolve()), facts, kept, digests])


def _digest_of(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError as error:  # the report says what cannot be read
        return str(error)


def _ends_with(path: Path, text: str) -> bool:
    with suppress(OSError), path.open("rb") as stream:
        stream.seek(-len(text), os.SEEK_END)
        return stream.read() == text.encode()
    return False


def forget_report(folder: RunFolder) -> None:
    """Remove the report of an earlier session, which shows other scores.

    Raises:
        StoreError: it cannot be removed.
    """
    with writing(folder.report):
        folder.report.unlink(missing_ok=True)


def _parts(
    totals: TaskTotals, folder: RunFolder, asking: Mapping[str, AsksInParts], fits: Callable[[], bool]
) -> Iterator[tuple[str, Any]]:
    """Yield name and JSON value of each part of a task: ``chunk-N``, counted from 0, and then its ``table``.

    The table has the columns of all samples, of `UNITS` the one that is shown, and in ``chunks`` how many samples each
    chunk holds.

    Args:
        totals: of the task; all its samples are added.
        folder: of the run.
        asking: of the dataset, as for `SampleChunk`.
        fits: whether the file has room for more; else the samples are only added to the totals.
    """
    table: dict[str, list[Any]] = {**{name: [] for name in COLUMNS}, "chunks": []}
    for number, (chunk, predictions, rows) in enumerate(_chunks(totals, folder, asking, fits)):
        yield f"chunk-{number}", chunk.to_json()
        for name in rows[0]:
            table[name] += [row[name] for row in rows]
        table["question"] += questions(predictions)
        table["chunks"].append(len(rows))
    if table["chunks"]:
        yield "table", {name: column for name, column in table.items() if name not in {*UNITS} - {totals.unit}}


def _chunks(
    totals: TaskTotals, folder: RunFolder, asking: Mapping[str, AsksInParts], fits: Callable[[], bool]
) -> Iterator[tuple[SampleChunk, list[Prediction], list[dict[str, Any]]]]:
    """Yield each chunk with its predictions and its lines of the table."""
    chunk, predictions, rows = SampleChunk(asking), list[Prediction](), list[dict[str, Any]]()
    try:
        judged: defaultdict[str, list[tuple[Path, int]]] = defaultdict(list)
        for sample_id, path, start in judgement_places(folder, totals.task.model, totals.task.dataset):
            judged[sample_id].append((path, start))
        for prediction, detail, row in samples_of(totals, folder):
            if not fits():
                continue
            chunk.add(prediction, detail, judged[prediction.sample_id])
            predictions.append(prediction)
            rows.append(row)
            if len(rows) == CHUNK_SAMPLES or chunk.lines.size >= CHUNK_CHARACTERS:
                yield chunk, predictions, rows
                chunk, predictions, rows = SampleChunk(asking), [], []
    except AisPromptError as error:  # of the judgements; those of the samples are noted already
        totals.trouble = str(error)
    if rows:
        yield chunk, predictions, rows
