"""The page of ``aisprompt view-prompt --html``, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.project import Project
from tools.chromium import Page

pytestmark = pytest.mark.browser

HOSTILE = "</span><script>window.hacked=1</script><img src=x onerror='window.hacked=1'>\" onfocus=window.hacked=1"
CONFIG = """
models = [dict(type='ScriptedModel', abbr='text', prompt_style='text', max_seq_len=500, meta_template=dict(round=[
              dict(role='HUMAN', begin='Question: ', end='\\n'), dict(role='BOT', begin='Answer: ', generate=True)])),
          dict(type='ScriptedModel', abbr='chat')]
turns = [dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}')]
datasets = [dict(
    abbr='sums', type='LocalDataset', path='data/sums.jsonl',
    reader_cfg=dict(input_columns='question', output_column='answer'),
    infer_cfg=dict(
        ice_template=dict(type='PromptTemplate', template=dict(round=turns)),
        prompt_template=dict(type='PromptTemplate', ice_token='</E>', template=dict(
            begin=[dict(role='SYSTEM', fallback_role='HUMAN', prompt='Add up, please.'), '</E>'], round=turns)),
        retriever=dict(type='FixKRetriever', fix_id_list=[1, 2], allow_overlap=True),
        inferencer=dict(type='GenInferencer')))]
"""
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
def prompts(chromium: Page, tmp_path: Path) -> Iterator[Page]:
    """The prompts of two models. In every test the page sends no request and logs no error."""
    project = Project(tmp_path)
    rows = [
        {"question": HOSTILE, "answer": "SECRET"},
        *({"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in (1, 2)),
    ]
    project.write_data(rows)
    (project.root / "eval.py").write_text(CONFIG)
    done = project.run("view-prompt", "eval.py", "--html", "-c", "1")
    assert done.returncode == 0, done.stderr
    page = project.root / "prompts.html"
    chromium.resize(1400, 900)
    chromium.requests.clear()
    chromium.complaints.clear()
    chromium.open(page.as_uri())
    yield chromium
    assert chromium.value("window.hacked === undefined")
    assert not chromium.complaints
    assert set(chromium.requests) <= {"about:blank", page.as_uri()}


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
    assert prompts.texts(".gold") == ["Gold, not sent SECRET"] * 2


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
        "[...document.querySelectorAll('.columns > section')].map((s) => s.getBoundingClientRect().x)"
    )
    assert (columns[0] == columns[1]) == (width == 420)
