"""`aisprompt migrate`: the native config that a config of OpenCompass means."""

from __future__ import annotations

import pytest

from tests.core.e2e.project import Project, read_lines
from tests.extensions.peers.test_import_run import DATASET, bring_data
from tests.support.servers import MockServer

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


@pytest.mark.process
def test_a_key_becomes_a_variable_and_the_file_runs_when_it_is_set(
    project: Project, server: MockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring_data(project)
    keys = ("12345678", "87654321", "12345678")
    kind = f"type='opencompass.models.OpenAISDK', path='m', openai_api_base='{server.base_url}'"
    models = [f"dict({kind}, abbr='m{n}', key='{key}')" for n, key in enumerate(keys)]
    (project.root / "theirs.py").write_text(f"models = [{', '.join(models)}]\ndatasets = [{DATASET}]\n")
    done = project.run("migrate", "theirs.py", "-o", "mine.py")
    assert done.returncode == 0, done.stderr
    text = (project.root / "mine.py").read_text()
    assert not any(key in text for key in keys)
    assert (text.count("'Bearer $API_KEY'"), text.count("'Bearer $API_KEY_2'")) == (2, 1)
    assert "export API_KEY_2=" in text
    unset = project.run("run", "mine.py")
    assert "the environment variable API_KEY is not set" in unset.stderr
    for name in ("API_KEY", "API_KEY_2"):
        monkeypatch.setenv(name, "x")
    done = project.run("run", "mine.py", "-w", "again")
    assert done.returncode == 0, done.stderr
