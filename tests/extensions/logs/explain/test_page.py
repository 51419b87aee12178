"""The page of ``aisprompt explain --html``, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.browser.test_accessibility import LOOKS, serious
from tests.support.cli import run_cli
from tests.support.real_data import ROOT
from tools.chromium import Page

pytestmark = pytest.mark.browser

LOGS = ROOT / "tests/data/other_logs"


@pytest.fixture
def page(chromium: Page, tmp_path: Path) -> Page:
    logs = [str(LOGS / f"inspect_{name}.eval") for name in ("match", "pattern")]
    done = run_cli("explain", *logs, "--html", "page.html", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    chromium.complaints.clear()
    chromium.open((tmp_path / "page.html").as_uri())
    chromium.wait_for("document.querySelector('.flip')")
    return chromium


def test_the_pairs_of_a_cause_are_side_by_side(page: Page) -> None:
    assert "-25.0 [certain]" in page.value("document.querySelector('section p').textContent")
    assert page.texts("tbody th")[:2] == ["truncation", "extraction"]
    assert len(page.texts(".flip summary")) == 12
    page.value("document.querySelector('.flip').open = true")
    page.wait_for("document.querySelector('.flip .two')")
    first, second = page.texts(".flip[open] .card h4")
    assert (first, second) == ('sums, extracted "49"', "sums_pattern, extracted null")
    assert "The answer is 49" in "".join(page.texts(".flip[open] mark.changed"))
    assert not page.complaints


def test_the_pairs_are_filtered_by_cause_and_by_score(page: Page) -> None:
    page.value("document.querySelectorAll('.chip')[1].click()")
    assert len(page.texts(".flip summary")) == 3
    page.value("document.querySelectorAll('.chip')[2].click()")
    [only] = page.texts(".flip summary")
    assert "0 → 1" in only


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_an_explanation_has_no_serious_fault(chromium: Page, tmp_path: Path, width: int, scheme: str) -> None:
    logs = [str(ROOT / f"tests/data/other_logs/inspect_{name}.eval") for name in ("match", "pattern")]
    assert run_cli("explain", *logs, "--html", "page.html", folder=tmp_path).returncode == 0
    chromium.resize(width, 900, scheme)
    chromium.open((tmp_path / "page.html").as_uri())
    chromium.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    chromium.wait_for("document.querySelector('.two')")
    assert serious(chromium) == []
