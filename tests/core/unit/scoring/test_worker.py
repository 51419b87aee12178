"""Which tasks are scored in a process of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.scoring import has_own_parts
from ais_prompt.types import EvalSpec, PartSpec
from tests.support.parts import task_spec

OWN = "tests.support.parts.task_spec"


@pytest.mark.parametrize(
    ("evaluator", "postprocessor", "is_own"),
    [
        (PartSpec("AccEvaluator"), None, False),
        (PartSpec("ais_prompt.evaluators.accuracy.AccEvaluator"), PartSpec("gsm8k_postprocess"), False),
        (PartSpec(OWN), None, True),
        (PartSpec("AccEvaluator"), PartSpec(OWN), True),
        (PartSpec("CascadeEvaluator", {"rule_evaluator": {"type": "AccEvaluator"}}), None, False),
        (PartSpec("CascadeEvaluator", {"rule_evaluator": {"type": OWN}}), None, True),
        (PartSpec("GenericLLMEvaluator", {"verdict_postprocessor": {"type": OWN}}), None, True),
        (PartSpec("AccEvaluator", {"several": [{"type": OWN}]}), None, True),
    ],
)
def test_user_defined_parts_are_found_wherever_they_are(
    tmp_path: Path, evaluator: Any, postprocessor: Any, is_own: bool
) -> None:
    task = task_spec(tmp_path / "rows.jsonl")
    scoring = EvalSpec(evaluator, postprocessor)
    assert has_own_parts(replace(task, dataset=replace(task.dataset, eval=scoring))) is is_own
