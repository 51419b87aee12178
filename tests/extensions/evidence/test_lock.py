"""``aisprompt lock``: what changes a prompt is seen, and what does not is not."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ais_prompt.cli import main
from ais_prompt.terminal import progress
from tests.core.e2e.project import ROWS, Project

SHOTS = """dict(
    abbr='sums', type='LocalDataset', path='data',
    reader_cfg=dict(input_columns='question', output_column='answer'),
    infer_cfg=dict(
        ice_template=dict(type='PromptTemplate', template='Q: {question}\\nA: {answer}'),
        prompt_template=dict(type='PromptTemplate', template='</E>Q: {question}\\nA: {answer}', ice_token='</E>'),
        retriever=dict(type='FixKRetriever', fix_id_list=[0, 1], allow_overlap=True),
        inferencer=dict(type='GenInferencer', max_out_len=5),
    ),
)"""
API = "dict(type='OpenAIChatModel', abbr='api', model='m', base_url='http://127.0.0.1:9/v1', api_key=None)"
LOCAL = "dict(type='HuggingFace{}Model', abbr='local', path='model')"
DEMO = Path(__file__).parents[3] / "configs" / "data" / "demo_model"


class Locked:
    """A project with a lock, which other configs and data are compared with."""

    def __init__(self, project: Project, models: str = API) -> None:
        self.project = project
        self.models = models
        self.write_rows()
        self.write_config()

    def write_rows(self, test: list[dict[str, Any]] = ROWS, train: list[dict[str, Any]] = ROWS[5:]) -> None:
        self.project.write_data(test, "test.jsonl")
        self.project.write_data(train, "train.jsonl")

    def write_config(self, change: Callable[[str], str] = str, **options: str) -> None:
        self.project.write_config(**{"models": self.models, "datasets": change(SHOTS), **options})

    def __call__(self, *args: str) -> Result:
        return CliRunner().invoke(main, ["lock", "eval.py", *args])

    def drift(self) -> dict[str, Any]:
        """The only task of what ``--check --json`` says."""
        found = self("--check", "--json")
        values = json.loads(found.stdout)
        assert found.exit_code == (0 if values["equal"] else 1), found.stderr
        task: dict[str, Any] = values["tasks"][0]
        return task


@pytest.fixture
def locked(project: Project, monkeypatch: pytest.MonkeyPatch) -> Locked:
    (project.root / "data" / "sums.jsonl").unlink()
    monkeypatch.chdir(project.root)
    made = Locked(project)
    assert made().exit_code == 0
    return made


def titles(task: dict[str, Any]) -> dict[str, int]:
    """What happened → to how many prompts."""
    return {group["title"]: len(group["prompts"]) for group in task["groups"]}


def parts(task: dict[str, Any]) -> list[str]:
    return [f"{part['kind']}: {part['name']}" for part in task["parts"]]


def test_nothing_changed(locked: Locked) -> None:
    assert locked("--check").stdout == "Unchanged: 1 task, 8 prompts\n"
    assert locked.drift()["equal"]


def test_every_step_over_all_rows_shows_its_progress(locked: Locked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(progress, "LOG_INTERVAL", 0.0)
    shown = locked("--check").stderr
    for step in ("rendering api/sums", "digesting api/sums", "comparing api/sums"):
        assert f"{step}: " in shown


def test_the_lock_is_the_same_when_it_is_written_again(locked: Locked) -> None:
    before = Path("eval.lock").read_bytes()
    assert locked("-o", "other.lock").exit_code == 0
    assert Path("other.lock").read_bytes() == before
    assert str(locked.project.root) not in before.decode()


def test_one_character_of_a_template(locked: Locked) -> None:
    locked.write_config(lambda text: text.replace("</E>Q: {question}\\nA", "</E>Q: {question}\\n\\nA"))
    task = locked.drift()
    assert titles(task) == {"newline added before `A:`": 3, "changed; the lock has only their digests": 5}
    assert parts(task) == ["templates: prompt_template"]
    assert task["characters"][1] - task["characters"][0] == 8
    assert task["groups"][0]["example"]["before"] == [
        {"role": "user", "content": "Q: 5+5=?\nA: 10\nQ: 6+6=?\nA: 12\nQ: 0+0=?\nA: "}
    ]


def test_one_row_of_data(locked: Locked) -> None:
    locked.write_rows([*ROWS[:3], {"question": "3+4=?", "answer": "7"}, *ROWS[4:]])
    task = locked.drift()
    assert titles(task) == {"the data of the row changed": 1}
    assert task["rows"] == {"changed": [3], "added": [], "removed": [], "reordered": False}
    assert parts(task) == ["data: test"]


def test_one_gold_answer_which_no_prompt_shows(locked: Locked) -> None:
    locked.write_rows([*ROWS[:3], {**ROWS[3], "answer": "7"}, *ROWS[4:]])
    task = locked.drift()
    assert (task["changed"], task["rows"]["changed"]) == (0, [3])


def test_a_row_more_and_a_row_less(locked: Locked) -> None:
    locked.write_rows([{"question": "new", "answer": "0"}, *ROWS[:6], *ROWS[7:]])
    assert locked.drift()["rows"] == {"changed": [], "added": [0], "removed": [6], "reordered": False}


def test_one_shot_id(locked: Locked) -> None:
    locked.write_config(lambda text: text.replace("[0, 1]", "[0, 2]"))
    task = locked.drift()
    assert list(titles(task).values()) == [3, 5]
    assert parts(task) == ["shots: retriever", "shots: chosen rows"]


def test_one_word_of_a_shot(locked: Locked) -> None:
    locked.write_rows(train=[{"question": "5+5=!", "answer": "10"}, *ROWS[6:]])
    task = locked.drift()
    assert list(titles(task).values()) == [3, 5]
    assert parts(task) == ["data: train", "shots: chosen rows"]


def test_the_settings_of_decoding(locked: Locked) -> None:
    locked.write_config(lambda text: text.replace("max_out_len=5", "max_out_len=6"))
    assert "decoding: max_out_len 5 → 6" in locked("--check").stdout
    assert locked.drift()["changed"] == 0


def test_what_changes_no_prompt_is_not_seen(locked: Locked) -> None:
    other_order = [{"answer": row["answer"], "question": row["question"]} for row in ROWS]
    locked.write_rows(other_order, other_order[5:])
    locked.write_config(
        lambda text: text.replace("'PromptTemplate'", "'ais_prompt.prompts.template.PromptTemplate'"),
        more="batch = 7\n",
    )
    assert locked.drift()["equal"]


def test_tasks_that_came_and_went(locked: Locked) -> None:
    locked.write_config(models=API.replace("'api'", "'other'"))
    found = locked("--check")
    assert found.exit_code == 1
    assert "api/sums: only in eval.lock" in found.stdout
    assert "other/sums: only in eval" in found.stdout


def test_a_lock_of_another_config(locked: Locked) -> None:
    Path("eval.py").rename("new.py")
    found = CliRunner().invoke(main, ["lock", "new.py", "--check", "-o", "eval.lock"])
    assert found.exit_code == 2
    assert "this is the lock of 'eval', not of 'new'" in found.stderr


def test_without_a_lock(locked: Locked) -> None:
    Path("eval.lock").unlink()
    found = locked("--check")
    assert found.exit_code == 2
    assert "there is no prompt lock" in found.stderr


@pytest.mark.torch
@pytest.mark.parametrize(("kind", "seen"), [("Base", 0), ("Chat", 8)])
def test_one_special_token_of_the_tokenizer(
    project: Project, monkeypatch: pytest.MonkeyPatch, kind: str, seen: int
) -> None:
    (project.root / "data" / "sums.jsonl").unlink()
    monkeypatch.chdir(project.root)
    shutil.copytree(DEMO, "model", ignore=shutil.ignore_patterns("*.safetensors"))
    locked = Locked(project, LOCAL.format(kind))
    assert locked().exit_code == 0
    assert locked.drift()["equal"]
    config = Path("model/tokenizer_config.json")
    config.write_text(config.read_text().replace('"bos_token": "<s>"', '"bos_token": "<pad>"'))
    task = locked.drift()
    assert parts(task) == ["tokenizer: tokenizer_config.json"]
    assert task["changed"] == seen
    assert None not in task["tokens"]


def test_json_is_for_checks(locked: Locked) -> None:
    found = locked("--json")
    assert (found.exit_code, "--check" in found.stderr) == (2, True)


def test_the_real_program(locked: Locked) -> None:
    assert locked.project.run("lock", "eval.py", "--check").returncode == 0
    locked.write_config(lambda text: text.replace("</E>Q", "</E>q"))
    found = locked.project.run("lock", "eval.py", "--check")
    assert found.returncode == 1
    assert "3 prompts: `Q` → `q`" in found.stdout
    assert "aisprompt lock eval.py" in found.stderr


TURNS = """dict(
    abbr='turns', type='LocalDataset', path='data', reader_cfg=dict(input_columns='question', output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(
            type='MultiTurnPromptTemplate',
            template=dict(round=[dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}')]),
        ),
        retriever=dict(type='ZeroRetriever'),
        inferencer=dict(type='MultiTurnGenInferencer'),
    ),
)"""


def test_every_turn_of_a_dialogue_with_the_gold_before_it(locked: Locked) -> None:
    dialogues = [{"question": ["1?", "2?"], "answer": ["1", "2"]}, {"question": ["3?"], "answer": ["3"]}]
    locked.write_rows(dialogues)
    locked.write_config(lambda _: TURNS)
    assert "1 task, 3 prompts" in locked().stdout
    locked.write_rows([{"question": ["1?", "2?"], "answer": ["7", "2"]}, dialogues[1]])
    [group] = locked.drift()["groups"]
    assert [(prompt["row"], prompt["number"]) for prompt in group["prompts"]] == [(0, 1)]


def test_the_prompt_of_every_label(locked: Locked) -> None:
    labels = SHOTS.replace("'GenInferencer', max_out_len=5", "'PPLInferencer', labels=['0', '2', '4']")
    locked.write_config(lambda _: labels, models="dict(type='ScriptedModel', abbr='m', prompt_style='text')")
    assert "1 task, 24 prompts" in locked().stdout
    assert locked.drift()["equal"]


def test_no_secret_is_in_a_lock(locked: Locked) -> None:
    locked.write_config(
        models=API.replace("api_key=None", "api_key=None, generation_kwargs=dict(user_api_key='s3cret')")
    )
    assert locked().exit_code == 0
    assert "s3cret" not in Path("eval.lock").read_text()
    assert '"user_api_key": "***"' in Path("eval.lock").read_text()


@pytest.mark.process
def test_a_lock_needs_no_weights_and_no_model(locked: Locked) -> None:
    code = "import sys; from ais_prompt.cli import main; main(sys.argv[1:], standalone_mode=False); print(*sys.modules)"
    args = [sys.executable, "-c", code, "lock", "eval.py", "--check"]
    done = subprocess.run(args, capture_output=True, text=True, check=True)
    assert "Unchanged" in done.stdout
    assert not {"torch", "transformers", "datasets"} & set(done.stdout.split())
