"""Each extension is a folder that can be deleted: the core goes on, and a name of it says which extension has it.

A copy of the package lacks the folder; a process of its own runs there what users do.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest

from ais_prompt.extension import Extension, shipped
from tests.core.e2e.project import DATASET, MODEL, Project
from tests.support.cli import ROOT, run_in_new_process
from tools.stub import names_of

PLACES: Final = {
    "models": ("type='ScriptedModel'", "type={!r}"),
    "readers": ("type='LocalDataset'", "type={!r}"),
    "retrievers": ("type='ZeroRetriever'", "type={!r}"),
    "templates": ("type='PromptTemplate'", "type={!r}"),
    "inferencers": ("type='GenInferencer'", "type={!r}"),
    "postprocessors": ("type='gsm8k_postprocess'", "type={!r}"),
    "evaluators": ("type='Gsm8kEvaluator'", "type={!r}"),
    "partitioners": ("models =", "partitioner = dict(type={!r})\nmodels ="),
    "runners": ("models =", "runner = dict(type={!r})\nmodels ="),
    "transports": ("dict(type='ScriptedModel'", "dict(type='OpenAIChatModel', model='m', client={!r}"),
    "encoders": ("dict(type='ZeroRetriever'", "dict(type='TopkRetriever', ice_num=1, encoder={!r}"),
}
"""Kind of part → what of a config a part takes the place of."""

ASKED_FOR: Final = {
    "verbs": ["{}"],
    "meant": ["{}"],
    "exporters": ["export", "eval", "--to", "{}"],
}
"""Field of a manifest → how a user asks for a name in it. Formats of logs are left out: their content tells them."""

STEPS: Final = {
    "audit": ["check", "eval.py", "--audit"],
    "audit_answers": ["score", "eval", "--audit"],
    "accelerate": ["run", "eval.py", "--accelerator", "vllm"],
    "open_log": ["compare", "eval.py", "eval.py"],
    "divided": ["run", "eval.py", "-r", "4711", "--shard", "auto/2"],
}
"""Step → a command that needs it. The other steps have no name on the command line."""


def copy_without(folder: Path, *names: str) -> Path:
    """Make a copy of the package that lacks extensions, and return the folder to put before all others."""
    shutil.copytree(ROOT / "ais_prompt", folder / "ais_prompt", ignore=lambda at, _: names_in(at, names))
    (folder / "configs").symlink_to(ROOT / "configs")
    return folder


def names_in(at: str, names: Sequence[str]) -> set[str]:
    return set(names) if Path(at) == ROOT / "ais_prompt" / "extensions" else set()


def outcomes(copy: Path, work: Path, commands: Sequence[Sequence[str]]) -> list[tuple[int, str]]:
    """Run command lines with a copy, and return exit code and output of each."""
    done = run_in_new_process(commands, work, copy, COLUMNS="300")
    return [(one.returncode, one.stdout + one.stderr) for one in done]


def asking_for(one: Extension, project: Project) -> Iterator[tuple[str, list[str]]]:
    """Yield each name that an extension brings, and a command line that asks for it."""
    for kind, parts in one.parts.items():
        written, place = PLACES[kind]
        for name in parts:
            project.write_config()
            path = project.root / f"{kind}_{re.sub(r'[^a-zA-Z0-9]', '_', name)}.py"
            path.write_text((project.root / "eval.py").read_text().replace(written, place.format(name), 1))
            yield name, ["run" if kind == "runners" else "check", path.name]
            if kind == "runners":
                yield name, ["run", "eval.py", "--runner", name.removesuffix("Runner").lower()]
    for field, words in ASKED_FOR.items():
        for name in getattr(one, field, ()):
            yield name, [word.format(name) for word in words]
    for name in names_of(one):
        if name.startswith("--gate "):
            yield name, ["run", "eval.py", "--gate", f"{name.removeprefix('--gate ')} <= 1"]
        elif name.startswith("-m "):
            yield name, ["run", "eval.py", *name.split()]
        elif name == "--num-warmups":  # a peer has it in every mode, so that a run takes it with a note
            yield name, ["run", "eval.py", "-m", "perf", name, "1"]
        elif name.startswith("--"):
            yield name, ["run", "eval.py", name, "x"]
        elif name.startswith("models[i]."):
            key = name.removeprefix("models[i].").removesuffix("=")
            project.write_config(models=MODEL.replace("abbr='fake'", f"abbr='fake', {key}=dict()"))
            path = project.root / f"model_{key}.py"
            path.write_text((project.root / "eval.py").read_text())
            project.write_config()
            yield name, ["check", path.name]
        elif name.endswith("="):
            project.write_config(more=f"{name.removesuffix('=')} = dict()")
            path = project.root / f"section_{name.removesuffix('=')}.py"
            path.write_text((project.root / "eval.py").read_text())
            project.write_config()
            yield name, ["check", path.name]
    for step, command in STEPS.items():
        if step in one.steps:
            yield step, command


EACH: Final = list(shipped())
JOBS: Final = (
    ["--help"],
    ["list"],
    ["list", "--json"],
    ["check", "eval.py"],
    ["view-prompt", "eval.py", "--sample", "0"],
    ["run", "eval.py"],
    ["score", "eval"],
    ["compare", "eval", "eval"],
    # The main job of the README.
    ["run", "configs/eval.py", "--num-prompts", "2", "-w", "outputs/readme"],
)


@pytest.mark.process
def test_the_core_works_without_any_of_them(project: Project, tmp_path: Path) -> None:
    found = outcomes(copy_without(tmp_path / "copy", *EACH), project.root, JOBS)
    assert [(job, code, said) for job, (code, said) in zip(JOBS, found, strict=True) if code] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_the_core_works_and_a_name_says_which_extension_has_it(name: str, project: Project, tmp_path: Path) -> None:
    asked = list(asking_for(shipped()[name], project))
    copy = copy_without(tmp_path / "copy", name)
    found = outcomes(copy, project.root, [*JOBS, *(command for _, command in asked)])
    for job, (code, said) in zip(JOBS, found, strict=False):
        assert code == 0, (job, said)
    for (asked_for, command), (code, said) in zip(asked, found[len(JOBS) :], strict=True):
        words = (f"extension {name!r}", "is not here", "install ais-prompt again")
        assert code == 2, (asked_for, command, said)
        assert all(word in said for word in words), (asked_for, command, said)
    one = shipped()[name]
    by_python = {*one.functions, *one.results}
    assert {asked_for for asked_for, _ in asked} >= set(names_of(one)) - {*one.logs, *by_python, *one.steps}


NOT_COPIED: Final = (".*", "outputs", "build", "dist", "site", "*.egg-info")
"""What is not part of the repository, or made from it."""


@pytest.mark.slow
def test_the_tests_of_the_core_need_no_extension(tmp_path: Path) -> None:
    """As `make quick`, on a copy of the repository without extensions and their tests: about two minutes."""
    ignored = shutil.ignore_patterns(*NOT_COPIED)
    shutil.copytree(ROOT, tmp_path / "core", ignore=ignored, symlinks=True)
    for name in shipped():
        shutil.rmtree(tmp_path / "core/ais_prompt/extensions" / name)
    shutil.rmtree(tmp_path / "core/tests/extensions")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "core")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--quick", "--tb=short", "-p", "no:cacheprovider"],
        cwd=tmp_path / "core",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:]


def test_what_a_part_takes_the_place_of_is_in_the_config() -> None:
    for written, _ in PLACES.values():
        assert written in f"models = [{MODEL}]\ndatasets = [{DATASET}]\n"
