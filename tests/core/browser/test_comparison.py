"""The page of ``aisprompt compare --html``, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.e2e.project import DATASET, Project
from tools.chromium import Page

pytestmark = pytest.mark.browser

TEXT = "template='{question}\\nAnswer: {answer}'"
TEMPLATES = {
    "text": "template='Please: {question}\\nAnswer: {answer}'",
    "chat": "template=dict(begin=[dict(role='SYSTEM', fallback_role='HUMAN', prompt='Be brief.')], "
    "round=[dict(role='HUMAN', prompt='Please: {question}'), dict(role='BOT', prompt='')])",
}


def answered(project: Project, name: str, template: str, answer: str) -> str:
    project.write_config(
        models=f"dict(type='ScriptedModel', abbr='fake', default='It is {answer}.')",
        datasets=DATASET.replace(TEXT, template),
    )
    done = project.run("run", "eval.py", "-w", name)
    assert done.returncode == 0, done.stderr
    [folder] = (project.root / name / "eval").iterdir()
    return str(folder)


@pytest.mark.parametrize("kind", TEMPLATES)
@pytest.mark.parametrize("same", [True, False])
def test_every_part_of_the_page_is_text(chromium: Page, tmp_path: Path, kind: str, same: bool) -> None:
    project = Project(tmp_path)
    project.write_data([{"question": f"{number}+{number}=?", "answer": str(2 * number)} for number in range(4)])
    before = answered(project, "a", TEMPLATES[kind] if same else TEXT, "2")
    after = answered(project, "b", TEMPLATES[kind], "4")
    done = project.run("compare", before, after, "--html", "page.html")
    assert done.returncode == 0, done.stderr
    chromium.complaints.clear()
    chromium.open((project.root / "page.html").as_uri())
    chromium.wait_for("document.querySelector('.flip')")
    chromium.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    text = chromium.value("document.body.textContent")
    assert "[object" not in text
    assert "Please: 1+1=?" in text
    titles = chromium.texts(".flip h4")
    assert ("prompt before" in titles) == (not same)
    assert 'before, extracted "2"' in titles
    assert chromium.texts(".flip mark.changed")[:2] == ["2", "4"]
    names = chromium.texts(".flip summary")
    assert names[0].startswith("Please: 1+1=? row 1") if same else "1+1=?" in names[0]
    assert chromium.value("document.querySelector('.scores .plotted svg').getAttribute('aria-label')").startswith("0")
    assert not chromium.complaints


def test_a_dataset_without_a_change_is_folded(chromium: Page, tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write_data([{"question": f"{number}+{number}=?", "answer": str(2 * number)} for number in range(4)])
    before = answered(project, "a", TEXT, "2")
    after = answered(project, "b", TEXT, "2")
    done = project.run("compare", before, after, "--html", "page.html")
    assert "Unchanged: fake/" in done.stdout
    chromium.open((project.root / "page.html").as_uri())
    assert chromium.texts(".unchanged summary") == ["1 dataset: unchanged"]


def test_two_models_on_many_datasets_begin_with_the_means_and_the_worst(chromium: Page, tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write_data([{"question": f"{number}+{number}=?", "answer": str(2 * number)} for number in range(4)])
    models = ", ".join(
        f"dict(type='ScriptedModel', abbr='{abbr}', answers={{r'^{known}.{known}': 'It is {2 * known}.'}}, default='0')"
        for abbr, known in (("one", 1), ("two", 2))
    )
    tests = [f"test_range='[{start}:4]'" for start in (0, 1, 2, 0, 1, 2, 0)]
    datasets = (
        DATASET.replace("'sums'", f"'sums-{number}'").replace("reader_cfg=dict(", f"reader_cfg=dict({rows}, ")
        for number, rows in enumerate(tests)
    )
    project.write_config(models=models, datasets=", ".join(datasets))
    assert project.run("run", "eval.py", "-w", "a").returncode == 0
    done = project.run("compare", str(next(project.root.glob("a/eval/2*"))), "--html", "page.html")
    assert done.returncode == 0, done.stderr
    chromium.resize(1400, 900)
    chromium.open((project.root / "page.html").as_uri())
    assert chromium.texts("h1") == ["Two models"]
    assert "both right 3 · only one 5 · only two 7 · both wrong 7" in chromium.texts("#subtitle")[0]
    names = chromium.texts("#table tbody th")
    assert names[0] == "mean of 7 datasets"
    assert names[-2:] == ["sums-2", "sums-5"]  # the only ones that the second model has better
    assert chromium.value("document.querySelectorAll('#tasks details[open]').length") == 0
    chromium.click("#table tbody a", 6)
    chromium.wait_for("document.querySelector('#task-6 details[open] .flip')")
    assert chromium.texts("#task-6 .chip") == ["only one 0", "only two 1"]
