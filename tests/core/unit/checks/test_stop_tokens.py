"""``eos_token_id`` of a meta template on its way to each kind of model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.config import parse_meta_template
from ais_prompt.plan import Task
from ais_prompt.preview import preview_sample
from ais_prompt.types import PartSpec, TaskSpec
from tests.support.parts import task_spec, write_rows

HERE, OPENAI = "http://127.0.0.1:9/v1", "https://api.openai.com/v1"
META = {
    "round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}],
    "eos_token_id": [3, 4],
}
WARNING = "the server knows no ids of tokens, so eos_token_id is not sent"


@pytest.mark.parametrize(
    ("kind", "args", "sent"),
    [
        ("OpenAIChatModel", {"model": "m", "base_url": HERE}, True),
        ("OpenAICompletionModel", {"model": "m", "base_url": HERE}, True),
        ("OpenAIChatModel", {"model": "m", "base_url": OPENAI}, False),
        ("OpenAICompletionModel", {"model": "m", "base_url": OPENAI}, False),
        ("ScriptedModel", {}, True),
    ],
)
def test_they_are_sent_or_warned_of(tmp_path: Path, kind: str, args: dict[str, Any], sent: bool) -> None:
    plain = task_spec(write_rows(tmp_path / "rows.jsonl", [{"question": "1+1=?", "answer": "2"}]))
    part, meta = PartSpec(kind, args, "models[0]"), parse_meta_template(META)
    task = TaskSpec(replace(plain.model, part=part, meta_template=meta), plain.dataset)
    planned = Task.of(task)
    assert planned.context.decoding(8, ()).stop_tokens == ((3, 4) if sent else ())
    [view] = preview_sample(planned, 1)
    found = [(warning.what, warning.where) for warning in view.warnings]
    assert found == ([] if sent else [(WARNING, "models[0].meta_template.eos_token_id")])
