"""An extension of an installed package adds a mode of `run`, a section of a config, a tab of the report and more."""

from __future__ import annotations

import json

import pytest

from ais_prompt.store import RunFolder
from tests.core.e2e.project import Project
from tests.support.cli import run_in_new_process

pytestmark = pytest.mark.process

MANIFEST = """
from ais_prompt.extension import Extension, FileEntry, ModeEntry, SectionEntry, TabEntry

EXTENSION = Extension(
    modes={"count": ModeEntry("counts questions", "mode:Times", "mode:MODE", "mode:METRICS", "Count questions.")},
    sections={"counting": SectionEntry("how questions are counted", "mode:FORM")},
    documents={"run": "mode:Fields", "compare": "mode:Fields"},
    files={"count.txt": FileEntry("count.txt", "The number of questions.")},
    variables={"COUNT_FROM": ("number", "the first number of a count")},
    tabs={"counts": TabEntry("mode:TAB", files=("count.txt",), assets=("counts.js",))},
    steps={"compare": "mode:compare"},
)
"""
MODULE = """
from dataclasses import dataclass
from typing import Annotated

from msgspec import Struct

from ais_prompt.cli.modes import RunMode
from ais_prompt.cli.verb import echo, offer
from ais_prompt.config import KeyTable, OptionSpec, SectionForm
from ais_prompt.types import Key
from ais_prompt.comparison import FurtherComparison
from ais_prompt.report import ReportTab
from ais_prompt.verbs import open_run_folder


@dataclass(frozen=True)
class Times:
    times: Annotated[int | None, OptionSpec("Count so often.", metavar="N", least=1)] = None


METRICS = frozenset({"questions"})


class Counting(Struct):
    '''How questions are counted.

    Attributes:
        by: the step.
    '''

    by: Annotated[int, Key("a number")] = 1


FORM = SectionForm(KeyTable("counting", "counting", Counting))


class Fields(Struct, kw_only=True):
    counted: int = 0


def run(one):
    number = sum(len(task.dataset.data.test) for task in one.plan.tasks)
    number *= one.plan.spec.sections.get("counting", Counting()).by * (one.own.times or 1)
    folder = open_run_folder(one.plan, "infer")
    (folder.root / "count.txt").write_text(str(number))
    offer(counted=number)
    return 0


def compare(before, after):
    return FurtherComparison({"counted": 2}, lambda: echo("counts are equal"), is_empty=False)


MODE = RunMode(lambda values, own: values, lambda one: echo("it would count"), run)
TAB = ReportTab(
    data=lambda folder: {"counted_questions": (folder.root / "count.txt").read_text()},
    line=lambda folder: {"counts": 1},
    version=lambda folder: 1,
    live=lambda folder: None,
)
"""


@pytest.fixture
def counting(project: Project) -> Project:
    package = project.root / "site" / "counting_package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(MANIFEST)
    (package / "mode.py").write_text(MODULE)
    (package / "counts.js").write_text('addTab("counts", {});\n')
    (package.parent / "counting_package-1.0.dist-info").mkdir()
    declared = package.parent / "counting_package-1.0.dist-info"
    (declared / "METADATA").write_text("Metadata-Version: 2.1\nName: counting-package\nVersion: 1.0\n")
    (declared / "entry_points.txt").write_text("[ais_prompt.extensions]\ncounting = counting_package:EXTENSION\n")
    project.environment["PYTHONPATH"] = str(package.parent)
    project.write_config(more="counting = dict(by=2)")
    return project


def test_a_mode_of_a_package_runs_with_its_options_and_its_section(counting: Project) -> None:
    verbs, helped, own, dry, done, alone, gated = run_in_new_process(
        [
            ["--help"],
            ["run", "--help-all"],
            ["run", "-m", "count", "--help"],
            ["run", "eval.py", "-m", "count", "--dry-run"],
            ["run", "eval.py", "-m", "count", "--times", "3", "--json"],
            ["run", "eval.py", "--times", "3"],
            ["run", "eval.py", "--gate", "questions > 3"],
        ],
        counting.root,
        counting.root / "site",
    )
    assert "run -m count  Count questions.\n" in verbs.stdout
    assert "counts questions" in " ".join(helped.stdout.split())
    assert "With -m count: Count so often." in " ".join(helped.stdout.split())
    assert "-m count, which counts questions:\n  --times N" in own.stdout
    assert "it would count" in dry.stdout
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counted"] == 2 * 3 * 8
    assert (counting.folder() / "count.txt").read_text() == "48"
    assert (alone.returncode, "add -m count" in alone.stderr) == (2, True)
    assert (gated.returncode, "add -m count" in gated.stderr) == (2, True)


def test_its_tab_is_in_the_report_and_its_comparison_in_compare(counting: Project) -> None:
    assert counting.run_process("run", "eval.py").returncode == 0
    folder = RunFolder(counting.folder())
    page = folder.report.read_text("utf-8")
    assert 'addTab("counts"' in page
    assert '"counted_questions":' not in page
    (folder.root / "count.txt").write_text("8")
    assert counting.run_process("run", "eval.py", "-m", "viz", "-r").returncode == 0
    assert '"counted_questions": "8"' in folder.report.read_text("utf-8")
    compared = counting.run_process("compare", str(folder.root), str(folder.root))
    assert "counts are equal" in compared.stdout
