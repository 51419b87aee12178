"""The folder of an extension can be deleted: what it has brought names the extension then, and the rest works."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import ais_prompt
from ais_prompt.extension import shipped

pytestmark = [pytest.mark.process, pytest.mark.thorough]

WITHOUT: Final = ("evidence", "logs")
"""Extensions without which the tutorial must work already."""
CONFIG = r"""
models = [dict(type='ScriptedModel', abbr='fake', answers={r'^2\+2': '4'}, default='6')]
datasets = [dict(
    abbr='sums', type='LocalDataset', path='sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question}'),
                   inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


class Copy:
    """A copy of the package without an extension, with a small project."""

    def __init__(self, folder: Path, without: str) -> None:
        source = Path(ais_prompt.__file__).parent
        shutil.copytree(source, folder / "site/ais_prompt", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.rmtree(folder / "site/ais_prompt/extensions" / without)
        self.project = folder / "project"
        self.project.mkdir()
        (self.project / "sums.jsonl").write_text('{"question": "2+2", "answer": "4"}\n')
        (self.project / "eval.py").write_text(CONFIG)
        self._path = folder / "site"

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        program = f"import sys; sys.path.insert(0, {str(self._path)!r}); from ais_prompt.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", program, *words], cwd=self.project, capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="module", params=WITHOUT)
def copy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Copy]:
    name: str = request.param
    if name not in shipped():
        pytest.skip(f"the extension {name!r} is not here")
    return name, Copy(tmp_path_factory.mktemp(name), name)


def test_the_tutorial_works(copy: tuple[str, Copy]) -> None:
    for words in (
        ("--help",),
        ("list",),
        ("describe", "GenInferencer"),
        ("check", "eval.py"),
        ("view-prompt", "eval.py"),
        ("run", "eval.py"),
    ):
        done = copy[1].run(*words)
        assert done.returncode == 0, (words, done.stderr)


def test_each_command_names_its_extension(copy: tuple[str, Copy]) -> None:
    name, package = copy
    for verb in shipped()[name].verbs:
        done = package.run(verb, "eval.py")
        assert done.returncode == 2
        assert f"The extension {name!r} has {verb!r}, and is not here: install ais-prompt again" in done.stderr


def test_each_part_names_its_extension(copy: tuple[str, Copy]) -> None:
    name, package = copy
    parts = shipped()[name].parts
    written = [{"evaluator": {"type": one}} for one in parts.get("evaluators", ())]
    for one in parts.get("postprocessors", ()):
        written.append({"evaluator": {"type": "AccEvaluator"}, "pred_postprocessor": {"type": one}})
    for scoring in written:
        config = CONFIG.replace("dict(evaluator=dict(type='AccEvaluator'))", repr(scoring))
        (package.project / "other.py").write_text(config)
        done = package.run("check", "other.py")
        assert done.returncode == 2
        assert repr(name) in done.stderr, done.stderr


def test_each_form_names_its_extension(copy: tuple[str, Copy]) -> None:
    name, package = copy
    for form in shipped()[name].exporters:
        done = package.run("export", "eval", "--to", form)
        assert done.returncode == 2
        assert f"the extension {name!r} writes {form!r}, and is not here" in done.stderr


def test_a_log_names_the_extension_that_reads_it(copy: tuple[str, Copy]) -> None:
    name, package = copy
    done = package.run("compare", "eval.py", "eval.py")
    assert done.returncode == 2
    assert (repr(name) in done.stderr) == ("open_log" in shipped()[name].steps)
