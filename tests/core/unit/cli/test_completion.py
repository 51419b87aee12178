"""Shells are given the names of configs and paths, for every argument that is a text."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from ais_prompt.cli import main
from tests.support.cli import run_cli


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evaluations").mkdir()
    (tmp_path / "evaluations" / "first.py").touch()
    (tmp_path / "evening.py").touch()
    (tmp_path / "event.txt").touch()


def program(line: str, instruction: str) -> str:
    words = line.split(" ")
    # fish gives the word itself, the other shells its place
    place = words[-1] if "fish" in instruction else str(len(words) - 1)
    done = run_cli(environment={"_AISPROMPT_COMPLETE": instruction, "COMP_WORDS": line, "COMP_CWORD": place})
    assert done.returncode == 0, done.stderr
    return done.stdout


def completed(line: str) -> list[str]:
    return program(line, "bash_complete").splitlines()


@pytest.mark.parametrize("verb", ["run", "check", "view-prompt"])
def test_a_config_is_a_shipped_name_or_a_path(verb: str) -> None:
    assert completed(f"aisprompt {verb} ev") == [
        "plain,eval",
        "plain,eval_real",
        "plain,evaluations/",
        "plain,evening.py",
    ]
    assert completed(f"aisprompt {verb} evaluations/fi") == ["file,evaluations/fi"]
    assert completed(f"aisprompt {verb} ../") == ["file,../"]


def test_models_and_data_sets_are_named() -> None:
    assert "plain,demo_chat" in completed("aisprompt run --models demo")
    assert "plain,demo_addition" in completed("aisprompt run --datasets demo_a")


def test_a_run_is_a_name_then_one_of_its_folders_or_a_path() -> None:
    for run in ("eval/20260101_000000Z", "eval/20260102_000000Z", "other/20260101_000000Z"):
        Path("outputs", run).mkdir(parents=True)
        Path("elsewhere", run.replace("eval", "even")).mkdir(parents=True)
    for verb in ("score", "view", "baseline", "compare other"):
        assert completed(f"aisprompt {verb} ev") == ["plain,eval"]
        assert completed(f"aisprompt {verb} eval/") == [
            "plain,eval/20260102_000000Z",
            "plain,eval/20260101_000000Z",
        ]
        assert completed(f"aisprompt {verb} outputs/eval/2") == ["file,outputs/eval/2"]
    assert completed("aisprompt score -w elsewhere ev") == ["plain,even"]


def test_any_other_text_is_completed_as_a_path() -> None:
    for name, verb in main.verbs().items():
        for parameter in verb.params:
            if isinstance(parameter.type, click.types.StringParamType):
                raise AssertionError(f"{name} {parameter.name}: the shell completes nothing")
    assert completed("aisprompt compare eva") == ["file,eva"]
    assert completed("aisprompt run eval --baseline ev") == ["file,ev"]


@pytest.mark.process  # the script for bash asks for its version
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell(shell: str) -> None:
    done = run_cli("completion", shell)
    assert done.returncode == 0, done.stderr
    assert f"_AISPROMPT_COMPLETE={shell}_complete" in done.stdout
    assert "eval" in program("aisprompt run eva", f"{shell}_complete")
