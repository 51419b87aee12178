"""A model that asks another model: its requests are recorded, recalled, counted and limited by budgets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.store import RunFolder
from tests.support.cli import run_cli

pytestmark = pytest.mark.thorough
OWN = '''
from ais_prompt.models import ScriptedModel
from ais_prompt.types import Activity, ChatMessage, Completion, Decoding, Request
class Twice:
    """Ask for a word, then for a word about it, and answer with both."""
    prompt_style, max_out_len, max_seq_len, max_concurrency = "text", 9, None, 2
    def __init__(self):
        self.asked = ScriptedModel({"first": "one", "one": "two"})
    def identity(self): return {"type": "Twice"}
    def decoding(self, max_out_len, stop): return Decoding(9)
    def tokenizer(self): return None
    def count_tokens(self, prompt): return None
    def preflight(self): pass
    def close(self): pass
    async def open(self): pass
    async def aclose(self): pass
    def activity(self): return Activity()
    async def complete(self, request): return Completion()
    async def answer(self, request, ask):
        assert ask.row["question"] == request.prompt and ask.price.input == 2
        said = ["first"]
        for step in range(2):
            prompt = (ChatMessage("user", said[-1]),)
            found = await ask(Request(request.sample_id, prompt, Decoding(9), repeat=request.repeat, step=step))
            if found.failure:
                return found
            said.append(found.text)
        return Completion(" ".join(said[1:]), "stop")
'''
CONFIG = """
models = [dict(type='own.Twice', abbr='agent', price=dict(input=2, output=0, per=1))]
budget = dict(max_requests={most})
datasets = [dict(type='LocalDataset', abbr='tasks', path='rows.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{{question}}'),
        inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


def ask(folder: Path, most: int, *options: str) -> Any:
    (folder / "own.py").write_text(OWN, "utf-8")
    (folder / "config.py").write_text(CONFIG.format(most=most), "utf-8")
    rows = [{"question": f"question {number}", "answer": "one two"} for number in range(3)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return run_cli("run", "config.py", "-w", "out", *options, folder=folder)


def journal(folder: Path) -> list[dict[str, Any]]:
    [root] = folder.glob("out/config/*")
    return [json.loads(line) for line in RunFolder(root).journal("agent", "tasks").read_text("utf-8").splitlines()]


def test_each_request_of_an_agent_is_recorded_and_counted_once(tmp_path: Path) -> None:
    done = ask(tmp_path, 99)
    assert done.returncode == 0, done.stderr
    assert "asked: 6 requests · 6 tokens in · 6 out · 12" in done.stdout + done.stderr
    lines = journal(tmp_path)
    assert sorted(line["step"] for line in lines if "step" in line) == [0, 0, 0, 1, 1, 1]
    assert all(line["request"]["prompt"][0]["role"] == "user" for line in lines if "step" in line)
    assert [line["completion"]["text"] for line in lines if "step" not in line] == ["one two"] * 3


def test_a_budget_pauses_an_agent_between_its_requests_and_going_on_asks_the_rest(tmp_path: Path) -> None:
    done = ask(tmp_path, 3)
    assert "max_requests=3 is used up" in done.stderr
    assert len(journal(tmp_path)) <= 4  # three requests, and perhaps an answer
    done = ask(tmp_path, 99, "-r")
    assert done.returncode == 0, done.stderr
    assert "asked: 3 requests" in done.stdout + done.stderr
    assert "belong to other prompts" not in done.stderr
    assert len(journal(tmp_path)) == 9
