"""Heatmaps of long contexts, and the effective length, in a report of a run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ais_prompt import run
from ais_prompt.extensions.benchmarks.ruler.ruler_dataset import RulerDataset, Task
from tests.core.browser.conftest import open_report
from tests.core.browser.test_accessibility import LOOKS, serious
from tools.chromium import Page

pytestmark = pytest.mark.browser

LENGTHS = (2048, 4096, 8192)
TASKS: tuple[Task, ...] = ("niah_single_2", "vt")
ALL_RIGHT_UP_TO = 4096


def dataset(task: str, length: int) -> dict[str, Any]:
    return {
        "abbr": f"{task}-{length}",
        "type": "RulerDataset",
        "task": task,
        "length": length,
        "num_samples": 33,
        "reader_cfg": {"input_columns": ["prompt"], "output_column": "answers"},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": "{prompt}"},
            "inferencer": {"type": "GenInferencer", "max_out_len": 128},
        },
        "eval_cfg": {"evaluator": {"type": "StringMatchEvaluator"}},
    }


def answers() -> dict[str, str]:
    """Right up to a length, and beyond it only at the beginning of the text."""
    found = {}
    for task in TASKS:
        for length in LENGTHS:
            for row in RulerDataset(task, length, 33).read("test"):
                prompt, golds = row["prompt"], row["answers"]
                question = f"(?s)^(?=.{{{len(prompt)}}}$)(?=.*{golds[0]}).*{re.escape(prompt.rsplit(chr(10), 1)[1])}$"
                is_right = length <= ALL_RIGHT_UP_TO or row["depth"] in (0, 10, 20, 30)
                found[question] = ", ".join(golds) if is_right else "I do not know."
    return found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("long")
    model = {"type": "ScriptedModel", "abbr": "reader", "answers": answers()}
    datasets = [dataset(task, length) for task in TASKS for length in LENGTHS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AISPROMPT_LANG", "en")
        run({"models": [model], "datasets": datasets, "work_dir": str(folder)}, quiet=True)
    [found] = folder.glob("*/*/report.html")
    return found


def open_scores(page: Page, report: Path) -> None:
    open_report(page, report, "tab=scores")
    page.wait_for("document.querySelector('.heat')?.checkVisibility()")


def table(page: Page, number: int) -> list[str]:
    return [line.replace("\t", " ") for line in page.texts(f".long-context .scroll:nth-child({number}) tr")]


def test_cells_have_the_scores(chromium: Page, report: Path) -> None:
    chromium.resize(1400, 900)
    open_scores(chromium, report)
    by_task, by_depth = table(chromium, 1), table(chromium, 2)
    assert [line.split() for line in by_task] == [
        ["Task", "2k", "4k", "8k"],
        ["niah_single_2", "100", "100", "36"],
        ["vt", "100", "100", "0"],
        ["mean", "100", "100", "18"],
    ]
    assert [line.split() for line in by_depth[1:]] == [
        [str(depth), "%", "100", "100", "100" if depth <= 30 else "0"] for depth in range(0, 101, 10)
    ]
    colours = chromium.value(
        "['100', '0'].map((text) => getComputedStyle([...document.querySelectorAll('.heat td')]"
        ".find((cell) => cell.textContent === text)).backgroundColor)"
    )
    assert colours[0] != colours[1]


def test_the_effective_length_follows_the_threshold(chromium: Page, report: Path) -> None:
    chromium.resize(1400, 900)
    open_scores(chromium, report)
    assert chromium.texts(".effective") == ["4k (95 %: 4k – 4k, lengths are estimates)"]
    for threshold, shown in (("10", "8k (95 %: 8k – 8k"), ("20", "4k (95 %: 4k – 8k"), ("99.9", "4k (95 %: < 2k – 4k")):
        chromium.value(
            f"threshold.value = '{threshold}', threshold.dispatchEvent(new Event('input', {{bubbles: true}})), 0"
        )
        assert chromium.texts(".effective") == [f"{shown}, lengths are estimates)"]


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_it_is_legible_everywhere(chromium: Page, report: Path, width: int, scheme: str) -> None:
    chromium.resize(width, 900, scheme)
    open_scores(chromium, report)
    assert serious(chromium) == []
    assert chromium.value("document.documentElement.scrollWidth <= innerWidth")
    assert chromium.texts(".heat thead th")[:4] == ["Task", "2k", "4k", "8k"]
    assert all(chromium.value("[...document.querySelectorAll('.heat td')].map((cell) => cell.clientWidth > 20)"))
