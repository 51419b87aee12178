"""Hostile texts in answers, thoughts, prompts, columns and tools: a real browser runs and loads none of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ais_prompt.metrics import mean_scores
from ais_prompt.report import write_report, write_summary
from ais_prompt.scoring import TaskOutcome, summary_rows
from ais_prompt.store import RunFolder, write_json_atomic, write_predictions, write_results
from ais_prompt.types import ChatMessage, Completion, Prediction, SampleScore, ToolCall
from ais_prompt.utils import encode
from tests.core.browser.conftest import open_report
from tools.chromium import Page

pytestmark = pytest.mark.browser

RUN = "window.hacked=1"
TEXTS = [
    f"<script>{RUN}</script>",
    f"<img src=x onerror='{RUN}'>",
    f"**a** <svg onload={RUN}><animate onbegin={RUN} attributeName=x></svg>",
    f"**a** <iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"[click](javascript:{RUN}) [b](http://127.0.0.1:9/b) <http://127.0.0.1:9/c> http://127.0.0.1:9/d",
    "![image](http://127.0.0.1:9/e.png) ![data](data:image/svg+xml,<svg/onload=alert(1)>)",
    f"[ref]\n\n[ref]: javascript:{RUN} 'title'",
    f"<a href='javascript:{RUN}'>**link**</a><style>body{{display:none}}</style>",
    f"**a**\n\n<div><form action=http://127.0.0.1:9/><button>{RUN}</button></form></div>",
    "```html\n</code></pre><script>window.hacked=1</script>\n```",
    f"`</code><script>{RUN}</script>`",
    f"| <img src=x onerror={RUN}> |\n|---|\n| <script>{RUN}</script> |",
    f"$\\href{{javascript:{RUN}}}{{x}}$ and $\\url{{http://127.0.0.1:9/}}$",
    "$\\includegraphics{http://127.0.0.1:9/f.png}$ $\\includegraphics[width=9px]{data:image/png;base64,AA}$",
    "$\\class{x}{y}$ $\\style{background:url(http://127.0.0.1:9/g)}{z}$ $\\id{data}{q}$ $\\data{x=1}{w}$",
    f"$\\text{{<img src=x onerror={RUN}>}}$ $\\text{{</math><script>{RUN}</script>}}$",
    f"$\\color{{red;background:url(http://127.0.0.1:9/)}}{{x}}$ $\\textcolor{{expression({RUN})}}{{y}}$",
    "$\\def\\a{\\a\\a}\\a$ $\\newcommand{\\b}{\\b}\\b$ $\\rule{99999em}{99999em}$ $\\hspace{99999em}x$",
    "$" + "{" * 3000 + "}" * 3000 + "$",
    "$" + "\\frac{1}" * 600 + "$",
    "> " * 5000 + "deep",
    "- " * 3000 + "deep",
    "[" * 20000,
    "*a _b " * 8000,
    "$" * 5001 + " **a**",
    "`" * 5001 + " **a**",
    "**a** \u202e\u2066evil\u0000\u200b\ud800",
    "<!-- **a** --> <![CDATA[ x ]]> <?php x ?> <!DOCTYPE html>",
    "&lt;script&gt;**a**&#60;script&#62; &nbsp;&#x202e;",
    "[a]: <javascript:1>\n**x** [a] [a][a] ![a]",
    f"<base href=http://127.0.0.1:9/><meta http-equiv=refresh content='0;url=javascript:{RUN}'> **x**",
    f"<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror={RUN}&gt;'>** x**",
]
ELEMENTS = set("DIV P STRONG EM DEL CODE PRE BLOCKQUOTE OL UL LI TABLE THEAD TBODY TR TH TD HR BR SPAN BUTTON".split())
PROMPT_ELEMENTS = set("P DETAILS SUMMARY H2 H3 H4 DIV SECTION ARTICLE METER SPAN MARK B I".split())
PROMPT_ATTRIBUTES = {
    *("class", "tabindex", "role", "aria-label", "open", "min", "max", "value", "high"),
    *("data-say", "data-from", "data-dataset"),
}
ATTRIBUTES = {"class", "dir", "start", "tabindex", "title", "hidden", "type"}


@pytest.fixture(scope="module")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = RunFolder(tmp_path_factory.mktemp("hostile") / "run" / "20260131_120000")
    predictions, samples = [], []
    for number, text in enumerate(TEXTS):
        tool = ToolCall(text[:2000], text)
        answer = Completion(text, "stop", reasoning=text, tool_calls=(tool,))
        columns = {text[:50]: text[:50], "kind": f"<b>{number % 2}</b>"}
        prompt = (ChatMessage(f"<i>{RUN}</i>", text),)
        predictions.append(Prediction(f"s{number}", number, prompt, text, text, (answer,), columns=columns))
        samples.append(
            SampleScore(f"s{number}", "scored", text, text, {"accuracy": float(number % 2)}, reason=text[:40])
        )
    model, dataset = f"<b onclick={RUN}>m</b>", "</script><script>window.hacked=1</script>"
    write_predictions(folder.predictions(model, dataset), predictions)
    scores = mean_scores(("accuracy",), samples)
    head = {"model": model, "dataset": dataset, "scores": [score.to_json() for score in scores]}
    write_results(folder.results(model, dataset), head, (sample.to_json() for sample in samples))
    write_predictions(folder.judge(model).predictions(TEXTS[1], dataset), [
        Prediction(f"s{number}-0123456789ab", number, text, text, None, (Completion(text, "stop"),))
        for number, text in enumerate(TEXTS)
    ])  # fmt: skip
    (folder.view).mkdir()
    (folder.view / "prompts.json").write_bytes(encode([_prompt(text, n) for n, text in enumerate(TEXTS)]))
    rows = summary_rows([TaskOutcome(model, dataset, scores=scores)])
    write_summary(folder.summary_dir, rows, rows)
    session = {"status": "finished", "command": TEXTS[0], "started": "2026-01-31T12:00:00+00:00"}
    record = {"status": "finished", "sessions": [session], "versions": {TEXTS[0]: TEXTS[1]}, "tasks": {}}
    write_json_atomic(folder.run_file, record)
    folder.config_file.write_text("models = []\n")
    write_report(folder)
    return folder.report


def _prompt(text: str, number: int) -> dict[str, object]:
    """A prompt as a run keeps it, with the text wherever one can be."""
    short = text[:300]
    span = {"text": text, "kind": "data", "column": short, "where": short, "role": short}
    warning = {"what": short, "where": short, "fix": short, "mark": "<script>"}
    names = {"model": short, "dataset": short, "id": short, "title": short, "gold": text, "places": {short: short}}
    counts = {"index": number, "shots": [], "left_out": 0, "tokens": 7, "max_seq_len": 5, "gold_sent": "none"}
    prompt = [{"role": short, "content": text}]
    return {**names, **counts, "prompt": prompt, "warnings": [warning], "origins": [[span]]}


def test_no_text_runs_loads_or_becomes_markup(chromium: Page, hostile_report: Path) -> None:
    chromium.resize(1400, 900)
    open_report(chromium, hostile_report)
    chromium.requests.clear()
    chromium.complaints.clear()
    chromium.press("j")
    chromium.press("Enter")
    drawn = 0
    for number in sorted(range(len(TEXTS)), key=lambda number: number % 2):  # the wrong ones come first
        chromium.wait_for(f"document.querySelector('#sample header p')?.innerText.endsWith('s{number}')")
        assert not chromium.value("document.querySelector('#sample').hidden")
        chromium.value("document.querySelectorAll('#sample details').forEach((one) => { one.open = true; })")
        found = chromium.value(
            "[...document.querySelectorAll('#sample .rendered, #sample .rendered *')]"
            ".filter((one) => one.namespaceURI !== 'http://www.w3.org/1998/Math/MathML')"
            ".map((one) => [one.tagName, one.getAttributeNames()])"
        )
        drawn += len(found)
        assert {tag for tag, _ in found} <= ELEMENTS, TEXTS[number]
        assert {name for _, names in found for name in names} <= ATTRIBUTES, TEXTS[number]
        formulas = chromium.value(
            "[...document.querySelectorAll('#sample math, #sample math *')].flatMap((one) => one.getAttributeNames())"
        )
        assert not {
            name for name in formulas if name in ("href", "style", "src", "id") or name.startswith(("on", "data"))
        }
        chromium.press("r")
        chromium.press("j")
    assert drawn > 100
    chromium.press("Escape")
    for tab in ("scores", "answers", "prompts", "run"):
        chromium.click(f"#tab-{tab}")
    chromium.value("document.querySelectorAll('#panel-prompts details').forEach((one) => { one.open = true; })")
    shown = chromium.value(
        "[...document.querySelectorAll('#panel-prompts *')].map((one) => [one.tagName, one.getAttributeNames()])"
    )
    assert len(shown) > 10 * len(TEXTS)
    assert {tag for tag, _ in shown} <= PROMPT_ELEMENTS
    assert {name for _, names in shown for name in names} <= PROMPT_ATTRIBUTES
    assert chromium.value("window.hacked") is None
    assert (
        chromium.value("document.querySelectorAll('main a, main iframe, main form, main img, main script').length") == 0
    )
    assert not chromium.complaints
    assert not chromium.requests
    assert chromium.value("getComputedStyle(document.body).display") == "block"


def test_no_text_makes_the_page_wider_or_slow(chromium: Page, hostile_report: Path) -> None:
    for number in range(len(TEXTS)):
        model = "encodeURIComponent(data.tasks[0].model + '/' + data.tasks[0].dataset"
        chromium.value(f"location.hash = 'sample=' + {model} + '/s{number}')")
        chromium.wait_for(f"document.querySelector('#sample header p')?.innerText.endsWith('s{number}')")
        assert chromium.value("document.documentElement.scrollWidth <= innerWidth"), TEXTS[number][:80]
