"""A browser for all tests of this folder, and a report with all that a report can hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ais_prompt.report.html import write_report, writer
from ais_prompt.store.layout import RunFolder
from tests.browser.sample_run import make_sample_run
from tools.chromium import PROGRAM, Page, browser


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if PROGRAM is None:
        pytest.skip("there is no chromium; on Debian: apt-get install chromium")
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = make_sample_run(tmp_path_factory.mktemp("runs"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AISPROMPT_LANG", "en")
        patch.setattr(writer, "TABLE_CHUNKS", 1)  # as in a run of many samples, the table has several parts
        write_report(folder)
    return folder


@pytest.fixture
def page(chromium: Page, sample_run: RunFolder) -> Iterator[Page]:
    """Open the report. In every test it sends no request and logs no error."""
    chromium.resize(1400, 900)
    open_report(chromium, sample_run.report)
    chromium.requests.clear()
    chromium.complaints.clear()
    yield chromium
    chromium.value("0")  # what came in between is noted now
    assert not chromium.complaints
    loaded = [url for url in chromium.requests if not url.startswith("data:")]
    assert {url.partition("#")[0] for url in loaded} <= {"about:blank", sample_run.report.as_uri()}


def open_report(page: Page, report: Path, address: str = "") -> None:
    page.open(f"{report.as_uri()}#{address}")
    page.wait_for("document.querySelector('#rows .row') || document.querySelector('#none').checkVisibility()")
