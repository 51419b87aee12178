"""Command lines that name no verb, no model, or something else than what they mean."""

from __future__ import annotations

import pytest

from tests.core.e2e.project import DATASET, MODEL, Project


@pytest.mark.thorough
@pytest.mark.parametrize(
    "args",
    [
        ("eval.py",),
        ("eval.py", "--debug"),
        ("--models", "model.py", "--datasets", "demo_addition"),
        ("--datasets=demo_addition", "--models=model.py"),
        ("--debug", "eval.py"),
        ("-w", "out", "eval.py"),
    ],
)
def test_a_command_line_without_a_verb_runs(datasets_only: Project, args: tuple[str, ...]) -> None:
    done = datasets_only.run(*args, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "nothing was asked" in done.stdout


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (("evil",), "There is no command 'evil'"),
        (("scroe", "eval.py"), "did you mean 'score'?"),
        (("--modles", "x"), "No such option"),
        (("missing.py",), "there is no config 'missing.py'"),
        (("eval.py", "--mode", "jugde"), "'jugde' is not one of"),
        (("eval.py", "--num-fewshot", "3"), "--num-fewshot is not an option here: --few-shot N"),
        (("--tasks", "x"), "--tasks is not an option here: --datasets NAME"),
    ],
)
def test_what_is_misspelt_is_an_error_with_a_hint(project: Project, args: tuple[str, ...], hint: str) -> None:
    done = project.run(*args)
    assert done.returncode == 2
    assert hint in done.stderr


def test_habits_of_other_programs_set_keys_of_a_model_that_is_described(project: Project) -> None:
    given = ["--max-tokens", "100", "--temperature=0.5", "--seed", "3"]
    named = ["--hf-path", "weights", "--datasets", "demo_addition"]
    assert project.run(*named, *given, "--save-config", "saved.py").returncode == 0
    values: dict[str, list[dict[str, object]]] = {}
    exec((project.root / "saved.py").read_text(), values)  # a config that was just written
    [model] = values["models"]
    assert model["generation_kwargs"] == {"temperature": 0.5}
    assert (model["max_out_len"], model["seed"]) == (100, 3)


@pytest.fixture
def datasets_only(project: Project) -> Project:
    """A project with ``sums.py``, which has one list of datasets and no model, and ``model.py``."""
    (project.root / "model.py").write_text(f"models = [{MODEL}]\n")
    (project.root / "sums.py").write_text(f"sums_datasets = [{DATASET}]\n")
    return project


@pytest.mark.parametrize("args", [("sums.py",), ("sums.py", "-n"), ("--datasets", "sums.py")])
def test_prompts_of_datasets_without_a_model_are_messages(datasets_only: Project, args: tuple[str, ...]) -> None:
    done = datasets_only.run("view-prompt", *args)
    assert done.returncode == 0, done.stderr
    assert "any-chat-model/sums" in done.stdout
    assert "[user] 0+0=?" in done.stdout
    assert "No model is named" in done.stderr


def test_a_file_of_datasets_is_shown_and_run_with_a_named_model(datasets_only: Project) -> None:
    shown = datasets_only.run("view-prompt", "sums.py", "--models", "model.py", "--set", "datasets.0.abbr=other")
    assert shown.returncode == 0, shown.stderr
    assert "fake/other" in shown.stdout
    assert "No model" not in shown.stderr
    assert datasets_only.run("sums.py", "--models", "model.py", "--dry-run").returncode == 0


def test_a_file_of_datasets_alone_is_checked_and_not_run(datasets_only: Project) -> None:
    done = datasets_only.run("run", "sums.py")
    assert done.returncode == 2
    assert "aisprompt run --datasets sums.py --models NAME" in done.stderr
    assert "No faults" in datasets_only.run("check", "sums.py").stdout


def test_a_config_with_models_is_not_mixed_with_named_ones(datasets_only: Project) -> None:
    assert "not both" in datasets_only.run("view-prompt", "eval.py", "--models", "model.py").stderr
    assert "no dataset" in datasets_only.run("view-prompt", "--models", "model.py").stderr
