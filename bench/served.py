"""How long ``aisprompt view`` takes to open a large run, to filter it and to search it.

    python -m bench.served                       # 100,000 samples
    python -m bench.served --number 1000000
    python -m bench.served --run outputs/eval/20260131_120000Z

The run is that of ``bench.report``, or one at hand, whose index is removed first. Measured are, in seconds and in
processor time of the server (in brackets): the page with its first samples as headless Chromium draws it (if there is
one), answers to filters while the index is made and after it, searches through whole texts, and the page when it is
opened again.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from http.client import HTTPResponse
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode
from urllib.request import urlopen

from ais_prompt.store import RunFolder
from bench.report import make_run

TIMEOUT_SECONDS: Final = 300
FILTERS: Final[dict[str, dict[str, str]]] = {
    "no filter": {},
    "wrong": {"state": "wrong"},
    "one model": {"model": "large"},
    "wrong, by time": {"state": "wrong", "sort": "seconds", "down": "true"},
    "by question": {"sort": "question"},
}
SEARCHES: Final = ("apples 77", "answer is 123.", "farm", "not in any text")


class View:
    """A running ``aisprompt view``.

    Attributes:
        page: the address of the report, with the token of the server.
    """

    def __init__(self, folder: RunFolder) -> None:
        command = [sys.executable, "-m", "ais_prompt", "view", str(folder.root), "--no-open"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._process.stdout is not None
        self.page = self._process.stdout.readline().strip()

    def processor_seconds(self) -> float:
        """Return what the server has used so far, where the system says so."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / 100
        except OSError:
            return 0.0

    def ask(self, part: str, query: str = "") -> HTTPResponse:
        answer: HTTPResponse = urlopen(f"{self.page.replace('?', f'/{part}?')}&{query}", timeout=TIMEOUT_SECONDS)
        return answer

    def rows(self, **query: str) -> Any:
        return json.loads(self.ask("rows", urlencode({**query, "to": 200})).read())

    def indexed(self) -> float:
        """Return how much is indexed, from the first event."""
        with self.ask("events") as events:
            return float(json.loads(events.readline().removeprefix(b"data: "))["indexed"])

    def end(self) -> None:
        self._process.terminate()
        self._process.wait(10)


class Clock:
    """Seconds and processor seconds of a server since now."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._start, self._used = time.monotonic(), view.processor_seconds()

    def __str__(self) -> str:
        used = self._view.processor_seconds() - self._used
        return f"{time.monotonic() - self._start:.2f} s ({used:.2f} s)"


def show_filters(view: View, when: str) -> None:
    for name, query in FILTERS.items():
        clock = Clock(view)
        number = view.rows(**query)["length"]
        print(f"{when}: {name}: {number:,} samples after {clock}", flush=True)


def show_search(view: View, text: str) -> None:
    clock = Clock(view)
    print(f"search for {text!r}: {view.rows(query=text)['length']:,} after {clock}", flush=True)


def show_page(view: View, when: str) -> None:
    from tools.chromium import PROGRAM, browser

    if PROGRAM is None:
        clock = Clock(view)
        urlopen(view.page, timeout=TIMEOUT_SECONDS).read()
        view.rows()
        print(f"{when}: page and first rows after {clock} (there is no chromium)")
        return
    with tempfile.TemporaryDirectory() as profile, browser(Path(profile)) as page:
        page.resize(1400, 900)
        clock = Clock(view)
        page.open(view.page)
        page.wait_for("document.querySelector('#rows .row .state')")
        print(f"{when}: head, matrix and first samples are drawn after {clock}", flush=True)


def measure(folder: RunFolder) -> None:
    shutil.rmtree(folder.view, ignore_errors=True)
    view = View(folder)
    try:
        clock = Clock(view)
        show_page(view, "first opening")
        while (share := view.indexed()) < 0.5:
            time.sleep(1)
        if share < 1:
            show_filters(view, "half indexed")
        while view.indexed() < 1:
            time.sleep(1)
        print(f"all samples are indexed after {clock}", flush=True)
        show_filters(view, "indexed")
        for text in SEARCHES:
            show_search(view, text)
    finally:
        view.end()
    view = View(folder)
    try:
        show_page(view, "second opening")
    finally:
        view.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=100_000)
    parser.add_argument("--run", type=Path, help="a run folder, instead of one that is made")
    options = parser.parse_args()
    if options.run:
        measure(RunFolder(options.run))
        return
    with tempfile.TemporaryDirectory() as root:
        measure(make_run(Path(root), options.number))


if __name__ == "__main__":
    main()
