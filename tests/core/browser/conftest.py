"""A browser for all tests of this folder, and a report with all that a report can hold."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ais_prompt.report import write_report
from ais_prompt.store import RunFolder
from tests.core.browser.sample_run import make_sample_run, make_small_run
from tests.core.e2e.project import Project
from tools.chromium import PROGRAM, Page, browser

HOSTILE_QUESTION = (
    "</span><script>window.hacked=1</script><img src=x onerror='window.hacked=1'>\" onfocus=window.hacked=1"
)
PROMPTS_CONFIG = """
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
        inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if PROGRAM is None:
        pytest.skip("there is no chromium; on Debian: apt-get install chromium")
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


def with_english_report(folder: RunFolder) -> RunFolder:
    """Write the report of a run, whatever the locale is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AISPROMPT_LANG", "en")
        write_report(folder)
    return folder


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = make_sample_run(tmp_path_factory.mktemp("runs"))
    return with_english_report(folder)


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run of one model and one dataset."""
    folder = make_small_run(tmp_path_factory.mktemp("small"))
    return with_english_report(folder)


@pytest.fixture(scope="session")
def chinese_report(sample_run: RunFolder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the same run with Chinese labels."""
    folder = RunFolder(tmp_path_factory.mktemp("zh") / sample_run.root.parent.name / sample_run.root.name)
    shutil.copytree(sample_run.root, folder.root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AISPROMPT_LANG", "zh")
        write_report(folder)
    return folder.report


@pytest.fixture(scope="session")
def prompts_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with ``prompts.html``, and a run with the same prompts."""
    project = Project(tmp_path_factory.mktemp("prompts"), {"AISPROMPT_LANG": "en"})
    sums = ({"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in (1, 2))
    project.write_data([{"question": HOSTILE_QUESTION, "answer": "SECRET"}, *sums])
    (project.root / "eval.py").write_text(PROMPTS_CONFIG)
    for command in (("view-prompt", "eval.py", "--html", "-c", "1"), ("run", "eval.py")):
        done = project.run(*command)
        assert done.returncode == 0, done.stderr
    return project


@pytest.fixture
def page(chromium: Page, sample_run: RunFolder) -> Iterator[Page]:
    """Open the report. In every test it sends no request and logs no error."""
    chromium.resize(1400, 900)
    open_report(chromium, sample_run.report, "tab=samples")
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
