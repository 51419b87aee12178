"""Conversations whose earlier messages call tools, in the form of OpenAI: the calls are shown, and null is no text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.core.e2e.project import Project

DATASET = """dict(
    abbr='sums', type='LocalDataset', path='data/sums.jsonl',
    reader_cfg=dict(input_columns=['messages'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='RawPromptTemplate', messages=[dict(expand_column='messages')]),
        retriever=dict(type='ZeroRetriever'),
        inferencer=dict(type='GenInferencer'),
    ),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
)"""
FUNCTION = {"name": "add_up", "arguments": '{"a": 1, "b": 2}'}
CALLING: dict[str, dict[str, Any]] = {
    "null beside calls": {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": FUNCTION}]},
    "text beside calls": {"content": "Let me see.", "tool_calls": [{"id": "1", "function": FUNCTION}]},
    "parts beside calls": {"content": [{"type": "text", "text": "Let me see."}], "tool_calls": [FUNCTION]},
    "one old call": {"content": None, "function_call": FUNCTION},
    "arguments as a mapping": {
        "content": "",
        "tool_calls": [{"function": {**FUNCTION, "arguments": {"a": 1, "b": 2}}}],
    },
    "no call at all": {"content": None, "tool_calls": ["add_up", 7]},
}


@pytest.mark.parametrize("name", CALLING)
def test_a_run_and_its_pages_show_calls_beside_the_content(project: Project, name: str) -> None:
    earlier = [{"role": "user", "content": "1+2?"}, {"role": "assistant", **CALLING[name]}]
    asked = [[*earlier, {"role": "tool", "tool_call_id": "1", "content": "3"}, {"role": "user", "content": text}]
             for text in ("So?", "So, then?")]  # fmt: skip
    project.write_data([{"messages": messages, "answer": "3"} for messages in asked])
    config = str(project.write_config(datasets=DATASET))
    shown = project.run("view-prompt", config)
    assert shown.returncode == 0, shown.stderr
    assert "calls" in shown.stdout
    assert "add_up" in shown.stdout
    assert ("Let me see." in shown.stdout) == ("Let me see." in json.dumps(CALLING[name]))
    page = project.root / "prompts.html"
    assert project.run("view-prompt", config, "--html", str(page)).returncode == 0
    assert "add_up" in page.read_text(encoding="utf-8")
    ran = project.run("run", config)
    assert ran.returncode == 0, ran.stderr
    assert [one["origin_prompt"][1] for one in project.predictions()] == [asked[0][1], asked[1][1]]
    assert "add_up" in (project.folder() / "report.html").read_text(encoding="utf-8")
