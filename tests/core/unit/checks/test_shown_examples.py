"""No example is lost: whatever the templates, inferencer and model, examples are in the prompt or are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.checks import check_plan
from ais_prompt.plan import Plan, Task
from ais_prompt.preview import preview_sample
from ais_prompt.types import DatasetSpec, PartSpec, RunSpec, TaskSpec
from tests.support.parts import dataset_spec, model_spec, write_rows

MARKED = "<AIS_TEXT_START>{}<AIS_CONTENT_TAG>"
ROUND = [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": "{answer}"}]
PARTS = {"role": "HUMAN", "prompt_mm": {"text": {"type": "text", "text": "{question}"}}}
MESSAGES = [{"role": "user", "content": "{question}"}, {"role": "assistant", "content": "{answer}"}]

ICE = {
    "none": None,
    "string": ("PromptTemplate", {"template": "{question} {answer}"}),
    "dialogue": ("PromptTemplate", {"template": {"round": ROUND}}),
    "labels": ("PromptTemplate", {"template": {"yes": "{question} Yes.", "SHOWN": "{question} No."}}),
    "turns": ("MultiTurnPromptTemplate", {"template": {"round": ROUND}}),
    "media": ("MMPromptTemplate", {"template": {"round": [PARTS]}}),
    "messages": ("RawPromptTemplate", {"messages": MESSAGES}),
}
TOKEN = {"ice_token": "</E>"}
PROMPT = {
    "none": None,
    "string": ("PromptTemplate", {"template": "</E>{question}", **TOKEN}),
    "string without token": ("PromptTemplate", {"template": "{question}"}),
    "dialogue": ("PromptTemplate", {"template": {"begin": ["</E>"], "round": ROUND}, **TOKEN}),
    "in a turn": ("PromptTemplate", {"template": {"round": [{"role": "HUMAN", "prompt": "</E>{question}"}]}, **TOKEN}),
    "behind the end": ("PromptTemplate", {"template": {"round": ROUND, "end": ["</E>"]}, **TOKEN}),
    "labels": ("PromptTemplate", {"template": {"yes": "</E>{question} Yes.", "no": "</E>{question} No."}, **TOKEN}),
    "turns": ("MultiTurnPromptTemplate", {"template": {"begin": ["</E>"], "round": ROUND}, **TOKEN}),
    "turns without token": ("MultiTurnPromptTemplate", {"template": {"round": ROUND}}),
    "media": ("MMPromptTemplate", {"template": {"begin": ["</E>"], "round": [PARTS]}, **TOKEN}),
    "media without token": ("MMPromptTemplate", {"template": {"round": [PARTS]}}),
    "messages": ("RawPromptTemplate", {"messages": ["</E>", *MESSAGES[:1]]}),
    "messages without token": ("RawPromptTemplate", {"messages": MESSAGES[:1]}),
}
INFERENCERS = ("GenInferencer", "PPLInferencer", "MultiTurnGenInferencer", "ChatInferencer")


def part(written: Any, where: str) -> PartSpec | None:
    return None if written is None else PartSpec(*written, f"datasets[0].infer_cfg.{where}")


def few_shot(folder: Path, ice: str, prompt: str, inferencer: str) -> DatasetSpec:
    media = "media" in ice + prompt
    question = MARKED.format("SHOWN") if media else "SHOWN"
    write_rows(folder / "train.jsonl", [{"question": question, "answer": "SHOWN"}])
    asked = MARKED.format("asked") if media else "asked"
    write_rows(folder / "test.jsonl", [{"question": asked, "answer": "yes"}])
    spec = dataset_spec(folder)
    infer = replace(
        spec.infer,
        ice_template=part(ICE[ice], "ice_template"),
        prompt_template=part(PROMPT[prompt], "prompt_template"),
        retriever=PartSpec("FixKRetriever", {"fix_id_list": [0]}, "datasets[0].infer_cfg.retriever"),
        inferencer=PartSpec(inferencer, {}, "datasets[0].infer_cfg.inferencer"),
    )
    return replace(spec, infer=infer)


SHOWN = {
    ("string", "GenInferencer"): {"string"},
    ("dialogue", "GenInferencer"): {"dialogue", "turns"},
    ("turns", "MultiTurnGenInferencer"): {"dialogue", "turns"},
    ("media", "GenInferencer"): {"dialogue", "media"},
    ("messages", "GenInferencer"): {"messages"},
    ("labels", "PPLInferencer"): {"string", "labels"},
}
"""Prompt template and inferencer → ice templates whose examples a chat model is sent, at least."""


@pytest.mark.thorough
@pytest.mark.parametrize("style", ["text", "messages"])
@pytest.mark.parametrize("inferencer", INFERENCERS)
@pytest.mark.parametrize("prompt", PROMPT)
def test_examples_are_in_the_prompt_or_refused(tmp_path: Path, prompt: str, inferencer: str, style: str) -> None:
    model = model_spec(prompt_style=style)
    shown = set()
    for ice in ICE:
        data = few_shot(tmp_path, ice, prompt, inferencer)
        found = check_plan(Plan(RunSpec("run", (model,), (data,), tmp_path, None, {})), str)
        assert all(fault.fix for fault in found.faults)
        if not found.faults:
            views = list(preview_sample(Task.of(TaskSpec(model, data)), 1))
            assert views
            assert all("SHOWN" in str(view.prompt) and view.shots == (0,) for view in views), (ice, views)
            shown.add(ice)
    if style == "messages":
        assert shown >= SHOWN.get((prompt, inferencer), set())
