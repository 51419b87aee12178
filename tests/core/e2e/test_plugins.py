"""Installed packages bring parts and configs by their entry points."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.core.e2e.project import DATASET, Project
from tests.support.cli import run_in_new_process

pytestmark = pytest.mark.process

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "word-parts"
version = "1.2"

[project.entry-points."ais_prompt.parts"]
words = "word_parts.parts"
{more}
"""

PARTS = '''
from ais_prompt import EVALUATORS, MODELS, POSTPROCESSORS, Completion, ScriptedModel


@POSTPROCESSORS.register_module()
def last_word(text):
    return text.split()[-1].strip(".")


@EVALUATORS.register_module()
class SameWord:
    """Compare words.

    Args:
        strict: whether case counts.
    """

    metrics = ("same",)

    def __init__(self, strict=True):
        self.strict = strict

    def score(self, extracted, gold):
        return {"same": float(extracted == gold)}


@MODELS.register_module()
class Parrot(ScriptedModel):
    """Answer four."""

    def __init__(self):
        super().__init__(default="It is 4.")
'''

MODEL_CONFIG = '"""A parrot."""\n\nmodels = [dict(type="Parrot", abbr="parrot")]\n'
DATASET_CONFIG = '"""Sums."""\n\nfrom mmengine.config import read_base\n\nword_datasets = [{}]\n'


def install(site: Path, source: Path, more: str = "", parts: str = PARTS, configs: bool = True) -> None:
    """Build a wheel of a small package and unpack it, as pip does."""
    package = source / "word_parts"
    package.mkdir(parents=True)
    (source / "pyproject.toml").write_text(PYPROJECT.format(more=more))
    (package / "__init__.py").write_text("")
    (package / "parts.py").write_text(parts)
    if configs:
        for kind, name, text in (
            ("models", "parrot", MODEL_CONFIG),
            ("datasets", "word_sums", DATASET_CONFIG.format(SCORED)),
        ):
            (package / "configs" / kind).mkdir(parents=True)
            (package / "configs" / kind / f"{name}.py").write_text(text)
    [wheel] = WheelBuilder(str(source)).build(directory=str(source / "dist"), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)


SCORED = DATASET.replace("'gsm8k_postprocess'", "'last_word'").replace("'Gsm8kEvaluator'", "'SameWord'")


@pytest.fixture
def site(tmp_path: Path, project: Project) -> Path:
    """A folder of installed packages that the program searches."""
    folder = tmp_path / "site"
    project.environment["PYTHONPATH"] = str(folder)
    return folder


def test_parts_and_configs_of_a_package_are_found_by_name(project: Project, site: Path, tmp_path: Path) -> None:
    install(site, tmp_path / "source")
    project.write_config(models="dict(type='Parrot', abbr='parrot')", datasets=SCORED)
    by_name = ["run", "--models", "parrot", "--datasets", "word_*", "--num-prompts", "3"]
    commands = [["run", "eval.py"], by_name, ["list", "evaluators"], ["list", "models"]]
    done, named, shown, models = run_in_new_process(commands, project.root, site)
    assert done.returncode == 0, done.stderr
    [row] = project.summary()
    assert (row["metric"], row["score"], row["n"]) == ("same", 1 / 8, 8)
    assert named.returncode == 0, named.stderr
    assert "SameWord" in shown.stdout
    assert "word_parts.parts" in shown.stdout
    assert "A parrot." in models.stdout


def test_a_base_of_a_package_can_be_imported(project: Project, site: Path, tmp_path: Path) -> None:
    install(site, tmp_path / "source")
    (project.root / "eval.py").write_text(
        "from mmengine.config import read_base\n\nwith read_base():\n"
        "    from word_parts.configs.datasets.word_sums import word_datasets as datasets\n"
        "    from word_parts.configs.models.parrot import models\n"
    )
    done = project.run_process("check", "eval.py")
    assert done.returncode == 0, done.stderr


def test_nothing_is_imported_before_a_name_needs_it(project: Project, site: Path, tmp_path: Path) -> None:
    install(site, tmp_path / "source", parts="raise SystemExit('imported')")
    done = project.run_process("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert "imported" not in done.stderr


def test_a_broken_package_is_named_and_does_not_stop_the_others(project: Project, site: Path, tmp_path: Path) -> None:
    more = 'broken = "word_parts.brokn"\nclashing = "word_parts.clash"'
    install(site, tmp_path / "source", more=more)
    (site / "word_parts" / "clash.py").write_text(
        "from ais_prompt import EVALUATORS\n\n@EVALUATORS.register_module()\ndef AccEvaluator(p, g):\n    return 1\n"
    )
    project.write_config(datasets=SCORED.replace("SameWord", "SameWrd")).rename(project.root / "wrong.py")
    project.write_config(models="dict(type='Parrot', abbr='parrot')", datasets=SCORED)
    commands = [["run", "eval.py"], ["check", "wrong.py"], ["list", "evaluators"]]
    done, wrong, listed = run_in_new_process(commands, project.root, site)
    assert done.returncode == 0, done.stderr
    assert wrong.returncode == 2
    assert "did you mean 'SameWord'?" in wrong.stderr
    assert (
        "the entry point 'broken' of the package word-parts 1.2 cannot be loaded: ModuleNotFoundError" in wrong.stderr
    )
    assert "the entry point 'clashing' of the package word-parts 1.2 cannot be loaded: ConfigError" in wrong.stderr
    assert "SameWord" in listed.stdout


def test_a_program_of_python_finds_them_too(project: Project, site: Path, tmp_path: Path) -> None:
    install(site, tmp_path / "source", configs=False)
    program = "import ais_prompt; print(ais_prompt.EVALUATORS.get('SameWord').metrics)"
    done = subprocess.run(
        [sys.executable, "-c", program], env=project.variables(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "('same',)\n"
