"""A sample that several evaluators score: the answer that each extracted, and what a judge says of each criterion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ais_prompt.report import write_report
from ais_prompt.store import RunFolder
from tests.core.browser.conftest import open_report
from tests.core.e2e.project import Project
from tools.chromium import Page

pytestmark = pytest.mark.browser

CONFIG = """
models = [dict(type='ScriptedModel', abbr='m', default='It is 4, not 5.')]
judge = dict(type='ScriptedModel', abbr='j', default='{"1": true, "2": "partly", "3": 4, "4": 9}')
alone = dict(type='ScriptedModel', abbr='k', answers={'Short': 'Verdict: yes', 'Polite': 'Verdict: no'})
datasets = [dict(type='LocalDataset', abbr='d', rows=[dict(q='2 + 2 = ?', a='4')],
    reader_cfg=dict(input_columns=['q'], output_column='a'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{q}'), inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(
        first=dict(type='AccEvaluator', pred_postprocessor=dict(type='first_number_postprocess')),
        last=dict(type='AccEvaluator', pred_postprocessor=dict(type='last_number_postprocess')),
        rubric=dict(type='RubricEvaluator', judge_cfg=judge, partly=0.5, criteria=[
            'Says 4', 'Gives a reason', dict(criterion='Clear', scale=[1, 5]), dict(criterion='Kind', scale=[1, 5])]),
        each=dict(type='RubricEvaluator', judge_cfg=alone, together=False, criteria=['Short', 'Polite']))))]
"""


@pytest.fixture
def judged(chromium: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    monkeypatch.setenv("AISPROMPT_LANG", "en")
    project = Project(tmp_path)
    (project.root / "eval.py").write_text(CONFIG)
    done = project.run("run", "eval.py", "--max-failures", "9")
    assert done.returncode == 0, done.stderr
    folder = RunFolder(project.folder())
    write_report(folder)
    chromium.resize(1400, 900)
    chromium.complaints.clear()
    open_report(chromium, folder.report, "tab=samples")
    chromium.click("#rows .row")
    chromium.wait_for("document.querySelector('#sample .verdict')")
    yield chromium
    assert not chromium.complaints


def test_each_evaluator_shows_what_it_extracted(judged: Page) -> None:
    assert judged.texts("#sample .verdict .evaluator")[:1] == ["last scored"]
    assert [name.split()[0] for name in judged.texts("#sample .verdict .evaluator")] == ["last", "rubric", "each"]
    extracted = judged.texts("#sample .verdict td:nth-of-type(1)")
    assert [text.partition(" extracted by")[0] for text in extracted[:2]] == ["4", "5"]
    assert extracted[2:] == ["It is 4, not 5."] * 2


def test_each_criterion_is_beside_the_reply_about_it(judged: Page) -> None:
    assert judged.texts("#sample .judgement h4") == ["Judge 1: each · k", "Judge 2: each · k", "Judge 3: rubric · j"]
    found = [judged.texts(f"#sample .judgement:nth-of-type({place}) .criteria tbody tr") for place in range(1, 9)]
    assert sorted(filter(None, found)) == [
        ["Polite not met"],
        [
            "Says 4 met",
            "Gives a reason partly met",
            "Clear (a number from 1 to 5) 4",
            "Kind (a number from 1 to 5) nothing readable",
        ],
        ["Short met"],
    ]
