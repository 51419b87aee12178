"""The list of runs that ``aisprompt view`` serves, in a real browser."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ais_prompt.report import ReportServer
from ais_prompt.report.web import index
from ais_prompt.store import RunFolder, write_json_atomic
from tools.chromium import Page

pytestmark = pytest.mark.browser


@contextmanager
def serving(work_dir: Path) -> Iterator[ReportServer]:
    with ReportServer(work_dir) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


def test_the_list_leads_to_a_report_and_back(chromium: Page, sample_run: RunFolder) -> None:
    with serving(sample_run.root.parent.parent) as server:
        chromium.complaints.clear()
        chromium.open(server.with_token("/"))
        assert chromium.texts(".runs tbody th a") == ["mixed"]
        assert chromium.texts(".main-scores tr") == [
            "4 datasets mean all",
            "large 71.9 % 68.8 %",
            "small 39.3 % 28.6 %",
        ]
        assert str(2 * (300 + 7 + 20 + 48)) in chromium.texts(".runs td.number")
        chromium.click(".runs a")
        chromium.wait_for("document.querySelector('#rows .row')")
        assert chromium.texts("h1") == ["mixed"]
        chromium.click("#all-runs")
        chromium.wait_for("document.querySelector('.runs')")
        chromium.click("#query")
        chromium.type("no such run")
        chromium.wait_for("document.querySelector('#runs .empty')")
        assert not [complaint for complaint in chromium.complaints if "favicon" not in complaint]


def test_runs_of_one_name_say_what_differs(chromium: Page, sample_run: RunFolder, tmp_path: Path) -> None:
    record = json.loads(sample_run.run_file.read_text())
    for number, temperature in enumerate((0.0, 0.7, 0.0), start=1):
        folder = RunFolder(tmp_path / "mixed" / f"2026010{number}_000000Z")
        shutil.copytree(sample_run.root, folder.root)
        folder.config_file.write_text(f"models = [dict(model='mock', temperature={temperature})]\n")
        write_json_atomic(folder.run_file, {**record, "run_number": number})
    with serving(tmp_path) as server:
        chromium.open(server.with_token("/"))
        assert len(chromium.texts(".runs tbody th a")) == 3
        assert sorted(chromium.texts(".changes")) == ["temperature: 0.0 → 0.7", "temperature: 0.7 → 0.0"]


@pytest.fixture
def served(chromium: Page, sample_run: RunFolder) -> Iterator[str]:
    """Open the report of the run from a server; its address."""
    with serving(sample_run.root.parent.parent) as server:
        chromium.resize(1400, 900)
        chromium.complaints.clear()
        chromium.requests.clear()
        address = server.with_token(server.address(sample_run))
        chromium.open(f"{address}#tab=samples")
        chromium.wait_for("document.querySelector('#rows .row .state')")
        yield address
        chromium.value("0")
        chromium.open("about:blank")
    assert not [complaint for complaint in chromium.complaints if "favicon" not in complaint]
    assert all(url.startswith((server.url, "data:", "about:")) for url in chromium.requests)


def found(page: Page, text: str) -> None:
    page.wait_for(f"document.querySelector('#found').textContent === {text!r}")


def test_a_served_report_filters_sorts_and_opens_as_the_file_does(chromium: Page, served: str) -> None:
    found(chromium, "678 samples")
    chromium.click("#tab-scores")
    chromium.click(".matrix .miss button", 1)
    found(chromium, "219 of 678")
    assert chromium.texts("[data-state=wrong]") == ["wrong 210"]
    chromium.press("Enter")
    chromium.wait_for("document.querySelector('#sample header p')?.innerText === 'sums · small · row 3 · s3'")
    assert chromium.texts("#sample .answer") == ["Twice 3 is 7."]
    chromium.click(".beside button")
    chromium.wait_for("document.querySelector('.two')")
    assert chromium.texts(".two .answer") == ["Twice 3 is 7.", "Twice 3 is 6."]
    chromium.press("j")
    chromium.wait_for("document.querySelector('#sample header p').innerText.includes('row 4')")
    chromium.press("Escape")
    chromium.click("#columns .length button")
    chromium.click("#columns .length button")
    chromium.wait_for("document.querySelector('#rows .cell.length').innerText === '20'")
    chromium.press("w")
    found(chromium, "300 of 678")


def test_a_served_report_searches_whole_texts(chromium: Page, served: str) -> None:
    chromium.click("#query")
    chromium.type("3 * 6 is 18")
    found(chromium, "2 of 678")
    assert chromium.value("location.hash").startswith("#query=")


def test_a_served_report_scrolls_to_rows_that_are_not_loaded(chromium: Page, served: str) -> None:
    chromium.value("document.querySelector('#grid').scrollTop = 600 * 36")
    chromium.wait_for("document.querySelector('#row-600 .state')")
    chromium.open(f"{served}#sample=large/choice/s9")
    chromium.wait_for("document.querySelector('#sample header p')?.innerText === 'choice · large · row 9 · s9'")


def test_new_scores_appear_by_themselves_and_the_open_sample_stays(
    chromium: Page, served: str, sample_run: RunFolder
) -> None:
    record = json.loads(sample_run.run_file.read_text())
    write_json_atomic(sample_run.run_file, {**record, "status": "interrupted"})
    try:
        chromium.open(f"{served}#sample=small/sums/s3")
        chromium.wait_for("document.querySelector('#sample header p')?.innerText.endsWith('s3')")
        chromium.wait_for("document.querySelector('#live').checkVisibility()")
        assert chromium.texts("#live")[0].startswith("interrupted 678 of 678 samples")
        summary = sample_run.summary_dir / "summary.json"
        chromium.value("document.querySelector('h1').textContent = 'old'")
        summary.write_bytes(summary.read_bytes())
        chromium.wait_for("document.querySelector('h1').textContent === 'mixed'")
        assert chromium.value("document.querySelector('#sample header p').innerText.endsWith('s3')")
    finally:
        write_json_atomic(sample_run.run_file, record)
    chromium.wait_for("!document.querySelector('#live').checkVisibility()")


def test_a_page_says_how_many_samples_are_read_and_shows_all_in_the_end(
    chromium: Page, sample_run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "BATCH_SAMPLES", 50)
    monkeypatch.setattr(index, "FIRST_SAMPLES", 50)
    copy = shutil.copytree(
        sample_run.root, tmp_path / "mixed" / "20260131_120000", ignore=shutil.ignore_patterns("view")
    )
    with serving(tmp_path) as server:
        chromium.open(server.with_token(server.address(RunFolder(copy))))
        found(chromium, "678 samples")
        chromium.wait_for("!document.querySelector('#live').checkVisibility()")
        chromium.value("drawLive({ status: 'finished', indexed: 0.344 })")
        assert chromium.texts("#live") == ["Reading the samples: 34 %. Search and filters find those read so far."]
        assert chromium.value("document.querySelector('#live progress').value") == 34
        chromium.open("about:blank")
