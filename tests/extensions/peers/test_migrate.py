"""`aisprompt migrate`: the native config that a config of OpenCompass means."""

from __future__ import annotations

from tests.core.e2e.project import Project, read_lines
from tests.extensions.peers.test_import_run import DATASET, bring_data

SCRIPTED = "dict(type='ScriptedModel', abbr='fake', default='It is 4.')"


def test_the_native_config_asks_and_scores_the_same(project: Project) -> None:
    bring_data(project)
    (project.root / "theirs.py").write_text(f"models = [{SCRIPTED}]\nmine = [{DATASET}]\ndatasets = mine\n")
    done = project.run("migrate", "theirs.py", "-o", "eval.py", "--force")
    assert done.returncode == 0, done.stderr
    text = (project.root / "eval.py").read_text()
    assert "opencompass." not in text
    assert "mine = " not in text
    assert "# - gsm8k_postprocess: " in text
    for config in ("theirs", "eval"):
        assert project.run("run", f"{config}.py").returncode == 0
    found = [
        read_lines(next((project.root / "outputs" / config).iterdir()) / "predictions/fake/gsm8k.jsonl")
        for config in ("theirs", "eval")
    ]
    for key in ("id", "origin_prompt", "prediction", "gold"):
        assert [line[key] for line in found[0]] == [line[key] for line in found[1]]


def test_a_file_is_not_replaced_unasked(project: Project) -> None:
    before = (project.root / "eval.py").read_text()
    done = project.run("migrate", "eval.py", "-o", "eval.py")
    assert done.returncode == 2
    assert "--force replaces it" in done.stderr
    assert (project.root / "eval.py").read_text() == before


def test_a_key_is_not_written_and_said_so(project: Project) -> None:
    model = (
        "dict(type='opencompass.models.OpenAISDK', abbr='m', path='m', key='12345678', openai_api_base='http://h/v1')"
    )
    (project.root / "theirs.py").write_text(f"models = [{model}]\ndatasets = [{DATASET}]\n")
    done = project.run("migrate", "theirs.py", "-o", "mine.py")
    assert done.returncode == 0, done.stderr
    text = (project.root / "mine.py").read_text()
    assert "12345678" not in text
    assert "write $NAME" in text
