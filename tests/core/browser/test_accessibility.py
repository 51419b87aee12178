"""axe finds no serious fault in any page, in both themes and on a phone; every control is reached with the keyboard."""

from __future__ import annotations

import threading
from importlib.resources import files
from pathlib import Path

import pytest

from ais_prompt.report import ReportServer, comparison_page
from ais_prompt.store import RunFolder
from tests.core.browser.conftest import open_report
from tests.core.e2e.project import Project
from tools.chromium import Page

pytestmark = pytest.mark.browser

AXE = (files("axe_core_python") / "axe.min.js").read_text("utf-8")
SERIOUS = (
    "axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations"
    ".filter((one) => ['serious', 'critical'].includes(one.impact))"
    ".map((one) => [one.id, one.nodes.slice(0, 5).map((node) => node.html.slice(0, 200) + ' ' + node.failureSummary)]))"
)
LOOKS = [(1400, "light"), (1400, "dark"), (420, "light"), (420, "dark")]


def serious(page: Page) -> list[object]:
    page.value(f"{AXE}; 0")
    found: list[object] = page.value(SERIOUS)
    return found


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_report_has_no_serious_fault(chromium: Page, sample_run: RunFolder, width: int, scheme: str) -> None:
    chromium.resize(width, 900, scheme)
    for address in (
        "",
        "state=wrong&state=failed",
        "query=no such text",
        "sample=small/通用-chat/s6&beside=large",
        "sample=small/通用-chat/s2",
        "sample=small/通用-chat/s1",
        "sample=small/choice/s9",
        "sample=small/repeated/s1",
        "tab=scores",
        "tab=models",
        "tab=answers",
        "tab=speed",
        "tab=run",
    ):
        open_report(chromium, sample_run.report, address)
        if "sample" in address:
            chromium.wait_for("document.querySelector('#sample h3')?.checkVisibility()")
            chromium.value("document.querySelectorAll('#sample details').forEach((one) => { one.open = true; })")
        assert serious(chromium) == [], (address, width, scheme)


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_prompts_have_no_serious_fault(chromium: Page, prompts_project: Project, width: int, scheme: str) -> None:
    chromium.resize(width, 900, scheme)
    page, report = prompts_project.root / "prompts.html", prompts_project.folder() / "report.html"
    for address in (page.as_uri(), f"{report.as_uri()}#tab=prompts"):
        chromium.open(address)
        chromium.wait_for("document.querySelector('.prompt-view .piece')?.checkVisibility()")
        chromium.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert serious(chromium) == [], (address, width, scheme)


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_list_of_runs_has_no_serious_fault(chromium: Page, sample_run: RunFolder, width: int, scheme: str) -> None:
    chromium.resize(width, 900, scheme)
    with ReportServer(sample_run.root.parent.parent) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        chromium.open(server.with_token("/"))
        found = serious(chromium)
        chromium.open("about:blank")
        server.shutdown()
        thread.join(10)
    assert found == []


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_a_comparison_has_no_serious_fault(chromium: Page, tmp_path: Path, width: int, scheme: str) -> None:
    flip = {
        **{"id": "a", "index": 0, "question": "1+1?", "before": 1.0, "after": 0.0, "same_prompt": True, "gold": "2"},
        **{"prompts": ["1+1?", "1+1?"], "answers": ["It is 2.", "It is 3."], "extracted": ["2", "3"]},
    }
    one = {
        **{"dataset": "sums", "model": "m", "metric": "accuracy", "fraction": True, "before": 0.9, "after": 0.5},
        **{"difference": -0.4, "interval": [-0.5, -0.3], "n": 10, "only_before": 1, "only_after": 0, "worse": 1},
        **{"failed_before": 0, "failed_after": 0, "better": 0, "p_adjusted": 0.01, "flips": [flip]},
        **{"shares": [{"cause": "model", "difference": -0.4, "samples": 3, "interval": [-0.5, -0.3]}]},
        "changes": [{"part": "model", "before": "a", "after": "b"}],
    }
    page = tmp_path / "page.html"
    page.write_bytes(comparison_page("a", "b", {"notes": ["a note"], "comparisons": [one], "means": []}))
    chromium.resize(width, 900, scheme)
    chromium.open(page.as_uri())
    chromium.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    chromium.wait_for("document.querySelector('.two')")
    assert serious(chromium) == []


def test_every_control_is_reached_with_the_keyboard(page: Page) -> None:
    reached = set()
    for _ in range(80):
        page.press("Tab")
        reached.add(page.value("[document.activeElement.tagName, document.activeElement.id].join(' ')"))
    controls = page.value(
        "[...document.querySelectorAll('button, select, input, [tabindex]')]"
        ".filter((one) => one.checkVisibility() && one.tabIndex >= 0 && one.id)"
        ".map((one) => [one.tagName, one.id].join(' '))"
    )
    assert set(controls) <= reached
    assert {"INPUT query", "DIV grid", "BUTTON theme", "BUTTON tab-samples", "BUTTON save-csv"} <= reached


def test_a_heading_of_the_table_sorts_with_the_keyboard(page: Page) -> None:
    page.value("document.querySelector('#columns .question button').focus()")
    page.press("Enter")
    assert page.value("document.querySelector('#columns .question').getAttribute('aria-sort')") == "ascending"
    assert page.value("document.activeElement.closest('.question') !== null"), "the focus is lost"
