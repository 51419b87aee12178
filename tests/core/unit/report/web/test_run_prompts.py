"""The prompts that a run keeps are shown as `view-prompt --html` shows them; a broken file is as none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.models import ScriptedModel
from ais_prompt.plan import PlannedModel, Task
from ais_prompt.preview import preview_sample, run_prompts, write_prompts
from ais_prompt.report import prompts_part, questions_html, side_by_side
from ais_prompt.store import RunFolder
from ais_prompt.types import Prompt
from tests.support.prompt_tasks import prompt_task

TURNS = [{"role": "HUMAN", "prompt": "{q} {qq}"}, {"role": "BOT", "prompt": "{a}"}]
TEMPLATE = {"type": "PromptTemplate", "template": {"begin": ["</E>"], "round": TURNS}, "ice_token": "</E>"}
ICE = {"type": "PromptTemplate", "template": {"round": TURNS}}
SHOTS = [{"q": f"{n}+{n}", "a": str(2 * n)} for n in (1, 2)]
HOSTILE = "</details></article><script>alert(1)</script>\"' onfocus=alert(1) \ud800\u202e"


def kept(folder: RunFolder, **more: Any) -> str:
    task = prompt_task(TEMPLATE, ice=ICE, train=SHOTS, **more)
    write_prompts([task], folder)
    return prompts_part(folder)


@pytest.mark.parametrize("style", ["text", "messages"])
@pytest.mark.parametrize("question", ["1+1=?", HOSTILE])
def test_what_is_kept_is_shown_as_view_prompt_shows_it(tmp_path: Path, style: str, question: str) -> None:
    rows = [{"q": question, "a": "2"}]
    views = list(preview_sample(prompt_task(TEMPLATE, ice=ICE, train=SHOTS, rows=rows, style=style), 1, origins=True))
    assert kept(RunFolder(tmp_path), rows=rows, style=style).endswith(questions_html(side_by_side([("", views)])))


def test_a_prompt_that_is_too_long_is_left_out(tmp_path: Path) -> None:
    assert kept(RunFolder(tmp_path), rows=[{"q": "long " * run_prompts.MOST_BYTES, "a": "2"}]) == ""
    assert not RunFolder(tmp_path).view.exists()


def test_a_picture_in_base64_is_not_kept(tmp_path: Path) -> None:
    url = "data:image/png;base64," + "A" * run_prompts.MOST_BYTES
    content = [{"type": "text", "text": "{q}"}, {"type": "image_url", "image_url": {"url": url}}]
    raw = {"type": "RawPromptTemplate", "messages": [{"role": "user", "content": content}]}
    write_prompts([prompt_task(raw, style="messages")], RunFolder(tmp_path))
    assert prompts_part(RunFolder(tmp_path)) == ""


def test_a_prompt_that_cannot_be_built_does_not_end_the_run(tmp_path: Path) -> None:
    def broken() -> Any:
        raise RuntimeError("no tokenizer")

    assert kept(RunFolder(tmp_path), style="chat_template", tokenizer=broken) == ""


def test_no_tokenizer_is_downloaded_for_the_report(tmp_path: Path) -> None:
    class Downloading(ScriptedModel):
        tokenizer_path = "owner/no-such-model"

        def count_tokens(self, prompt: Prompt) -> int:
            pytest.fail("the tokenizer is loaded")

    task = Task(PlannedModel(prompt_task(TEMPLATE).spec.model, Downloading()), prompt_task(TEMPLATE).dataset)
    write_prompts([task], RunFolder(tmp_path))
    assert prompts_part(RunFolder(tmp_path))


def test_of_many_tasks_one_of_each_dataset_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_prompts, "MOST_TASKS", 3)
    tasks = []
    for model in ("a", "b"):
        for dataset in ("first", "second"):
            task = prompt_task(TEMPLATE, ice=ICE, train=SHOTS)
            spec = task.spec
            task.spec = replace(
                spec, model=replace(spec.model, abbr=model), dataset=replace(spec.dataset, abbr=dataset)
            )
            tasks.append(task)
    write_prompts(tasks, RunFolder(tmp_path))
    stored = json.loads((RunFolder(tmp_path).view / "prompts.json").read_text())
    assert [(view["model"], view["dataset"]) for view in stored] == [("a", "first"), ("a", "second")]
    assert [view.model for view in run_prompts.kept_prompts(RunFolder(tmp_path), "b", "second")] == ["a"]


def test_a_broken_file_shows_no_prompts(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert prompts_part(folder) == ""
    assert "<article" in kept(folder)
    path = folder.view / "prompts.json"
    [good] = json.loads(path.read_text())
    broken = [
        {**good, "origins": [[]] * 7},
        {**good, "origins": [[{"text": "x", "kind": "</script>"}]]},
        {**good, "prompt": 7},
        {**good, "prompt": [{"role": "user"}]},
        {**good, "gold_sent": "never"},
        {name: value for name, value in good.items() if name != "shots"},
        "text",
    ]
    for values in broken:
        path.write_text(json.dumps([values]))
        assert prompts_part(folder) == "", values
    path.write_bytes(b"\xff{")
    assert prompts_part(folder) == ""
