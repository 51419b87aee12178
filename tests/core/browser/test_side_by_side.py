"""The report's view of models side by side, in a file and from the server."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from ais_prompt.report import ReportServer, ServedReport
from ais_prompt.store import RunFolder
from tests.core.browser.conftest import open_report
from tools.chromium import Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(chromium: Page, sample_run: RunFolder) -> Iterator[ReportServer]:
    server = ReportServer(sample_run.root.parent.parent)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    chromium.open("about:blank")  # it follows the run as long as it is open
    server.shutdown()


@pytest.fixture(params=["file", "server"])
def page_of(request: pytest.FixtureRequest, chromium: Page, sample_run: RunFolder, server: ReportServer) -> Page:
    """The report as a file, or as a server shows it."""
    chromium.resize(1400, 900)
    if request.param == "file":
        open_report(chromium, sample_run.report, "tab=samples")
    else:
        chromium.open(server.with_token(server.address(sample_run)))
        chromium.wait_for("document.querySelector('#rows .row')")
        chromium.click("#tab-samples")
    return chromium


def counts(page: Page) -> dict[str, int]:
    page.wait_for("document.querySelector('#verdicts .chip .soft')?.textContent")
    chips = "[...document.querySelectorAll('#verdicts .chip')]"
    names, numbers = (
        page.value(f"{chips}.map((one) => one.{what})") for what in ("dataset.verdict", "lastChild.textContent")
    )
    return {name: int(number) for name, number in zip(names, numbers, strict=True)}


def test_two_models_have_chips_everywhere_and_a_question_opens_both_answers(
    page_of: Page, sample_run: RunFolder
) -> None:
    page = page_of
    expected = ServedReport(sample_run).questions("from=0&to=1")
    assert counts(page) == {name: expected["verdicts"].get(name, 0) for name in ("all", "first", "second", "none")}
    assert page.texts("#verdicts .label")[:2] == ["both right", "only small"]
    page.click("#verdicts [data-verdict=second]")
    number = counts(page)["second"]
    page.wait_for(f"document.querySelector('#panel-models p')?.textContent.startsWith('{number} questions')")
    assert "tab=models&verdict=second" in page.value("location.hash")
    assert page.texts("#panel-models .answered-by") == ["small", "large"]
    assert page.value("document.querySelectorAll('.sides .question').length") == min(number, 50)
    assert set(page.texts(".sides .question td:last-child .unseen")) == {"right"}
    page.click(".sides .question .link")
    page.wait_for("document.querySelectorAll('.answers-of .card').length === 2")
    assert page.value("document.querySelectorAll('.answers-of mark').length") > 0
    page.click(".answers-of .link", 1)
    page.wait_for("!document.querySelector('#sample').hidden && document.querySelector('#sample h3')")
    assert "large" in page.texts("#sample header p")[0]


def test_search_further_questions_and_the_address(page_of: Page) -> None:
    page = page_of
    page.click("#tab-models")
    page.wait_for("document.querySelectorAll('.sides .question').length === 50")
    page.click("#panel-models .more")
    page.wait_for("document.querySelectorAll('.sides .question').length === 100")
    names = "[...document.querySelectorAll('.sides .question')].map((one) => one.textContent)"
    assert len(set(page.value(names))) == 100
    page.click("#query")
    page.type("250+250")
    page.wait_for("document.querySelector('#panel-models p')?.textContent.startsWith('1 question')")
    page.value("location.hash = 'tab=models&model=small'")
    page.wait_for("document.querySelector('#panel-models').textContent === 'Choose two models or more.'")


def test_the_server_compares_the_two_models(chromium: Page, server: ReportServer, sample_run: RunFolder) -> None:
    chromium.open(f"{server.with_token(server.address(sample_run))}#tab=models")
    chromium.wait_for("document.querySelector('#panel-models a')")
    address = chromium.value("document.querySelector('#panel-models a').getAttribute('href')")
    assert address == "/compare?run=%2Fmixed%2F20260131_120000&model=small&model=large"
