"""The configs under configs/examples run as they are, and send what they are there to show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.core.e2e.project import Project, read_lines

pytestmark = pytest.mark.torch


ROOT = Path(__file__).parents[3]
EXAMPLES = sorted(file.stem for file in (ROOT / "configs/examples").glob("*.py") if "\ndatasets" in file.read_text())


def shown(project: Project, name: str) -> list[dict[str, Any]]:
    """The prompts of the first row."""
    done = project.run("view-prompt", f"configs/examples/{name}.py", "--json")
    assert done.returncode == 0, done.stderr
    views: list[dict[str, Any]] = json.loads(done.stdout)
    return views


def test_every_example_is_on_the_page() -> None:
    page = (ROOT / "docs/coming-from.md").read_text("utf-8")
    assert EXAMPLES
    assert [name for name in EXAMPLES if f"[{name}.py](../configs/examples/{name}.py)" not in page] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_runs_without_warnings_and_failures(project: Project, name: str) -> None:
    checked = project.run("check", f"configs/examples/{name}.py")
    assert checked.returncode == 0, checked.stderr
    assert "Warning" not in checked.stdout + checked.stderr
    done = project.run("run", f"configs/examples/{name}.py", "--num-prompts", "2")
    assert done.returncode == 0, done.stderr
    [folder] = (project.root / "outputs" / name).iterdir()
    rows = json.loads(next(folder.glob("summary/*.json")).read_text())
    assert '"failed": 0' in json.dumps(rows)
    [predictions] = folder.glob("predictions/*/*.jsonl")
    assert [line["index"] for line in read_lines(predictions)] == [0, 1]


def test_dialogues_in_labels(project: Project) -> None:
    views = shown(project, "dialogues_in_labels")
    assert [view["title"] for view in views] == [f"label {label}" for label in "ABCD"]
    for label, view in zip("ABCD", views, strict=True):
        lines = view["prompt"].splitlines()
        assert lines[0].startswith("The following are multiple choice questions (with answers) about physics.")
        assert [line for line in lines if line.startswith("Answer: ")] == ["Answer: A", "Answer: C", f"Answer: {label}"]


def test_images(project: Project) -> None:
    [view] = shown(project, "images")
    [image, text] = view["prompt"][0]["content"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert text == {"type": "text", "text": "Which colour is the square?"}


def test_last_turn(project: Project) -> None:
    [view] = shown(project, "last_turn")
    assert [(turn["role"], turn["prompt"]) for turn in view["says"]] == [
        ("HUMAN", "76-37=?"),
        ("BOT", "39"),
        ("HUMAN", "and 5 more?"),
    ]


def test_own_meta_template(project: Project) -> None:
    [view] = shown(project, "own_meta_template")
    assert view["prompt"].startswith("Listen.\nNote: Sums and their results.\nQuestion: 43+88=?\nAnswer: 131\n")
    assert view["prompt"].endswith("Question: 57-28=?\nAnswer: ")


def test_own_role_template(project: Project) -> None:
    [view] = shown(project, "own_role_template")
    assert view["prompt"].startswith("Question: 43+88=?\nAnswer: 131\n")
    assert view["prompt"].endswith("Question: 57-28=?\nAnswer: ")
