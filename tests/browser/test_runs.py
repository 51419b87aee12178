"""The list of runs that ``aisprompt view`` serves, in a real browser."""

from __future__ import annotations

import threading

import pytest

from ais_prompt.report.server import ReportServer
from ais_prompt.store.layout import RunFolder
from tools.chromium import Page

pytestmark = pytest.mark.browser


def test_the_list_leads_to_a_report_and_back(chromium: Page, sample_run: RunFolder) -> None:
    with ReportServer(sample_run.root.parent.parent) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        chromium.complaints.clear()
        chromium.open(server.url)
        assert chromium.texts(".runs tbody th a") == ["mixed"]
        assert "small 27.3 %" in " ".join(chromium.texts(".main-score"))
        assert chromium.texts(".runs tbody td.number") == [str(2 * (300 + 7 + 20 + 48))]
        chromium.click(".runs a")
        chromium.wait_for("document.querySelector('#rows .row')")
        assert chromium.texts("h1") == ["mixed"]
        chromium.click("#all-runs")
        chromium.wait_for("document.querySelector('.runs')")
        server.shutdown()
        thread.join(10)
        assert not [complaint for complaint in chromium.complaints if "favicon" not in complaint]
