"""The parts of docs/own-parts.md run as they are printed, and a sample is debugged as CONTRIBUTING.md describes."""

from __future__ import annotations

import re

import pytest

from ais_prompt.catalog import PARTS
from tests.core.e2e.project import Project
from tests.support.cli import ROOT
from tests.support.markdown import blocks

TEXT = (ROOT / "docs" / "own-parts.md").read_text("utf-8")


@pytest.fixture
def parts(project: Project) -> Project:
    for code in blocks(TEXT, "python"):
        name = re.match(r"# (\w+\.py)\n", code)
        assert name, "each block begins with the name of its file"
        (project.root / name[1]).write_text(code, "utf-8")
    return project


@pytest.mark.process
def test_the_parts_run(parts: Project) -> None:
    checked = parts.run("check", "eval.py")
    assert checked.returncode == 0, checked.stderr
    assert "Warning" not in checked.stdout + checked.stderr
    done = parts.run("run", "eval.py")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {row["model"]: row for row in parts.summary()}
    assert {model: (row["score"], row["n"], row["failed"]) for model, row in rows.items()} == {
        "calculator": (1.0, 5, 0),
        "canned": (0.2, 5, 0),
    }
    first = parts.predictions("calculator", "squares")[0]
    assert first["origin_prompt"] == "Q: 5 * 5 = ?\nA: 25\nQ: 6 * 6 = ?\nA: 36\nQ: 100 * 100 = ?\nA:"
    assert first["prediction"] == " 10000"


def test_each_kind_of_part_has_a_file() -> None:
    config = (re.findall(r"^# eval\.py\n.*", TEXT, re.MULTILINE | re.DOTALL))[0]
    named = {kind.removesuffix("s") for kind in PARTS} - {
        "encoder",
        "runner",
        "partitioner",
    }  # an argument of one retriever; what starts shards, and what divides tasks among them
    shown = set(re.findall(r"[\"']my_(\w+)\.", config))
    assert shown == {"model", "transport", "reader", "retriever", "template", "inferencer", "scoring"}
    assert named == shown - {"scoring"} | {"postprocessor", "evaluator"}


def test_the_map_names_each_folder_of_the_package() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    folders = {file.parent.name for file in (ROOT / "ais_prompt").glob("*/__init__.py")}
    assert {folder for folder in folders if f"`{folder}/`" not in text} == set()


def test_one_sample_is_debugged_as_described(project: Project) -> None:
    one = ("--set", "datasets.0.reader_cfg.test_range='[3:4]'")
    shown = project.run("view-prompt", "eval.py", "--origins", *one)
    assert shown.returncode == 0, shown.stderr
    assert "3+3=?" in shown.stdout
    done = project.run("run", "eval.py", "--debug", *one)
    assert done.returncode == 0, done.stderr
    assert [line["prediction"] for line in project.predictions()] == ["It is 6."]
