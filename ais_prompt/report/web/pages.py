"""Pages for the browser: the report of a run, the list of runs, a comparison, and the frame of all pages.

``report.html`` is written in one pass over the predictions. A page holds its style, script and data. Its policy forbids
everything else to run or to be loaded.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from string import Template
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Final

from ais_prompt.errors import AisPromptError, StoreError
from ais_prompt.preview import questions, stored_prompts
from ais_prompt.report.language import label_language, labels
from ais_prompt.report.web.assets import asset, finite_json, packed, packed_text, source_hash, tab_assets
from ais_prompt.report.web.overview import COLUMNS, UNITS, TaskTotals, overview, samples_of
from ais_prompt.report.web.prompt_page import QUESTIONS_STYLE, prompts_part
from ais_prompt.report.web.run_files import (
    FAILED,
    asking_in_parts,
    further_data,
    has_scores,
    is_average,
    newest_scores,
    shown_tasks,
    status_of,
    summary_of,
    tabs_of,
    time_of_summary,
    time_of_tabs,
)
from ais_prompt.report.web.sample import SampleChunk, judgement_places
from ais_prompt.scoring import Row, models_of
from ais_prompt.store import RunFolder, config_changes, in_order, read_run_file, refuse_links, replacing, writing
from ais_prompt.types import Prediction
from ais_prompt.utils import digest, file_digest, printable, program_digest

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

REPORT_SCRIPTS: Final = (
    "dom.js",
    "words.js",
    "text.js",
    "data.js",
    "further.js",
    *tab_assets(".js"),
    "groups.js",
    "choice.js",
    "served.js",
    "live.js",
    "plots.js",
    "charts.js",
    "export.js",
    "breakdown.js",
    "heatmap.js",
    "matrix.js",
    "scores.js",
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
    "steps.js",
    "side_by_side.js",
    "filters.js",
    "report.js",
)
_COMMENT: Final = re.compile(r"^[ \t]*(?:/\*\*[\s\S]*?\*/|//.*)\n", re.MULTILINE)
"""Whole lines of comments in a script; a page has none, so that it is smaller."""
REPORT_LIBRARIES: Final = ("marked", "temml")
"""Markdown and LaTeX. Files in ``assets/vendor``, each with its license."""
RUNS_SCRIPTS: Final = ("dom.js", "words.js", "text.js", "data.js", "further.js", *tab_assets(".js"), "runs.js")
MOST_LISTED: Final = 5
"""Datasets of a run without groups that the list of runs shows."""
COMPARISON_SCRIPTS: Final = (
    "dom.js",
    "words.js",
    "text.js",
    "plots.js",
    "differences.js",
    "pairs.js",
    "comparison.js",
)


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


def page_pieces(
    title: str,
    body: str | Path,
    scripts: Sequence[str | Path],
    data: Any,
    libraries: Sequence[str] = (),
    *,
    connects: bool = False,
    prompts: str = "",
    further: Iterable[str] = (),
) -> Iterator[str]:
    """Yield a page in pieces, its data apart: they may be large.

    Args:
        title: any text.
        body: the file with the frame of the page, a name in ``assets`` or a path.
        scripts: such files, in order of running.
        data: JSON values; numbers must be finite. The script finds them in the element ``data``.
        libraries: names of scripts in ``assets/vendor`` that the page has packed, as ``library-NAME``, and may run.
        connects: whether the page may send requests to its own server; no other page may send any.
        prompts: HTML from `ais_prompt.report.web.prompt_page.prompts_part`, for the place in the frame.
        further: elements with data at the end.
    """
    style = "".join(map(asset, ("style.css", *tab_assets(".css")))) + (QUESTIONS_STYLE if prompts else "")
    script = _COMMENT.sub("", "\n".join(map(asset, scripts)))
    vendored = {name: asset(f"vendor/{name}.js") for name in libraries}
    # Only this style, these scripts, and media in the page.
    scripts_hashed = " ".join(map(source_hash, [script, *vendored.values()]))
    server = "; connect-src 'self'" if connects else ""
    policy = (
        f"default-src 'none'; style-src {source_hash(style)}; script-src {scripts_hashed}; "
        f"img-src data:; media-src data:{server}; base-uri 'none'; form-action 'none'"
    )
    values = {
        "language": label_language(),
        "policy": policy,
        "title": html.escape(printable(title)),
        "style": style,
        "body": asset(body).replace("<!-- prompts -->", prompts),
        "script": script,
        # The browser keeps them as text.
        "libraries": "\n".join(
            f'<script type="text/plain" id="library-{name}">{packed_text(library)}</script>'
            for name, library in vendored.items()
        ),
        "labels": _json(labels()),
    }
    before, after = asset("page.html").split("$data")
    yield Template(before).substitute(values)
    yield _json(data)
    yield Template(after).substitute(values)
    yield from further
    yield "</body>\n</html>\n"


def runs_page(work_dir: Path, runs: Mapping[str, RunFolder], *, is_static: bool = False) -> str:
    """Return the list of runs as a page.

    Args:
        work_dir: where the runs are; its name is shown.
        runs: address of a run's report → the run.
        is_static: whether the page is a file, and no server of ours compares runs.
    """
    names: dict[Path, list[Path]] = {}
    for folder in runs.values():
        names.setdefault(folder.root.resolve().parent, []).append(folder.root)
    # How the config of a run differs from that of the run of the same name before it.
    changes = {
        after: config_changes(before, after) for roots in names.values() for before, after in pairwise(in_order(roots))
    }
    lines = [
        {"address": address, **_line(folder), "changes": changes.get(folder.root, [])}
        for address, folder in runs.items()
    ]
    lines.sort(key=lambda line: _seconds(line["started"]), reverse=True)
    data = {"work_dir": str(work_dir), "runs": lines, "is_static": is_static}
    return "".join(page_pieces(f"Runs in {work_dir.name}", "runs.html", RUNS_SCRIPTS, finite_json(data)))


def _seconds(started: Any) -> float:
    """Return a time with any offset as seconds since 1970; 0 if it is not a time."""
    try:
        return datetime.fromisoformat(started).timestamp()
    except (TypeError, ValueError, OverflowError):
        return 0


def _line(folder: RunFolder) -> dict[str, Any]:
    """Return the line of a run in the list; for broken files, what is wrong with them."""
    root = folder.root.resolve()
    line: dict[str, Any] = {"name": root.parent.name, "time": root.name, "started": "", "scores": []}
    line |= {"trouble": "", "cause": "", "failed": 0, "answers": 0, "datasets": []}
    try:
        record = read_run_file(folder)
        sessions = record.get("sessions") or [{}]
        line |= {"status": status_of(folder, record), "started": sessions[0].get("started", "")}
        if has_scores(folder):
            line |= _scores_of(newest_scores(folder))
        else:
            for tab in tabs_of(folder).values():
                line |= tab.line(folder)
    except (StoreError, AttributeError, TypeError, KeyError) as error:
        line["trouble"] = error.what if isinstance(error, StoreError) else "its files are broken"
    return line


def _scores_of(folder: RunFolder) -> dict[str, Any]:
    """Return for each model its mean and its groups; of a run without groups its datasets, if they are few."""
    mains: dict[tuple[str, str], Row] = {}
    for row in summary_of(folder):
        mains.setdefault((row.model, row.dataset), row)
    groups = {row.dataset for row in mains.values() if is_average(row, folder)}
    tasks = [row for row in mains.values() if row.dataset not in groups]
    if not tasks:  # the predictions are gone
        groups, tasks = set(), list(mains.values())
    datasets = list(dict.fromkeys(row.dataset for row in tasks))
    parts = groups or (set(datasets) if len(datasets) <= MOST_LISTED else set())
    failures = Counter(row.note for row in tasks if row.note.startswith(FAILED))
    return {
        "scores": [
            {
                "model": model,
                **_mean_of([row for row in tasks if row.model == model]),
                "parts": [
                    {"name": name, "score": row.score, "fraction": row.fraction}
                    for (of, name), row in mains.items()
                    if of == model and name in parts and len(datasets) > 1
                ],
            }
            for model in models_of(tasks)
        ],
        "datasets": datasets,
        "answers": sum(row.n or 0 for row in tasks),
        "cause": next(iter(failures), ""),
        "failed": failures.total(),
    }


def _mean_of(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the mean of the scores of a model, the only score if there is one, and how many of its tasks have one."""
    known = [row for row in rows if row.score is not None]
    fraction = all(row.fraction for row in known)
    less = {row.lower_is_better for row in known}
    is_mean = len(known) == 1 or (known and fraction and len(less) == 1)
    mean = fmean(row.score or 0 for row in known) if is_mean else None
    return {"mean": mean, "fraction": fraction, "lower_is_better": True in less, "scored": len(known), "of": len(rows)}


def comparison_page(before: str, after: str, found: Mapping[str, Any]) -> bytes:
    """Return the comparison of two runs, or of two models of a run, as a page.

    Args:
        before, after: names of the runs or the models.
        found: from `ais_prompt.comparison.comparison_json`.
    """
    is_models = any(one["model"] == f"{before} → {after}" for one in found["comparisons"])
    data = {"before": before, "after": after, "is_models": is_models, **found}
    return "".join(page_pieces(f"{before} → {after}", "comparison.html", COMPARISON_SCRIPTS, data)).encode()


def _json(data: Any) -> str:
    """Return JSON in ASCII without ``<``, so that no text can end its element."""
    return json.dumps(data, allow_nan=False, default=str).replace("<", "\\u003c")
