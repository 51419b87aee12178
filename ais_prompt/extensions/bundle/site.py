"""The files of a static site: the list of runs, a matrix of scores, and a copy of each report."""

from __future__ import annotations

import html
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Final, Literal

from ais_prompt.errors import ConfigError
from ais_prompt.report import runs_page, summary_of, write_report
from ais_prompt.scoring import Row
from ais_prompt.store import RunFolder, replacing, writing
from ais_prompt.types import Document
from ais_prompt.utils import printable

INDEX: Final = "index.html"
MATRIX: Final = "matrix.html"
_PAGE: Final = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Scores</title>
<style>
:root { color-scheme: light dark; font-family: system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid #8886; padding: .4rem .8rem; text-align: right; white-space: nowrap; }
th[scope=row] { text-align: left; font-weight: normal; }
small { opacity: .7; }
</style>
</head>
<body>
<h1>Scores</h1>
<p><a href="$index">All runs</a></p>
<div style="overflow-x: auto">
<table>
<thead><tr><th scope="col">Model</th>$head</tr></thead>
<tbody>
$rows
</tbody>
</table>
</div>
<p><small>The main metric of each dataset, with its 95 % interval. – : the run has no such score.</small></p>
</body>
</html>
""")


class BundleDocument(Document, kw_only=True):
    """What ``bundle`` prints.

    Attributes:
        folder: of the site; its first page is ``index.html``.
        runs: how many runs are in it.
        bytes: of all its files.
    """

    kind: Literal["bundle"]
    folder: str = ""
    runs: int = 0
    bytes: int = 0


def write_site(folders: Sequence[RunFolder], output: Path) -> int:
    """Write the site of runs, and return the bytes of its files. A run without a report gets one.

    Raises:
        ConfigError: the folder is not empty, or a run is named twice.
        StoreError: a run has no scores to show, or a file cannot be written.
    """
    with writing(output):
        if output.exists() and any(output.iterdir()):
            raise ConfigError("the folder is not empty", where=str(output), fix="give a new one, or remove it first")
    runs = _addresses(folders)
    for folder in folders:
        if not folder.report.exists():
            write_report(folder)
    for address, folder in runs.items():
        with writing(output / address):
            (output / address).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder.report, output / address)
    pages = {INDEX: runs_page(output, runs, is_static=True), MATRIX: _matrix(runs)}
    pages[INDEX] = pages[INDEX].replace("<main>", f'<main>\n  <p><a href="{MATRIX}">Matrix</a></p>', 1)
    for name, page in pages.items():
        with replacing(output / name) as stream:
            stream.write(page.encode())
    return sum(path.stat().st_size for path in output.rglob("*") if path.is_file())


def _addresses(folders: Sequence[RunFolder]) -> dict[str, RunFolder]:
    """Return address of a report in the site → its run."""
    found: dict[str, RunFolder] = {}
    for folder in folders:
        name, time = folder.root.resolve().parts[-2:]
        address = f"{name}/{time}/report.html"
        if address in found:
            fix = "name each run once; of runs with one name and time, copy one to another folder"
            raise ConfigError(f"{name}/{time} is named twice", where=str(folder.root), fix=fix)
        found[address] = folder
    return found


def _matrix(runs: Mapping[str, RunFolder]) -> str:
    lines: list[tuple[str, str, dict[str, Row]]] = []
    datasets: dict[str, None] = {}
    for address, folder in runs.items():
        mains: dict[str, dict[str, Row]] = {}
        for row in summary_of(folder):
            mains.setdefault(row.model, {}).setdefault(row.dataset, row)
        for model, scores in mains.items():
            datasets |= dict.fromkeys(scores)
            lines.append((model, address, scores))
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in datasets)
    rows = "\n".join(
        f'<tr><th scope="row">{_text(model)}<br><small><a href="{html.escape(address)}">'
        f"{_text(address.removesuffix('/report.html'))}</a></small></th>"
        f"{''.join(f'<td>{_cell(scores.get(name))}</td>' for name in datasets)}</tr>"
        for model, address, scores in lines
    )
    return _PAGE.substitute(index=INDEX, head=head, rows=rows)


def _cell(row: Row | None) -> str:
    if row is None or row.score is None:
        return "–"
    scale = 100 if row.fraction else 1
    digits = 1 if row.fraction else 3
    score = f"{row.score * scale:.{digits}f}{' %' if row.fraction else ''}"
    if row.ci95_low is None or row.ci95_high is None:
        return score
    bounds = f"{row.ci95_low * scale:.{digits}f}–{row.ci95_high * scale:.{digits}f}"
    return f"{score}<br><small>{bounds}</small>"


def _text(text: str) -> str:
    return html.escape(printable(text))
