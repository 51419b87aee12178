"""The lock of a real dataset; it is skipped where GSM8K is not at hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ais_prompt.cli import main
from tests.support.real_data import GSM8K, needs

ARGS = ["lock", "--models", "local_server", "--datasets", "gsm8k_gen_4shot_chat", "-o", "gsm8k.lock"]
ROUND = "datasets.0.infer_cfg.{}.template.round.0.prompt={}"
PROMPT = "Question: {question}\nLet's think step by step.\nAnswer:"
BOTH = ("prompt_template", "ice_template")

pytestmark = needs(GSM8K)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("gsm8k")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AISPROMPT_DATA", str(made / "data"))
        assert CliRunner().invoke(main, ["data", "get", "gsm8k", "--from", str(GSM8K)]).exit_code == 0
    return made


@pytest.fixture(autouse=True)
def locked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("AISPROMPT_DATA", str(folder / "data"))
    if not Path("gsm8k.lock").exists():
        assert CliRunner().invoke(main, ARGS).exit_code == 0


@pytest.mark.thorough
def test_the_lock_is_small() -> None:
    assert Path("gsm8k.lock").stat().st_size < 100_000


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "title"),
    [
        ([ROUND.format("prompt_template", PROMPT.replace("A", "\nA"))], "newline added before `Answer:`"),
        ([ROUND.format(part, PROMPT.replace("Question", "Q")) for part in BOTH], "`Question` → `Q`"),
        ([ROUND.format(part, PROMPT.replace("Let's think step by step.\n", "")) for part in BOTH], "`Let's think"),
        (["datasets.0.infer_cfg.retriever.fix_id_list=[0,1,2,9]"], "`[user] Question: Julie"),
        (["datasets.0.infer_cfg.retriever.fix_id_list=[0,1,3,2]"], "`[user] Question: Betty"),
    ],
)
def test_every_prompt_is_counted_and_those_in_full_show_the_edit(change: list[str], title: str) -> None:
    overrides = [arg for override in change for arg in ("--set", override)]
    found = CliRunner().invoke(main, [*ARGS, "--check", "--json", *overrides])
    assert found.exit_code == 1
    edit, unknown = json.loads(found.stdout)["tasks"][0]["groups"]
    assert [group["reason"] for group in (unknown, edit)] == ["unknown", "edit"]
    assert len(unknown["prompts"]) + len(edit["prompts"]) == 1319
    assert edit["title"].startswith(title)
