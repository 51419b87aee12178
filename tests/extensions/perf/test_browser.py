"""The pictures of a load in a real browser: in the report, and in a file of their own."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import to_builtins

from ais_prompt.extensions.perf.charts import charts_json
from ais_prompt.extensions.perf.load_verdicts import load_verdicts
from ais_prompt.extensions.perf.metrics import load_table
from ais_prompt.extensions.perf.page import PAGES, write_load_pages
from ais_prompt.report import runs_page, write_report
from ais_prompt.store import RunFolder, write_json_atomic
from tests.extensions.perf.loads import BUSY, at_20, load
from tools.chromium import Page

pytestmark = pytest.mark.browser
TICKS = "[...document.querySelectorAll('.load-plot .tick')].map((one) => one.textContent)"


@pytest.fixture
def measured(sample_run: RunFolder, tmp_path: Path) -> RunFolder:
    """A run with scores that has measured a load too."""
    folder = RunFolder(shutil.copytree(sample_run.root, tmp_path / "mixed" / sample_run.root.name))
    exchanges, schedule = at_20()
    stored = load(exchanges, schedule, BUSY)
    total = load_table(exchanges, schedule)
    numbers: dict[str, Any] = {
        "model": "fake",
        "dataset": "sums",
        "plan": {"schedule": {"kind": "rate", "places": None}, "rate": 20.0},
        "stages": {"total": to_builtins(total)},
        "goodput": None,
        "verdicts": to_builtins(load_verdicts(stored, total)),
    }
    write_json_atomic(folder.load_file("fake", "sums", "_perf.json"), numbers)
    write_json_atomic(folder.load_file("fake", "sums", "_charts.json"), charts_json(stored))
    return folder


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (420, "dark")])
def test_the_report_has_numbers_verdicts_and_pictures(
    chromium: Page, measured: RunFolder, width: int, scheme: str
) -> None:
    write_report(measured)
    chromium.resize(width, 900, scheme)
    chromium.complaints.clear()
    chromium.open(f"{measured.report.as_uri()}#tab=loads")
    chromium.wait_for("document.querySelectorAll('#panel-loads .chart svg').length >= 4")
    assert any(row.startswith("TTFT 50 ms") for row in chromium.texts(".load-numbers tbody tr"))
    lines = chromium.texts(".verdicts li")
    assert lines[0].startswith("WARN client: CLIENT-BOUND")
    assert any(line.startswith("ok schedule") for line in lines)
    above = "document.querySelector('.verdicts').compareDocumentPosition(document.querySelector('.load-numbers'))"
    assert chromium.value(f"{above} === Node.DOCUMENT_POSITION_FOLLOWING"), "it voids the numbers"
    titles = chromium.texts("#panel-loads figcaption b")
    assert titles == ["Latency against time", "In flight", "Distribution of latencies", "Requests / s"]
    assert chromium.value("document.documentElement.scrollWidth <= innerWidth")
    assert not chromium.complaints


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_of_pictures_shows_a_chosen_time(chromium: Page, measured: RunFolder, kind: str) -> None:
    task: Any = SimpleNamespace(
        name="fake/sums", model=SimpleNamespace(abbr="fake"), dataset=SimpleNamespace(abbr="sums")
    )
    write_load_pages(task, measured)
    chromium.complaints.clear()
    chromium.open(measured.load_file("fake", "sums", PAGES[kind]).as_uri())
    chromium.wait_for("document.querySelectorAll('.load-plot').length === 2")
    assert chromium.texts("h1") == ["fake/sums"]
    assert "10 s" in chromium.value(TICKS)
    chromium.value("options.onzoom([1, 2])")
    assert "10 s" not in chromium.value(TICKS)
    assert not chromium.complaints


def test_the_list_of_runs_has_the_main_numbers_of_a_load(chromium: Page, measured: RunFolder, tmp_path: Path) -> None:
    shutil.rmtree(measured.summary_dir)  # a run that has only measured
    page = tmp_path / "runs.html"
    page.write_text(runs_page(measured.root.parent, {"/mixed": measured}), "utf-8")
    chromium.complaints.clear()
    chromium.open(page.as_uri())
    chromium.wait_for("document.querySelectorAll('.main-scores tbody tr').length === 1")
    assert chromium.texts(".main-scores tbody th") == ["fake/sums"]
    assert not chromium.complaints
    write_report(measured)
    chromium.open(measured.report.as_uri())
    chromium.wait_for("document.querySelectorAll('#panel-loads .chart svg').length >= 4")
    assert "1 load · 200 requests" in chromium.texts("#subtitle")[0]
    assert chromium.texts("#tabs button")[0] == "Performance"
    assert not chromium.complaints
