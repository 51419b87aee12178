"""The page of ``aisprompt view-prompt --html``, and the same prompts in the report of a run, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ais_prompt.store import RunFolder
from tests.core.browser.conftest import HOSTILE_QUESTION as HOSTILE
from tests.core.browser.conftest import open_report
from tests.core.browser.test_runs import serving
from tests.core.e2e.project import Project
from tools.chromium import Page

pytestmark = pytest.mark.browser

CONTRASTS = """
(() => {
  const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if (rgb(colour)[3] === 255) return colour;
    }
    return 'white';
  };
  const contrast = (one, other) => {
    const [high, low] = [light(rgb(one)), light(rgb(other))].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  return [...document.querySelectorAll('main *')]
    .filter((one) => one.checkVisibility() && [...one.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
    .map((one) => [one.className || one.tagName, contrast(getComputedStyle(one).color, behind(one))])
    .filter(([, ratio]) => ratio < 4.5);
})()
"""


@pytest.fixture
def prompts(chromium: Page, prompts_project: Project) -> Iterator[Page]:
    """The prompts of two models. In every test the page sends no request and logs no error."""
    page = prompts_project.root / "prompts.html"
    chromium.resize(1400, 900)
    chromium.requests.clear()
    chromium.complaints.clear()
    chromium.open(page.as_uri())
    yield chromium
    assert chromium.value("window.hacked === undefined")
    assert not chromium.complaints
    assert set(chromium.requests) <= {"about:blank", page.as_uri()}


@pytest.fixture
def report(chromium: Page, prompts_project: Project) -> Iterator[Page]:
    """The report of a run with the same prompts. In every test it sends no request and logs no error."""
    page = prompts_project.folder() / "report.html"
    chromium.resize(1400, 900)
    chromium.requests.clear()
    chromium.complaints.clear()
    open_report(chromium, page, "tab=prompts")
    yield chromium
    assert chromium.value("window.hacked === undefined")
    assert not chromium.complaints
    assert {url.partition("#")[0] for url in chromium.requests} <= {"about:blank", page.as_uri()}


def shown_origin(page: Page) -> Any:
    """The text at the bottom that belongs to the piece with the focus."""
    return json.loads(page.value("getComputedStyle(document.activeElement, '::after').content"))


def test_the_text_is_what_is_sent(prompts: Page) -> None:
    first = prompts.value(
        "[...document.querySelectorAll('section:first-child .piece[data-from]')].map((one) => one.textContent).join('')"
    )
    shots = "Question: 1+1=?\nAnswer: 2Question: 2+2=?\nAnswer: 4"
    assert first == f"Question: Add up, please.\n{shots}Question: {HOSTILE}\nAnswer: "
    assert prompts.texts("section h3") == ["text", "chat"]
    assert prompts.texts(".wanted") == ["Gold, not sent SECRET"] * 2


def test_the_keyboard_reaches_every_piece_and_says_where_it_comes_from(prompts: Page) -> None:
    seen = {}
    for _ in range(12):
        prompts.press("Tab")
        if prompts.value("document.activeElement.matches('.piece')"):
            seen[prompts.value("document.activeElement.textContent")] = shown_origin(prompts)
    assert seen["Question: "] == "model format, meta template · models[0].meta_template.round[0].begin (eval.py:3)"
    template = "datasets[0].infer_cfg.prompt_template.template"
    assert seen["Add up, please."] == f"template · {template}.begin[0].prompt (eval.py:12)"
    assert seen[HOSTILE] == f"data, column question of test row 0 · filled in at {template}.round[0].prompt (eval.py:5)"


def test_the_mouse_shows_the_same(prompts: Page) -> None:
    box = prompts.value("document.querySelector('.piece.template[data-from]').getBoundingClientRect().toJSON()")
    at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    prompts.call("Input.dispatchMouseEvent", type="mouseMoved", **at)
    content = prompts.value("getComputedStyle(document.querySelector('.piece.template:hover'), '::after').content")
    assert "begin[0].prompt (eval.py:12)" in content


def test_examples_unfold_with_the_keyboard(prompts: Page) -> None:
    assert "1+1=?" not in " ".join(prompts.texts(".bubble"))
    assert prompts.texts(".examples > summary")[0] == "2 examples, 50 characters, not the same beside it"
    prompts.value("document.querySelector('.examples > summary').focus()")
    prompts.press(" ")
    prompts.wait_for("document.querySelector('.examples').open")
    assert "HUMAN Question: 1+1=?" in prompts.texts(".bubble")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1400])
def test_every_text_can_be_read_and_nothing_is_wider_than_the_window(prompts: Page, width: int, scheme: str) -> None:
    prompts.resize(width, 900, scheme)
    prompts.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert prompts.value(CONTRASTS) == []
    assert prompts.value("document.documentElement.scrollWidth <= window.innerWidth")
    columns = prompts.value(
        "[...document.querySelectorAll('.abreast > section')].map((s) => s.getBoundingClientRect().x)"
    )
    assert (columns[0] == columns[1]) == (width == 420)


def test_the_report_shows_what_was_sent_in_the_colours_of_its_origins(report: Page) -> None:
    pieces = "[...document.querySelectorAll('#panel-prompts section:first-child .piece[data-from]')]"
    shots = "Question: 1+1=?\nAnswer: 2Question: 2+2=?\nAnswer: 4"
    sent = f"Question: Add up, please.\n{shots}Question: {HOSTILE}\nAnswer: "
    assert report.value(f"{pieces}.map((one) => one.textContent).join('')") == sent
    assert report.texts("#panel-prompts section h3") == ["text", "chat"]
    colours = report.value(f"{pieces}.map((one) => getComputedStyle(one).backgroundColor)")
    assert len(set(colours)) >= 4, "data, template, example and model format"
    report.value(f"{pieces}.find((one) => one.matches('.template')).focus()")
    assert shown_origin(report) == "template · datasets[0].infer_cfg.prompt_template.template.begin[0].prompt"


def test_a_sample_leads_to_the_prompts_of_its_dataset(report: Page) -> None:
    report.click("#tab-samples")
    report.click("#rows .row")
    report.wait_for("document.querySelector('#sample .answer')?.checkVisibility()")
    report.click("#sample p > button.link")
    report.wait_for("document.activeElement.matches('#panel-prompts summary')")
    assert report.value("document.activeElement.innerText") == "sums, row 0"
    assert report.value("location.hash").startswith("#tab=prompts")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1400])
def test_prompts_in_the_report_can_be_read(report: Page, width: int, scheme: str) -> None:
    report.resize(width, 900, scheme)
    report.value("document.querySelectorAll('#panel-prompts details').forEach((one) => { one.open = true; })")
    assert report.value(CONTRASTS.replace("main *", "#panel-prompts *")) == []
    assert report.value("document.documentElement.scrollWidth <= window.innerWidth")
    assert report.value(
        "[...document.querySelectorAll('.abreast')].every((one) => one.scrollHeight <= one.clientHeight)"
    )


@pytest.fixture
def served(chromium: Page, prompts_project: Project) -> Iterator[str]:
    """The address of the report of the same run, from a server."""
    folder = RunFolder(prompts_project.folder())
    with serving(folder.root.parent.parent) as server:
        chromium.resize(1400, 900)
        chromium.complaints.clear()
        yield server.with_token(server.address(folder))
        assert chromium.value("window.hacked === undefined")
        chromium.open("about:blank")
    assert not [complaint for complaint in chromium.complaints if "favicon" not in complaint]


@pytest.mark.parametrize(("row", "question"), [(0, HOSTILE), (2, "2+2=?")])
def test_a_server_shows_the_prompts_of_any_sample(chromium: Page, served: str, row: int, question: str) -> None:
    chromium.open(served)
    chromium.wait_for("document.querySelector('#rows .row')")
    chromium.click("#tab-prompts")
    assert "To see the prompts of any sample here, open it" in chromium.texts("#chosen-prompts")[0]
    chromium.click("#tab-samples")
    chromium.click("#rows .row", row)
    chromium.wait_for("document.querySelector('#sample .answer')?.checkVisibility()")
    chromium.click("#sample p > button.link")
    chromium.wait_for("document.activeElement.id === 'chosen-prompts'")
    assert chromium.texts("#chosen-prompts h2") == [f"sums, row {row}"]
    assert chromium.texts("#chosen-prompts section h3") == ["text", "chat"]
    pieces = "[...document.querySelectorAll('#chosen-prompts section:first-child .piece[data-from]')]"
    shots = "Question: 1+1=?\nAnswer: 2Question: 2+2=?\nAnswer: 4"
    sent = f"Question: Add up, please.\n{shots}Question: {question}\nAnswer: "
    assert chromium.value(f"{pieces}.map((one) => one.textContent).join('')") == sent
    chromium.value(f"{pieces}.at(-2).parentElement.querySelector('.data').focus()")
    assert shown_origin(chromium).startswith(f"data, column question of test row {row} · filled in at datasets[0]")
    command = chromium.texts("#chosen-prompts code")[0]
    assert command.endswith(f"/config.py -p sums --sample {row} --html")
    address = chromium.value("location.href")
    chromium.open("about:blank")
    chromium.open(address)
    chromium.wait_for("document.querySelector('#chosen-prompts h2')")


def test_a_sample_of_a_run_without_prompts_names_the_command(
    chromium: Page, served: str, prompts_project: Project
) -> None:
    kept = RunFolder(prompts_project.folder()).view / "prompts.json"
    content = kept.read_bytes()
    kept.unlink()
    try:
        chromium.open(f"{served}#tab=samples")
        chromium.wait_for("document.querySelector('#rows .row')")
        chromium.click("#rows .row")
        chromium.wait_for("document.querySelector('#sample .answer')?.checkVisibility()")
        chromium.click("#sample p > button.link")
        chromium.wait_for("document.activeElement.id === 'chosen-prompts'")
        assert "does not tell where the pieces of this prompt come from" in chromium.texts("#chosen-prompts")[0]
    finally:
        kept.write_bytes(content)


def test_a_report_without_prompts_says_so(chromium: Page, sample_run: RunFolder) -> None:
    open_report(chromium, sample_run.report, "tab=run")
    assert not chromium.value("document.querySelector('#tab-prompts')")
    assert "The origins of prompts are not kept in this run folder" in chromium.texts("#panel-run")[0]
