"""``aisprompt diff`` and ``aisprompt run --locked``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ais_prompt.cli import main
from tests.core.e2e.project import DATASET, MODEL, Project

TEXT = "dict(type='ScriptedModel', abbr='text', prompt_style='text')"
SYSTEM = (
    "dict(type='ScriptedModel', abbr='kind', meta_template=dict("
    "begin=[dict(role='SYSTEM', prompt='Be kind.')], reserved_roles=[dict(role='SYSTEM', api_role='SYSTEM')], "
    "round=[dict(role='HUMAN', api_role='HUMAN'), dict(role='BOT', api_role='BOT', generate=True)]))"
)
DIALOGUE = DATASET.replace(
    "'{question}\\nAnswer: {answer}'",
    "dict(round=[dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='')])",
)
LABELS = DATASET.replace("GenInferencer", "PPLInferencer").replace(
    "'{question}\\nAnswer: {answer}'", "{'A': '{question} A', 'B': '{question} B'}"
)


def ask(*args: str) -> Result:
    return CliRunner().invoke(main, [*args])


def diff(*args: str) -> dict[str, Any]:
    done = ask("diff", *args, "--json")
    values: dict[str, Any] = json.loads(done.stdout)
    assert done.exit_code == (0 if values["equal"] else 1), done.stderr
    return values


def titles(values: dict[str, Any]) -> dict[str, int]:
    return {group["title"]: len(group["prompts"]) for task in values["tasks"] for group in task["groups"]}


@pytest.fixture
def other(project: Project, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Makes a second config beside ``eval.py``."""
    monkeypatch.chdir(project.root)

    def write(old: str = "", new: str = "", name: str = "other.py", **options: str) -> str:
        before = Path("eval.py").read_text()
        Path(name).write_text(project.write_config(**options).read_text().replace(old, new))
        Path("eval.py").write_text(before)
        return name

    return write


def test_two_configs(other: Callable[..., str]) -> None:
    assert diff("eval.py", other())["equal"]
    values = diff("eval.py", other("Answer:", "Reply:"))
    assert titles(values) == {"`Answer` → `Reply`": 8}
    assert [part["name"] for part in values["tasks"][0]["parts"]] == ["prompt_template"]
    assert values["tasks"][0]["groups"][0]["example"] == {
        "id": values["tasks"][0]["groups"][0]["prompts"][0]["id"],
        "before": [{"role": "user", "content": "0+0=?\nAnswer: "}],
        "after": [{"role": "user", "content": "0+0=?\nReply: "}],
    }


def test_each_way_of_changing_has_its_group(other: Callable[..., str], project: Project) -> None:
    rows = [{"question": f"{'Hard' if n % 2 else 'Easy'}: {n}+{n}?", "answer": "0"} for n in range(8)]
    project.write_data(rows)
    project.write_data([{**row, "question": row["question"].replace("Easy", "Simple")} for row in rows], "new.jsonl")
    assert titles(diff("eval.py", other("sums.jsonl", "new.jsonl"))) == {"the data of the row changed": 4}


def test_two_models_of_a_config(project: Project, other: Callable[..., str]) -> None:
    project.write_config(models=f"{MODEL}, {SYSTEM}, {TEXT}", datasets=DIALOGUE)
    values = diff("eval.py", "--models", "fake", "kind")
    assert titles(values) == {"`[system] Be kind.` added at the beginning": 8}
    assert (values["tasks"][0]["before"], values["tasks"][0]["after"]) == ("fake/sums", "kind/sums")
    assert titles(diff("eval.py", "--models", "fake", "text")) == {"`[user] ` removed at the beginning": 8}


def test_two_runs(other: Callable[..., str]) -> None:
    name = other("Answer:", "Answer :")
    assert [ask("run", config).exit_code for config in ("eval.py", name)] == [0, 0]
    runs = [str(next(Path("outputs", folder).iterdir())) for folder in ("eval", "other")]
    assert titles(diff(*runs)) == {"space added before `:`": 8}
    assert diff(runs[0], "outputs/eval")["equal"]


def test_a_run_and_its_config(other: Callable[..., str]) -> None:
    assert ask("run", "eval.py").exit_code == 0
    assert diff("outputs/eval", "eval.py")["equal"]
    values = diff("outputs/eval", other("Answer:", "Reply:"))
    assert titles(values) == {"`Answer` → `Reply`": 8}


def test_a_run_that_chose_labels(project: Project, other: Callable[..., str]) -> None:
    project.write_config(datasets=LABELS, models=TEXT.replace(")", ", likelihoods={'.': 1.0})"))
    assert ask("run", "eval.py", "-m", "infer").exit_code == 0
    values = diff("outputs/eval", "eval.py")
    assert values["equal"]
    assert values["tasks"][0]["prompts"] == 16


def test_what_is_on_one_side_only(other: Callable[..., str]) -> None:
    more = other(datasets=f"{DATASET}, {DATASET.replace('sums', 'more', 1)}")
    assert diff("eval.py", more)["only_after"] == ["fake/more"]
    assert "fake/more: only in other.py" in ask("diff", more, "eval.py").stdout


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (["eval.py"], "nothing to compare with"),
        (["eval.py", "--models", "fake"], "nothing to compare with"),
        (["eval.py", "no-such"], "'no-such' is neither a config nor a run"),
        (["eval.py", "--models", "fake", "no_such"], "no model 'no_such'"),
        (["eval.py", "."], "neither a config nor a run"),
    ],
)
def test_what_cannot_be_compared(other: Callable[..., str], args: list[str], what: str) -> None:
    done = ask("diff", *args)
    assert done.exit_code == 2
    assert what in done.stderr
    assert "fix:" in done.stderr


def test_a_run_without_predictions(other: Callable[..., str]) -> None:
    assert ask("run", "eval.py").exit_code == 0
    [predictions] = Path("outputs").rglob("predictions/fake/sums.jsonl")
    predictions.unlink()
    done = ask("diff", "eval.py", "outputs/eval")
    assert (done.exit_code, "no predictions yet" in done.stderr) == (2, True)


def test_a_locked_run_asks_only_what_is_locked(other: Callable[..., str]) -> None:
    assert ask("run", "eval.py", "--locked").exit_code == 2  # there is no lock yet
    assert ask("lock", "eval.py").exit_code == 0
    done = ask("run", "eval.py", "--locked", "--num-prompts", "3")
    assert done.exit_code == 0
    assert "The prompts are those of eval.lock" in done.stderr
    Path("eval.py").write_text(Path("eval.py").read_text().replace("Answer:", "Reply:"))
    done = ask("run", "eval.py", "--lock-file", "eval.lock", "--num-prompts", "3")
    assert done.exit_code == 1
    assert "8 of 8 prompts changed" in done.stdout
    assert ": `Answer` → `Reply`" in done.stdout
    assert "Nothing was asked." in done.stderr
    assert "aisprompt lock eval.py -o eval.lock" in done.stderr
    assert len(list(Path("outputs/eval").iterdir())) == 1
